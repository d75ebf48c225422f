"""The tombstone log: a restored or lost table deletes again before it is ready."""

import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from embedded.setting import ANNA, NOON, Memory, open_memory
from recollect.archive.transfer import ImportOrder
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.deletion.forget_memories import Order
from recollect.deletion.reject import Rejecting
from recollect.deletion.storage import deleted_key
from recollect.deletion.tombstone_log import AppliedTombstones, seconds_from_now, tombstone_name
from recollect.memories.audit import Actor, ActorKind
from recollect.timeline.record import EventDraft

USER = Actor(ActorKind.USER, "anna")
BEN = Scope("acme", "ben")


def order(memory: Memory) -> Rejecting:
    return Rejecting(now=memory.now, actor=USER, via="delete")


def kept(home: Path) -> None:
    """A copy of the database, as a backup takes it."""
    with closing(sqlite3.connect(home / "recollect.db")) as now, closing(sqlite3.connect(home / "backup")) as backup:
        now.backup(backup)


def restored(memory: Memory, home: Path, *, lost: bool = False) -> Memory:
    """The memory over the database as it was backed up, or over none; the test's own from then on, which closes it."""
    memory.app.parts.close()
    for name in home.glob("recollect.db*"):
        name.unlink()
    if not lost:
        shutil.copy(home / "backup", home / "recollect.db")
    memory.app = open_memory(home).app
    return memory


def contents(memory: Memory, scope: Scope = ANNA) -> list[str]:
    page = memory.app.parts.timeline.records(scope, 100, None)
    return [event.content for event in page.events]


def applied(memory: Memory) -> dict[str, int]:
    """What was applied; before it the memory is not ready, after it it is."""
    assert not memory.app.readiness.check().parts["tombstones"].ready
    assert not memory.app.readiness.check().ready
    counts = memory.app.deletion.tombstones.apply(memory.now, seconds_from_now(60))
    assert memory.app.readiness.check().parts["tombstones"].ready
    return dict(counts)


@pytest.mark.spec("P-22")
def test_a_restored_table_forgets_again(memory: Memory, tmp_path: Path) -> None:
    memory.add("the zebra sings", "the cat sleeps", EventDraft(content="Rome", key="city", timestamp=NOON))
    memory.add("I hate liver", scope=BEN)
    memory.project()
    memory.app.deletion.values.reject(ANNA, "I hate tea", order(memory))
    kept(tmp_path)
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    memory.app.deletion.events.forget(ANNA, key="city", now=memory.now)
    memory.app.deletion.values.reject(ANNA, "I hate liver", order(memory))
    memory.app.deletion.users.erase(BEN, memory.now, datetime.now(UTC), USER, lambda: 60.0)
    assert memory.app.readiness.check().parts["tombstones"].ready
    back = restored(memory, tmp_path)
    assert len(contents(back)) == 3
    assert applied(back) == {"events": 2, "rejection": 1, "erasure": 1}
    assert contents(back) == ["the cat sleeps"]
    assert contents(back, BEN) == []
    back.project()
    assert back.found("zebra") == ["the cat sleeps"]
    assert back.add("I HATE liver").results[0].status == "refused"
    assert back.add("I hate tea").results[0].status == "refused"
    assert back.app.deletion.tombstones.apply(back.now, seconds_from_now(60)) == {}


@pytest.mark.spec("P-22")
def test_a_lost_table_lets_nothing_in_that_was_deleted(memory: Memory, tmp_path: Path) -> None:
    memory.add("the zebra sings", "the cat sleeps")
    memory.add("said before the erasure", scope=BEN)
    events = memory.app.parts.timeline.records(ANNA, 10, None).events
    lines = memory.app.segments.record_lines.read(ANNA, events, memory.now)
    bens = memory.app.segments.record_lines.read(
        BEN, memory.app.parts.timeline.records(BEN, 10, None).events, memory.now
    )
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    memory.app.deletion.values.reject(ANNA, "I hate liver", order(memory))
    memory.app.deletion.users.erase(BEN, memory.now, datetime.now(UTC), USER, lambda: 60.0)
    new = restored(memory, tmp_path, lost=True)
    applied(new)
    assert new.add("I hate LIVER").results[0].status == "refused"
    asked = ImportOrder(actor=USER, via="restore", now=new.now)
    assert dict(new.app.archive.imports.import_lines(ANNA, lines, asked).counts) == {"created": 1, "refused": 1}
    assert dict(new.app.archive.imports.import_lines(BEN, bens, asked).counts) == {"refused": 1}
    assert contents(new) == ["the cat sleeps"]


