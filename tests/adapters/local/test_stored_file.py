"""What earlier releases wrote is opened by this one, with everything in it."""

import shutil
from pathlib import Path

import pytest

from adapters.local.stored_file import ANNA, NOON, open_folder
from recollect.application.recall import RecallRequest
from recollect.domain.filters import SearchFilters, TimeWindow
from recollect.domain.ranking import Mode
from recollect.domain.timeline import WindowQuery

FILES = sorted(Path(__file__).with_name("stored").glob("format-*.db"))


def test_there_is_a_file_of_every_format() -> None:
    assert [file.stem for file in FILES] == ["format-1"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_kept_file_opens_with_all_that_was_in_it(tmp_path: Path, file: Path) -> None:
    shutil.copy(file, tmp_path / "recollect.db")
    app = open_folder(tmp_path)
    try:
        page = app.listing.window(ANNA, WindowQuery(now=NOON, window=TimeWindow(), limit=10))
        assert [event.content for event in page.events] == [
            "My sister paints sunrises", "a secret", "Noted.", "I live in Lyon. 我住在里昂 🙂", "I live in Paris",
        ]  # fmt: skip
        assert page.events[4].superseded_by == page.events[3].id
        assert app.reconcile(NOON).projected == 1
        for mode, least in ((Mode.HYBRID, None), (Mode.LEXICAL, None), (Mode.SEMANTIC, 0.2)):
            request = RecallRequest(
                text="Lyon", vector=None, mode=mode, filters=SearchFilters(now=NOON), wanted=1, min_similarity=least
            )
            (result,) = app.search(ANNA, request).results
            assert result.event.metadata == {"source_id": "D1:1"}
    finally:
        app.parts.close()
