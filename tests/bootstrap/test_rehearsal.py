"""A restore rehearsed on a laptop: what it shows, what it finds wrong, and that the store in use stays as it is."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from embedded.archiving import USER, keyed, remarks, snapshot
from embedded.setting import ANNA, Memory, open_memory
from recollect.archive.record_line import RecordLine
from recollect.archive.rehearsal import Check, RehearsalOrder
from recollect.archive.transfer import ImportMemories
from recollect.bootstrap import rehearsal as module
from recollect.bootstrap.rehearsal import rehearse
from recollect.core.errors import NotFound, Unavailable
from recollect.core.scope import Scope
from recollect.deletion.reject import Rejecting

BEN = Scope("acme", "ben")
ORDER = RehearsalOrder(tenant="acme")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    opened = open_memory(tmp_path / "home")
    remarks(opened, 12)
    remarks(opened, 3, BEN)
    keyed(opened, "city", "Paris", "Lyon")
    opened.project()
    return opened


def tree(folder: Path) -> dict[str, str]:
    """Every file of the store, with the hash of what is in it; without SQLite's own companions."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".db-wal", ".db-shm")]
    files = [path for path in files if not path.name.endswith(("-wal", "-shm", ".lock"))]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def by_name(checks: tuple[Check, ...]) -> dict[str, bool]:
    return {check.name: check.passed for check in checks}


@pytest.mark.spec("A-52", "P-22")
def test_it_shows_that_all_comes_back_but_what_was_deleted_and_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    snapshot(memory)
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=memory.ids[2])
    memory.app.deletion.values.reject(
        ANNA, "about the garden: number5", Rejecting(now=memory.now, actor=USER, via="test")
    )
    memory.project()
    before = tree(tmp_path / "home")
    report = rehearse(memory.app, ORDER, memory.now)
    assert by_name(report.checks) == dict.fromkeys(("counts", "contents", "projection", "deletions", "recall"), True), (
        report.checks
    )
    assert report.passed
    assert report.users == 2
    assert (
        report.counts["created"] + report.counts.get("refused", 0)
        == sum(one.counts["events"] for one in memory.app.segments.snapshots.page("acme", 1, None).snapshots) - 1
    )
    told = {check.name: check.detail for check in report.checks}
    assert told["deletions"].startswith("1 deleted records looked up, 0 came back")
    assert not told["recall"].startswith("0 ")
    assert tree(tmp_path / "home") == before
    assert not (tmp_path / "home" / "rehearsal").exists()


def test_one_user_of_a_named_snapshot(memory: Memory) -> None:
    first = snapshot(memory)
    memory.add("said later", scope=BEN)
    memory.project()
    snapshot(memory)
    order = RehearsalOrder(tenant="acme", snapshot_id=first, user_id="ben")
    report = rehearse(memory.app, order, memory.now)
    assert (report.passed, report.users, report.counts, report.snapshot_id) == (True, 1, {"created": 3}, first)
    assert rehearse(memory.app, RehearsalOrder(tenant="acme", most_users=1), memory.now).users == 1


def without_deletions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(module._Rehearsal, "_apply_deletions", lambda self: None)


def without_the_last_line(patch: pytest.MonkeyPatch) -> None:
    whole = ImportMemories.import_lines
    patch.setattr(
        ImportMemories, "import_lines", lambda self, scope, lines, order: whole(self, scope, lines[:-1], order)
    )


def with_other_words(patch: pytest.MonkeyPatch) -> None:
    whole = RecordLine.of_user

    def changed(self: RecordLine, user_id: str) -> RecordLine:
        line = whole(self, user_id)
        return replace(line, event=replace(line.event, content=line.event.content.replace("number3", "number4")))

    patch.setattr(RecordLine, "of_user", changed)


def without_search(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(module._Rehearsal, "_shows", lambda self, app, event: app is self.app)


@pytest.mark.parametrize(
    ("spoil", "wrong"),
    [
        (without_deletions, {"deletions"}),
        (without_the_last_line, {"counts", "contents"}),
        (with_other_words, {"contents"}),
        (without_search, {"recall"}),
    ],
)
def test_what_is_wrong_is_told(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[pytest.MonkeyPatch], None], wrong: set[str]
) -> None:
    snapshot(memory)
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=memory.ids[2])
    spoil(monkeypatch)
    report = rehearse(memory.app, ORDER, memory.now)
    assert wrong <= {check.name for check in report.checks if not check.passed} <= wrong | {"deletions", "recall"}
    assert not report.passed


def test_what_a_killed_one_left_goes_with_the_next(memory: Memory, tmp_path: Path) -> None:
    left = tmp_path / "home" / "rehearsal"
    (left / "written").mkdir(parents=True)
    (left / "recollect.db").write_bytes(b"half a file")
    snapshot(memory)
    assert rehearse(memory.app, ORDER, memory.now).passed
    assert not left.exists()


def test_it_ends_in_its_time_and_says_what_is_missing(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        rehearse(memory.app, ORDER, memory.now)
    snapshot(memory)
    with pytest.raises(Unavailable, match="did not end in its time"):
        rehearse(memory.app, RehearsalOrder(tenant="acme", seconds=0.0), memory.now)
    assert not (tmp_path / "home" / "rehearsal").exists()
