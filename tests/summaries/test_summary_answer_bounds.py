"""A model's answer at the edges of what is taken."""

import json
from typing import Any

import pytest

from recollect.core.errors import InvalidInput
from recollect.summaries.goals import CheckInStatus, GoalStatus
from recollect.summaries.model_answer import Fault, SummaryAnswer, check_in_date, read_summary_answer

CHECK_IN = {"date": "2024-05-01", "status": "missed"}


def read(text: str, max_words: int = 200) -> SummaryAnswer:
    found = read_summary_answer(text, max_words)
    assert isinstance(found, SummaryAnswer), found
    return found


def goals(*given: dict[str, Any]) -> str:
    return json.dumps({"summary": "s", "tracked_goals": list(given)})


@pytest.mark.parametrize(
    "text",
    [
        '{"summary": "ok"}' + " " * (200_000 - 17),
        'So: {"summary": "ok", "more": {"a": {"b": 1}}} and done',
        '```{"summary": "ok"}',
        '{"summary": "ok"}```',
        '```json {"summary": "ok"}\n{"summary": "ok"}\n```',
        json.dumps({"summary": "\u0007ok\u0000"}),
    ],
)
def test_what_is_around_the_object_is_passed_over(text: str) -> None:
    assert read(text).summary == "ok"


@pytest.mark.spec("P-5")
def test_lengths_at_their_bounds_are_taken() -> None:
    assert read(json.dumps({"summary": "w" * 80}), 2).summary == "w" * 80
    assert read_summary_answer(json.dumps({"summary": "w" * 81}), 2) is Fault.TOO_LONG
    assert read(json.dumps({"summary": "one\ttwo\nthree"})).summary == "one\ttwo\nthree"
    assert len(read(goals(*[{"goal": "Run"}] * 20)).tracked_goals) == 20
    (one,) = read(
        goals({"goal": "g" * 500, "check_in_frequency": "d" * 100, "history": [CHECK_IN] * 400})
    ).tracked_goals
    assert (len(one.goal), len(one.check_in_frequency or ""), len(one.history)) == (500, 100, 400)
    assert read(goals({"goal": "g", "check_in_frequency": "d"})).tracked_goals[0].goal == "g"
    assert read(goals({"goal": "g", "check_in_frequency": "d"})).tracked_goals[0].check_in_frequency == "d"


@pytest.mark.parametrize("point", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_half_of_a_pair_is_no_text(point: int) -> None:
    half = chr(point)
    assert read_summary_answer(json.dumps({"summary": f"a{half}"}), 9) is Fault.NO_TEXT
    assert read_summary_answer(goals({"goal": f"a{half}"}), 9) is Fault.NO_TEXT
    assert read(json.dumps({"summary": "a\ud7ff\ue000"})).summary == "a\ud7ff\ue000"


@pytest.mark.spec("H-24")
def test_words_are_read_in_any_case_and_what_is_absent_has_a_default() -> None:
    (one,) = read(goals({"goal": " Run\n far ", "check_in_frequency": "", "history": None})).tracked_goals
    assert (one.goal, one.status, one.check_in_frequency, one.history) == ("Run far", GoalStatus.ACTIVE, None, ())
    (two,) = read(
        goals({"goal": "g", "status": "COMPLETED", "history": [{**CHECK_IN, "status": "Missed"}]})
    ).tracked_goals
    assert (two.status, two.history[0].status) == (GoalStatus.COMPLETED, CheckInStatus.MISSED)


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024-05-01", "2024-05-01"),
        ("2024-05-01T23:30:00-02:00", "2024-05-02"),
        ("20240501", "2024-05-01"),
        (1_714_521_600, "2024-05-01"),
        ("2024-05-01" + " " * 54, "2024-05-01"),
        ("2024-05-01" + " " * 55, None),
        ("2024-02-30", None),
        (None, None),
    ],
)
def test_a_check_ins_day(value: object, day: str | None) -> None:
    if day is not None:
        assert check_in_date(value) == day
        return
    with pytest.raises(InvalidInput):
        check_in_date(value)
