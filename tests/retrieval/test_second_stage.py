"""The second stage: what a model that reads question and hit together makes of the order."""

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.adapters.relevance.table_relevance import TableRelevance
from recollect.retrieval.ranking import Ranked
from recollect.retrieval.second_stage import READ_TOGETHER, RELEVANCE, SecondStage, SecondStagePolicy
from samples.candidates import candidate

QUESTION = "Where do I live?"


def hit(name: str, score: float = 0.5) -> Ranked:
    return Ranked(candidate(name), score, MappingProxyType({"bm25": 1.0}), MappingProxyType({"bm25": score}))


def text(one: Ranked) -> str:
    return one.id


def stage(logits: dict[str, float]) -> SecondStage:
    return SecondStage(TableRelevance({(QUESTION, name): logit for name, logit in logits.items()}))


def names(ranked: tuple[Ranked, ...]) -> list[str]:
    return [one.id for one in ranked]


def test_what_the_model_finds_needed_moves_up_and_says_why() -> None:
    first, second = stage({"a": -9.0, "b": 3.0}).ordered(QUESTION, [hit("a", 0.9), hit("b", 0.7)], text)
    assert (first.id, second.id) == ("b", "a")
    assert first.signals == {"bm25": 1.0, RELEVANCE: pytest.approx(0.9526, abs=1e-4)}
    assert first.score == pytest.approx(0.7 + 0.4 * 0.9526, abs=1e-4)
    assert first.score == pytest.approx(sum(first.shares.values()))


def test_what_the_first_stage_knows_still_counts() -> None:
    hits = [hit("strong", 0.9), hit("weak", 0.2)]
    assert names(stage({"strong": -9.0, "weak": 9.0}).ordered(QUESTION, hits, text)) == ["strong", "weak"]


@pytest.mark.parametrize("question", ["", "  "])
def test_without_a_model_or_a_question_the_order_stays(question: str) -> None:
    hits = [hit("a", 0.9), hit("b", 0.8)]
    assert not SecondStage(None).reads
    assert SecondStage(None).ordered(QUESTION, hits, text) == tuple(hits)
    assert stage({"b": 9.0}).ordered(question, hits, text) == tuple(hits)


def test_only_the_best_hits_are_read_and_the_others_stand_behind_them() -> None:
    hits = [hit(f"h{number:02}", 1 - number / 100) for number in range(READ_TOGETHER + 3)]
    ordered = stage({hits[-1].id: 9.0}).ordered(QUESTION, hits, text)
    assert names(ordered[READ_TOGETHER:]) == names(tuple(hits[READ_TOGETHER:]))
    assert not any(RELEVANCE in one.signals for one in ordered[READ_TOGETHER:])


@pytest.mark.parametrize("logit", [-1e9, -60.0, 0.0, 60.0, 1e9])
def test_a_logit_of_any_size_is_worth_a_share(logit: float) -> None:
    assert 0.0 <= SecondStagePolicy().relevance(logit) <= 1.0


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-20, 20)), max_size=40))
def test_every_hit_is_answered_once_and_the_best_first(values: list[tuple[float, float]]) -> None:
    hits = [hit(f"h{place:02}", score) for place, (score, _) in enumerate(values)]
    logits = {one.id: logit for one, (_, logit) in zip(hits, values, strict=True)}
    ordered = stage(logits).ordered(QUESTION, hits, text)
    assert sorted(names(ordered)) == sorted(one.id for one in hits)
    read = [round(one.score, 9) for one in ordered[:READ_TOGETHER]]
    assert read == sorted(read, reverse=True)
