"""Snapshots of the index in `semantic-index/`: written, found again, and without what was deleted (A-36, A-37)."""

from pathlib import Path

import pytest

from embedded.reindexing import run_job
from embedded.setting import ANNA, Memory, with_parts
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.vectors import Encoding, TextKind
from recollect.jobs.job import JobStatus
from recollect.search_index import reindex as rotate_index
from recollect.search_index.page import FOLDER, SnapshotVector, covering, index_folder, page_bytes, page_in, page_name
from recollect.search_index.rebuild import IndexSnapshots

TEXTS = tuple(f"remark number{n} of a long life" for n in range(7))


def _names(memory: Memory) -> list[str]:
    return list(memory.app.parts.snapshots.names("acme", FOLDER))


def _snapshots(memory: Memory) -> IndexSnapshots:
    found = memory.app.search_index.snapshots
    assert found is not None
    return found


def _rotate(memory: Memory) -> int:
    job = run_job(memory, "snapshot")
    assert (job.status, dict(job.errors)) == (JobStatus.DONE, {})
    return job.counts["indexed"]


def _events(memory: Memory) -> list[object]:
    return list(memory.app.parts.timeline.records(ANNA, 100, None).events)


@pytest.fixture
def kept(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Seven events in a snapshot of three pages."""
    monkeypatch.setattr(rotate_index, "PAGE", 3)
    memory.add(*TEXTS)
    memory.project()
    assert _rotate(memory) == 7
    return memory


@pytest.mark.spec("A-36")
def test_rotation_writes_pages_under_semantic_index(kept: Memory, tmp_path: Path) -> None:
    names = _names(kept)
    assert len(names) == 4
    assert all(name.startswith(index_folder("hashing.1", "anna")) for name in names)
    assert list(tmp_path.rglob("semantic-index"))


@pytest.mark.spec("A-36")
def test_the_next_rotation_takes_the_place_of_the_one_before(kept: Memory) -> None:
    before = set(_names(kept))
    kept.add("one more")
    kept.project()
    assert _rotate(kept) == 8
    assert len(_names(kept)) == 4
    assert not before & set(_names(kept))


@pytest.mark.spec("A-37")
def test_an_index_is_restored_from_the_snapshot_before_anything_is_encoded(kept: Memory) -> None:
    _lose_vectors(kept)
    embedder = _Refusing()
    restored = with_parts(kept, embedder=embedder)
    job = run_job(restored, "reindex")
    assert (job.status, job.counts["rebuilt"], job.counts["encoded"]) == (JobStatus.DONE, 7, 0)
    assert kept.found(TEXTS[3])[0] == TEXTS[3]
    assert len(kept.app.parts.projections.vectors(ANNA, kept.ids)) == 7


def test_a_snapshot_of_other_words_or_another_generation_is_not_used(kept: Memory) -> None:
    events = kept.app.parts.timeline.records(ANNA, 100, None).events
    snapshots = _snapshots(kept)
    assert set(snapshots.vectors(ANNA, events)) == set(kept.ids)
    assert snapshots.vectors(Scope("acme", "ben"), events) == {}
    assert snapshots.of("other.1").vectors(ANNA, events) == {}
    from dataclasses import replace

    assert snapshots.vectors(ANNA, [replace(events[0], content="other words")]) == {}


def test_a_rotation_that_was_not_finished_is_not_used(kept: Memory) -> None:
    store, events = kept.app.parts.snapshots, kept.app.parts.timeline.records(ANNA, 100, None).events
    for name in _names(kept):
        if name.endswith("/whole"):
            store.delete("acme", name)
    assert _snapshots(kept).vectors(ANNA, events) == {}


@pytest.mark.spec("A-36")
def test_what_is_deleted_is_in_no_snapshot(kept: Memory) -> None:
    events = kept.app.parts.timeline.records(ANNA, 100, None).events
    assert _snapshots(kept).forget(ANNA, [events[4].ref]) == 1
    assert _snapshots(kept).forget(ANNA, [events[4].ref]) == 0
    left = _snapshots(kept).vectors(ANNA, events)
    assert set(left) == set(kept.ids) - {events[4].id}
    assert _snapshots(kept).erase(ANNA) == 4
    assert _names(kept) == []


def test_a_page_is_found_by_the_place_of_a_record() -> None:
    def ref(seconds: int) -> EventRef:
        from datetime import UTC, datetime

        return EventRef("id", datetime.fromtimestamp(seconds, UTC))

    pages = [f"a/{page_name(ref(s), n)}" for n, s in enumerate((10, 20, 20, 30))]
    assert covering([*pages, "a/whole"], ref(9)) == []
    assert covering(pages, ref(15)) == pages[:1]
    assert covering(pages, ref(20)) == pages[:3]
    assert covering(pages, ref(25)) == pages[2:3]
    assert covering(pages, ref(99)) == pages[3:]


def test_a_line_that_cannot_be_read_is_left_out() -> None:
    vector = HashingEmbedder().encode(["a"], TextKind.PASSAGE)[0].vector
    data = page_bytes([SnapshotVector("a", "w", vector), SnapshotVector("b", "w", vector)])
    assert list(page_in(b"not json\n" + data[:-20])) == ["a"]


def test_a_generation_of_any_name_is_a_folder() -> None:
    assert index_folder("e5-small.int8.1") == "semantic-index/e5-small.int8.1/"
    assert index_folder("a/b") != index_folder("a/c")
    assert "/" not in index_folder("a/b").removeprefix(FOLDER)[:-1]


def _lose_vectors(memory: Memory) -> None:
    memory.app.parts.index.remove(ANNA, memory.ids)
    database = memory.app.parts._database  # type: ignore[attr-defined] # of the laptop's parts only
    with database.writing(durable=True) as connection:
        connection.execute("DELETE FROM projections")


class _Refusing(HashingEmbedder):
    def encode(self, texts: object, kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        assert kind is not TextKind.PASSAGE or not texts, "nothing is encoded"
        return super().encode(texts, kind, with_tokens=with_tokens)  # type: ignore[arg-type]
