"""Records for tests of retrieval by intent."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.intent.analysis import QueryAnalysis, analyze
from recollect.intent.scoring import RetrievalRecord
from recollect.rules.groups import IntentRules, Rules

NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)
RULES = IntentRules()


def record(content: str | None = "blood pressure 120/80", days: float = 0, **changes: Any) -> RetrievalRecord:
    """A record that is so many days old."""
    fields: dict[str, Any] = {"id": "r1", "content": content, "created_at": NOW - timedelta(days=days)}
    return RetrievalRecord(**(fields | changes))


def analysed(
    query: str | None,
    spaces: Sequence[str] = ("Health", "Fitness"),
    categories: Sequence[str] = (),
    history: Sequence[str] = (),
) -> QueryAnalysis:
    """The analysis of a query that is asked now."""
    return analyze(query, history, spaces, categories, NOW, Rules())
