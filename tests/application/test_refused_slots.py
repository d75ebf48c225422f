"""A slot whose value may not come back stays empty: no restore and no import makes an older value current (P-22)."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from application.archiving import USER, all_events, exported, imported, keyed, run_job, snapshot, texts
from application.setting import ANNA, Memory, open_memory, with_parts
from recollect.application.import_memories import LineOutcome
from recollect.application.reject_value import Rejecting
from recollect.domain.drafting import EventDraft
from recollect.domain.slots import SlotEntry

CITY = ("", "", "city")


@pytest.fixture
def other(memory: Memory, tmp_path: Path) -> Iterator[Memory]:
    """A new store, with the same place for objects."""
    opened = open_memory(tmp_path / "other")
    yield with_parts(opened, snapshots=memory.app.parts.snapshots)
    opened.app.parts.close()


def current(memory: Memory) -> list[str]:
    """What is current of the slot: as the timeline says, as a search says, and as of a later instant."""
    stored = {event.content for event in all_events(memory) if event.superseded_by is None}
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
    other.app.reject_value(ANNA, "Lyon", Rejecting(now=other.now, actor=USER, via="test"))
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
    other.app.reject_value(ANNA, "Lyon", Rejecting(now=other.now, actor=USER, via="test"))
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
    other.app.reject_value(ANNA, "Paris", Rejecting(now=other.now, actor=USER, via="test"))
    imported(other, exported(memory))
    other.project()
    assert current(other) == ["Lyon"]


@pytest.mark.spec("P-22")
def test_a_snapshot_without_the_deleted_value_leaves_its_slot_empty(memory: Memory, other: Memory) -> None:
    keyed(memory, "city", "Paris", "Lyon")
    memory.project()
    made = snapshot(memory)
    memory.app.forget(ANNA, now=memory.now, event_id=memory.ids[-1])
    memory.project()
    other.now = memory.now
    assert run_job(other, other.app.restore_snapshot, snapshot_id=made)["created"] == 1
    assert current(other) == []
    other.project()
    assert (texts(all_events(other)), current(other)) == (["Paris"], [])
    other.add(EventDraft(content="Rome", key="city", timestamp=memory.now - timedelta(seconds=30)))
    other.project()
    assert current(other) == []
    keyed(other, "city", "Oslo")
    other.project()
    assert current(other) == ["Oslo"]
