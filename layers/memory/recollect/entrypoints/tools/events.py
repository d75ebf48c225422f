"""The tool `record_event`, and how everything that a model stores is stored."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from recollect.core.errors import Conflict
from recollect.core.event import ContentType, EventType, Json, Role, Source
from recollect.entrypoints.tools.parameters import Instant, Parameters, Said
from recollect.entrypoints.tools.tool import Invocation, Outcome, Tool
from recollect.timeline.ingest import IngestStatus
from recollect.timeline.record import EventDraft


class RecordEvent(Parameters):
    """Of `record_event`."""

    content: Said = Field(description="What happened or is due.")
    event_type: Literal["conversation", "task", "reminder", "emotion", "preference", "custom"] = Field(
        "conversation", description="Absent: conversation."
    )
    timestamp: Instant | None = Field(None, description="When; absent: now.")


def record_event(invocation: Invocation, given: RecordEvent) -> Outcome:
    """Stores the event."""
    draft = EventDraft(
        **authorship("record_event"),
        content=given.content,
        content_type=ContentType.DEFAULT,
        event_type=EventType(given.event_type),
        timestamp=given.timestamp,
    )
    return store(invocation, draft)


def authorship(tool: str, more: Mapping[str, Json] | None = None) -> dict[str, Any]:
    """What every event of a model's has: source `inferred`, and that a model made it by that tool."""
    metadata = {**(more or {}), "actor": "model", "tool": tool}
    return {"role": Role.BOT, "source": Source.INFERRED, "metadata": metadata}


def store(invocation: Invocation, draft: EventDraft) -> Outcome:
    """Ingests one event of a model's. Raises Conflict where its value was rejected or it was deleted before."""
    app, scope = invocation.app, invocation.scope
    rules = app.rules.resolved(scope.tenant)
    answer = app.timeline.ingest(scope, invocation.conversation_id, [draft], invocation.seed, invocation.now, rules)
    (stored,) = answer.results
    if stored.status is IngestStatus.REFUSED or stored.event_id is None:
        raise Conflict("this was rejected or deleted before, and is not stored again")
    return Outcome({"id": stored.event_id, "status": stored.status.value}, (stored.event_id,))


def _say(_given: RecordEvent, result: Mapping[str, Any]) -> str:
    return "I have noted that." if result["status"] == IngestStatus.CREATED else "That was noted before."


TOOLS: Mapping[str, Tool] = {"record_event": Tool(RecordEvent, record_event, _say)}
