"""MemoryScoring.feature: content types, boosting, the cap (K-87)."""

import pytest
from pytest_bdd import parsers, scenario, scenarios, then

from features.world import World


@pytest.mark.spec("K-01", "K-02", "K-03", "K-04", "K-05", "K-06", "K-07", "K-87", "K-98", "P-4")
@scenario("MemoryScoring.feature", "Content type scoring")
def test_content_types() -> None: ...


@pytest.mark.spec("K-09", "K-10", "K-11", "K-87")
@scenario("MemoryScoring.feature", "Importance keyword boosting")
def test_boosting() -> None: ...


@pytest.mark.spec("K-12", "K-14", "K-87")
@scenario("MemoryScoring.feature", "The score is capped at one and a boost applies to every type")
def test_the_cap() -> None: ...


scenarios("MemoryScoring.feature")


@then(parsers.parse("its importance score is {score:f}"))
def has_the_score(world: World, score: float) -> None:
    assert world.stored is not None
    assert world.stored.importance == pytest.approx(score)
