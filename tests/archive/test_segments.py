"""Segments of a timeline: assigned once, written beside everything, rewritten by deletions, read back though broken."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from embedded.archiving import all_events, assigned, remarks, texts
from embedded.failing import Fault, Faults, ids_of, with_faults
from embedded.setting import ANNA, Memory, with_parts
from embedded.standing import Before
from recollect.app import App
from recollect.archive.segments import SEGMENT_EVENTS, manifest_name, segment_name
from recollect.composition.deployment import Parts
from recollect.core.errors import NotReady, Unavailable
from recollect.core.scope import Scope

BEN = Scope("acme", "ben")


def places(memory: Memory, events: list[str], scope: Scope = ANNA) -> set[str]:
    return set(memory.app.projection.steps.segments.known(scope, events).values())


@pytest.mark.spec("A-53", "A-59")
def test_an_event_has_its_segment_from_its_projection_on(memory: Memory) -> None:
    ids = remarks(memory, SEGMENT_EVENTS + 20)
    assert memory.app.projection.steps.segments.known(ANNA, ids) == {}
    memory.project()
    known = memory.app.projection.steps.segments.known(ANNA, ids)
    assert [known[one] for one in ids] == ["00000001"] * SEGMENT_EVENTS + ["00000002"] * 20
    assert memory.app.projection.steps.segments.count(ANNA) == 2
    assert memory.app.projection.steps.segments.count(BEN) == 0
    assert assigned(memory.app, all_events(memory), memory.now) == known


@pytest.mark.spec("A-61")
def test_the_bus_tells_segment_and_count(memory: Memory) -> None:
    remarks(memory, 3)
    memory.project()
    published = memory.app.parts.publisher.published("acme", "memory:episodic:saved", None)
    assert [(one.detail["segmentId"], one.detail["segmentCount"]) for one in published] == [("00000001", 1)] * 3


def test_many_at_once_fill_segments_without_a_gap(memory: Memory) -> None:
    remarks(memory, 620)
    events = all_events(memory)
    found: dict[str, str] = {}

    def work(part: int) -> None:
        for start in range(part * 20, len(events), 80):
            some = events[start : start + 40]  # neighbours overlap: two assign the same events
            found.update(assigned(memory.app, some, memory.now))

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found.values()) == ["00000001"] * 500 + ["00000002"] * 120
    assert memory.app.projection.steps.segments.known(ANNA, list(found)) == found


@pytest.mark.spec("A-52", "A-53")
def test_closed_segments_are_written_once(memory: Memory) -> None:
    remarks(memory, SEGMENT_EVENTS * 2 + 1)
    memory.project()
    done = memory.app.segments.compaction.run(memory.now, lambda: 100.0)
    assert (done.segments, done.events, done.failed) == (2, SEGMENT_EVENTS * 2, 0)
    assert done.bytes * 3 <= done.raw_bytes
    store = memory.app.parts.snapshots
    assert list(store.names("acme", "timeline/")) == [
        segment_name("anna", "00000001"),
        segment_name("anna", "00000002"),
        manifest_name("anna"),
    ]
    assert [line.event for line in memory.app.segments.contents.read(ANNA)] == all_events(memory)[: SEGMENT_EVENTS * 2]
    assert memory.app.segments.compaction.run(memory.now, lambda: 100.0).segments == 0


class Held(Before):
    """A store whose first write waits until it may go on."""

    def __init__(self, part: object) -> None:
        super().__init__(part)
        self.writing, self.go_on = threading.Event(), threading.Event()

    def put_if_absent(self, tenant: str, name: str, data: bytes) -> str:
        self.writing.set()
        assert self.go_on.wait(10)
        return str(self.part.put_if_absent(tenant, name, data))


@contextmanager
def compacting(memory: Memory) -> Iterator[None]:
    """While the body runs, a compaction is in the middle of writing its first object."""
    store = Held(memory.app.parts.snapshots)
    compact = with_parts(memory, snapshots=store).app.segments.compaction.compact
    worker = threading.Thread(target=compact, args=(ANNA, memory.now))
    worker.start()
    assert store.writing.wait(10)
    yield
    store.go_on.set()
    worker.join(10)


@pytest.mark.spec("A-54")
def test_writes_succeed_while_a_segment_is_written(memory: Memory) -> None:
    remarks(memory, SEGMENT_EVENTS)
    memory.project()
    with compacting(memory):
        memory.add("said meanwhile")
        memory.project()
        assert "said meanwhile" in memory.found("said meanwhile")
    assert len(list(memory.app.segments.contents.read(ANNA))) == SEGMENT_EVENTS


class PurgesSecond(Before):
    """A store whose first purge fails."""

    purged: tuple[str, ...] = ()

    def purge(self, tenant: str, name: str) -> None:
        self.purged += (name,)
        if len(self.purged) == 1:
            raise Unavailable("the store is away")
        self.part.purge(tenant, name)


@pytest.mark.spec("P-22")
def test_a_purge_that_failed_is_made_by_the_next_try(memory: Memory) -> None:
    ids = remarks(memory, SEGMENT_EVENTS)
    memory.project()
    memory.app.segments.compaction.compact(ANNA, memory.now)
    store, name = PurgesSecond(memory.app.parts.snapshots), segment_name("anna", "00000001")
    archive = with_parts(memory, snapshots=store).app.segments.archive
    with pytest.raises(Unavailable):
        archive.remove(ANNA, name, {ids[7]})
    assert archive.remove(ANNA, name, {ids[7]}) is None
    assert store.purged == (name, name)


@pytest.mark.spec("P-22")
def test_what_is_deleted_while_its_segment_is_written_is_not_in_it(memory: Memory) -> None:
    ids = remarks(memory, SEGMENT_EVENTS)
    memory.project()
    with compacting(memory):
        memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[7])
        memory.project()
    kept = [line.event.id for line in memory.app.segments.contents.read(ANNA)]
    assert len(kept) == SEGMENT_EVENTS - 1
    assert ids[7] not in kept


@pytest.mark.spec("A-57", "P-22")
def test_a_deletion_rewrites_the_segment(memory: Memory, tmp_path: Path) -> None:
    ids = remarks(memory, SEGMENT_EVENTS)
    memory.project()
    memory.app.segments.compaction.compact(ANNA, memory.now)
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[3])
    memory.project()
    assert [line.event.id for line in memory.app.segments.contents.read(ANNA)] == [one for one in ids if one != ids[3]]
    [entry] = memory.app.segments.contents.manifest(ANNA).segments
    assert (entry.id, entry.events) == ("00000001", SEGMENT_EVENTS - 1)
    stored = b"".join(file.read_bytes() for file in tmp_path.rglob("*.segment"))
    assert stored
    assert memory.app.projection.steps.segments.known(ANNA, ids[3:4]) == {}


@pytest.mark.spec("P-22", "P-25")
def test_a_removal_that_failed_reaches_the_segment_when_it_is_tried_again(memory: Memory) -> None:
    """It is noted by then, without its marker and its vector."""
    ids = remarks(memory, 3)
    memory.project()
    memory.app.segments.compaction.close(ANNA, memory.now)
    memory.app.segments.compaction.compact(ANNA, memory.now)
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[1])
    with_faults(memory, Faults({ids[1]: Fault("steps.archive", ValueError)})).app.projection.reconciliation.run(
        memory.now
    )
    assert ids_of(memory, [ANNA]) == set()
    assert memory.app.projection.failed_events.of_user(ANNA) == {ids[1]}
    assert len(list(memory.app.segments.contents.read(ANNA))) == 3
    memory.now += timedelta(hours=1)
    memory.app.projection.reconciliation.run(memory.now)
    assert memory.app.projection.failed_events.of_user(ANNA) == frozenset()
    assert [line.event.id for line in memory.app.segments.contents.read(ANNA)] == [ids[0], ids[2]]
    assert memory.app.projection.steps.segments.known(ANNA, ids).keys() == {ids[0], ids[2]}


@pytest.mark.spec("P-22")
def test_a_segment_all_of_whose_records_go_while_it_is_written_leaves_no_object(memory: Memory) -> None:
    ids = remarks(memory, 2)
    memory.project()
    memory.app.segments.compaction.close(ANNA, memory.now)
    with compacting(memory):
        for event_id in ids:
            memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=event_id)
        memory.project()
    assert list(memory.app.segments.contents.read(ANNA)) == []
    assert [name for name in memory.app.parts.snapshots.names("acme", "timeline/") if name.endswith(".segment")] == []


def test_a_segment_without_records_is_deleted(memory: Memory) -> None:
    ids = remarks(memory, 3)
    memory.project()
    memory.app.segments.compaction.close(ANNA, memory.now)
    memory.app.segments.compaction.compact(ANNA, memory.now)
    assert len(list(memory.app.segments.contents.read(ANNA))) == 3
    for one in ids:
        memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=one)
    memory.project()
    assert memory.app.segments.contents.manifest(ANNA).segments == ()
    assert list(memory.app.parts.snapshots.names("acme", "timeline/")) == [manifest_name("anna")]


def test_an_open_segment_is_closed_by_word(memory: Memory) -> None:
    remarks(memory, 60)
    memory.project()
    memory.app.segments.compaction.close(BEN, memory.now)
    memory.app.segments.compaction.close(ANNA, memory.now)
    memory.app.segments.compaction.close(ANNA, memory.now)
    done = memory.app.segments.compaction.compact(ANNA, memory.now)
    assert (done.segments, done.events) == (1, 60)
    more = remarks(memory, 1, start=60)
    memory.project()
    assert places(memory, more) == {"00000002"}


@pytest.mark.spec("A-55")
def test_a_broken_segment_warns_and_the_rest_is_served(memory: Memory) -> None:
    remarks(memory, SEGMENT_EVENTS * 2)
    memory.project()
    memory.app.segments.compaction.compact(ANNA, memory.now)
    store, name = memory.app.parts.snapshots, segment_name("anna", "00000001")
    found = store.get("acme", name)
    assert found is not None
    data, tag = found
    store.put_if_match("acme", name, data[:1500] + bytes([data[1500] ^ 255]) + data[1501:], tag)
    served = texts([line.event for line in memory.app.segments.contents.read(ANNA)])
    assert SEGMENT_EVENTS * 2 - 125 <= len(served) < SEGMENT_EVENTS * 2
    assert set(served) <= set(texts(all_events(memory)))
    [warning] = memory.app.parts.publisher.published("acme", "memory:episodic:warning", None)
    assert (warning.detail["severity"], warning.detail["source"]) == ("warning", name)
    assert warning.detail["hints"]


@pytest.mark.spec("A-52")
def test_a_compaction_continues_after_a_crash_at_any_write(memory: Memory) -> None:
    remarks(memory, SEGMENT_EVENTS)
    memory.project()
    for calls in range(4):
        broken = with_parts(memory, snapshots=FailingAfter(memory.app.parts.snapshots, calls))
        if calls < 2:
            with pytest.raises(Unavailable):
                broken.app.segments.compaction.compact(ANNA, memory.now)
        else:
            broken.app.segments.compaction.compact(ANNA, memory.now)
            break
    assert len(list(memory.app.segments.contents.read(ANNA))) == SEGMENT_EVENTS


class FailingAfter(Before):
    """A store that takes that many writes, and no more."""

    def __init__(self, store: object, calls: int) -> None:
        super().__init__(store)
        self._left = calls

    def __getattr__(self, name: str) -> Any:
        if name.startswith("put"):
            self._left -= 1
            if self._left < 0:
                raise Unavailable("the store is away")
        return super().__getattr__(name)


class NoPlace(Before):
    """Parts without a place for objects."""

    @property
    def snapshots(self) -> None:
        raise NotReady("there is no bucket")


def test_without_a_place_for_objects_deletions_go_on(memory: Memory) -> None:
    ids = remarks(memory, 2)
    app = App(memory.app.settings, cast(Parts, NoPlace(memory.app.parts)))
    without = Memory(app, memory.now, memory.ids)
    without.project()
    app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[0])
    without.project()
    assert [event.id for event in all_events(memory)] == ids[1:]
    with pytest.raises(NotReady):
        app.archive.take_snapshot.step("acme", {"job_id": "x"}, memory.now, lambda: 30.0)
