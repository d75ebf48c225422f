"""What has expired becomes a tombstone, without any rule: found by a queue, as soon as it is due."""

from datetime import timedelta

import pytest

from embedded.keeping import DAY, NOW, Keeping
from embedded.setting import ANNA, NOON
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.save import MemoryChange
from recollect.memories.storage import memory_key
from recollect.timeline.record import EventDraft


@pytest.mark.spec("P-22")
def test_what_has_expired_becomes_a_tombstone_without_any_rule(keeping: Keeping) -> None:
    keeping.say("the zebra sings", 50, expires_at=NOW, importance=0.9)
    keeping.say("the owl hoots", 50, expires_at=NOW + timedelta(microseconds=1))
    assert keeping.retain() == {"expired": 1}
    assert keeping.left() == ["the owl hoots"]
    draft = EventDraft(content="the zebra sings", timestamp=NOW - 50 * DAY, expires_at=NOW)
    assert keeping.memory.add(draft).results[0].status.value == "refused"
    assert not keeping.memory.app.parts.items.get(ANNA, [memory_key(keeping.ids["the zebra sings"])])
    assert keeping.told()[0]["reason"] == "expired"
    assert keeping.memory.app.parts.items.due("expiry", NOW, 10, None).items == ()


@pytest.mark.spec("P-22")
def test_an_expired_value_leaves_its_slot_empty(keeping: Keeping) -> None:
    keeping.say("Rome", 50, key="city")
    keeping.say("Paris", 49, key="city", expires_at=NOW - DAY)
    keeping.retain()
    assert keeping.left() == ["Rome"]
    (left,) = keeping.memory.app.parts.timeline.newest(ANNA, 10)
    assert left.superseded_by == keeping.ids["Paris"]


def test_a_memory_that_a_person_lets_expire_goes_with_its_events(keeping: Keeping) -> None:
    first = keeping.say("I love jazz", 10, importance=0.8)
    keeping.memory.project()
    keeping.say("I love jazz", 9, importance=0.8)
    keeping.memory.project()
    change = MemoryChange({"expires_at": NOW - DAY}, Actor(ActorKind.USER, "anna"), lambda version: True)
    keeping.memory.app.memories.store.patch(ANNA, first, change, NOON)
    assert keeping.retain() == {"expired": 2}
    assert keeping.left() == []


def test_a_postponed_expiry_is_checked_again_then(keeping: Keeping) -> None:
    event_id = keeping.say("I love jazz", 10, importance=0.8)
    keeping.memory.project()
    user = Actor(ActorKind.USER, "anna")
    for moment in (NOW - DAY, NOW + DAY):
        change = MemoryChange({"expires_at": moment}, user, lambda version: True)
        keeping.memory.app.memories.store.patch(ANNA, event_id, change, NOON)
        keeping.memory.project()
    assert keeping.retain() == {}
    (due,) = keeping.memory.app.parts.items.due("expiry", NOW + DAY, 10, None).items
    assert due.at == NOW + DAY


def test_a_deleted_event_leaves_nothing_to_look_at(keeping: Keeping) -> None:
    event_id = keeping.say("the zebra sings", 10, expires_at=NOW)
    keeping.memory.project()
    keeping.memory.app.deletion.events.forget(ANNA, event_id=event_id, now=NOON)
    assert keeping.retain() == {}
    assert keeping.memory.app.parts.items.due("expiry", NOW, 10, None).items == ()
