"""Readers apply to pending events the rule that `project` will apply to them (P-19)."""

from datetime import timedelta

import pytest

from embedded.setting import ANNA, NOON, Memory
from recollect.contracts.examples import some_events
from recollect.core.scope import Scope
from recollect.retrieval.unprojected import TailSlots
from recollect.timeline.record import EventDraft


def city(name: str, day: int) -> EventDraft:
    return EventDraft(content=name, key="city", timestamp=NOON + timedelta(days=day))


def texts(memory: Memory, question: str) -> list[str]:
    return [one.item.content for one in memory.context(question).prompt.memories]


@pytest.mark.spec("P-19")
def test_an_older_value_that_arrives_late_is_in_no_answer_before_it_is_projected(memory: Memory) -> None:
    memory.add(city("Lyon", 2))
    memory.project()
    memory.add(city("Rome", 1))
    for _ in range(2):
        assert memory.found("Rome Lyon") == texts(memory, "Rome Lyon") == ["Lyon"]
        assert set(memory.found("Rome Lyon", include_superseded=True)) == {"Rome", "Lyon"}
        memory.project()


@pytest.mark.spec("P-19")
def test_a_newer_value_is_the_slots_before_it_is_projected(memory: Memory) -> None:
    memory.add(city("Lyon", 2))
    memory.project()
    memory.add(city("Bonn", 3))
    memory.add(city("Oslo", 9), scope=Scope("acme", "anna", "coach"))
    for _ in range(2):
        assert sorted(memory.found("Lyon Bonn Oslo")) == ["Bonn", "Oslo"]
        memory.project()


def test_without_keys_no_slot_is_read(memory: Memory) -> None:
    class Unread:
        def slot_history(self, *_: object) -> None:
            raise AssertionError("read")

    events = some_events(ANNA, 3)
    slots = TailSlots(Unread(), memory.app.parts.concurrency)  # type: ignore[arg-type]
    assert slots.read(ANNA, events) == tuple(events)
