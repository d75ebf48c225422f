"""A slot whose value may not come back stays empty: no restore and no import makes an older value current (P-22)."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from embedded.archiving import USER, all_events, exported, imported, keyed, remarks, run_job, snapshot, texts
from embedded.setting import ANNA, Memory, open_memory, with_parts
from recollect.archive.transfer import LineOutcome
from recollect.deletion.reject import Rejecting
from recollect.deletion.storage import EMPTIED_SLOTS
from recollect.timeline.record import EventDraft
from recollect.timeline.slots import SlotEntry

CITY = ("", "", "city")


@pytest.fixture
def other(memory: Memory, tmp_path: Path) -> Iterator[Memory]:
    """A new store, with the same place for objects."""
    opened = open_memory(tmp_path / "other")
    yield with_parts(opened, snapshots=memory.app.parts.snapshots)
    opened.app.parts.close()


def current(memory: Memory, spoken: int = 0) -> list[str]:
    """What is current of the slot: as the timeline says, as a search says, and as of a later instant.

    `spoken` events have no key.
    """
    standing = [event for event in all_events(memory) if event.superseded_by is None]
    stored = {event.content for event in standing if event.key is not None}
    assert len(standing) == len(stored) + spoken
    later = memory.now + timedelta(days=1)
    found = {*memory.found("city Paris Lyon Rome Oslo", key="city")}
    as_of = {*memory.found("city Paris Lyon Rome Oslo", key="city", as_of=later)}
    assert stored == found == as_of
    return sorted(stored)


@pytest.mark.spec("P-22")
def test_a_refused_value_leaves_its_slot_empty(memory: Memory, other: Memory) -> None:
    keyed(memory, "city", "Paris", "Lyon")
    memory.project()
    other.now = memory.now
    other.app.deletion.values.reject(ANNA, "Lyon", Rejecting(now=other.now, actor=USER, via="test"))
    lines = exported(memory)
    for count in ({LineOutcome.CREATED: 1, LineOutcome.REFUSED: 1}, {LineOutcome.DUPLICATE: 1, LineOutcome.REFUSED: 1}):
        assert imported(other, lines).counts == count
        assert current(other) == []
        other.project()
        assert current(other) == []
    assert SlotEntry(lines[1].event.ref, lines[1].event.recorded_at, True) in other.app.parts.timeline.slot_history(
        ANNA, CITY
    )


@pytest.mark.spec("P-22")
def test_in_whatever_order_the_values_come(memory: Memory, other: Memory) -> None:
    keyed(memory, "city", "Paris", "Rome", "Lyon")
    memory.project()
    other.now = memory.now
    other.app.deletion.values.reject(ANNA, "Lyon", Rejecting(now=other.now, actor=USER, via="test"))
    paris, rome, lyon = exported(memory)
    forgotten = replace(rome, event=replace(rome.event, superseded_by=None, superseded_at=None))
    imported(other, [paris, forgotten])
    other.project()
    assert current(other) == ["Rome"]
    imported(other, [lyon])
    assert {event.content for event in all_events(other) if event.superseded_by is None} == set()
    other.project()
    assert current(other) == []


@pytest.mark.spec("P-22")
def test_a_refused_value_that_was_superseded_changes_nothing(memory: Memory, other: Memory) -> None:
    keyed(memory, "city", "Paris", "Lyon")
    memory.project()
    other.now = memory.now
    other.app.deletion.values.reject(ANNA, "Paris", Rejecting(now=other.now, actor=USER, via="test"))
    imported(other, exported(memory))
    other.project()
    assert current(other) == ["Lyon"]


@pytest.mark.spec("P-22")
def test_a_snapshot_without_the_deleted_value_leaves_its_slot_empty(memory: Memory, other: Memory) -> None:
    keyed(memory, "city", "Paris", "Lyon")
    memory.project()
    made = snapshot(memory)
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=memory.ids[-1])
    memory.project()
    other.now = memory.now
    assert run_job(other, other.app.archive.restore, snapshot_id=made)["created"] == 1
    assert current(other) == []
    other.project()
    assert (texts(all_events(other)), current(other)) == (["Paris"], [])
    other.add(EventDraft(content="Rome", key="city", timestamp=memory.now - timedelta(seconds=30)))
    other.project()
    assert current(other) == []
    keyed(other, "city", "Oslo")
    other.project()
    assert current(other) == ["Oslo"]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("waiting", [0, 120], ids=["few wait", "more wait than the tail shows"])
def test_a_newer_value_that_is_not_projected_yet_counts_in_a_snapshot(
    memory: Memory, other: Memory, waiting: int
) -> None:
    keyed(memory, "city", "Paris")
    memory.project()
    keyed(memory, "city", "Lyon")
    lyon = memory.ids[-1]
    remarks(memory, waiting)
    made = snapshot(memory)
    memory.project()
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=lyon)
    memory.project()
    other.now = memory.now
    run_job(other, other.app.archive.restore, snapshot_id=made)
    other.project()
    assert "Lyon" not in texts(all_events(other))
    assert [event.superseded_by for event in all_events(other) if event.content == "Paris"] == [lyon]
    assert not {"Paris", "Lyon"} & {*other.found("city Paris Lyon", key="city")}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("archive", ["timeline", "snapshot"])
@pytest.mark.parametrize("projected", [True, False])
@pytest.mark.parametrize("archived", [True, False], ids=["the newer is archived", "the newer is not"])
def test_an_archived_value_stays_superseded_by_one_that_was_said_later_and_deleted(
    memory: Memory, other: Memory, archive: str, projected: bool, archived: bool
) -> None:
    """The archive holds the older one as it was before the newer was said."""
    keyed(memory, "city", "Oslo", "Paris")
    remarks(memory, 3)
    memory.project()
    made = archive_of(memory)
    keyed(memory, "city", "Rome", "Lyon")
    if projected:
        memory.project()
    if archived:
        archive_of(memory)
    for event_id in reversed(memory.ids[-2:]):
        memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=event_id)
    memory.project()
    other.now = memory.now
    run_job(other, other.app.archive.restore, snapshot_id="timeline" if archive == "timeline" else made)
    other.project()
    assert len(all_events(other)) == 5
    assert current(other, spoken=3) == []
    assert memory.app.parts.items.page(ANNA, EMPTIED_SLOTS, 10, None).items == ()
    keyed(other, "city", "Oslo again")
    other.project()
    assert current(other, spoken=3) == ["Oslo again"]


@pytest.mark.spec("P-22")
def test_what_was_archived_without_the_last_value_before_is_told_too(memory: Memory, other: Memory) -> None:
    keyed(memory, "city", "Oslo")
    memory.project()
    made = archive_of(memory)
    keyed(memory, "city", "Paris", "Lyon")
    memory.project()
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=memory.ids[-1])
    memory.project()
    other.now = memory.now
    for one in (made, "timeline"):
        run_job(other, other.app.archive.restore, snapshot_id=one)
        other.project()
        assert (texts(all_events(other)), current(other)) == (["Oslo"], [])


def archive_of(memory: Memory) -> str:
    """A snapshot, and all that is projected in segments."""
    memory.app.segments.compaction.close(ANNA, memory.now)
    memory.app.segments.compaction.compact(ANNA, memory.now)
    return snapshot(memory)
