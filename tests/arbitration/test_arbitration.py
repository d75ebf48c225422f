"""Who wins, by which strategy, how surely (A-76 to A-89, P-12)."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.arbitration.arbiter import (
    Action,
    ArbitrationOptions,
    ArbitrationPolicy,
    Strategy,
    Verdict,
    Weights,
    decide,
    scores,
    weigh,
)
from recollect.arbitration.detection import DetectionOptions
from recollect.arbitration.merging import MergeOptions
from samples.statements import NOON, statement, statements

DEFAULTS = ArbitrationOptions()
SCORE_ONLY: dict[str, Any] = {"priority_importance": False, "priority_recency": False, "priority_source": False}
HOUR = timedelta(hours=1)


def told(verdict: Verdict) -> tuple[str | None, str | None]:
    """Winner and loser."""
    return tuple(one.id if one else None for one in (verdict.winner, verdict.loser))  # type: ignore[return-value]


@pytest.mark.spec("A-81")
@pytest.mark.parametrize(("ours", "theirs"), [("rumour", "gossip"), (None, "rumour"), (None, None), ("user", "user")])
def test_unknown_sources_are_equals(ours: str | None, theirs: str | None) -> None:
    verdict = decide(statement(source=ours), statement("old", source=theirs), DEFAULTS)
    assert verdict.strategy is Strategy.MULTI_FACTOR


@pytest.mark.spec("A-83", "P-11")
def test_equal_values_do_not_decide() -> None:
    candidate, existing = statement(importance=0.1 + 0.2, source="user"), statement("old", importance=0.3)
    assert decide(candidate, existing, DEFAULTS).strategy is Strategy.SOURCE


@pytest.mark.spec("A-84")
def test_the_weighted_score() -> None:
    candidate = statement(importance=0.9, source="user", timestamp=NOON + 6 * HOUR, embedding=[1.0, 0.0])
    existing = statement("old", importance=0.5, source="system", embedding=[0.6, 0.8])
    ours, theirs = scores(candidate, existing, Weights())
    assert ours == pytest.approx(0.4 * 0.9 + 0.3 * 1 + 0.2 * 1.0 + 0.1 * 0.6)
    assert theirs == pytest.approx(0.4 * 0.5 + 0.3 * (1 - 6 / 24) + 0.2 * 0.4 + 0.1 * 0.6)


@pytest.mark.spec("A-84")
def test_after_a_day_nothing_is_left_of_recency() -> None:
    old = statement("old", timestamp=NOON - 30 * HOUR)
    assert scores(statement(), old, Weights(0, 1, 0, 0)) == (1, 0)


@pytest.mark.spec("A-85", "A-86", "P-12")
@pytest.mark.parametrize(
    ("delta", "options", "action", "strategy"),
    [
        (0.49, {}, Action.MERGE, Strategy.MULTI_FACTOR),
        (0.5, {}, Action.KEEP, Strategy.MULTI_FACTOR),  # a score of 0.2 more: the threshold itself does not merge
        (0.1, {"allow_merge": False}, Action.KEEP, Strategy.MULTI_FACTOR),
        (0.1, {"merge_threshold": 0.04}, Action.KEEP, Strategy.MULTI_FACTOR),
        (0.0, {"merge_threshold": 0.0}, Action.KEEP, Strategy.DEFAULT),
        (0.0, {}, Action.MERGE, Strategy.MULTI_FACTOR),
    ],
)
def test_near_scores_merge(delta: float, options: dict[str, Any], action: Action, strategy: Strategy) -> None:
    verdict = decide(
        statement(importance=0.5), statement("old", importance=0.5 + delta), ArbitrationOptions(**SCORE_ONLY, **options)
    )
    assert (verdict.action, verdict.strategy) == (action, strategy)
    if action is Action.MERGE:
        assert (told(verdict), verdict.confidence) == ((None, None), 0.6)
    elif strategy is Strategy.MULTI_FACTOR:
        assert told(verdict) == ("old", "candidate")


@given(statements("candidate"), statements("old"), st.booleans(), st.floats(0, 1))
def test_every_pair_gets_a_verdict(candidate: Any, existing: Any, allow: bool, threshold: float) -> None:
    verdict = decide(candidate, existing, ArbitrationOptions(allow_merge=allow, merge_threshold=threshold))
    assert 0 <= verdict.confidence <= 1
    if verdict.action is Action.MERGE:
        assert allow
    else:
        assert verdict.winner is not None
        assert {*told(verdict)} == {"candidate", "old"}


@given(statements("a"), statements("b"), st.booleans())
def test_the_order_of_two_candidates_is_no_matter(one: Any, other: Any, allow: bool) -> None:
    options = ArbitrationOptions(allow_merge=allow)
    forth, back = decide(one, other, options), decide(other, one, options)
    assert (forth.action, forth.strategy) == (back.action, back.strategy)
    if forth.strategy is not Strategy.DEFAULT:
        assert told(forth) == told(back)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_greater_difference_is_surer(a: float, b: float, c: float) -> None:
    low, middle, high = sorted((a, b, c))
    near = decide(statement(importance=high), statement("old", importance=middle), DEFAULTS)
    far = decide(statement(importance=high), statement("old", importance=low), DEFAULTS)
    if near.strategy is far.strategy is Strategy.IMPORTANCE:
        assert near.confidence <= far.confidence + 1e-9


@pytest.mark.spec("A-90")
def test_a_merge_has_the_existing_one_first() -> None:
    candidate = statement(content="Likes tea", keywords=("drink",))
    existing = statement("old", content="Likes coffee", keywords=("drink",))
    policy = ArbitrationPolicy(DetectionOptions(), ArbitrationOptions(), MergeOptions("concatenate"), "mine")
    found = weigh(candidate, [existing], policy)
    assert found.verdict.action is Action.MERGE
    assert found.verdict.merged is not None
    assert (found.verdict.merged.content, found.rule) == ("Likes coffee\nLikes tea", "mine")
