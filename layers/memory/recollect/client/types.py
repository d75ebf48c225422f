"""Requests and responses as typed dicts, generated from the OpenAPI document by `make docs`.

The server may add fields; none of these is removed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, Required, TypeAlias, TypedDict

Instant: TypeAlias = datetime | str | int | float
Json: TypeAlias = dict[str, Any]


class NewEvent(TypedDict, total=False):
    """One event to store."""

    role: Literal["user", "bot", "assistant"]
    speaker: str
    content: Required[str]
    content_type: str
    event_type: Literal["conversation", "task", "reminder", "emotion", "preference", "custom"]
    source: Literal["user", "conversation", "skill", "system", "inferred"]
    timestamp: Instant
    importance: float
    key: str
    space_id: str
    title: str
    category: str
    notes: str
    views: int
    is_private: bool
    derive: bool
    idempotency_key: str
    expires_at: Instant
    embedding: Sequence[float]
    metadata: Mapping[str, Any]


class IngestResult(TypedDict):
    """The outcome of one event."""

    status: Literal["created", "duplicate", "refused", "invalid"]
    event_id: NotRequired[str]
    importance: NotRequired[float]
    tags: NotRequired[list[str]]
    content_type: NotRequired[
        Literal["userpreference", "factuallearning", "contextualfact", "default", "userinput", "assistantresponse"]
    ]
    reason: NotRequired[str]
    errors: NotRequired[list[Json]]


class IngestAnswer(TypedDict):
    """One result per event, in order."""

    conversation_id: str
    results: list[IngestResult]


class Event(TypedDict):
    """An event as stored."""

    id: str
    user_id: str
    persona_id: NotRequired[str]
    household_id: NotRequired[str]
    agent_id: NotRequired[str]
    app_id: NotRequired[str]
    namespace: NotRequired[list[str]]
    conversation_id: str
    role: Literal["user", "bot"]
    speaker: NotRequired[str]
    content: str
    content_type: Literal[
        "userpreference", "factuallearning", "contextualfact", "default", "userinput", "assistantresponse"
    ]
    event_type: Literal["conversation", "task", "reminder", "emotion", "preference", "custom"]
    source: Literal["user", "conversation", "skill", "system", "inferred"]
    timestamp: str
    recorded_at: str
    importance: float
    tags: list[str]
    key: NotRequired[str]
    space_id: NotRequired[str]
    title: NotRequired[str]
    category: NotRequired[str]
    notes: NotRequired[str]
    views: int
    is_private: bool
    derive: bool
    idempotency_key: NotRequired[str]
    expires_at: NotRequired[str]
    superseded_by: NotRequired[str]
    metadata: Json
    version: int


class Memory(TypedDict):
    """A memory in its current version; a retry's response has `refused` alone where it was deleted since."""

    id: str
    user_id: str
    persona_id: NotRequired[str]
    household_id: NotRequired[str]
    agent_id: NotRequired[str]
    app_id: NotRequired[str]
    namespace: NotRequired[list[str]]
    content: str
    importance: float
    source: Literal["user", "conversation", "skill", "system", "inferred"]
    keywords: list[str]
    timestamp: str
    key: NotRequired[str]
    status: Literal["active", "superseded", "merged", "retracted", "expired", "rejected"]
    valid_from: str
    valid_to: NotRequired[str]
    recorded_at: str
    superseded_by: NotRequired[str]
    source_event_ids: list[str]
    origin: Literal["event", "direct", "merged"]
    expires_at: NotRequired[str]
    metadata: Json
    embedding_id: NotRequired[str]
    lapses: NotRequired[list[Json]]
    settled_by: NotRequired[str]
    version: int
    refused: NotRequired[list[str]]


class SearchResult(TypedDict):
    """One hit, best first. A directly saved memory has no conversation."""

    id: str
    kind: Literal["event", "memory"]
    content: str
    score: float
    timestamp: str
    importance: float
    source: Literal["user", "conversation", "skill", "system", "inferred"]
    source_event_ids: list[str]
    persona_id: NotRequired[str]
    household_id: NotRequired[str]
    agent_id: NotRequired[str]
    app_id: NotRequired[str]
    namespace: NotRequired[list[str]]
    speaker: NotRequired[str]
    key: NotRequired[str]
    space_id: NotRequired[str]
    role: NotRequired[Literal["user", "bot"]]
    conversation_id: NotRequired[str]
    event_type: NotRequired[Literal["conversation", "task", "reminder", "emotion", "preference", "custom"]]
    title: NotRequired[str]
    tags: NotRequired[list[str]]
    keywords: NotRequired[list[str]]
    metadata: NotRequired[Json]
    status: NotRequired[Literal["active", "superseded", "merged", "retracted", "expired", "rejected"]]
    superseded_by: NotRequired[str]
    version: NotRequired[int]
    valid_from: NotRequired[str]
    valid_to: NotRequired[str]
    note: NotRequired[str]
    scores: NotRequired[dict[str, float]]
    because: NotRequired[str]
    why: NotRequired[Json]


class SearchDiagnostics(TypedDict):
    """How a search went; with `tail_cut`, `pending` counts only the newest 100 events without a vector."""

    matched_count: int
    filtered_count: int
    returned_count: int
    dropped: dict[str, int]
    exact: bool
    missing: list[str]
    tail: int
    tail_cut: bool
    pending: int
    rules_version: str
    duration_ms: float
    fallback: NotRequired[Literal["timeline", "lexical", "date_based"]]
    fallback_reason: NotRequired[
        Literal["disabled", "no_keywords", "short_query", "stop_words_only", "no_content_keyword", "error"]
    ]
    stats: NotRequired[Json]


