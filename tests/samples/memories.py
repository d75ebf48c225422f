"""Memories for tests of the rules."""

from datetime import datetime
from typing import Any

from recollect.core.event import Source
from recollect.memories.memory import Memory


def memory_of_anna(content: str, at: datetime, **changes: Any) -> Memory:
    """One that was said at an instant and holds from then on, with these fields changed."""
    moments: dict[str, Any] = dict.fromkeys(("timestamp", "valid_from", "recorded_at"), at)
    fields = {"id": "a", "user_id": "anna", "content": content, "importance": 0.5, "source": Source.USER}
    return Memory(**moments | fields | changes)
