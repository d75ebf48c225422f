"""What share of the evidence was found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.retrieval.evaluation import GoldQuestion, evidence_recall, recall_by_category

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
