"""`recollect tombstones`: makes a restored table forget again what was deleted after its state."""

from datetime import UTC, datetime

from recollect.core.errors import NotReady
from recollect.deletion.tombstone_log import seconds_from_now
from recollect.entrypoints.cli.console import say, write_line
from recollect.entrypoints.cli.opening import opened

_SECONDS = 24 * 3600.0


def tombstones() -> None:
    """Applies deletions that are kept outside of the table and that it does not know of. Safe to run at any time."""
    with opened() as app:
        counts = app.deletion.apply_tombstones(datetime.now(UTC), seconds_from_now(_SECONDS))
        state = app.deletion.apply_tombstones.check()
    applied = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    write_line(f"applied: {applied}" if applied else "nothing to apply")
    say(state.detail)
    if not state.ready:
        raise NotReady("deletions are left that could not be applied")
