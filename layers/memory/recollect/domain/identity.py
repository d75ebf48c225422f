"""What makes two events the same event, and two values the same value (P-20, P-22)."""

import hashlib
import json
import unicodedata

from recollect.domain.event import Event
from recollect.domain.instants import sortable
from recollect.domain.scope import Scope


def event_identity(scope: Scope, event: Event, given_conversation: str | None, given_timestamp: bool) -> str:
    """The dedupe key: 64 hex digits.

    The same scope, conversation as the request gave it, role, speaker, type, timestamp and content are the same
    event (P-20); `metadata.source_id` stands for the content. Without a timestamp every event is its own.
    """
    if not given_timestamp:
        return _digest("id", event.id)
    source_id = event.metadata.get("source_id")
    said = ["source", source_id] if source_id is not None else ["content", _digest(event.content)]
    return _digest(
        json.dumps(
            [
                scope.user_id,
                event.persona_id,
                event.household_id,
                given_conversation,
                event.role,
                event.speaker,
                event.event_type,
                sortable(event.timestamp),
                said,
            ]
        )
    )


def possible_identities(scope: Scope, event: Event) -> list[str]:
    """The dedupe keys that a stored event can have: its request may have named conversation and time, or not."""
    named = [event_identity(scope, event, conversation, True) for conversation in (event.conversation_id, None)]
    return [*named, event_identity(scope, event, None, False)]


def value_fingerprint(content: str) -> str:
    """The same for one value however it is written: case, width, invisible characters, spaces (P-22)."""
    folded = unicodedata.normalize("NFKC", content).casefold()
    invisible = {ord(c): None for c in set(folded) if not c.isspace() and unicodedata.category(c)[0] == "C"}
    return _digest("value", " ".join(folded.translate(invisible).split()))


def body_hash(body: bytes) -> str:
    """The hash by which an idempotency key's second use is told from another request."""
    return hashlib.sha256(body).hexdigest()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
