"""The tools `save_memory`, `search_memory`, `forget_memory`, `record_event`, `track_goal` and `recall_context`."""

import secrets
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from recollect.context.build import ContextAnswer, ContextRequest
from recollect.context.rendering import Fence, fence_for, instructions_for
from recollect.context.selection import ShownIn
from recollect.context.sources import ContextQuestion
from recollect.core.errors import Conflict, NotFound
from recollect.core.event import ContentType, EventType, Role, Source
from recollect.core.time import iso
from recollect.entrypoints.tools.tool import (
    Identifier,
    Instant,
    Invocation,
    Outcome,
    Parameters,
    Said,
    Share,
    Tool,
    fitting,
)
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import MemoryDraft
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.retrieval.search import SearchResult
from recollect.summaries.goals import LONGEST_FREQUENCY, LONGEST_GOAL, GoalStatus
from recollect.timeline.ingest import IngestStatus
from recollect.timeline.record import EventDraft

MOST_KEYWORDS = 50


def _keyword_list(value: Any) -> Any:
    """VCP knows only text: there, keywords are separated by commas."""
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


class SaveMemory(Parameters):
    """Of `save_memory`."""

    content: Said = Field(description="One fact, as a sentence that is understood by itself.")
    importance: Share | None = Field(None, description="0 to 1; absent: 0.5.")
    keywords: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=128)]] | None,
        BeforeValidator(_keyword_list),
        Field(max_length=MOST_KEYWORDS),
    ] = None
    key: Identifier | None = Field(None, description="The slot whose value this is, such as home_city.")


class SearchMemory(Parameters):
    """Of `search_memory`."""

    query: Said
    top_k: int = Field(10, ge=1, le=100)


