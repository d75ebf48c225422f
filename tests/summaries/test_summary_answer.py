"""A model's answer: taken as a whole or not at all, and never fatal."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import InvalidInput
from recollect.summaries.goals import CheckIn, CheckInStatus, GoalStatus, TrackedGoal
from recollect.summaries.model_answer import Fault, SummaryAnswer, check_in_date, read_summary_answer

GOOD = {"summary": "Anna lives in Paris.", "tracked_goals": []}


def read(answer: Any, max_words: int = 200) -> SummaryAnswer | Fault:
    """Reads an object, or a text as it is."""
    return read_summary_answer(answer if isinstance(answer, str) else json.dumps(answer), max_words)


def goal(**changes: Any) -> dict[str, Any]:
    """An answer with one goal."""
    return {"summary": "s", "tracked_goals": [{"goal": "Run", "status": "active", **changes}]}


@pytest.mark.spec("H-23", "H-24")
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD)}\n```",
        f"```\n{json.dumps(GOOD)}\n```  ",
        f"Here you are:\n{json.dumps(GOOD)}\nAnything else?",
        json.dumps({**GOOD, "confidence": 1}),
        json.dumps({"summary": " Anna lives in Paris.\n"}),
        json.dumps({**GOOD, "tracked_goals": None}),
    ],
)
def test_fences_words_around_it_and_more_fields_are_tolerated(text: str) -> None:
    assert read(text) == SummaryAnswer("Anna lives in Paris.", ())


@pytest.mark.spec("H-24", "P-5")
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", Fault.NO_JSON),
        ("I cannot do that.", Fault.NO_JSON),
        ('{"summary": "cut', Fault.NO_JSON),
        ("[1, 2]", Fault.NO_JSON),
        ("null", Fault.NO_JSON),
        ('{"summary": NaN}', Fault.NO_JSON),
        ("[" * 100_000, Fault.NO_JSON),
        ('{"a":' * 30_000, Fault.NO_JSON),
        ("{" + " " * 300_000 + "}", Fault.TOO_LARGE),
        ({}, Fault.NO_SUMMARY),
        ({"summary": None}, Fault.NO_SUMMARY),
        ({"summary": " \n"}, Fault.NO_SUMMARY),
        ({"summary": "\u0000\u0001"}, Fault.NO_SUMMARY),
        ({"summary": ["a"]}, Fault.NO_SUMMARY),
        ({"summary": "w " * 201}, Fault.TOO_LONG),
        ({"summary": "住" * 201}, Fault.TOO_LONG),
        ({"summary": "w" * 8_001}, Fault.TOO_LONG),
        ('{"summary": "\\ud800"}', Fault.NO_TEXT),
        ({**GOOD, "tracked_goals": {}}, Fault.BAD_GOALS),
        ({**GOOD, "tracked_goals": ["Run"]}, Fault.BAD_GOALS),
        ({**GOOD, "tracked_goals": [{}] * 21}, Fault.BAD_GOALS),
        (goal(goal=""), Fault.BAD_GOALS),
        (goal(goal=3), Fault.BAD_GOALS),
        (goal(goal="g" * 501), Fault.BAD_GOALS),
        (goal(status="done"), Fault.BAD_GOALS),
        (goal(status=None), Fault.BAD_GOALS),
        (goal(check_in_frequency=3), Fault.BAD_GOALS),
        (goal(check_in_frequency="d" * 101), Fault.BAD_GOALS),
        (goal(history={}), Fault.BAD_GOALS),
        (goal(history=[1]), Fault.BAD_GOALS),
        (goal(history=[{"date": "yesterday", "status": "missed"}]), Fault.BAD_GOALS),
        (goal(history=[{"date": "2024-05-01", "status": "late"}]), Fault.BAD_GOALS),
        (goal(history=[{"date": "2024-05-01", "status": "missed"}] * 401), Fault.BAD_GOALS),
    ],
)
def test_everything_else_that_is_wrong_makes_it_invalid(answer: Any, fault: Fault) -> None:
    assert read(answer) is fault


def test_exactly_as_many_words_as_allowed_are_allowed() -> None:
    assert isinstance(read({"summary": "w " * 200}), SummaryAnswer)
    assert read({"summary": "one two three"}, 2) is Fault.TOO_LONG


@pytest.mark.spec("H-24")
def test_goals_are_read_with_their_progress() -> None:
    history = [{"date": "2024-05-01", "status": "completed"}, {"date": "2024-05-02T07:00:00Z", "status": "Missed"}]
    read_answer = read(goal(goal="Run\n daily", status="COMPLETED", check_in_frequency="daily", history=history))
    assert isinstance(read_answer, SummaryAnswer)
    checked = (CheckIn("2024-05-01", CheckInStatus.COMPLETED), CheckIn("2024-05-02", CheckInStatus.MISSED))
    assert read_answer.tracked_goals == (TrackedGoal("Run daily", GoalStatus.COMPLETED, "daily", checked),)


def test_status_and_frequency_may_be_left_out() -> None:
    answer = read({"summary": "s", "tracked_goals": [{"goal": "Run", "check_in_frequency": None}]})
    assert isinstance(answer, SummaryAnswer)
    assert answer.tracked_goals == (TrackedGoal("Run"),)


@pytest.mark.parametrize(
    ("given_date", "day"),
    [
        ("2024-05-01", "2024-05-01"),
        (1714521600, "2024-05-01"),
        ("2024-05-01T23:59:59-05:00", "2024-05-02"),
        ("2024-W01", "2024-01-01"),
    ],
)
def test_a_date_is_a_day(given_date: object, day: str) -> None:
    assert check_in_date(given_date) == day


@pytest.mark.parametrize("wrong", ["", "2024-13-01", "1700-01-01", None, True, "9" * 100, []])
def test_what_is_no_date_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput):
        check_in_date(wrong)


NAMES = st.text() | st.sampled_from(["summary", "tracked_goals", "goal", "status", "history"])
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
)


@given(JSON.map(json.dumps) | st.text() | JSON.map(lambda value: json.dumps({"summary": "s", "tracked_goals": value})))
def test_no_text_raises(text: str) -> None:
    answer = read_summary_answer(text, 50)
    assert isinstance(answer, SummaryAnswer | Fault)


@pytest.mark.parametrize("noise", ["`" * 10**6, "```" + "\n" * 10**6 + "x", "{" * 10**6, "}{" * 500_000, " " * 10**6])
def test_a_megabyte_of_noise_is_a_fault(noise: str) -> None:
    assert isinstance(read_summary_answer(noise, 50), Fault)
    assert isinstance(read_summary_answer(noise[:199_000], 50), Fault)