@pytest.mark.spec("P-20", "P-22")
@pytest.mark.parametrize("conversation", ["c1", None], ids=["named conversation", "no conversation"])
@pytest.mark.parametrize("told", ["at once", "by the reconciliation"])
def test_a_lost_table_refuses_what_is_sent_again(
    memory: Memory, tmp_path: Path, conversation: str | None, told: str
) -> None:
    zebra = EventDraft(content="the zebra sings", timestamp=NOON)
    cat = EventDraft(content="the cat sleeps", timestamp=NOON)
    memory.add(zebra, cat, conversation=conversation)
    if told == "at once":
        memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    else:
        event = memory.app.parts.timeline.find(ANNA, memory.ids[0])
        assert event is not None
        by_anna = Order(now=memory.now, actor=USER, via="delete")
        assert memory.app.deletion.events.one(ANNA, event, by_anna)  # and the process ends before it tells anybody
        memory.project()
    new = restored(memory, tmp_path, lost=True)
    applied(new)
    later = EventDraft(content="the zebra sings", timestamp=NOON + timedelta(seconds=1))
    answer = new.add(zebra, cat, later, conversation=conversation)
    assert [(one.status, one.reason) for one in answer.results] == [
        ("refused", "deleted"), ("created", None), ("created", None),
    ]  # fmt: skip


@pytest.mark.spec("P-22")
def test_what_was_sent_again_before_the_tombstones_goes_with_them(memory: Memory, tmp_path: Path) -> None:
    zebra = EventDraft(content="the zebra sings", timestamp=NOON)
    memory.add(zebra, "the cat sleeps")
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    new = restored(memory, tmp_path, lost=True)
    assert new.add(zebra).results[0].status == "created"
    applied(new)
    assert contents(new) == []
    assert new.add(zebra).results[0].status == "refused"


def test_tombstones_without_identities_are_read(memory: Memory, tmp_path: Path) -> None:
    """As they were written before identities stood in them."""
    event_id = memory.app.ids.seed(1_700_000_000_000).nth(0)
    old = {"kind": "events", "events": [[event_id, iso(NOON)]], "tenant": "acme", "user_id": "anna", "at": iso(NOON)}
    memory.app.parts.snapshots.put_if_absent("", tombstone_name(1), json.dumps(old).encode())
    assert applied(memory) == {"events": 1}
    assert memory.app.parts.items.get(ANNA, [deleted_key(event_id)])


def test_a_deletion_on_a_restored_table_does_not_hide_those_before(memory: Memory, tmp_path: Path) -> None:
    memory.add("one", "two", "three")
    kept(tmp_path)
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    back = restored(memory, tmp_path)
    back.app.deletion.events.forget(ANNA, event_id=memory.ids[1], now=back.now)
    assert applied(back) == {"events": 1}
    assert contents(back) == ["three"]


def test_a_lifted_rejection_stays_lifted(memory: Memory, tmp_path: Path) -> None:
    memory.add("one")
    kept(tmp_path)
    rejection_id = memory.app.deletion.values.reject(ANNA, "I hate liver", order(memory))
    memory.app.deletion.values.lift(ANNA, rejection_id, order(memory))
    back = restored(memory, tmp_path)
    applied(back)
    assert back.add("I hate liver").results[0].status == "created"


def test_it_continues_where_it_was_stopped(memory: Memory, tmp_path: Path) -> None:
    memory.add("one", "two", "three")
    kept(tmp_path)
    for event_id in memory.ids:
        memory.app.deletion.events.forget(ANNA, event_id=event_id, now=memory.now)
    back = restored(memory, tmp_path)
    seconds = iter([60.0, 0.0])
    back.app.deletion.tombstones.apply(back.now, lambda: next(seconds))
    assert contents(back) == ["two", "three"]
    assert applied(back) == {"events": 2}


@pytest.mark.parametrize(
    ("passed", "last", "beyond"),
    [
        ([1, 2, 3], 3, []),
        ([2, 1], 2, []),
        ([3], 0, [3]),
        ([1, 3, 4], 1, [3, 4]),
        ([4, 3, 2, 1], 4, []),
        ([1, 1], 1, []),
    ],
)
def test_numbers_are_known_in_any_order(passed: Sequence[int], last: int, beyond: list[int]) -> None:
    known = AppliedTombstones()
    for number in passed:
        known = known.with_one(number)
    assert (known.last, sorted(known.beyond)) == (last, beyond)


def test_the_objects_hold_no_text(memory: Memory, tmp_path: Path) -> None:
    memory.add("the zebra sings")
    memory.app.deletion.values.event(
        ANNA,
        memory.ids[0],
        order(memory),
        lambda: memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now),
    )
    store = memory.app.parts.snapshots
    names = list(store.names("", "tombstones/"))
    assert names == [tombstone_name(number) for number in range(1, len(names) + 1)]
    assert len(names) == 3
    told = [store.get("", name) for name in names]
    assert not [one for one in told if one is not None and b"zebra" in one[0]]
