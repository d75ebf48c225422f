"""A small file as a release wrote it, kept in `stored/` for every release after it.

Run from `tests/`: `python -m adapters.local.stored_file adapters/local/stored/format-N.db` writes it with the current
code.
A file that was released is never written again.
"""

import sqlite3
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.event import Role
from recollect.core.ids import IdSeed
from recollect.core.items import ABSENT, Due, ItemKey, ItemPath, ItemWrite
from recollect.core.scope import Scope
from recollect.settings import Settings
from recollect.timeline.record import EventDraft

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
ANNA = Scope("acme", "anna", "coach")
PROJECTED = (
    EventDraft(content="I live in Paris", key="city", timestamp=NOON - timedelta(days=9)),
    EventDraft(content="I live in Lyon. 我住在里昂 🙂", key="city", timestamp=NOON, metadata={"source_id": "D1:1"}),
    EventDraft(content="Noted.", role=Role.BOT, speaker="coach", timestamp=NOON + timedelta(seconds=1)),
    EventDraft(content="a secret", is_private=True, timestamp=NOON + timedelta(seconds=2)),
)
DELETED = EventDraft(content="I live on the Moon", key="planet", timestamp=NOON + timedelta(seconds=4))
ITEM = ItemKey(ItemPath("notes", ("a label 🙂",)), "key")
PENDING = (EventDraft(content="My sister paints sunrises", timestamp=NOON + timedelta(seconds=3)),)


def open_folder(home: Path) -> App:
    """The app over the data of that folder."""
    return open_app(Settings.from_environment({"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"}))


def fill(app: App) -> None:
    """Four events that are projected, one that waits, one that was deleted; an item that is due."""
    app.timeline.ingest(ANNA, "c1", PROJECTED, IdSeed(1_740_830_400_000 << 12, 7), NOON, app.rules.resolved("acme"))
    app.projection.reconcile(NOON)
    seed = IdSeed(1_740_830_402_000 << 12, 7)
    app.timeline.ingest(ANNA, "c1", [DELETED], seed, NOON, app.rules.resolved("acme"))
    app.projection.reconcile(NOON)
    app.deletion.forget(ANNA, event_id=seed.nth(0), now=NOON)
    app.timeline.ingest(ANNA, "c1", PENDING, IdSeed(1_740_830_401_000 << 12, 7), NOON, app.rules.resolved("acme"))
    app.parts.items.write(ANNA.user, [ItemWrite(ITEM, {"text": "é🙂"}, ABSENT, Due("jobs", NOON))], NOON)


def main(target: Path) -> None:
    """Writes the file."""
    with tempfile.TemporaryDirectory() as folder:
        app = open_folder(Path(folder))
        fill(app)
        app.parts.close()
        copy = Path(folder) / "copy.db"
        with sqlite3.connect(Path(folder) / "recollect.db") as source, sqlite3.connect(copy) as kept:
            source.backup(kept)
            kept.execute("PRAGMA journal_mode=DELETE")
        target.write_bytes(copy.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
