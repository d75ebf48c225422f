"""What a model answers when it is asked for a summary: taken only where it has the form that was asked for (H-24, P-5).

Code fences and words around the object are tolerated, and so are fields that nobody asked for; everything else that
is wrong makes the answer invalid as a whole. Raises on no text at all.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

from recollect.domain.errors import InvalidInput
from recollect.domain.goals import (
    LONGEST_FREQUENCY,
    LONGEST_GOAL,
    MOST_CHECK_INS,
    CheckIn,
    CheckInStatus,
    GoalStatus,
    TrackedGoal,
)
from recollect.domain.instants import parse_instant
from recollect.domain.sentences import count_words

MOST_TRACKED = 20
_LONGEST_ANSWER = 200_000
_LONGEST_WORD = 40
_FENCE = "```"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class Fault(StrEnum):
    """Why an answer is invalid: all that is recorded of it."""

    TOO_LARGE = "too_large"
    NO_JSON = "no_json"
    NO_SUMMARY = "no_summary"
    TOO_LONG = "too_long"
    NO_TEXT = "no_text"
    BAD_GOALS = "bad_goals"


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """A valid answer: a text that is not blank and within the words allowed, and the goals."""

    summary: str
    tracked_goals: tuple[TrackedGoal, ...]


class _Invalid(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.value)
        self.fault = fault


def read_summary_answer(text: str, max_words: int) -> SummaryAnswer | Fault:
    """The answer, or what is wrong with it. `max_words` ≥ 1 counts as `sentences.count_words` does."""
    try:
        answer = _object(text)
        return SummaryAnswer(_summary(answer, max_words), _goals(answer.get("tracked_goals")))
    except _Invalid as invalid:
        return invalid.fault


def _object(text: str) -> Mapping[str, Any]:
    if len(text) > _LONGEST_ANSWER:
        raise _Invalid(Fault.TOO_LARGE)
    inner = _unfenced(text.strip())
    for candidate in (inner, inner[inner.find("{") : inner.rfind("}") + 1]):
        value = _parsed(candidate)
        if isinstance(value, dict):
            return value
    raise _Invalid(Fault.NO_JSON)


def _unfenced(text: str) -> str:
    if not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    return text[text.find("\n") + 1 : -len(_FENCE)]


def _parsed(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _summary(answer: Mapping[str, Any], max_words: int) -> str:
    summary = answer.get("summary")
    if not isinstance(summary, str):
        raise _Invalid(Fault.NO_SUMMARY)
    clean = _clean(summary)
    if not clean:
        raise _Invalid(Fault.NO_SUMMARY)
    if count_words(clean) > max_words or len(clean) > _LONGEST_WORD * max_words:
        raise _Invalid(Fault.TOO_LONG)
    return clean


def _goals(given: object) -> tuple[TrackedGoal, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MOST_TRACKED:
        raise _Invalid(Fault.BAD_GOALS)
    return tuple(_goal(one) for one in given)


def _goal(given: object) -> TrackedGoal:
    if not isinstance(given, dict):
        raise _Invalid(Fault.BAD_GOALS)
    frequency = given.get("check_in_frequency")
    return TrackedGoal(
        goal=_line(given.get("goal"), LONGEST_GOAL),
        status=GoalStatus(_word(given.get("status", "active"), GoalStatus)),
        check_in_frequency=None if frequency in (None, "") else _line(frequency, LONGEST_FREQUENCY),
        history=_history(given.get("history")),
    )


def _history(given: object) -> tuple[CheckIn, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MOST_CHECK_INS:
        raise _Invalid(Fault.BAD_GOALS)
    return tuple(_check_in(one) for one in given)


def _check_in(given: object) -> CheckIn:
    if not isinstance(given, dict):
        raise _Invalid(Fault.BAD_GOALS)
    try:
        date = check_in_date(given.get("date"))
    except InvalidInput:
        raise _Invalid(Fault.BAD_GOALS) from None
    return CheckIn(date, CheckInStatus(_word(given.get("status"), CheckInStatus)))


def check_in_date(value: object) -> str:
    """The day `YYYY-MM-DD` of a date, or of a time in any form that is taken elsewhere. Raises InvalidInput."""
    if isinstance(value, str) and len(value) > 64:
        raise InvalidInput("not a date")
    day = parse_instant(value).date().isoformat()
    return value if isinstance(value, str) and _DATE.fullmatch(value) else day


def _word(given: object, words: type[StrEnum]) -> str:
    if not isinstance(given, str) or given.lower() not in tuple(words):
        raise _Invalid(Fault.BAD_GOALS)
    return given.lower()


def _line(given: object, longest: int) -> str:
    if not isinstance(given, str):
        raise _Invalid(Fault.BAD_GOALS)
    line = " ".join(_clean(given).split())
    if not 1 <= len(line) <= longest:
        raise _Invalid(Fault.BAD_GOALS)
    return line


def _clean(text: str) -> str:
    """Trimmed, without control characters. Half a surrogate pair is no text at all, and cannot be stored."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise _Invalid(Fault.NO_TEXT)
    kept: Sequence[str] = [c if c in "\n\t" or unicodedata.category(c) != "Cc" else " " for c in text]
    return "".join(kept).strip()
