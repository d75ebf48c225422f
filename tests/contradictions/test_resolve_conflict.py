"""Conflicts that nobody can decide are open until a person does, or until they are none any more (P-24)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from embedded.deciding import (
    expire,
    forget,
    kept,
    leave_open,
    ledger,
    now,
    remember,
    revert,
    saved,
    supersede,
)  # fmt: skip
from embedded.memory_items import USER, patch, reject, shown
from embedded.setting import ANNA, Instead, Memory, with_parts
from recollect.contradictions.decisions import ConflictStatus, DecisionStatus, OpenConflict, Step
from recollect.contradictions.ledger import DecisionFilter
from recollect.contradictions.resolve import Resolved, Settling
from recollect.core.errors import Conflict, InvalidInput, NotFound
from recollect.core.items import ItemWrite, pages
from recollect.core.scope import Scope
from recollect.memories.audit import Action
from recollect.memories.audit_log import AuditFilter
from recollect.memories.memory import MemoryStatus
from recollect.timeline.record import EventDraft

ACTIVE, SUPERSEDED = MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED
OPEN, SETTLED = ConflictStatus.OPEN, ConflictStatus.SETTLED
PARIS = "Anna keeps stamps inside a blue album"
LYON = "Letters rest under dusty wooden floors"
GREEN = "Postcards hang over seven quiet windows"
UNLIKE = ("zebra sings", "kettle boils", "lamp glows", "river bends", "clock ticks", "piano sleeps", "tower leans")


def resolve(memory: Memory, conflict_id: str, winner: str, scope: Scope = ANNA) -> Resolved:
    resolved = memory.app.contradictions.resolution.resolve(
        scope, conflict_id, winner, Settling(actor=USER), memory.now
    )
    memory.project()
    return resolved


def listed(memory: Memory, status: ConflictStatus | None = None, scope: Scope = ANNA) -> list[OpenConflict]:
    return list(memory.app.contradictions.conflicts.page(scope, 50, None, status, memory.now).conflicts)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("chosen", [0, 1])
def test_the_one_that_a_person_names_counts_alone(memory: Memory, chosen: int) -> None:
    pair = remember(memory, PARIS, LYON)
    conflict = leave_open(memory, pair[0], pair[1])
    winner, loser = pair[chosen], pair[1 - chosen]
    resolved = resolve(memory, conflict, winner)
    ended = now(memory, loser)
    assert (resolved.conflict.status, resolved.conflict.winner) == (SETTLED, winner)
    assert (ended.status, ended.superseded_by, ended.settled_by) == (SUPERSEDED, winner, "user")
    assert ended.valid_to == max(now(memory, winner).valid_from, ended.valid_from)
    assert now(memory, winner).status is ACTIVE
    assert shown(memory, "stamps letters") == [(PARIS, LYON)[chosen]]
    decision = ledger(memory)[f"{winner}.{loser}"]
    assert (decision.step, decision.rule, resolved.decision_id) == (Step.USER, "resolved", decision.id)
    (entry,) = memory.app.memories.audit.page(ANNA, 10, None, AuditFilter(action=Action.SUPERSEDE)).entries
    assert (entry.actor, entry.target_ids) == (USER, (loser, winner))


HOME, CAT = "I live on the third floor in Wehlheiden", "my cat is called Mikesch and sleeps on the bookshelf"


@pytest.mark.spec("P-24")
def test_of_an_older_one_the_words_in_doubt_alone_end_and_come_back(memory: Memory) -> None:
    old, moved, gone = remember(memory, f"{HOME}, {CAT}", "Handed the keys back, first night in Vellmar", "Tim has him")
    home, cat = (leave_open(memory, old, newer, words=words) for newer, words in ((moved, HOME), (gone, CAT)))
    resolve(memory, home, moved)
    left = now(memory, old)
    assert (left.status, [lapse.by for lapse in left.lapses]) == (ACTIVE, [moved])
    assert shown(memory, "cat")[0] == CAT
    assert [one.id for one in listed(memory, OPEN)] == [cat]
    revert(memory, ledger(memory)[f"{moved}.{old}"].id)
    assert now(memory, old).lapses == ()
    assert shown(memory, "cat")[0] == f"{HOME}, {CAT}"


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("words", ["all of them", "another's"])
def test_an_older_one_of_which_no_words_can_be_told_ends_as_a_whole(memory: Memory, words: str) -> None:
    old, new = remember(memory, f"{HOME}, {CAT}", LYON)
    conflict = leave_open(memory, old, new, words=f"{HOME}, {CAT}" if words == "all of them" else HOME)
    if words == "another's":
        patch(memory, old, content=f"{CAT}, {HOME}")
    resolve(memory, conflict, new)
    assert now(memory, old).status is SUPERSEDED


@pytest.mark.spec("P-24")
def test_the_same_winner_again_is_the_same_answer_and_the_other_one_none(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    conflict = leave_open(memory, old, new)
    first = resolve(memory, conflict, new)
    version = now(memory, old).version
    assert resolve(memory, conflict, new) == first
    assert now(memory, old).version == version
    with pytest.raises(Conflict):
        resolve(memory, conflict, old)
    with pytest.raises(InvalidInput):
        resolve(memory, conflict, "somebody")


@pytest.mark.spec("P-24")
def test_a_resolution_that_is_taken_back_leaves_the_conflict_open(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    conflict = leave_open(memory, old, new)
    decision = resolve(memory, conflict, new).decision_id
    assert decision is not None
    assert listed(memory, OPEN) == []
    revert(memory, decision)
    assert [one.id for one in listed(memory, OPEN)] == [conflict]
    assert now(memory, old).status is ACTIVE
    resolve(memory, conflict, new)
    assert ledger(memory)[decision].status is DecisionStatus.APPLIED
    assert now(memory, old).status is SUPERSEDED


@pytest.mark.spec("P-24")
def test_a_person_says_that_both_hold_and_may_think_again(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    conflict, use = leave_open(memory, old, new), memory.app.contradictions.resolution
    for _ in range(2):
        settled = use.keep_both(ANNA, conflict, USER, memory.now)
        assert (settled.status, settled.winner) == (SETTLED, None)
    memory.project()
    assert (listed(memory, OPEN), ledger(memory)) == ([], {})
    assert [now(memory, one).status for one in (old, new)] == [ACTIVE, ACTIVE]
    (entry,) = memory.app.memories.audit.page(ANNA, 10, None, AuditFilter(action=Action.PATCH)).entries
    assert (entry.actor, entry.target_ids, entry.reason) == (USER, (old, new), "both hold")
    resolve(memory, conflict, new)
    with pytest.raises(Conflict, match="otherwise"):
        use.keep_both(ANNA, conflict, USER, memory.now)
    with pytest.raises(NotFound):
        use.keep_both(Scope(ANNA.tenant, "bob"), conflict, USER, memory.now)


@pytest.mark.spec("P-24")
def test_of_two_of_which_one_is_gone_nobody_says_that_both_hold(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    conflict = leave_open(memory, old, new)
    forget(memory, new)
    with pytest.raises(Conflict, match="no longer counts"):
        memory.app.contradictions.resolution.keep_both(ANNA, conflict, USER, memory.now)


def reject_its_value(memory: Memory, _event_id: str) -> None:
    reject(memory, PARIS)


def end(memory: Memory, event_id: str) -> None:
    (other,) = remember(memory, GREEN)
    supersede(memory, event_id, other)


def end_by_its_own_bound(memory: Memory, event_id: str) -> None:
    one = kept(memory, event_id)
    memory.app.contradictions.ledger.write_bounds(ANNA, one, replace(one.memory, valid_to=memory.now), memory.now)


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("change", [forget, expire, reject_its_value, end, end_by_its_own_bound])
def test_a_conflict_of_what_no_longer_counts_is_settled(memory: Memory, change: Callable[[Memory, str], None]) -> None:
    old, new = remember(memory, PARIS, LYON)
    conflict = leave_open(memory, old, new)
    assert [one.id for one in listed(memory, OPEN)] == [conflict]
    change(memory, old)
    assert listed(memory, OPEN) == []
    (shown_one,) = listed(memory, SETTLED)
    assert (shown_one.id, shown_one.winner) == (conflict, new)
    assert listed(memory) == [shown_one]
    with pytest.raises(Conflict):
        resolve(memory, conflict, new)


@pytest.mark.spec("P-24")
def test_a_record_that_is_no_memory_becomes_one_when_it_loses(memory: Memory) -> None:
    memory.add(EventDraft(content="ok then", importance=0.1, timestamp=memory.now))
    (new,) = remember(memory, LYON)
    old = memory.ids[0]
    conflict = leave_open(memory, old, new)
    resolve(memory, conflict, new)
    assert now(memory, old).status is SUPERSEDED
    assert shown(memory, "ok then letters") == [LYON]


@pytest.mark.spec("P-24")
def test_what_was_saved_directly_can_win_and_lose(memory: Memory) -> None:
    one = saved(memory, PARIS)
    memory.now += timedelta(minutes=1)
    other = saved(memory, LYON)
    resolve(memory, leave_open(memory, one, other), one)
    assert (now(memory, other).status, now(memory, other).superseded_by) == (SUPERSEDED, one)
    assert now(memory, other).valid_to == now(memory, other).valid_from


@pytest.mark.spec("P-24")
def test_who_changes_the_winner_meanwhile_is_seen(memory: Memory) -> None:
    """The winner is superseded between the reading and the writing: then nothing is decided."""
    old, new, newest = remember(memory, PARIS, LYON, GREEN)
    conflict = leave_open(memory, old, new)
    meanwhile = iter([(new, newest)])

    def write(real: Callable[..., object], owner: Scope, writes: list[ItemWrite], at: object) -> object:
        if any(one.key.path.collection == "conflicts" for one in writes):
            for older, newer in meanwhile:
                supersede(memory, older, newer)
        return real(owner, writes, at)

    with pytest.raises(Conflict):
        resolve(with_parts(memory, items=Instead(memory.app.parts.items, write=write)), conflict, new)
    assert kept(memory, old).memory.status is ACTIVE


def test_another_users_and_personas_conflict_is_not_found(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    conflict = leave_open(memory, old, new)
    for scope in (Scope("acme", "ben"), Scope("evil", "anna"), Scope("acme", "anna", "coach")):
        assert listed(memory, scope=scope) == []
        with pytest.raises(NotFound):
            resolve(memory, conflict, new, scope)


@pytest.mark.spec("P-24")
def test_a_walk_sees_every_conflict_once_the_newest_first(memory: Memory) -> None:
    ids = remember(memory, *UNLIKE)
    made = [leave_open(memory, older, newer) for older, newer in pairwise(ids)]
    forget(memory, ids[0])
    conflicts = memory.app.contradictions.conflicts
    read = list(pages(lambda after: conflicts.page(ANNA, 2, after, OPEN, memory.now)))
    assert all(len(page.conflicts) <= 2 for page in read)
    assert [one.id for page in read for one in page.conflicts] == made[:0:-1]


@pytest.mark.spec("P-24")
def test_the_ledger_is_read_in_pages_and_by_what_is_asked(memory: Memory) -> None:
    ids = remember(memory, *UNLIKE[:6])
    made = [supersede(memory, older, newer) for older, newer in pairwise(ids)]
    revert(memory, made[0])

    decisions = memory.app.contradictions.decisions

    def walk(scope: Scope = ANNA, **wanted: Any) -> list[str]:
        read = pages(lambda after: decisions.page(scope, 2, after, DecisionFilter(**wanted)))
        return [one.id for page in read for one in page.decisions]

    assert walk() == made[::-1]
    assert walk(status=DecisionStatus.REVERTED) == made[:1]
    assert walk(loser=ids[2]) == [made[2]]
    assert walk(winner=ids[2]) == [made[1]]
    assert walk(step=Step.USER) == []
    assert walk(Scope("acme", "anna", "coach")) == walk(Scope("acme", "ben")) == []
