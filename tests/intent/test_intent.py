"""The intent classifier (R-26 to R-29, R-66, R-69, P-7)."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.intent.analysis import UNCLASSIFIED, Intent, IntentName, classify, classify_or_question
from recollect.text.terms import extract_keywords


@pytest.mark.parametrize(
    ("query", "name", "confidence"),
    [
        pytest.param("What is my blood pressure?", "question", 0.8, marks=pytest.mark.spec("R-26")),
        pytest.param("Hello?", "question", 0.8, marks=pytest.mark.spec("R-26")),
        pytest.param("我的血压是多少？", "question", 0.8, marks=pytest.mark.spec("R-26")),
        pytest.param("كم ضغطي؟", "question", 0.8, marks=pytest.mark.spec("R-26")),
        pytest.param("Hello there", "greeting", 0.6, marks=pytest.mark.spec("R-27")),
        pytest.param("", "greeting", 0.6, marks=pytest.mark.spec("R-27")),
        pytest.param("🎉🎉🎉", "greeting", 0.6, marks=pytest.mark.spec("R-69")),
        pytest.param("Show me my records", "question", 0.5, marks=pytest.mark.spec("R-28", "R-78")),
        pytest.param("I took my medication", "question", 0.5, marks=pytest.mark.spec("R-28", "R-78")),
    ],
)
@pytest.mark.spec("R-23", "R-29")
def test_classify(query: str, name: str, confidence: float) -> None:
    assert classify(query, extract_keywords(query)) == Intent(IntentName(name), confidence)


@pytest.mark.spec("R-10")
def test_four_intents_exist() -> None:
    assert set(IntentName) == {"question", "command", "statement", "greeting"}


@pytest.mark.spec("R-P3", "R-P19")
@given(st.text(), st.lists(st.text(), max_size=4))
def test_deterministic_and_total(query: str, keywords: list[str]) -> None:
    assert classify(query, keywords) == classify(query, list(keywords))


@pytest.mark.spec("R-66", "R-68")
def test_a_classifier_that_fails_leaves_a_question() -> None:
    def failing(query: str, keywords: Sequence[str]) -> Intent:
        raise RuntimeError

    assert classify_or_question("Hi", ("hi",), failing) == UNCLASSIFIED == Intent(IntentName.QUESTION, 0.5)
    assert classify_or_question("Hi", ("hi",)).name is IntentName.GREETING
