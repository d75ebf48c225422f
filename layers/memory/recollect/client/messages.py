"""What was said, as the events that the server stores."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from recollect.client.types import NewEvent


def events_of(said: str | Sequence[Mapping[str, object]], metadata: Mapping[str, Any] | None) -> list[NewEvent]:
    """One event for each message, `metadata` with each, a message's own over it; a text is one message of the user."""
    messages = [{"role": "user", "content": said}] if isinstance(said, str) else said
    return [_event_of(message, metadata) for message in messages]


def _event_of(message: Mapping[str, object], metadata: Mapping[str, Any] | None) -> NewEvent:
    event = {**message, "content": text_of_parts(message.get("content"))}
    if metadata:
        event["metadata"] = {**metadata, **cast(Mapping[str, Any], message.get("metadata") or {})}
    return cast(NewEvent, event)


def text_of_parts(content: object) -> object:
    """The texts of a content in parts, as model APIs write them, in paragraphs; any other content as it is."""
    if not isinstance(content, Sequence) or isinstance(content, str):
        return content
    texts = [part["text"] for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    return "\n\n".join(texts)
