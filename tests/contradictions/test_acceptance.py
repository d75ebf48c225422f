"""Two collections in other people's words: 3,100 contradictions with a near miss each, and 3,300 near misses alone.

The first were written, a hundred at a time, by people who knew what the feature promises and neither rules nor cases;
how each hundred did at first sight is in docs/contradictions.md. Since then the rules were mended with them in view, so
that what is held here is that they stay so, and not how well unseen words are read.
"""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from recollect.contradictions.cues import CueJudge
from recollect.contradictions.judge import RelationJudge
from recollect.contradictions.relation import Relation, RelationKind, Said

FOLDER = Path(__file__).parent
EARLIER, LATER = datetime(2026, 1, 9, 10, tzinfo=UTC), datetime(2026, 3, 10, 10, tzinfo=UTC)
MOST_STALE = 0.10
MOST_MISTAKEN = 0.02
MOST_CLOSE_MISTAKEN = 0.025
"""Of the near misses alone, a third of which differ from a contradiction by a word or two."""

DECIDED = frozenset(RelationKind) - {RelationKind.UNDECIDED}
RIGHT = {
    "replacement": {RelationKind.SUPERSEDES, RelationKind.CHANGES_PART},
    "polarity": {RelationKind.SUPERSEDES},
    "retraction": {RelationKind.RETRACTS},
    "partial": {RelationKind.CHANGES_PART, RelationKind.UNDECIDED},
    "bounded": {RelationKind.OVERRIDES},
}


class Case(NamedTuple):
    """A row of acceptance.json; `days` is how long a bounded value holds, from the later turn on."""

    group: str
    shape: str
    attribute: str
    days: int | None
    earlier: str
    later: str
    twin_kind: str
    twin: str


class Near(NamedTuple):
    """A row of near_misses.json: `contradiction` ends the earlier turn, `text` does not."""

    attribute: str
    earlier: str
    contradiction: str
    kind: str
    text: str


CASES = [Case(*row) for row in json.loads((FOLDER / "acceptance.json").read_text("utf-8"))]
JUDGE: RelationJudge = CueJudge()
NEAR = [Near(*row) for row in json.loads((FOLDER / "near_misses.json").read_text("utf-8"))]


def relation(earlier: str, later: str) -> Relation | None:
    (found,) = JUDGE.judge(Said(id="2", text=later, at=LATER), [Said(id="1", text=earlier, at=EARLIER)])
    return found


def is_right(case: Case) -> bool:
    found = relation(case.earlier, case.later)
    if found is None or found.kind not in RIGHT[case.shape]:
        return False
    if case.days is None:
        return True
    return found.until is not None and abs(found.until - LATER - timedelta(days=case.days)) <= timedelta(days=1)


def is_mistaken(earlier: str, later: str) -> bool:
    found = relation(earlier, later)
    return found is not None and found.kind in DECIDED


@pytest.mark.spec("P-24")
def test_at_most_a_tenth_is_left_stale() -> None:
    wrong = [case for case in CASES if not is_right(case)]
    assert len(wrong) <= MOST_STALE * len(CASES), Counter(case.shape for case in wrong)


@pytest.mark.spec("P-24")
def test_at_most_a_fiftieth_of_their_near_misses_ends_anything() -> None:
    wrong = [case for case in CASES if is_mistaken(case.earlier, case.twin)]
    assert len(wrong) <= MOST_MISTAKEN * len(CASES), [(case.earlier, case.twin) for case in wrong]


@pytest.mark.spec("P-24")
def test_few_of_the_closest_near_misses_end_anything() -> None:
    wrong = [near for near in NEAR if is_mistaken(near.earlier, near.text)]
    assert len(wrong) <= MOST_CLOSE_MISTAKEN * len(NEAR), [(near.earlier, near.text) for near in wrong]


def test_what_they_resemble_does_end_it() -> None:
    pairs = {(near.earlier, near.contradiction) for near in NEAR}
    missed = [pair for pair in pairs if relation(*pair) is None]
    assert len(missed) <= 0.15 * len(pairs), missed


@pytest.mark.parametrize("group", sorted({case.group for case in CASES}))
def test_each_hundred_has_twenty_of_each_shape(group: str) -> None:
    shapes = Counter(case.shape for case in CASES if case.group == group)
    assert shapes == dict.fromkeys(RIGHT, 20)