class SearchAnswer(TypedDict):
    """Hits and diagnostics."""

    results: list[SearchResult]
    diagnostics: SearchDiagnostics
    analysis: NotRequired[Json]
    suggestion: NotRequired[str]
    near_misses: NotRequired[list[SearchResult]]


class ContextDiagnostics(TypedDict):
    """What was left out of a context, and how it was made."""

    left_out: list[Json]
    cut_from_messages: list[Json]
    missing: list[str]
    dropped: dict[str, int]
    tail_cut: bool
    pending: int
    prompt_tokens: int
    messages_tokens: int
    rules_version: str
    duration_ms: float
    fallback: NotRequired[Literal["timeline", "lexical"]]
    input_event_id: NotRequired[str]


class ContextAnswer(TypedDict):
    """The context for the next model call, and its reasons."""

    prompt: str
    system: NotRequired[Json]
    messages: list[Json]
    items: list[Json]
    nothing_relevant: bool
    goals: list[Json]
    knowledge: list[Json]
    web_search: Json
    fence: Json
    tokens: int
    diagnostics: ContextDiagnostics
    near_misses: NotRequired[list[Json]]
    summary: NotRequired[Json | None]


class TurnAnswer(TypedDict):
    """The model's response; a replayed turn has no `context`, and may have no `response`."""

    conversation_id: str
    response: str | None
    input_event_id: str
    response_event_id: str | None
    tool_calls: list[Json]
    model: NotRequired[str]
    context: NotRequired[ContextAnswer]
    refused: NotRequired[list[str]]
    quoted_calls: NotRequired[int]


class Narrowing(TypedDict, total=False):
    """Persona and household; on a read their absence is no filter."""

    persona_id: str | None
    household_id: str | None


class Labelling(Narrowing, total=False):
    """Persona, household, agent, application and namespace."""

    agent_id: str | None
    app_id: str | None
    namespace: Sequence[str] | None


class AnalyzeOptions(TypedDict, total=False):
    """The surroundings of a text."""

    content_type: str | None
    history: Sequence[str] | None
    spaces: Sequence[str] | None
    categories: Sequence[str] | None


class MemoryOptions(Labelling, total=False):
    """Optional fields of a memory."""

    embedding: Sequence[float] | None
    importance: float | None
    source: Literal["user", "conversation", "skill", "system", "inferred"] | None
    keywords: Sequence[str] | None
    timestamp: Instant | None
    key: str | None
    expires_at: Instant | None
    metadata: Mapping[str, Any] | None


class MemoryListOptions(Labelling, total=False):
    """Filters of memories; `limit` is a page's."""

    limit: int | None
    status: Literal["active", "superseded", "merged", "retracted", "expired", "rejected"] | None
    key: str | None
    source_event_id: str | None
    namespace_prefix: Sequence[str] | None
    filter: Mapping[str, Any] | None


class DeletionOptions(Labelling, total=False):
    """Which memories are deleted together; `limit` is a call's."""

    namespace_prefix: Sequence[str] | None
    status: Literal["active", "superseded", "merged", "retracted", "expired", "rejected"] | None
    key: str | None
    filter: Mapping[str, Any] | None
    limit: int | None


class DecisionListOptions(Narrowing, total=False):
    """Filters of decisions; `limit` is a page's."""

    limit: int | None
    id: str | None
    words: Literal["true", "false"] | None
    status: Literal["applied", "reverted", "withdrawn"] | None
    step: Literal["key", "judge", "model", "cue", "arbiter", "user"] | None
    winner: str | None
    loser: str | None


class ConflictListOptions(Narrowing, total=False):
    """Filters of conflicts; `limit` is a page's."""

    limit: int | None
    id: str | None
    words: Literal["true", "false"] | None
    status: Literal["open", "settled"] | None
    record: str | None


class EventOptions(Labelling, total=False):
    """A window of the timeline; `from_` and `to` inclusive; without any of them all of it."""

    conversation_id: str | None
    event_type: Literal["conversation", "task", "reminder", "emotion", "preference", "custom"] | None
    namespace_prefix: Sequence[str] | None
    from_: Instant | None
    to: Instant | None
    last_days: float | None
    top_k: int | None
    limit: int | None


class ToolCallOptions(Labelling, total=False):
    """Whose memory the tools use, and how the text is parsed."""

    user_id: str | None
    conversation_id: str | None
    dual: bool | None
    strict: bool | None
    execute: bool | None


class SearchOptions(Labelling, total=False):
    """Options of a search."""

    namespace_prefix: Sequence[str] | None
    filter: Mapping[str, Any] | None
    active_space_id: str | None
    as_of: Instant | None
    recorded_as_of: Instant | None
    include_superseded: bool | None
    explain: bool | None
    vector: Sequence[float] | None
    top_k: int | None
    mode: Literal["hybrid", "semantic", "lexical", "intent"] | None
    min_similarity: float | None
    rerank: bool | None
    time_window: Mapping[str, Any] | None
    filters: Mapping[str, Any] | None
    history: Sequence[str] | None


class TurnOptions(Labelling, total=False):
    """Options of a turn; without a persona it is the default persona's."""

    token_budget: int | None
    memory_tokens: int | None
    limits: Mapping[str, Any] | None
    web_search: Literal["auto", "always", "never"] | None
    store: str | None
    rerank: bool | None
    conversation_id: str | None
    explain: bool | None


class ContextOptions(TurnOptions, total=False):
    """Options of a context."""

    namespace_prefix: Sequence[str] | None
    filter: Mapping[str, Any] | None
    active_space_id: str | None
    as_of: Instant | None
    recorded_as_of: Instant | None
    include_superseded: bool | None
    input_event_id: str | None
    min_similarity: float | None
    format: Literal["openai", "anthropic", "converse"] | None
    time_window: Mapping[str, Any] | None
    filters: Mapping[str, Any] | None
