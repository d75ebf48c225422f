"""What a query wants, by rules that hold in every language (R-26 to R-29, P-7)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class IntentName(StrEnum):
    """The four intents (R-10); the default rules produce `question` and `greeting` only (P-7)."""

    QUESTION = "question"
    COMMAND = "command"
    STATEMENT = "statement"
    GREETING = "greeting"


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent and how sure the classifier is, in [0, 1]."""

    name: IntentName
    confidence: float


Classifier = Callable[[str, Sequence[str]], Intent]
"""(query, keywords) → intent: the shape of the default rules and of what may be plugged in for them (P-7)."""

UNCLASSIFIED = Intent(IntentName.QUESTION, 0.5)
_ASKED = Intent(IntentName.QUESTION, 0.8)
_GREETED = Intent(IntentName.GREETING, 0.6)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_GREETING_KEYWORDS = 2


def classify(query: str, keywords: Sequence[str]) -> Intent:
    """Question mark: question, 0.8; two keywords or fewer: greeting, 0.6; else question, 0.5 (R-23, R-26 to R-28)."""
    if any(mark in query for mark in _QUESTION_MARKS):
        return _ASKED
    if len(keywords) <= _GREETING_KEYWORDS:
        return _GREETED
    return UNCLASSIFIED


def classify_or_question(query: str, keywords: Sequence[str], classifier: Classifier = classify) -> Intent:
    """What the classifier says; one that fails leaves a question at 0.5 and retrieval goes on (R-66, R-68)."""
    try:
        return classifier(query, keywords)
    except Exception:  # noqa: BLE001 - a plugged-in classifier may fail in any way; a query is never lost to it
        return UNCLASSIFIED
