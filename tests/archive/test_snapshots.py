"""Snapshots: taken piece by piece, restored without what was deleted, compared."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from embedded.archiving import all_events, exported, keyed, remarks, run_job, snapshot
from embedded.setting import ANNA, Memory, open_memory, with_parts
from embedded.standing import Before
from recollect.archive.snapshot import piece_name, vectors_name
from recollect.core.errors import InvalidInput, NotFound
from recollect.core.learned_share import NOTHING_LEARNED
from recollect.core.scope import Scope
from recollect.timeline.record import EventDraft

BEN = Scope("acme", "ben")


@pytest.fixture
def other(memory: Memory, tmp_path: Path) -> Iterator[Memory]:
    """Another store, with the same place for snapshots."""
    opened = open_memory(tmp_path / "other")
    yield with_parts(opened, snapshots=memory.app.parts.snapshots)
    opened.app.parts.close()


def test_a_snapshot_is_listed_with_its_counts(memory: Memory) -> None:
    remarks(memory, 620)
    memory.add("the ships are in", scope=BEN)
    memory.project()
    first = snapshot(memory)
    second = snapshot(memory, user_id="ben")
    page = memory.app.segments.snapshots.page("acme", 10, None)
    assert [one.id for one in page.snapshots] == [second, first]
    assert dict(page.snapshots[0].counts) | {"bytes": 0} == {"users": 1, "events": 1, "memories": 0, "bytes": 0}
    assert page.snapshots[1].counts["users"] == 2
    assert page.snapshots[1].counts["events"] == 621
    newest = memory.app.segments.snapshots.page("acme", 1, None)
    assert ([one.id for one in newest.snapshots], newest.more) == ([second], second)
    assert [one.id for one in memory.app.segments.snapshots.page("acme", 1, newest.more).snapshots] == [first]
    assert memory.app.segments.snapshots.page("other", 10, None).snapshots == ()


def test_who_was_never_projected_is_in_a_tenants_snapshot(memory: Memory) -> None:
    memory.add("Ben likes ships", scope=BEN)
    assert memory.app.timeline.known_users.page("acme", 10, None).user_ids == ()
    snapshot(memory)
    [made] = memory.app.segments.snapshots.page("acme", 10, None).snapshots
    assert (made.counts["users"], made.counts["events"]) == (1, 1)


@pytest.mark.spec("A-52")
def test_a_new_store_is_restored(memory: Memory, other: Memory) -> None:
    remarks(memory, 520)
    keyed(memory, "city", "Paris", "Lyon")
    memory.add("Ben likes ships", scope=BEN)
    memory.project()
    made = snapshot(memory)
    counts = run_job(other, other.app.archive.restore, snapshot_id=made)
    assert counts == {"created": 523, "duplicate": 0, "refused": 0, "invalid": 0, "users": 2}
    assert [event.id for event in all_events(other)] == [event.id for event in all_events(memory)]
    other.project()
    for scope in (ANNA, BEN):
        assert all_events(other, scope) == all_events(memory, scope)
        assert exported(other, scope) == exported(memory, scope)
    assert other.found("Lyon")[0] == "Lyon"


@pytest.mark.spec("A-37")
def test_vectors_come_with_it_and_nothing_is_embedded_again(memory: Memory, other: Memory) -> None:
    ids = remarks(memory, 20)
    memory.project()
    made = snapshot(memory)
    run_job(other, other.app.archive.restore, snapshot_id=made)
    assert set(other.app.parts.projections.vectors(ANNA, ids)) == set(ids)

    class Silent:
        generation, dimension = memory.app.parts.embedder.generation, 384  # type: ignore[union-attr]
        learned = NOTHING_LEARNED

        def encode(self, texts: object, kind: object, **_: object) -> object:
            raise AssertionError("nothing is to be embedded")

    silent = with_parts(other, embedder=Silent())
    silent.project()
    assert silent.app.parts.projections.pending(10, None).markers == ()


@pytest.mark.spec("P-22")
def test_the_same_store_gets_back_what_it_lost_and_not_what_it_deleted(memory: Memory) -> None:
    ids = remarks(memory, 5)
    memory.project()
    made = snapshot(memory)
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[2])
    memory.project()
    counts = run_job(memory, memory.app.archive.restore, snapshot_id=made)
    assert counts == {"created": 0, "duplicate": 4, "refused": 0, "invalid": 0, "users": 1}
    assert ids[2] not in {event.id for event in all_events(memory)}


@pytest.mark.spec("P-22")
def test_a_tombstone_refuses_where_the_object_could_not_be_rewritten(memory: Memory) -> None:
    ids = remarks(memory, 5)
    memory.project()
    made = snapshot(memory)
    store, name = memory.app.parts.snapshots, piece_name(made, "anna", 0)
    before = store.get("acme", name)
    assert before is not None
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[2])
    memory.project()
    rewritten = store.get("acme", name)
    assert rewritten is not None
    store.put_if_match("acme", name, before[0], rewritten[1])
    counts = run_job(memory, memory.app.archive.restore, snapshot_id=made)
    assert counts == {"created": 0, "duplicate": 4, "refused": 1, "invalid": 0, "users": 1}


@pytest.mark.spec("P-22")
def test_a_deletion_reaches_every_snapshot(memory: Memory) -> None:
    ids = remarks(memory, 520)
    memory.project()
    made = [snapshot(memory), snapshot(memory, user_id="anna")]
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[510])
    memory.project()
    for one in made:
        kept = [line.event.id for n in (0, 1) for line in memory.app.segments.snapshots.lines(ANNA, one, n)]
        assert kept == [i for i in ids if i != ids[510]]
        vectors = memory.app.segments.snapshots.vectors(ANNA, one, 1)
        assert ids[510].encode() not in vectors
        assert len(vectors.splitlines()) == 19


@pytest.mark.spec("P-22")
def test_a_deletion_costs_the_same_calls_whatever_the_size(memory: Memory) -> None:
    calls = []
    for size in (30, 600):
        scope = Scope("acme", f"user-{size}")
        ids = remarks(memory, size, scope)
        memory.project()
        memory.app.segments.compaction.close(scope, memory.now)
        memory.app.segments.compaction.compact(scope, memory.now)
        run_job(memory, memory.app.archive.take_snapshot, user_id=scope.user_id)
        counted = Counted(memory.app.parts.snapshots)
        ref = all_events(memory, scope)[7].ref
        with_parts(memory, snapshots=counted).app.segments.rewriting.rewrite(scope, [ref], memory.now)
        calls.append(counted.calls - len(memory.app.segments.snapshots.begun("acme")))
        assert ids
    assert calls[0] == calls[1]


class Counted(Before):
    """A store that counts its calls."""

    calls = 0

    def __getattr__(self, name: str) -> Any:
        self.calls += 1
        return super().__getattr__(name)


@pytest.mark.spec("P-22")
def test_an_erasure_leaves_nothing_in_the_archive(memory: Memory, tmp_path: Path) -> None:
    remarks(memory, 20)
    memory.add("Ben likes ships", scope=BEN)
    memory.project()
    snapshot(memory)
    memory.app.segments.compaction.close(ANNA, memory.now)
    memory.app.segments.compaction.compact(ANNA, memory.now)
    report = memory.app.segments.rewriting.erase(ANNA)
    assert (report.segments, report.pieces) == (1, 1)
    assert not list(memory.app.segments.contents.read(ANNA))
    names = list(memory.app.parts.snapshots.names("acme", "snapshots/data/"))
    assert len(names) == 3
    assert memory.app.segments.rewriting.erase(ANNA).pieces == 0


def test_one_user_of_it_is_restored(memory: Memory, other: Memory) -> None:
    remarks(memory, 3)
    memory.add("Ben likes ships", scope=BEN)
    memory.project()
    made = snapshot(memory)
    counts = run_job(other, other.app.archive.restore, snapshot_id=made, user_id="ben")
    assert (counts["created"], counts["users"]) == (1, 1)
    assert all_events(other) == []
    with pytest.raises(NotFound):
        run_job(other, other.app.archive.restore, snapshot_id=made, user_id="nobody")


@pytest.mark.spec("A-52", "A-55")
def test_a_lost_table_is_made_anew_from_the_segments(memory: Memory, other: Memory) -> None:
    remarks(memory, 510)
    memory.project()
    memory.app.segments.compaction.close(ANNA, memory.now)
    memory.app.segments.compaction.compact(ANNA, memory.now)
    for user_id in (None, "anna"):
        counts = run_job(other, other.app.archive.restore, snapshot_id="timeline", **_given(user_id))
        assert counts["created"] + counts["duplicate"] == 510
    other.project()
    assert all_events(other) == all_events(memory)


def _given(user_id: str | None) -> dict[str, str]:
    return {} if user_id is None else {"user_id": user_id}


@pytest.mark.spec("A-55")
def test_a_broken_piece_is_restored_as_far_as_it_is_whole(memory: Memory, other: Memory) -> None:
    remarks(memory, 300)
    memory.project()
    made = snapshot(memory)
    store, name = memory.app.parts.snapshots, piece_name(made, "anna", 0)
    found = store.get("acme", name)
    assert found is not None
    store.put_if_match("acme", name, found[0][: len(found[0]) // 2], found[1])
    vectors = store.get("acme", vectors_name(made, "anna", 0))
    assert vectors is not None
    store.put_if_match("acme", vectors_name(made, "anna", 0), b"{}\n[\n" + vectors[0], vectors[1])
    counts = run_job(other, other.app.archive.restore, snapshot_id=made)
    assert 125 <= counts["created"] < 300
    assert other.app.parts.publisher.published("acme", "memory:episodic:warning", None)


def test_a_restore_of_nothing_is_refused(memory: Memory) -> None:
    with pytest.raises(NotFound):
        run_job(memory, memory.app.archive.restore, snapshot_id="none")
    with pytest.raises(InvalidInput):
        run_job(memory, memory.app.archive.restore)


def test_two_snapshots_are_compared(memory: Memory) -> None:
    ids = remarks(memory, 3)
    keyed(memory, "city", "Paris")
    memory.project()
    first = snapshot(memory)
    memory.add("added later")
    keyed(memory, "city", "Lyon")
    memory.add(EventDraft(content="Ben likes ships", timestamp=memory.now), scope=BEN)
    memory.project()
    second = snapshot(memory)
    diff = memory.app.segments.differences.diff("acme", first, second)
    assert diff.counts == {"added": 3, "changed": 1}
    assert {(one.kind, one.user_id) for one in diff.changes} == {
        ("added", "anna"), ("changed", "anna"), ("added", "ben"),
    }  # fmt: skip
    assert memory.app.segments.differences.diff("acme", second, first).counts == {"removed": 3, "changed": 1}
    assert memory.app.segments.differences.diff("acme", first, first).counts == {}
    assert len(memory.app.segments.differences.diff("acme", first, second, named=1).changes) == 1
    assert ids


def test_an_incomplete_snapshot_is_not_listed_and_is_continued(memory: Memory) -> None:
    remarks(memory, 520)
    memory.project()
    job_id = memory.app.ids.seed(1_700_000_000_000).nth(0)
    seconds = iter([30.0])
    progress = memory.app.archive.take_snapshot.step("acme", {"job_id": job_id}, memory.now, lambda: next(seconds, 0.0))
    assert not progress.done
    assert memory.app.segments.snapshots.page("acme", 10, None).snapshots == ()
    assert json.loads(json.dumps(progress.state)) == dict(progress.state)
    run_job(memory, memory.app.archive.take_snapshot, **{**progress.state})
    [made] = memory.app.segments.snapshots.page("acme", 10, None).snapshots
    assert (made.id, made.counts["events"]) == (job_id, 520)
    again = run_job(memory, memory.app.archive.take_snapshot, **{**progress.state})
    assert again["events"] == 520
    assert memory.app.segments.snapshots.page("acme", 10, None).snapshots == (replace(made),)
