"""How sure a change is beside what the same message does to the other candidates."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.beside import BesideOthers, logit_of
from recollect.contradictions.judge import RelationKind, Said
from recollect.contradictions.pairs import PairScores
from recollect.contradictions.trained import TrainedJudge
from recollect.core.learned_share import logistic

pytestmark = pytest.mark.spec("P-24")

CURVE = BesideOthers(own=0.6, behind=0.2, ahead=0.4, place=-0.5, bias=0.0, candidates=12)
QUIET = [0.01] * 11
probabilities = st.floats(0, 1)
lists = st.lists(probabilities, max_size=14)


@given(lists)
def test_probabilities_stay_probabilities(changed: list[float]) -> None:
    found = CURVE.of(changed)
    assert len(found) == len(changed)
    assert all(0 <= one <= 1 for one in found)
    assert [at for at, one in enumerate(changed) if one == 0] == [
        at for at, one in enumerate(found) if one == 0 and changed[at] == 0
    ]


@given(lists.filter(bool), st.integers(0, 13), probabilities.filter(bool))
def test_a_surer_pair_is_surer_beside_the_same_others(changed: list[float], at: int, other: float) -> None:
    place = at % len(changed)
    low, high = sorted((changed[place], other))
    less, more = ([*changed[:place], one, *changed[place + 1 :]] for one in (low, high))
    assert CURVE.of(less)[place] <= CURVE.of(more)[place]


@given(st.floats(0.001, 0.999))
def test_a_single_candidate_is_as_sure_as_it_is(alone: float) -> None:
    assert CURVE.of([alone]) == [pytest.approx(alone)]


def test_what_stands_out_is_surer_than_what_is_one_of_many() -> None:
    (first, *_) = CURVE.of([0.7, *QUIET])
    (among, *_) = CURVE.of([0.7, 0.9, 0.9, *QUIET[2:]])
    assert first > 0.7 > among


def test_of_two_alike_the_nearer_one_is_surer() -> None:
    found = CURVE.of([0.6, *QUIET[1:], 0.6])
    assert found[0] > found[-1]


def test_a_short_list_counts_by_its_share_of_others() -> None:
    short, full = (CURVE.of([0.7, *QUIET[:others]])[0] for others in (3, 11))
    assert 0.7 < short < full


def test_a_logit_is_finite_and_undone_by_the_curve() -> None:
    assert [logistic(logit_of(one)) for one in (0.0, 0.25, 1.0)] == [
        pytest.approx(one, abs=1e-5) for one in (0, 0.25, 1)
    ]


class _Halving(TablePairModel):
    """Half as sure, wherever there are others."""

    def beside(self, changed: Sequence[float]) -> list[float]:
        return [one / 2 for one in changed] if len(changed) > 1 else list(changed)


def test_the_judge_is_as_sure_of_a_relation_as_it_is_beside_the_others() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    newer = Said(id="newer", text="I moved to Leith", at=at)
    older = [
        Said(id=text, text=text, at=at - timedelta(days=9)) for text in ("I live in Marchmont", "I work at the harbour")
    ]
    judge = TrainedJudge(_Halving({(newer.text, older[0].text): PairScores(0.9)}))
    (alone,) = judge.judge(newer, older[:1])
    (beside, other) = judge.judge(newer, older)
    assert alone is not None
    assert beside is not None
    assert other is None
    assert (alone.kind, beside.kind) == (RelationKind.SUPERSEDES,) * 2
    assert (alone.confidence, beside.confidence) == (0.9, 0.45)