class ForgetMemory(Parameters):
    """Of `forget_memory`: one of the two."""

    id: Identifier | None = Field(None, description="As search_memory names it.")
    key: Identifier | None = Field(None, description="The slot whose values are all deleted.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.id is None) == (self.key is None):
            raise ValueError("either id or key is required, and only one of them")
        return self


def save_memory(invocation: Invocation, given: SaveMemory) -> Outcome:
    """Saves the fact as a memory of the model's. Raises Conflict where its value was rejected, or it was deleted."""
    app, scope = invocation.app, invocation.scope
    draft = MemoryDraft(
        content=given.content,
        importance=given.importance,
        source=Source.INFERRED,
        keywords=tuple(given.keywords or ()),
        key=given.key,
        metadata={"actor": "model", "tool": "save_memory"},
        labels=invocation.labels,
    )
    saved = app.memories.store.save(
        scope, draft, invocation.seed, invocation.now, _model("save_memory"), app.rules.resolved(scope.tenant)
    )
    status = "created" if saved.created else "duplicate"
    return Outcome({"id": saved.memory.id, "status": status}, (saved.memory.id,))


def search_memory(invocation: Invocation, given: SearchMemory) -> Outcome:
    """What the user's memory holds about the query, best first."""
    request = RecallRequest(
        text=given.query,
        vector=None,
        mode=Mode.HYBRID,
        filters=invocation.filters,
        wanted=given.top_k,
        rerank=True,
    )
    found = fitting(
        [_found(result) for result in invocation.app.retrieval.memory.search(invocation.scope, request).results]
    )
    return Outcome({"results": found.pop("entries"), **found})


def _found(result: SearchResult) -> dict[str, Any]:
    """A memory in its own words; else the event, and who said it."""
    event, memory = result.event, result.memory
    shown = memory or event
    known = {
        "id": shown.id,
        "kind": "memory" if memory else "event",
        "content": shown.content,
        "timestamp": iso(shown.timestamp),
        "role": None if event.is_carrier else event.role.value,
        "source": shown.source.value,
        "importance": shown.importance,
        "key": shown.key,
        "score": round(result.ranked.score, 6),
    }
    return {name: value for name, value in known.items() if value is not None}


def forget_memory(invocation: Invocation, given: ForgetMemory) -> Outcome:
    """Deletes what the scope admits, and leaves tombstones of it. Raises NotFound for anything else."""
    app, scope, now, model = invocation.app, invocation.scope, invocation.now, _model("forget_memory")
    try:
        memory = invocation.memory(given.id) if given.id is not None else None
    except NotFound:
        memory = None
    if memory is not None:
        forgotten = app.deletion.events.memory(scope, memory, now=now, actor=model)
    else:
        forgotten = app.deletion.events.forget(
            scope, event_id=given.id, key=given.key, labels=invocation.labels, now=now, actor=model
        )
    return Outcome({"deleted": list(forgotten.event_ids)})


def _model(tool: str) -> Actor:
    return Actor(ActorKind.MODEL, tool)


def _say_found(_given: SearchMemory, result: Mapping[str, Any]) -> str:
    count = len(result["results"])
    return f"I found {count} {'memory' if count == 1 else 'memories'}." if count else "I found nothing about that."


class RecordEvent(Parameters):
    """Of `record_event`."""

    content: Said = Field(description="What happened or is due.")
    event_type: Literal["conversation", "task", "reminder", "emotion", "preference", "custom"] = Field(
        "conversation", description="Absent: conversation."
    )
    timestamp: Instant | None = Field(None, description="When; absent: now.")


def record_event(invocation: Invocation, given: RecordEvent) -> Outcome:
    """Stores the event as a model's. Raises Conflict where its value was rejected or it was deleted before."""
    draft = EventDraft(
        role=Role.BOT,
        source=Source.INFERRED,
        metadata={"actor": "model", "tool": "record_event"},
        labels=invocation.labels,
        content=given.content,
        content_type=ContentType.DEFAULT,
        event_type=EventType(given.event_type),
        timestamp=given.timestamp,
    )
    app, scope = invocation.app, invocation.scope
    rules = app.rules.resolved(scope.tenant)
    answer = app.timeline.events.ingest(
        scope, invocation.conversation_id, [draft], invocation.seed, invocation.now, rules
    )
    (stored,) = answer.results
    if stored.status is IngestStatus.REFUSED or stored.event_id is None:
        raise Conflict("this was rejected or deleted before, and is not stored again")
    return Outcome({"id": stored.event_id, "status": stored.status.value}, (stored.event_id,))


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


class TrackGoal(Parameters):
    """Of `track_goal`."""

    goal: Annotated[str, Field(max_length=LONGEST_GOAL, description="In a few words."), AfterValidator(_not_blank)]
    status: GoalStatus = Field(GoalStatus.ACTIVE, description="Absent: active.")
    check_in_frequency: Annotated[str, Field(max_length=LONGEST_FREQUENCY), AfterValidator(_not_blank)] | None = Field(
        None, description="Such as daily or every Monday."
    )


def track_goal(invocation: Invocation, given: TrackGoal) -> Outcome:
    """Stores the goal or changes its status; what the user set about it stays."""
    goal = invocation.app.summaries.goals.track(
        invocation.scope, given.goal, given.status, given.check_in_frequency, invocation.now
    )
    return Outcome({"id": goal.id, "status": goal.status.value, "version": goal.version})


class RecallContext(Parameters):
    """Of `recall_context`."""

    input: Said = Field(description="What the user says now.")
    conversation_id: Identifier | None = Field(None, description="Absent: of all conversations.")
    token_budget: int | None = Field(None, ge=1, description="At most so many tokens.")
    store: Identifier | None = Field(None, description="Whose vocabulary and rules are meant.")
    form: Literal["prompt", "messages"] = Field("prompt", description="One text, or messages for a model.")


def recall_context(invocation: Invocation, given: RecallContext) -> Outcome:
    """The context for an input; stores nothing. As one text it stands in a fence: recalled text is data."""
    fence = fence_for(secrets.token_hex(16))
    question = ContextQuestion(
        text=given.input,
        filters=invocation.filters,
        conversation_id=given.conversation_id or invocation.conversation_id,
        store=given.store,
    )
    request = ContextRequest(question=question, fence=fence, token_budget=given.token_budget)
    rules = invocation.app.begin_rules(invocation.scope.tenant)
    answer = invocation.app.context.model_call.build(invocation.scope, request, rules)
    return Outcome({**_shown(answer, fence, given.form), "tokens": answer.tokens, "missing": list(answer.missing)})


def _shown(answer: ContextAnswer, fence: Fence, form: str) -> dict[str, Any]:
    place = ShownIn(form)
    shown = (one.selected for one in answer.items if place in one.shown_in)
    items = [{"id": one.item.id, "section": one.section.value} for one in shown]
    if place is ShownIn.PROMPT:
        text = f"{instructions_for(fence)}\n{fence.around(answer.prompt.text)}"
        return {"text": text, "prompt": answer.prompt.text, "items": items}
    messages = [{"role": message.role.value, "content": message.content} for message in answer.messages.messages]
    return {"messages": messages, "items": items}


def _say_recalled(_given: RecallContext, result: Mapping[str, Any]) -> str:
    count = len(result["items"])
    return f"I remember {count} {'thing' if count == 1 else 'things'} that may matter here."


def _by_status(created: str, duplicate: str) -> Callable[[object, Mapping[str, Any]], str]:
    return lambda _given, result: created if result["status"] == IngestStatus.CREATED else duplicate


TOOLS: Mapping[str, Tool] = {
    "save_memory": Tool(SaveMemory, save_memory, _by_status("I have remembered that.", "I knew that already.")),
    "search_memory": Tool(SearchMemory, search_memory, _say_found, lambda _given: False),
    "forget_memory": Tool(ForgetMemory, forget_memory, lambda _given, _result: "I have forgotten that."),
    "record_event": Tool(RecordEvent, record_event, _by_status("I have noted that.", "That was noted before.")),
    "track_goal": Tool(TrackGoal, track_goal, lambda _given, result: f"I follow that goal: it is {result['status']}."),
    "recall_context": Tool(RecallContext, recall_context, _say_recalled, lambda _given: False),
}
