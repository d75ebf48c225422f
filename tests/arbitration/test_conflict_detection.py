"""Four signals between a candidate and what is there: each with its bounds (A-69 to A-75, P-11)."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.arbitration.detection import (
    Conflict,
    DetectionOptions,
    Signal,
    SignalType,
    detect,
    detection_options,
    most_severe,
    similarity,
)
from recollect.core.errors import InvalidInput
from recollect.rules.groups import ConflictRules
from samples.statements import NOON, statement, statements

DEFAULTS = DetectionOptions()
FAR = NOON + timedelta(days=3)


def signals(candidate: Any, existing: Any, options: DetectionOptions = DEFAULTS) -> dict[str, Signal]:
    """The signals of one pair by type."""
    found = detect(candidate, [existing], options)
    return {signal.type.value: signal for conflict in found for signal in conflict.signals}


@pytest.mark.spec("A-70")
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_a_vectors_length_is_no_matter(scale: float) -> None:
    alike = similarity(statement(embedding=[scale, scale]).embedding, statement(embedding=[3.0, 3.0]).embedding)
    assert alike == pytest.approx(1)


def test_vectors_of_unlike_length_are_refused_by_name() -> None:
    existing = [statement("a"), statement("b", embedding=[1.0])]
    with pytest.raises(InvalidInput) as caught:
        detect(statement(embedding=[1.0, 0.0]), existing, DEFAULTS)
    assert caught.value.loc == ("existing", 1, "embedding")


@pytest.mark.spec("A-72", "P-11")
@pytest.mark.parametrize(
    ("ours", "theirs", "ratio"),
    [
        (("a", "b"), ("b", "c"), None),  # just one half
        (("a", "b", "c"), ("a", "b", "d"), 2 / 3),
        (("A", "a", "B"), ("a",), 1.0),  # folded, each once; by the smaller set
        (("Straße",), ("STRASSE",), 1.0),
        ((), ("a",), None),
        ((), (), None),
    ],
)
def test_the_share_of_common_keywords(ours: tuple[str, ...], theirs: tuple[str, ...], ratio: float | None) -> None:
    found = signals(statement(keywords=ours, timestamp=FAR), statement("old", keywords=theirs))
    assert (found["keyword"].score if "keyword" in found else None) == (ratio and pytest.approx(ratio))


@pytest.mark.spec("A-73", "P-16")
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("ms", "score"), [(0, 1.0), (150_000, 0.5), (300_000, 0.0), (300_000.001, None)])
def test_the_windows_edge_is_within_in_both_directions(sign: int, ms: float, score: float | None) -> None:
    existing = statement("old", timestamp=NOON + sign * timedelta(milliseconds=ms))
    found = signals(statement(), existing)
    assert (found["time"].score if "time" in found else None) == score
    if score is not None:
        assert found["time"].details == {"deltaMs": ms, "windowMs": 300_000}


def test_a_window_of_nothing_holds_one_instant() -> None:
    options = DetectionOptions(time_window_ms=0)
    assert signals(statement(), statement("old"), options)["time"].score == 1
    assert not signals(statement(), statement("old", timestamp=NOON + timedelta(microseconds=1)), options)


@pytest.mark.spec("A-74", "P-11")
@pytest.mark.parametrize(
    ("ours", "theirs", "given_off"),
    [(0.9, 0.5, False), (0.7, 0.3, False), (0.6, 0.2, False), (0.5, 0.91, True), (1.0, 0.0, True), (0.5, 0.5, False)],
)
def test_a_difference_above_the_delta_is_an_importance_signal(ours: float, theirs: float, given_off: bool) -> None:
    found = signals(statement(importance=ours, timestamp=FAR), statement("old", importance=theirs))
    assert ("importance" in found) == given_off
    if given_off:
        assert found["importance"].details["delta"] == pytest.approx(abs(ours - theirs))


@pytest.mark.spec("A-75")
@given(statements("candidate"), statements("old"))
def test_another_users_memory_never_signals(candidate: Any, existing: Any) -> None:
    everything = DetectionOptions(0.0, 0.0, 10**10, 0.0)
    stranger = statement("old", user_id="ben", content=existing.content, importance=existing.importance)
    assert detect(candidate, [stranger, existing], everything) == detect(candidate, [existing], everything)


def test_a_memory_is_in_no_conflict_with_itself() -> None:
    assert detect(statement(), [statement()], DEFAULTS) == ()


@given(statements("candidate"), statements("old"))
def test_signals_are_the_same_from_both_sides(candidate: Any, existing: Any) -> None:
    ours, theirs = signals(candidate, existing), signals(existing, candidate)
    assert {name: pytest.approx(one.score) for name, one in ours.items()} == {n: s.score for n, s in theirs.items()}


@given(statements("candidate"), st.lists(statements("old"), max_size=5))
def test_scores_are_shares(candidate: Any, existing: list[Any]) -> None:
    for conflict in detect(candidate, existing, DetectionOptions(0.0, 0.0, 10**10, 0.0)):
        assert conflict.signals
        assert all(0 <= signal.score <= 1 for signal in conflict.signals)
        assert conflict.severity == pytest.approx(sum(signal.score for signal in conflict.signals))


def conflict(name: str, **scores: float) -> Conflict:
    """A conflict with these signals."""
    return Conflict(statement(name), tuple(Signal(SignalType(kind), score, {}) for kind, score in scores.items()))


@pytest.mark.spec("A-89")
@pytest.mark.parametrize(
    ("conflicts", "worst"),
    [
        ([conflict("a", semantic=0.9), conflict("b", semantic=0.85, time=1.0)], "b"),
        ([conflict("a", keyword=0.9), conflict("b", keyword=0.9)], "a"),
        ([conflict("a", keyword=0.1, time=0.2, importance=0.3), conflict("b", keyword=0.6)], "a"),
        ([conflict("a", time=1.0, importance=1.0), conflict("b", keyword=0.6)], "b"),
        ([conflict("a", time=1.0, importance=1.0)], None),
        ([], None),
    ],
)
def test_the_most_severe_conflict_about_content_is_picked(conflicts: list[Conflict], worst: str | None) -> None:
    found = most_severe(conflicts)
    assert (found and found.existing.id) == worst


def test_the_thresholds_come_from_a_tenants_rules() -> None:
    assert detection_options(ConflictRules()) == DEFAULTS
    assert detection_options(ConflictRules("off", 0.9, 0.5, 0.1, 0.2, 3, 0.4)) == DetectionOptions(0.1, 0.2, 3, 0.4)
