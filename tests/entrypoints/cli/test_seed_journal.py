"""The ids of a batch that was cut short."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.core.ids import IdSeed, IdSource
from recollect.core.scope import Scope
from recollect.entrypoints.cli.import_file import SeedJournal, journal_for

NOW = datetime(2025, 3, 1, tzinfo=UTC)
MILLISECONDS = int(NOW.timestamp() * 1000)
IDS = IdSource()


def fresh() -> IdSeed:
    return IDS.seed(MILLISECONDS, 100)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "imports" / "one.json"


def test_a_batch_that_was_cut_short_has_its_ids_again_however_often_it_was_killed(path: Path) -> None:
    third = SeedJournal(path).begin("third", NOW, fresh)
    first = SeedJournal(path).begin("first", NOW, fresh)
    last = SeedJournal(path)
    assert last.begin("first", NOW, fresh) == first
    for batch in ("first", "second"):
        last.begin(batch, NOW, fresh)
        last.finish(batch)
    assert last.begin("third", NOW, fresh) == third


def test_a_batch_that_was_finished_has_new_ids(path: Path) -> None:
    journal = SeedJournal(path)
    first = journal.begin("first", NOW, fresh)
    journal.finish("first")
    assert journal.begin("first", NOW, fresh) != first


def test_after_a_day_ids_are_new(path: Path) -> None:
    first = SeedJournal(path).begin("first", NOW, fresh)
    assert SeedJournal(path).begin("first", NOW + timedelta(hours=25), fresh) != first


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b"\xff", b'{"first": "no seed"}', b'{"first": 7}', b'{"first": "z.z"}']
)
def test_a_damaged_file_is_no_harm(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert SeedJournal(path).begin("first", NOW, fresh)


def test_a_folder_that_cannot_be_written_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "imports").write_text("a file")
    journal = SeedJournal(tmp_path / "imports" / "one.json")
    assert journal.begin("first", NOW, fresh)
    journal.close()


def test_nothing_is_left_at_the_end(path: Path) -> None:
    journal = SeedJournal(path)
    journal.begin("first", NOW, fresh)
    journal.close()
    assert list(path.parent.iterdir()) == []


def test_each_file_and_scope_has_its_own(tmp_path: Path) -> None:
    scopes = (Scope("t", "a"), Scope("t", "b"), Scope("u", "a"), Scope("t", "a", "p"), Scope("t", "a", None, "p"))
    paths = {journal_for(tmp_path, scope, tmp_path / file).path for scope in scopes for file in ("x", "y")}
    assert len(paths) == 10
