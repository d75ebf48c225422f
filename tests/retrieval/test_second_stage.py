"""The second stage: what a model that reads question and hit together makes of the order."""

from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.adapters.relevance.table_relevance import TableRelevance
from recollect.core.event import EventRef
from recollect.core.vectors import FloatArray
from recollect.retrieval.nomination import Candidate
from recollect.retrieval.ranking import Mode, Query, Ranked, RankingPolicy
from recollect.retrieval.second_stage import READ_TOGETHER, RELEVANCE, SecondStage, SecondStagePolicy
from samples.candidates import candidate
from samples.events import NOON

QUESTION = "Where do I live?"
ASKED = Query(text=QUESTION, terms=(), vector=None, mode=Mode.HYBRID)


def hit(name: str, score: float = 0.5) -> Ranked:
    return Ranked(candidate(name), score, MappingProxyType({"bm25": 1.0}), MappingProxyType({"bm25": score}))


def text(one: Ranked) -> str:
    return one.id


def stage(logits: dict[str, float]) -> SecondStage:
    return SecondStage(TableRelevance({(QUESTION, name): logit for name, logit in logits.items()}), RankingPolicy())


def names(ranked: tuple[Ranked, ...]) -> list[str]:
    return [one.id for one in ranked]


def test_what_the_model_finds_needed_moves_up_and_says_why() -> None:
    first, second = stage({"a": -9.0, "b": 3.0}).ordered(ASKED, [hit("a", 0.9), hit("b", 0.7)], text)
    assert (first.id, second.id) == ("b", "a")
    assert first.signals.items() >= {"bm25": 1.0, RELEVANCE: pytest.approx(0.9526, abs=1e-4)}.items()
    assert first.score == pytest.approx(0.7 + 0.4 * 0.9526, abs=1e-4)
    assert first.score == pytest.approx(sum(first.shares.values()))


def test_what_the_first_stage_knows_still_counts() -> None:
    hits = [hit("strong", 0.9), hit("weak", 0.2)]
    assert names(stage({"strong": -9.0, "weak": 9.0}).ordered(ASKED, hits, text)) == ["strong", "weak"]


@pytest.mark.parametrize("question", ["", "  "])
def test_without_a_model_or_a_question_the_order_stays(question: str) -> None:
    hits = [hit("a", 0.9), hit("b", 0.8)]
    assert not SecondStage(None, RankingPolicy()).reads
    assert SecondStage(None, RankingPolicy()).ordered(ASKED, hits, text) == tuple(hits)
    assert stage({"b": 9.0}).ordered(replace(ASKED, text=question), hits, text) == tuple(hits)


def test_only_the_best_hits_are_read_and_the_others_stand_behind_them() -> None:
    hits = [hit(f"h{number:02}", 1 - number / 100) for number in range(READ_TOGETHER + 3)]
    ordered = stage({hits[-1].id: 9.0}).ordered(ASKED, hits, text)
    assert names(ordered[READ_TOGETHER:]) == names(tuple(hits[READ_TOGETHER:]))
    assert not any(RELEVANCE in one.signals for one in ordered[READ_TOGETHER:])


def of_two_times(**asked: Any) -> list[str]:
    """What is said of one matter long ago, which the model finds needed most, and lately; five other matters."""
    axes, ago = numpy.eye(8, dtype=numpy.float32), {"old": 40, "new": 1}
    told = {name: (axes[0], ago[name]) for name in ago} | {f"other {n}": (axes[n], 60) for n in range(1, 6)}
    hits = [replace(hit(name, 0.2), candidate=said(name, *when)) for name, when in told.items()]
    logits = {"old": 3.0, "new": 1.0}
    query = replace(ASKED, moment=NOON, **asked)
    ordered = stage({name: logits.get(name, -9.0) for name in told}).ordered(query, hits, text, as_of_now=True)
    assert all(one.score == pytest.approx(sum(one.shares.values())) for one in ordered)
    return names(ordered)[:2]


def said(name: str, vector: FloatArray, days: int) -> Candidate:
    return candidate(name, ref=EventRef(name, NOON - timedelta(days=days)), vector=vector)


def test_of_what_is_needed_the_newest_stands_first_as_far_as_the_question_asks_of_now() -> None:
    assert of_two_times(of_now=1.0) == ["new", "old"]
    assert of_two_times(of_now=0.0) == ["old", "new"]
    assert of_two_times(of_now=1.0, mode=Mode.SEMANTIC) == ["old", "new"]


@pytest.mark.parametrize("logit", [-1e9, -60.0, 0.0, 60.0, 1e9])
def test_a_logit_of_any_size_is_worth_a_share(logit: float) -> None:
    assert 0.0 <= SecondStagePolicy().relevance(logit) <= 1.0


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-20, 20)), max_size=40))
def test_every_hit_is_answered_once_and_the_best_first(values: list[tuple[float, float]]) -> None:
    hits = [hit(f"h{place:02}", score) for place, (score, _) in enumerate(values)]
    logits = {one.id: logit for one, (_, logit) in zip(hits, values, strict=True)}
    ordered = stage(logits).ordered(ASKED, hits, text)
    assert sorted(names(ordered)) == sorted(one.id for one in hits)
    read = [round(one.score, 9) for one in ordered[:READ_TOGETHER]]
    assert read == sorted(read, reverse=True)
