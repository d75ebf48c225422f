"""Why a line is there: every signal has words, and the sentence tells the strongest."""

from dataclasses import fields
from pathlib import Path

import pytest

from recollect.adapters.relevance.table_relevance import TableRelevance
from recollect.retrieval.pooling import SimilarityScale
from recollect.retrieval.ranking import Mode, Query, Ranked, RankingPolicy, on_scale, rank
from recollect.retrieval.reasons import SIGNALS, because, shared_words
from recollect.retrieval.second_stage import SecondStage
from samples.candidates import EAST, NORTH, STATISTICS, candidate

DOCS = Path(__file__).parents[2] / "docs/retrieval.md"
ASKED = "When is my dentist appointment in December?"
SAID = "Remember: dentist on december 3 at 9:30"


def made() -> set[str]:
    """The names of all signals that the ranking of both stages makes, in any mode."""
    found: set[str] = {one.name for one in fields(RankingPolicy)}
    for mode in Mode:
        query = Query(text="the dog", terms=("dog",), vector=EAST, mode=mode)
        ranked = rank([candidate("one", vector=NORTH, counts={"dog": 1})], query, STATISTICS, RankingPolicy())
        ranked = [*on_scale(ranked, SimilarityScale(midpoint=0.1, slope=5.0), mode)]
        table = TableRelevance({("the dog", "one"): 1.0})
        for one in SecondStage(table, RankingPolicy()).ordered(query, ranked, lambda each: each.id, as_of_now=True):
            found |= {*one.signals, *one.shares}
    return found


def hit(shares: dict[str, float], **signals: float) -> Ranked:
    """With these shares; each signal is as great as its share where it is not given."""
    return Ranked(candidate("one"), 1.0, {**shares, **signals}, shares)


def test_every_signal_has_words() -> None:
    assert made() - set(SIGNALS) == set()


@pytest.mark.parametrize(("name", "told"), SIGNALS.items())
def test_the_page_calls_it_so(name: str, told: str) -> None:
    assert f"| `{name}` | {told} |\n" in DOCS.read_text("utf-8")


@pytest.mark.parametrize(
    ("ranked", "told"),
    [
        (hit({"bm25": 0.1}), "Shares the words “dentist” and “December” with the question."),
        (hit({"weighted_similarity": 0.1}, similarity=0.71), "Is close in meaning to the question."),
        (
            hit({"bm25": 0.03, "weighted_similarity": 0.12}, similarity=0.71),
            "Is close in meaning to the question and shares the words “dentist” and “December” with it.",
        ),
        (hit({"weighted_similarity": 0.17, "distinct_similarity": 0.05}, similarity=0.3), "Is among the nearest in"),
        (
            hit({"bm25": 0.1, "weighted_similarity": 0.175, "distinct_similarity": 0.05}, similarity=0.3),
            "Shares the words “dentist” and “December” with the question and is among the nearest in meaning to it.",
        ),
        (
            hit({"weighted_similarity": 0.1}, similarity=0.304),
            "Is only loosely related to the question (30 % close in meaning).",
        ),
        (hit({"relevance": 0.36}, relevance=0.9), "Seems to be needed for the answer."),
        (hit({"relevance": 0.04}, relevance=0.1), "Is only loosely related to the question."),
        (hit({"named_date": 0.05}), "Was said when the question asks about."),
        (hit({"named_speaker": 0.1}), "Was said by Ada, whom the question names."),
        (hit({"beside": 0.2, "exchange": 0.2}, beside=0.6), "Stands beside what matches the question."),
        (
            hit({"bm25": 0.1, "beside": 0.04, "exchange": 0.04}, beside=0.1, exchange=0.1),
            "Shares the words “dentist” and “December” with the question.",
        ),
        (hit({"recent": 0.3}), "Is among the newest that match."),
        (hit({"renewed": 0.3}), "Says anew what was said before."),
        (hit({"said_by_user": 0.15}), "Is only loosely related to the question."),
        (
            hit({"bm25": 0.1}, outdone=0.6),
            "Shares the words “dentist” and “December” with the question, but a newer line",
        ),
    ],
)
def test_the_strongest_signals_are_told(ranked: Ranked, told: str) -> None:
    assert because(ranked, ASKED, SAID, speaker="Ada").startswith(told)


def test_what_else_chose_it_is_told_too() -> None:
    assert because(None, ASKED, SAID, also=["is among the newest"]) == "Is among the newest."
    told = because(hit({"recent": 0.3}), ASKED, SAID, replaces=True)
    assert told == "Says what replaced an earlier line and is among the newest that match."
    assert because(None, "", "") == "Is only loosely related to the question."
    assert because(None, ASKED, SAID, replaces=True) == "Says what replaced an earlier line."


def test_lines_of_which_nothing_tells_why_are_told_apart_by_place_and_nearness() -> None:
    weak = hit({"said_by_user": 0.15, "weighted_similarity": 0.1}, similarity=0.24)
    loosely = "only loosely related to the question (number 7 of what it finds, 24 % close in meaning)."
    assert because(weak, ASKED, SAID, place=7) == f"Is {loosely}"
    assert because(weak, ASKED, SAID, replaces=True, place=7) == f"Says what replaced an earlier line and is {loosely}"
    assert because(weak, ASKED, SAID, also=["is the newest"], place=7) == "Is the newest."


@pytest.mark.parametrize(
    ("question", "said", "words"),
    [
        (ASKED, SAID, ["dentist", "December"]),
        ("Wann ist mein Termin bei Dr. Wendt?", "Zahnarzt Dr. Wendt am 14.", ["Dr", "Wendt"]),
        ("我的牙医预约是什么时候？", "牙医预约改到12月10日", ["牙医预约"]),
        ("내 치과 예약은 언제야?", "치과 예약은 10일", ["치과", "예약"]),
        ("Where do I live?", "I live where I do", ["live"]),
        ("oak, beeches, hornbeams, alders", "oak beech hornbeam alder", ["beeches", "hornbeams", "alders"]),
        ("的", "的", []),
        ("", "", []),
    ],
)  # fmt: skip
def test_shared_words_are_those_that_tell_something(question: str, said: str, words: list[str]) -> None:
    assert shared_words(question, said) == words
