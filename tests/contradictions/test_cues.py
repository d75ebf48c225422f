"""The cue rules against the collection: what is left stale, and which near misses are taken for contradictions."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache

import pytest

from contradictions.cases import SHAPES, Case, Expect, Turn, load_cases
from recollect.contradictions.cues import CueJudge
from recollect.contradictions.judge import RelationJudge
from recollect.contradictions.relation import Relation, RelationKind, Said

CASES = load_cases()
JUDGE: RelationJudge = CueJudge()
MOST_STALE = 0.10
MOST_STALE_OF_SHAPE = 0.15
MOST_TWINS = 0.02

KINDS: dict[Expect, frozenset[RelationKind]] = {
    "superseded": frozenset({RelationKind.SUPERSEDES}),
    "retracted": frozenset({RelationKind.RETRACTS}),
    "bounded": frozenset({RelationKind.OVERRIDES}),
    "partial": frozenset({RelationKind.CHANGES_PART, RelationKind.UNDECIDED}),
}


def said(turn: Turn, name: str) -> Said:
    """A turn as a judge sees it."""
    return Said(id=name, text=turn.text, at=turn.at, speaker=turn.speaker or "")


def judged(older: Said, newer: Said) -> Relation | None:
    """What the newer does to the older."""
    (found,) = JUDGE.judge(newer, [older])
    return found


def relation(earlier: Turn, later: Turn) -> Relation | None:
    """What the later turn does to the earlier one; a bot's is compared with nothing."""
    by_users = earlier.role == later.role == "user"
    return judged(said(earlier, "1"), said(later, "2")) if by_users else None


@lru_cache(maxsize=1)
def stale() -> tuple[Case, ...]:
    """The cases in which the earlier turn is not related to the later one as it should be."""
    return tuple(case for case in CASES if not is_right(case, relation(case.earlier, case.later)))


@lru_cache(maxsize=1)
def mistaken() -> tuple[Case, ...]:
    """The cases whose near miss is taken for a contradiction."""
    return tuple(case for case in CASES if relation(case.twin.earlier, case.twin.later) is not None)


def is_right(case: Case, found: Relation | None) -> bool:
    """Whether it is the kind of relation that the case expects, and a bound within a day of the given one."""
    if found is None or found.kind not in KINDS[case.expect]:
        return False
    if case.bound is None:
        return True
    return found.until is not None and abs(found.until - case.bound.until) <= timedelta(days=1)


def report(wrong: Iterable[Case], of: Callable[[Case], str]) -> str:
    cases = list(wrong)
    return f"{len(cases)} of {len(CASES)}: {dict(Counter(map(of, cases)))} {[case.id for case in cases]}"


@pytest.mark.spec("P-24")
def test_at_most_a_tenth_is_left_stale() -> None:
    assert len(stale()) <= MOST_STALE * len(CASES), report(stale(), lambda case: case.shape)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_is_left_behind(shape: str) -> None:
    wrong = [case for case in stale() if case.shape == shape]
    assert len(wrong) <= MOST_STALE_OF_SHAPE * sum(case.shape == shape for case in CASES), [case.id for case in wrong]


@pytest.mark.spec("P-24")
def test_at_most_a_fiftieth_of_the_near_misses_is_taken_for_a_contradiction() -> None:
    assert len(mistaken()) <= MOST_TWINS * len(CASES), report(mistaken(), lambda case: case.twin.kind)


@pytest.mark.spec("P-24")
def test_whoever_says_it_another_speaker_contradicts_nobody() -> None:
    assert [case.id for case in CASES if relation_to_another_speaker(case) is not None] == []


def relation_to_another_speaker(case: Case) -> Relation | None:
    """How the later turn stands to the earlier one where somebody else says it."""
    earlier, later = said(case.earlier, "1"), said(case.later, "2")
    return judged(earlier, replace(later, speaker=later.speaker + " other"))


def test_spans_are_of_the_texts() -> None:
    for case in CASES:
        found = relation(case.earlier, case.later)
        if found is not None:
            assert all(0 <= start < end <= len(case.earlier.text) for start, end in found.ended), case.id
            assert (found.kind is RelationKind.CHANGES_PART) == (found.merged is not None), case.id
            assert (found.kind is RelationKind.OVERRIDES) == (found.until is not None), case.id


def test_the_earlier_says_nothing_of_the_later() -> None:
    turned = (judged(said(case.later, "2"), said(case.earlier, "1")) for case in CASES)
    assert [found for found in turned if found is not None] == []
