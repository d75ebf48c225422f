"""What decisions, conflicts and memories tell of what ended (P-22, P-24)."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from embedded.contradicting import on, say
from embedded.deciding import forget, kept, leave_open, remember, revert, supersede
from embedded.memory_items import USER, patch, reject
from embedded.setting import ANNA, Memory, open_memory, with_parts
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.decisions import ConflictStatus, OpenConflict, Step, conflict_in, conflict_key, pair_id
from recollect.contradictions.ledger import DecisionFilter
from recollect.contradictions.pairs import PairScores
from recollect.contradictions.parts import parts_within
from recollect.contradictions.resolve import Settling
from recollect.contradictions.told import GONE, Ending, ToldConflict, ToldDecision
from recollect.core.scope import Scope

RENT, PHONE = "The rent of my flat is 480 a month.", "My landlord Ruiz answers the phone every morning."
OLD, NEW, DEAREST = f"{RENT} {PHONE}", "The rent of my flat is 520", "Now the rent is 540, and 12 for the bin"
MODEL = {(newer, older): PairScores(changed=0.9) for newer in (NEW, DEAREST) for older in (OLD, RENT, NEW)}


def judged(home: Path) -> Memory:
    return with_parts(open_memory(home), pair_model=TablePairModel(MODEL))


def told(memory: Memory, scope: Scope = ANNA) -> dict[str, ToldDecision]:
    page = memory.app.contradictions.decisions.page(ANNA, 9, None, DecisionFilter())
    telling = memory.app.contradictions.telling
    return {one.decision.id: one for one in telling.decisions(scope, page.decisions, memory.now)}


def doubts(memory: Memory) -> list[ToldConflict]:
    page = memory.app.contradictions.conflicts.page(ANNA, 9, None, None, memory.now)
    return memory.app.contradictions.telling.conflicts(ANNA, page.conflicts, memory.now)


@pytest.mark.spec("P-22", "P-24")
def test_a_decision_tells_the_words_that_it_ended_and_those_that_are_left_also_when_it_was_taken_back(
    tmp_path: Path,
) -> None:
    memory = judged(tmp_path)
    old, new = say(memory, on(0, OLD), on(1, NEW))
    (one,) = told(memory).values()
    assert (one.ended, one.now, one.left, one.nothing_left) == (Ending(new, f"{RENT}…"), NEW, PHONE, False)
    assert one.said_at == on(0, OLD).timestamp
    endings = memory.app.contradictions.telling.endings(ANNA, [old, new], memory.now)
    assert endings == {old: (one.ended,)}
    revert(memory, one.decision.id)
    (again,) = told(memory).values()
    assert (again.ended, again.left, again.nothing_left) == (one.ended, "", False)
    assert memory.app.contradictions.telling.endings(ANNA, [old, new], memory.now) == {}


@pytest.mark.spec("P-24")
def test_what_was_ended_whole_later_is_told_of_each_decision_in_its_own_words(tmp_path: Path) -> None:
    memory = judged(tmp_path)
    old, new, dearest = say(memory, on(0, OLD), on(1, NEW), on(2, DEAREST))
    found = told(memory)
    assert found[pair_id(new, old)].ended.words == f"{RENT}…"
    assert found[pair_id(dearest, new)].ended == Ending(dearest, NEW, whole=True)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("rest", [PHONE, None], ids=["its words", "all"])
def test_what_two_decisions_ended_together_has_nothing_left_by_either(memory: Memory, rest: str | None) -> None:
    old, first, second = remember(memory, OLD, "The rent is 520", "Ruiz has gone")
    part = supersede(memory, old, first, words=RENT)
    assert (told(memory)[part].left, told(memory)[part].nothing_left) == (PHONE, False)
    all_of_it = supersede(memory, old, second, words=rest)
    found = told(memory)
    assert [(one.left, one.nothing_left) for one in (found[part], found[all_of_it])] == [("", True)] * 2
    assert (found[part].ended.words, found[all_of_it].ended.words) == (f"{RENT}…", f"…{PHONE}" if rest else PHONE)
    revert(memory, all_of_it)
    assert (told(memory)[part].left, told(memory)[part].nothing_left) == (PHONE, False)


@pytest.mark.spec("P-19", "P-24")
def test_of_a_value_that_a_newer_one_of_its_key_replaced_nothing_is_left(memory: Memory) -> None:
    (old,) = remember(memory, OLD, key="home")
    (new,) = remember(memory, "The rent is 520")
    part = supersede(memory, old, new, words=RENT)
    assert told(memory)[part].left == PHONE
    remember(memory, "A tent", key="home")
    assert (told(memory)[part].left, told(memory)[part].nothing_left) == ("", True)


@pytest.mark.spec("P-24")
def test_of_what_was_bounded_nothing_is_left_once_the_bound_is_over(memory: Memory) -> None:
    old, new = remember(memory, OLD, "The rent is 520")
    part = supersede(memory, old, new, words=RENT)
    stored = kept(memory, old)
    bounded = replace(stored.memory, valid_to=memory.now + timedelta(days=1))
    memory.app.contradictions.ledger.write_bounds(ANNA, stored, bounded, memory.now)
    assert told(memory)[part].left == PHONE
    memory.now += timedelta(days=1)
    assert (told(memory)[part].left, told(memory)[part].nothing_left) == ("", True)


@pytest.mark.spec("P-22")
def test_what_is_rejected_deleted_or_another_users_is_told_to_nobody(tmp_path: Path) -> None:
    memory = judged(tmp_path)
    old, new = say(memory, on(0, OLD), on(1, NEW))
    (one,) = told(memory, Scope(ANNA.tenant, "bob")).values()
    assert (one.was, one.ended.words, one.now, one.left, one.said_at) == (GONE, GONE, GONE, "", None)
    reject(memory, RENT)
    (one,) = told(memory).values()
    assert RENT not in f"{one}"
    assert one.was == PHONE
    forget(memory, old)
    (one,) = told(memory).values()
    assert PHONE not in f"{one}"
    assert (one.ended.words, one.now) == (GONE, NEW)
    assert memory.app.contradictions.telling.endings(ANNA, [old, new], memory.now) == {}


@pytest.mark.spec("P-24")
def test_of_an_open_conflict_the_clause_is_told_that_the_judge_thinks_ended(tmp_path: Path) -> None:
    yards = " ".join(f"The {hour} hour is quiet in the yard behind the church." for hour in ("first", "second"))
    rest, new = "We pay Ruiz 480 a month.", "The yard costs 520 from now on"
    long = f"{yards} {rest}"
    parts = [one for one in parts_within(long, 40) if rest in one]
    rows = {(new, one): PairScores(changed=0.6) for one in (*parts, rest)}
    memory = with_parts(open_memory(tmp_path), pair_model=TablePairModel(rows))
    old, _ = say(memory, replace(on(0, long), importance=0.9), on(1, new))
    (one,) = doubts(memory)
    assert (one.newer, one.said_at) == (new, on(0, long).timestamp)
    assert one.older == f"…The second hour is quiet in the yard behind the church. {rest}"
    patch(memory, old, content="Ruiz gets 480")
    assert doubts(memory)[0].older == "Ruiz gets 480"
    forget(memory, old)
    assert doubts(memory)[0].older == GONE


def test_a_conflict_of_before_has_no_clause_and_is_read(tmp_path: Path) -> None:
    memory = judged(tmp_path)
    old, new = say(memory, on(0, OLD), on(1, "The weather is fine"))
    key = conflict_key(leave_open(memory, old, new))
    (item,) = memory.app.parts.items.get(ANNA, [key]).values()
    assert conflict_in({name: value for name, value in item.value.items() if name != "ended"}).ended == ()
    assert (doubts(memory)[0].older, doubts(memory)[0].newer) == (OLD, "The weather is fine")


@pytest.mark.spec("P-24")
def test_a_conflict_is_over_when_something_else_ends_the_words_in_doubt_and_open_again_when_that_is_taken_back(
    tmp_path: Path,
) -> None:
    rows = {pair: PairScores(changed=0.9 if pair[0] == DEAREST else 0.6) for pair in MODEL if pair[1] in (OLD, RENT)}
    memory = with_parts(open_memory(tmp_path), pair_model=TablePairModel(rows))
    old, new = say(memory, on(0, OLD), on(1, NEW))
    assert (conflict(memory).status, conflict(memory).winner) == (ConflictStatus.OPEN, None)
    assert marked(memory)
    (dearest,) = say(memory, on(2, DEAREST))
    assert (conflict(memory).status, conflict(memory).winner) == (ConflictStatus.SETTLED, new)
    assert not marked(memory)
    revert(memory, pair_id(dearest, old))
    assert conflict(memory).status is ConflictStatus.OPEN
    assert marked(memory)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("words", [None, OLD, PHONE], ids=["not told which", "all", "half"])
def test_a_conflict_is_over_when_all_words_of_a_side_have_ended_piece_by_piece(
    memory: Memory, words: str | None
) -> None:
    old, doubtful, first, second = remember(memory, OLD, "Ruiz has a cold", "The rent is 520", "Ruiz has gone")
    leave_open(memory, old, doubtful, words=words)
    supersede(memory, old, first, words=RENT)
    assert state(memory) == (ConflictStatus.OPEN, None)
    piece = supersede(memory, old, second, words=PHONE)
    assert state(memory) == (ConflictStatus.SETTLED, doubtful)
    revert(memory, piece)
    assert state(memory) == (ConflictStatus.OPEN, None)


@pytest.mark.spec("P-24")
def test_a_conflict_is_over_for_the_older_when_the_newer_has_ended_piece_by_piece(memory: Memory) -> None:
    old, doubtful, first, second = remember(memory, "Ruiz has a cold", OLD, "The rent is 520", "Ruiz has gone")
    leave_open(memory, old, doubtful)
    for one, words in ((first, RENT), (second, PHONE)):
        supersede(memory, doubtful, one, words=words)
    assert state(memory) == (ConflictStatus.SETTLED, old)


def state(memory: Memory) -> tuple[ConflictStatus, str | None]:
    """Of the only conflict."""
    (one,) = memory.app.contradictions.conflicts.page(ANNA, 9, None, None, memory.now).conflicts
    return one.status, one.winner


def conflict(memory: Memory) -> OpenConflict:
    page = memory.app.contradictions.conflicts.page(ANNA, 9, None, None, memory.now)
    return next(one for one in page.conflicts if one.ended)


def marked(memory: Memory) -> bool:
    """Whether a context says of the older one that it may no longer hold."""
    context = memory.context("Does my landlord Ruiz answer the phone?", conversation_id="another").messages.messages[0]
    assert PHONE in context.content
    return "[in doubt since " in next(line for line in context.content.splitlines() if PHONE in line)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("words", "ended", "edited", "doubted", "whole"),
    [
        (RENT, None, None, f"{RENT}…", False),
        (OLD, None, None, RENT, True),
        (None, None, None, None, False),
        (RENT, PHONE, None, f"{RENT}…", True),
        (OLD, PHONE, None, f"{RENT}…", True),
        (RENT, RENT, None, None, False),
        (RENT, None, PHONE, None, False),
    ],
    ids=["a part", "all", "not told which", "all that holds", "a part has ended", "they have ended", "edited since"],
)
def test_of_a_conflict_the_words_are_told_that_would_end(
    memory: Memory, words: str | None, ended: str | None, edited: str | None, doubted: str | None, whole: bool
) -> None:
    old, doubtful, other = remember(memory, OLD, "Ruiz has a cold", "Ruiz has gone")
    leave_open(memory, old, doubtful, words=words)
    if ended is not None:
        supersede(memory, old, other, words=ended)
    if edited is not None:
        patch(memory, old, content=edited)
    (one,) = doubts(memory)
    assert (None if one.doubted is None else one.doubted.whole, one.conflict.newer) == (
        None if doubted is None else whole,
        doubtful,
    )
    if one.doubted is not None:
        assert one.doubted.by == doubtful
        assert one.doubted.words.startswith(doubted or "-")


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("how", "by", "winner"),
    [
        ("new", [Step.USER], "newer"),
        ("old", [Step.USER], "older"),
        ("model", [Step.MODEL], "newer"),
        ("both", [None], None),
        ("superseded", [], "newer"),
        ("forgotten", [], "older"),
        ("open", [], None),
    ],
)
def test_it_is_told_who_settled_a_conflict_and_where_nobody_did(
    memory: Memory, how: str, by: list[Step | None], winner: str | None
) -> None:
    old, new, other = remember(memory, OLD, "Ruiz has a cold", "Ruiz has gone")
    conflict_id, use = leave_open(memory, old, new, words=RENT), memory.app.contradictions.resolution
    settling = Settling(actor=USER, step=Step.MODEL if how == "model" else Step.USER)
    if how in ("new", "old", "model"):
        use.resolve(ANNA, conflict_id, old if how == "old" else new, settling, memory.now)
    elif how == "both":
        use.keep_both(ANNA, conflict_id, USER, memory.now)
    elif how == "superseded":
        supersede(memory, old, other)
    elif how == "forgotten":
        forget(memory, new)
    (one,) = memory.app.contradictions.conflicts.page(ANNA, 9, None, None, memory.now).conflicts
    sides = {one.newer: "newer", one.older: "older", None: None}
    told = memory.app.contradictions.telling.settled_by(ANNA, [one])
    assert (sides[one.winner], told) == (winner, dict.fromkeys([conflict_id], by[0]) if by else {})
    assert one.status is (ConflictStatus.OPEN if how == "open" else ConflictStatus.SETTLED)
