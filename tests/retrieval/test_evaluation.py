"""Measures of search and context: what share of the evidence was found; needed, stale and filler lines."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.retrieval.evaluation import (
    GoldQuestion,
    Needs,
    Shown,
    ShownLine,
    TalkQuestion,
    context_quality,
    evidence_recall,
    recall_by_category,
    search_quality,
)

AT = datetime(2025, 5, 1, tzinfo=UTC)


def asks(kind: str = "changed", evidence: str = "a b", needs: Needs = Needs.ALL, stale: str = "") -> TalkQuestion:
    return TalkQuestion("q", kind, "Where?", AT, frozenset(evidence.split()), needs, frozenset(stale.split()))


def shown(*lines: str, tokens: int = 0, marked: str = "") -> Shown:
    return Shown(tuple(ShownLine(frozenset(line.split()), line == marked) for line in lines), tokens)


@pytest.mark.parametrize(
    ("question", "answer", "right"),
    [
        (asks(), shown("a", "b"), 1.0),
        (asks(), shown("a b", "x"), 1.0),
        (asks(), shown("a", "x"), 0.0),
        (asks(needs=Needs.ANY), shown("a", "x"), 1.0),
        (asks(), shown(), 0.0),
    ],
)
def test_right_is_where_the_needed_turns_are_shown(question: TalkQuestion, answer: Shown, right: float) -> None:
    assert context_quality([question], [answer])["all"].right == right


@pytest.mark.parametrize(
    ("answer", "stale", "misled"),
    [
        (shown("old", "a", "b"), 1.0, 0.0),
        (shown("old", "a"), 1.0, 1.0),
        (shown("a", "b"), 0.0, 0.0),
        (shown("old", "x", marked="old"), 0.0, 0.0),
    ],
)
def test_misled_is_stale_without_what_corrects_it(answer: Shown, stale: float, misled: float) -> None:
    judged = context_quality([asks(stale="old")], [answer])["all"]
    assert (judged.stale, judged.misled) == (stale, misled)


def test_kinds_are_separate_and_unanswerable_questions_are_not_in_all() -> None:
    questions = [asks("changed"), asks("unknown", evidence="")]
    judged = context_quality(questions, [shown("a", "b", "x", "y", tokens=30), shown("x", tokens=10)])
    assert list(judged) == ["all", "changed", "unknown"]
    assert (judged["all"].questions, judged["all"].precise, judged["all"].tokens) == (1, 0.5, 30)
    assert (judged["unknown"].right, judged["unknown"].precise, judged["unknown"].lines) == (None, None, 1)
    assert judged["all"].stale is None


def test_a_search_is_right_within_its_first_places() -> None:
    judged = search_quality([asks()], [shown("x", "a", "y", "b")], (3, 10))["all"]
    assert judged.right_at == {3: 0.0, 10: 1.0}


@pytest.mark.parametrize(
    ("answer", "first"), [(shown("old", "a"), 1.0), (shown("a", "old"), 0.0), (shown("old", "a", marked="old"), 0.0)]
)
def test_a_stale_turn_stands_first_unless_it_is_marked(answer: Shown, first: float) -> None:
    assert search_quality([asks(stale="old")], [answer], (3,))["all"].stale_first == first


NAMES = st.sampled_from("abcdef")


def question(category: str, *evidence: str) -> GoldQuestion:
    return GoldQuestion("c", "?", category, frozenset(evidence))


def test_recall_is_the_share_of_the_gold_turns_among_the_first() -> None:
    assert evidence_recall(["a", "x", "b"], frozenset("ab"), 2) == 0.5
    assert evidence_recall(["a", "x", "b"], frozenset("ab"), 3) == 1.0
    assert evidence_recall([], frozenset("ab"), 3) == 0.0


@given(st.lists(NAMES, unique=True), st.frozensets(NAMES, min_size=1))
def test_recall_never_falls_with_k(found: list[str], evidence: frozenset[str]) -> None:
    recalls = [evidence_recall(found, evidence, k) for k in range(8)]
    assert recalls == sorted(recalls)
    assert recalls[-1] == len(evidence & set(found)) / len(evidence)


def test_all_questions_come_first_then_each_category() -> None:
    questions = [question("when", "a"), question("who", "b"), question("when", "c", "d")]
    table = recall_by_category(questions, [["a"], ["x", "b"], ["c", "x"]], [1, 2])
    assert list(table) == ["all", "when", "who"]
    assert table["all"] == {1: pytest.approx(0.5), 2: pytest.approx((1 + 1 + 0.5) / 3)}
    assert table["when"] == {1: 0.75, 2: 0.75}
    assert recall_by_category([], [], [1]) == {}
