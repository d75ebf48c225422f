"""A laptop's store copied as files, and put where none is: all of it, and nothing that was deleted since."""

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from embedded.archiving import USER, all_events, exported, keyed, remarks, snapshot, texts
from embedded.setting import ANNA, Memory, open_memory
from recollect.adapters.local import files
from recollect.bootstrap import local_parts
from recollect.bootstrap.local_parts import back_up_store, restore_store
from recollect.core.errors import Conflict, InvalidInput, NotFound, NotReady, StoredDataError
from recollect.deletion.reject import Rejecting
from recollect.settings import Settings


def settings(home: Path) -> Settings:
    return Settings.from_environment({"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"})


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return open_memory(tmp_path / "first")


def restored(tmp_path: Path, memory: Memory) -> Memory:
    """The copy in a new home, at the same time of day."""
    restore_store(settings(tmp_path / "second"), tmp_path / "copy", memory.now)
    opened = open_memory(tmp_path / "second")
    opened.now = memory.now
    return opened


@pytest.mark.spec("A-37", "A-52", "A-56")
def test_everything_is_there_and_nothing_is_made_again(memory: Memory, tmp_path: Path) -> None:
    remarks(memory, 30)
    keyed(memory, "city", "Paris", "Lyon")
    memory.project()
    made = snapshot(memory)
    memory.add("still pending")
    back_up_store(settings(tmp_path / "first"), tmp_path / "copy")
    other = restored(tmp_path, memory)
    assert all_events(other) == all_events(memory)
    assert exported(other) == exported(memory)
    assert [one.id for one in other.app.segments.snapshots.page("acme", 10, None).snapshots] == [made]
    assert other.found("Lyon") == memory.found("Lyon")
    assert other.app.deletion.tombstones.check().ready
    assert other.project() == 1
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["archive", "recollect.db"]
    assert not [path for path in (tmp_path / "second").iterdir() if path.name.startswith(".")]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("archive_is_there", [False, True])
def test_what_was_deleted_since_is_deleted_before_anybody_reads(
    memory: Memory, tmp_path: Path, archive_is_there: bool
) -> None:
    ids = remarks(memory, 5)
    keyed(memory, "city", "Paris", "Lyon")
    memory.add("the zebra sings")
    memory.project()
    back_up_store(settings(tmp_path / "first"), tmp_path / "copy")
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[2])
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=memory.ids[-2])
    memory.app.deletion.values.reject(ANNA, "the zebra sings", Rejecting(now=memory.now, actor=USER, via="test"))
    memory.project()
    newest = (tmp_path / "second") if archive_is_there else (tmp_path / "copy")
    shutil.rmtree(newest / "archive", ignore_errors=True)
    shutil.copytree(tmp_path / "first" / "archive", newest / "archive")
    other = restored(tmp_path, memory)
    assert texts(all_events(other)) == [*(f"about the garden: number{n}?" for n in (0, 1, 3, 4)), "Paris",
                                        "the zebra sings"]  # fmt: skip
    other.project()
    assert {e.content for e in all_events(other) if e.key and e.superseded_by is None} == set()
    assert "the zebra sings" not in other.found("zebra")


def test_a_copy_is_made_while_somebody_writes(memory: Memory, tmp_path: Path) -> None:
    remarks(memory, 200)
    stop = threading.Event()
    written: list[object] = []

    def write() -> None:
        while not stop.is_set():
            written.append(memory.add(f"meanwhile {len(written)}"))

    thread = threading.Thread(target=write)
    thread.start()
    back_up_store(settings(tmp_path / "first"), tmp_path / "copy")
    stop.set()
    thread.join()
    kept = texts(all_events(restored(tmp_path, memory)))
    assert len(kept) >= 200
    assert kept == texts(all_events(memory))[: len(kept)]


def test_what_is_there_is_never_replaced(memory: Memory, tmp_path: Path) -> None:
    remarks(memory, 2)
    back_up_store(settings(tmp_path / "first"), tmp_path / "copy")
    before = (tmp_path / "copy" / "recollect.db").read_bytes()
    with pytest.raises(Conflict):
        back_up_store(settings(tmp_path / "first"), tmp_path / "copy")
    with pytest.raises(Conflict):
        restore_store(settings(tmp_path / "first"), tmp_path / "copy", memory.now)
    assert (tmp_path / "copy" / "recollect.db").read_bytes() == before
    assert len(all_events(memory)) == 2


def test_of_two_at_once_the_later_one_changes_nothing(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remarks(memory, 2)
    back_up_store(settings(tmp_path / "first"), tmp_path / "copy")
    show, second = files.show_database, tmp_path / "second"

    def late(aside: Path, folder: Path) -> None:
        shutil.copyfile(tmp_path / "copy" / "recollect.db", second / "recollect.db")
        show(aside, folder)

    monkeypatch.setattr(files, "show_database", late)
    with pytest.raises(Conflict):
        restore_store(settings(second), tmp_path / "copy", memory.now)
    assert texts(all_events(open_memory(second))) == texts(all_events(memory))


def test_a_restore_that_ended_half_way_leaves_no_store_and_can_be_done_again(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remarks(memory, 2)
    back_up_store(settings(tmp_path / "first"), tmp_path / "copy")
    second = tmp_path / "second"
    with monkeypatch.context() as patched:
        patched.setattr(local_parts, "_apply_tombstones", _not_ready)
        with pytest.raises(NotReady):
            restore_store(settings(second), tmp_path / "copy", memory.now)
    assert [path.name for path in second.iterdir() if path.name != "archive"] == []
    (second / ".copying-killed").mkdir()
    (second / ".copying-killed" / "recollect.db").write_bytes(b"words of somebody")
    other = restored(tmp_path, memory)
    assert len(all_events(other)) == 2
    assert not list(second.glob(".copying-*"))


def _not_ready(*_: object) -> None:
    raise NotReady("deletions are left")


def test_what_is_no_store_is_reported(memory: Memory, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NotFound):
        restore_store(settings(tmp_path / "second"), empty, memory.now)
    (empty / "recollect.db").write_bytes(b"no database, but long enough to be read as a header" * 20)
    with pytest.raises(StoredDataError):
        restore_store(settings(tmp_path / "second"), empty, memory.now)
    assert not (tmp_path / "second" / "recollect.db").exists()
    with pytest.raises(InvalidInput):
        back_up_store(settings(tmp_path / "nobody"), tmp_path / "copy")
    with pytest.raises(InvalidInput):
        back_up_store(replace(settings(tmp_path / "first"), engines="aws"), tmp_path / "copy")
