"""The fit of which questions ask of now: on lists in which it is known."""

import numpy

from infra.tools.ranking.cut import relevance_ends
from infra.tools.ranking.fit import SHARES, fitted
from infra.tools.ranking.lists import RankedList

HITS, DIMENSION = 12, 24


def asked(number: int, of_now: bool, source: str) -> RankedList:
    """Of now: the recent hit is the evidence, else the one that the first stage likes best."""
    random = numpy.random.default_rng(number)
    vector = random.normal(size=DIMENSION) * 0.3
    vector[0] = 1.0 if of_now else -1.0
    first = numpy.linspace(1.0, 0.2, HITS)
    signals = numpy.zeros((HITS, 3))
    signals[3, 0] = 1.0
    gold = numpy.arange(HITS) == (3 if of_now else 0)
    return RankedList(source, f"{source} {number % 5}", vector, 1.2, first, signals, gold, numpy.zeros(HITS, bool))


LISTS = [asked(number, number % 2 == 0, list(SHARES)[number % 4 // 2]) for number in range(120)]


def test_it_learns_which_questions_ask_of_now_and_what_recency_weighs() -> None:
    found = fitted(LISTS)
    now, past = asked(500, True, "talks"), asked(501, False, "talks")
    assert found.share(now.vector) > 0.7 > 0.3 > found.share(past.vector)
    assert found.weights[0] > 0.3
    assert (found.order(now)[0], found.order(past)[0]) == (3, 0)


def test_the_same_lists_give_the_same_figures() -> None:
    first, second = fitted(LISTS[:40]), fitted(LISTS[:40])
    assert (first.bias, *first.weights) == (second.bias, *second.weights)
    assert (first.direction == second.direction).all()


def test_relevance_ends_below_what_is_needed() -> None:
    found = fitted(LISTS)
    share, least = relevance_ends(LISTS, found)
    kept = [found.scores(one) >= least + share * found.scores(one).max() for one in LISTS if one.source == "talks"]
    gold = [one.gold for one in LISTS if one.source == "talks"]
    assert all((passes & needed).any() for passes, needed in zip(kept, gold, strict=True))
