"""What earlier releases wrote is opened by this one, with everything in it."""

import shutil
from pathlib import Path

import pytest

from adapters.local.stored_file import ANNA, DELETED, ITEM, NOON, open_folder
from recollect.adapters.local.schema import FORMAT_VERSION
from recollect.core.ids import IdSeed
from recollect.core.items import Due, DueItem, Item, ItemWrite
from recollect.retrieval.filters import SearchFilters, TimeWindow
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.timeline.timeline import WindowQuery

FILES = sorted(Path(__file__).with_name("stored").glob("format-*.db"))


def test_there_is_a_file_of_every_format() -> None:
    assert [file.stem for file in FILES] == [f"format-{number}" for number in range(1, FORMAT_VERSION + 1)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_kept_file_opens_with_all_that_was_in_it(tmp_path: Path, file: Path) -> None:
    shutil.copy(file, tmp_path / "recollect.db")
    app = open_folder(tmp_path)
    try:
        page = app.timeline.listing.window(ANNA, WindowQuery(now=NOON, window=TimeWindow(), limit=10))
        assert [event.content for event in page.events] == [
            "My sister paints sunrises", "a secret", "Noted.", "I live in Lyon. 我住在里昂 🙂", "I live in Paris",
        ]  # fmt: skip
        assert page.events[4].superseded_by == page.events[3].id
        report = app.projection.reconcile(NOON)
        assert (report.projected, report.failed) == (1, {})
        for mode, least in ((Mode.HYBRID, None), (Mode.LEXICAL, None), (Mode.SEMANTIC, 0.2)):
            request = RecallRequest(
                text="Lyon", vector=None, mode=mode, filters=SearchFilters(now=NOON), wanted=1, min_similarity=least
            )
            (result,) = app.retrieval.search(ANNA, request).results
            assert result.event.metadata == {"source_id": "D1:1"}
    finally:
        app.parts.close()


@pytest.mark.parametrize("file", FILES[1:], ids=lambda file: file.stem)
def test_items_and_deletions_are_kept(tmp_path: Path, file: Path) -> None:
    shutil.copy(file, tmp_path / "recollect.db")
    app = open_folder(tmp_path)
    try:
        item = app.parts.items.get(ANNA.user, [ITEM])[ITEM]
        assert item == Item(ITEM, {"text": "é🙂"}, 1, NOON, Due("jobs", NOON))
        assert app.parts.items.due("jobs", NOON, 10, None).items == (DueItem(ANNA.user, ITEM, NOON),)
        (again,) = app.timeline.ingest(
            ANNA, "c1", [DELETED], IdSeed(2 << 50, 7), NOON, app.rules.resolved("acme")
        ).results
        assert (again.status, again.reason) == ("refused", "deleted")
        assert app.projection.reconcile(NOON).gone == 1
        (emptied,) = app.parts.timeline.slot_history(ANNA, ("coach", "", "planet"))
        assert emptied.emptied is True
    finally:
        app.parts.close()


def test_a_file_of_the_first_format_takes_deletions_and_items(tmp_path: Path) -> None:
    shutil.copy(FILES[0], tmp_path / "recollect.db")
    app = open_folder(tmp_path)
    try:
        app.parts.items.write(ANNA.user, [ItemWrite(ITEM, {"n": 1})], NOON)
        assert len(app.deletion.forget(ANNA, key="city", now=NOON).event_ids) == 2
        page = app.timeline.listing.window(ANNA, WindowQuery(now=NOON, window=TimeWindow(), limit=10))
        assert [event.content for event in page.events] == ["My sister paints sunrises", "a secret", "Noted."]
    finally:
        app.parts.close()
