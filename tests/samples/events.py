"""Events for domain tests."""

from datetime import UTC, datetime
from typing import Any

from recollect.core.event import ContentType, Event, Role, Source
from recollect.core.scope import Scope

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
ANNA = Scope("acme", "anna")


def event(**changes: Any) -> Event:
    """An event of Anna's, with these fields changed."""
    fields: dict[str, Any] = {
        "id": "018f0000-0000-7000-8000-000000000001",
        "user_id": "anna",
        "conversation_id": "c1",
        "role": Role.USER,
        "content": "I live in Paris",
        "content_type": ContentType.USERINPUT,
        "source": Source.USER,
        "timestamp": NOON,
        "recorded_at": NOON,
        "importance": 0.6,
    }
    return Event(**(fields | changes))
