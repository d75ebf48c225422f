"""A person takes a decision back: the loser counts again, and no decision brings a rejected value back (P-22, P-24)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from embedded.deciding import (
    BOTH,
    LYON,
    PARIS,
    PROMOTED,
    TITLE,
    by_key,
    expire,
    forget,
    kept,
    ledger,
    merge,
    now,
    remember,
    revert,
    saved,
    supersede,
)
from embedded.memory_items import USER, delete, kept_of, patch, reject, shown
from embedded.setting import ANNA, NOON, Memory
from recollect.contradictions.decisions import DecisionStatus
from recollect.contradictions.judge import RelationKind
from recollect.core.errors import Conflict, NotFound
from recollect.core.event import RecordOrigin
from recollect.core.items import ItemWrite
from recollect.core.scope import Scope
from recollect.memories.audit import Action, ActorKind
from recollect.memories.audit_log import AuditFilter
from recollect.memories.memory import MemoryStatus, Origin
from recollect.timeline.record import EventDraft

ACTIVE, SUPERSEDED, MERGED = MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED, MemoryStatus.MERGED


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("kind", [RelationKind.SUPERSEDES, RelationKind.RETRACTS])
def test_what_was_superseded_counts_again_and_the_winner_stays(memory: Memory, kind: RelationKind) -> None:
    old, new = remember(memory, PARIS, LYON)
    before = now(memory, old)
    decision = supersede(memory, old, new, kind)
    assert shown(memory, "stamps album") == [LYON]
    reverted = revert(memory, decision)
    after = now(memory, old)
    assert reverted.memory_id == old
    assert (after.status, after.superseded_by, after.valid_to, after.settled_by) == (ACTIVE, None, None, None)
    assert after.version == before.version + 2
    assert now(memory, new).status is ACTIVE
    assert sorted(shown(memory, "stamps album")) == sorted([PARIS, LYON])
    assert ledger(memory)[decision].status is DecisionStatus.REVERTED


@pytest.mark.spec("P-24")
def test_a_bound_that_its_own_words_had_set_is_there_again(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    ends = NOON + timedelta(days=30)
    bounded = kept(memory, old)
    memory.app.contradictions.ledger.write_bounds(ANNA, bounded, replace(bounded.memory, valid_to=ends), memory.now)
    decision = supersede(memory, old, new)
    assert now(memory, old).valid_to != ends
    revert(memory, decision)
    assert now(memory, old).valid_to == ends


@pytest.mark.spec("P-24")
def test_the_audit_names_the_actor(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    decision = supersede(memory, old, new)
    revert(memory, decision)
    page = memory.app.memories.audit.page(ANNA, 10, None, AuditFilter(action=Action.REVERT))
    (entry,) = page.entries
    assert (entry.actor.kind, entry.actor.id, entry.target_ids) == (ActorKind.USER, "anna", (old, new))
    assert entry.before is not None
    assert entry.after is not None
    assert entry.after["version"] == entry.before["version"] + 1


@pytest.mark.spec("P-24")
def test_it_is_taken_back_once_and_a_retry_of_the_same_request_gets_the_same_answer(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    decision = supersede(memory, old, new)
    revert(memory, decision)
    with pytest.raises(Conflict):
        revert(memory, decision)
    assert revert(memory, decision, again=True).memory_id == old
    assert now(memory, old).version == 3


@pytest.mark.spec("P-24")
def test_what_something_else_ended_since_stays_ended(memory: Memory) -> None:
    old, new, other = remember(memory, PARIS, LYON, "Anna keeps her stamps in the green album")
    first = supersede(memory, old, other)
    item = kept(memory, old).item
    document = {**item.value, "superseded_by": new}
    memory.app.parts.items.write(ANNA, [ItemWrite(item.key, document, item.version)], memory.now)
    with pytest.raises(Conflict):
        revert(memory, first)
    assert ledger(memory)[first].status is DecisionStatus.APPLIED


def reject_its_value(memory: Memory, _event_id: str) -> None:
    reject(memory, PARIS)


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("end", [forget, expire, reject_its_value])
@pytest.mark.parametrize("key", [None, "album"])
def test_what_is_deleted_or_rejected_does_not_come_back(
    memory: Memory, end: Callable[[Memory, str], None], key: str | None
) -> None:
    old, new = remember(memory, PARIS, LYON, key=key)
    decision = by_key(memory, old, new) if key else supersede(memory, old, new)
    end(memory, old)
    memory.project()
    with pytest.raises(Conflict):
        revert(memory, decision)
    assert shown(memory, "stamps album") == [LYON]


def test_another_users_and_personas_decision_is_not_found(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    decision = supersede(memory, old, new)
    for scope in (Scope("acme", "ben"), Scope("evil", "anna"), Scope("acme", "anna", "coach")):
        with pytest.raises(NotFound):
            revert(memory, decision, scope)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("direct", [False, True])
def test_a_merger_is_taken_apart(memory: Memory, direct: bool) -> None:
    if direct:
        old, new = saved(memory, TITLE), ""
        memory.now += timedelta(minutes=1)
        new = saved(memory, PROMOTED)
    else:
        old, new = remember(memory, TITLE, PROMOTED)
    plain = now(memory, new)
    decision = merge(memory, old, new)
    both = now(memory, new)
    assert (both.content, both.origin, now(memory, old).status) == (BOTH, Origin.MERGED, MERGED)
    assert old in both.source_event_ids
    assert shown(memory, "painter") == [BOTH]
    revert(memory, decision)
    parted = now(memory, new)
    parts = (PROMOTED, plain.source_event_ids, plain.origin)
    assert (parted.content, parted.source_event_ids, parted.origin) == parts
    assert now(memory, old).status is ACTIVE
    assert sorted(shown(memory, "painter")) == sorted([TITLE, PROMOTED])


@pytest.mark.spec("P-24")
def test_of_two_mergers_one_is_taken_apart(memory: Memory) -> None:
    first, second, new = remember(memory, TITLE, "Anna paints on Mondays as a junior painter", PROMOTED)
    one, other = merge(memory, first, new), merge(memory, second, new, "Anna paints on Mondays as a senior painter")
    revert(memory, one)
    left = now(memory, new)
    assert left.content == "Anna paints on Mondays as a senior painter"
    assert left.source_event_ids == (second, new)
    revert(memory, other)
    assert (now(memory, new).content, now(memory, new).origin) == (PROMOTED, Origin.EVENT)


@pytest.mark.spec("P-24")
def test_a_persons_own_words_stay_when_a_merger_is_taken_apart(memory: Memory) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    decision = merge(memory, old, new)
    patch(memory, new, content="Anna paints murals now")
    revert(memory, decision)
    assert (now(memory, new).content, now(memory, new).source_event_ids) == ("Anna paints murals now", (new,))


@pytest.mark.spec("P-22", "P-24")
def test_an_older_value_of_a_key_is_written_anew_and_is_current(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON, key="album")
    decision = by_key(memory, old, new)
    reverted = revert(memory, decision)
    again = now(memory, reverted.memory_id)
    assert reverted.memory_id not in (old, new)
    assert (again.content, again.key, again.status, again.importance) == (PARIS, "album", ACTIVE, 0.9)
    assert again.timestamp > now(memory, new).timestamp
    assert (now(memory, new).status, now(memory, old).status) == (SUPERSEDED, SUPERSEDED)
    assert shown(memory, "stamps album") == [PARIS]
    assert ledger(memory)[decision].status is DecisionStatus.REVERTED


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("again", [False, True])
def test_no_second_copy_is_made(memory: Memory, again: bool) -> None:
    old, new = remember(memory, PARIS, LYON, key="album")
    decision = by_key(memory, old, new)
    first = revert(memory, decision).memory_id
    if again:
        assert revert(memory, decision, again=True).memory_id == first
    else:
        with pytest.raises(Conflict):
            revert(memory, decision)
    assert sorted(kept_of(memory)) == sorted([old, new, first])


@pytest.mark.spec("P-22")
def test_a_value_that_comes_from_the_future_is_no_obstacle(memory: Memory) -> None:
    (old,) = remember(memory, PARIS, key="album")
    ahead = memory.now + timedelta(days=3)
    memory.add(EventDraft(content=LYON, importance=0.9, timestamp=ahead, key="album"))
    new = memory.ids[-1]
    memory.project()
    again = revert(memory, by_key(memory, old, new)).memory_id
    assert now(memory, again).timestamp == ahead + timedelta(microseconds=1)
    assert now(memory, new).status is SUPERSEDED


@pytest.mark.spec("P-22")
def test_an_emptied_slot_is_filled_by_a_revert_alone(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON, key="album")
    decision = by_key(memory, old, new)
    forget(memory, new)
    memory.project()
    assert shown(memory, "stamps album") == []
    revert(memory, decision)
    assert shown(memory, "stamps album") == [PARIS]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("chained", [False, True])
def test_deleting_the_origin_reaches_the_value_that_was_brought_back(memory: Memory, chained: bool) -> None:
    old, new = remember(memory, PARIS, LYON, key="album")
    again = revert(memory, by_key(memory, old, new)).memory_id
    if chained:
        memory.now += timedelta(minutes=1)
        (third,) = remember(memory, "Anna keeps her stamps in a green album", key="album")
        again = revert(memory, by_key(memory, again, third)).memory_id
    assert shown(memory, "stamps album") == [PARIS]
    forget(memory, old)
    for _ in range(4):
        memory.project()
    assert again not in kept_of(memory)
    assert shown(memory, "stamps album") == []


@pytest.mark.spec("P-22")
def test_the_copy_names_its_origin_in_an_export(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON, key="album")
    again = revert(memory, by_key(memory, old, new)).memory_id
    events = memory.app.parts.timeline.records(ANNA, 100, None).events
    lines = {line.event.id: line for line in memory.app.segments.record_lines.read(ANNA, events, memory.now)}
    assert lines[again].origin == RecordOrigin("anna", old)
    assert lines[again].copied
    assert not lines[old].copied


@pytest.mark.spec("P-22")
def test_deleting_the_copy_leaves_the_slot_empty(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON, key="album")
    again = revert(memory, by_key(memory, old, new)).memory_id
    delete(memory, again)
    memory.project()
    assert shown(memory, "stamps album") == []
    assert {old, new} == set(kept_of(memory))


@pytest.mark.spec("P-22")
def test_erasing_a_user_with_a_value_that_was_brought_back_leaves_nothing(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON, key="album")
    revert(memory, by_key(memory, old, new))
    merged, whole = remember(memory, TITLE, PROMOTED)
    revert(memory, merge(memory, merged, whole))
    erasure = memory.app.deletion.users.erase(ANNA, memory.now, datetime.now(UTC), USER, lambda: 60.0)
    memory.app.job_runs.one("acme", erasure.id, lambda: datetime.now(UTC), lambda: 60.0)
    assert memory.app.deletion.users.report("acme", erasure.id).verified
    assert ledger(memory) == {}
    assert kept_of(memory) == {}
    (entry,) = memory.app.memories.audit.page(ANNA, 50, None, AuditFilter()).entries
    assert entry.action is Action.ERASE


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("value", [TITLE, PROMOTED, BOTH])
def test_nothing_is_merged_of_a_rejected_value(memory: Memory, value: str) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    reject(memory, value)
    merge(memory, old, new)
    assert now(memory, old).status is ACTIVE
    assert now(memory, new).content == PROMOTED
    assert value not in shown(memory, "painter")


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("rejected", [False, True])
def test_what_a_withdrawn_decision_ended_counts_again_unless_it_was_rejected(memory: Memory, rejected: bool) -> None:
    old, new = remember(memory, PARIS, LYON)
    supersede(memory, old, new)
    if rejected:
        reject(memory, PARIS)
    changed = list(memory.app.contradictions.ledger.withdraw(ANNA, new, memory.now))
    assert [kept.memory.id for kept in changed] == ([] if rejected else [old])
    assert now(memory, old).status is (SUPERSEDED if rejected else ACTIVE)
