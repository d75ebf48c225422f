"""Items of a context for tests of what is chosen, cut and rendered."""

from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.context.selection import ContextItem

NOW = datetime(2024, 5, 15, tzinfo=UTC)


def item(name: str = "e1", hours: float = 0, **changes: Any) -> ContextItem:
    """What a user said so many hours ago, with these fields changed."""
    fields: dict[str, Any] = {
        "id": name,
        "content": f"content of {name}",
        "timestamp": NOW - timedelta(hours=hours),
        "importance": 0.5,
        "role": "user",
        "content_type": "assistantresponse" if changes.get("role") == "bot" else "userinput",
        "source_event_ids": (name,),
    }
    return ContextItem(**(fields | changes))
