"""What more than one resource shows: events, memories, results, knowledge, summaries, goals (api.md, *Shapes*)."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Protocol, Self

from pydantic import ConfigDict, Field

from recollect.core.errors import InvalidInput
from recollect.core.event import ContentType, Role, Source
from recollect.entrypoints.http.models import (
    CONTENT_BYTES,
    AnswerModel,
    Count,
    Free,
    Identifier,
    Instant,
    Maybe,
    Metadata,
    OneOf,
    RequestModel,
    Share,
    Shows,
    SourceName,
    SpokenType,
    Text,
    Time,
    words_as_keys,
)
from recollect.memories.audit import Action, ActorKind, audit_json
from recollect.memories.memory import MemoryStatus, Origin
from recollect.memories.representation import replacement_note
from recollect.retrieval.filters import DropReason, SearchFilters, TimeWindow
from recollect.retrieval.nomination import Arm
from recollect.summaries.goals import CheckInStatus, GoalStatus
from recollect.summaries.summary import Reason
from recollect.timeline.listing import GivenWindow

if TYPE_CHECKING:
    from recollect.core.event import Event, EventRef
    from recollect.knowledge.entries import KnowledgeEntry
    from recollect.memories.memory import Memory
    from recollect.memories.reading import MemoryVersion
    from recollect.retrieval.ranking import Ranked
    from recollect.retrieval.search import SearchResult
    from recollect.summaries.goals import Goal
    from recollect.summaries.summary import Summary

RoleName = Annotated[str, OneOf(*Role)]
Numbers = dict[str, float]
_Day = Annotated[date | str, Shows({"type": "string", "format": "date"})]


class EventAnswer(AnswerModel):
    model_config = ConfigDict(title="Event")

    id: str
    user_id: str
    persona_id: Maybe[str] = None
    household_id: Maybe[str] = None
    conversation_id: str
    role: RoleName
    speaker: Maybe[str] = None
    content: str
    content_type: Annotated[str, OneOf(*ContentType)]
    event_type: SpokenType
    source: SourceName
    timestamp: Time
    recorded_at: Time
    importance: Share
    tags: list[str]
    key: Maybe[str] = None
    space_id: Maybe[str] = None
    title: Maybe[str] = None
    category: Maybe[str] = None
    notes: Maybe[str] = None
    views: Count
    is_private: bool
    expires_at: Maybe[Time] = None
    superseded_by: Maybe[str] = None
    metadata: Free
    version: Count


class LapseAnswer(AnswerModel):
    model_config = ConfigDict(title="Lapse")

    by: str
    start: Count
    end: Count
    since: Time
    until: Maybe[Time] = None
    rule: str


class MemoryAnswer(AnswerModel):
    model_config = ConfigDict(title="Memory")

    id: str
    user_id: str
    persona_id: Maybe[str] = None
    household_id: Maybe[str] = None
    content: str
    importance: Share
    source: SourceName
    keywords: list[str]
    timestamp: Time
    key: Maybe[str] = None
    status: Annotated[str, OneOf(*MemoryStatus)]
    valid_from: Time
    valid_to: Maybe[Time] = None
    recorded_at: Time
    superseded_by: Maybe[str] = None
    source_event_ids: list[str]
    origin: Annotated[str, OneOf(*Origin)]
    expires_at: Maybe[Time] = None
    metadata: Free
    embedding_id: Maybe[str] = None
    lapses: Maybe[list[LapseAnswer]] = None
    settled_by: Maybe[str] = None
    version: Count

    @classmethod
    def of(cls, memory: "Memory") -> Self:
        """A memory as it stands; `lapses` only where there are some."""
        shown = cls.model_validate(memory)
        return shown if memory.lapses else shown.model_copy(update={"lapses": None})


class ActorAnswer(AnswerModel):
    model_config = ConfigDict(title="Actor")

    kind: Annotated[str, OneOf(*ActorKind)]
    id: str


class MemoryVersionAnswer(MemoryAnswer):
    model_config = ConfigDict(title="MemoryVersion")

    at: Maybe[Time] = None
    actor: Maybe[ActorAnswer] = None
    action: Maybe[Annotated[str, OneOf(*Action)]] = None
    via: Maybe[str] = None
    rule: Maybe[str] = None
    reason: Maybe[str] = None

    @classmethod
    def of_version(cls, one: "MemoryVersion") -> Self:
        """With what the audit says of the change that made it: who, when, by which way."""
        change = audit_json(one.change) if one.change else {}
        made = {name: change[name] for name in _OF_THE_CHANGE if name in change}
        return cls.model_validate(MemoryAnswer.of(one.memory).document() | made)


class StandsFor(AnswerModel):
    id: str
    timestamp: Time


class Why(AnswerModel):
    """Where a result replaces older records, those are named: rank and signals may be of one of them."""

    place: Count
    arms: Annotated[dict[str, int], Shows(words_as_keys(*Arm))]
    shares: Numbers
    signals: Numbers
    stands_for: Maybe[list[StandsFor]] = None

    @classmethod
    def of(cls, ranked: "Ranked", place: int, replaces: "Sequence[EventRef]" = ()) -> Self:
        """A result's place, its rank in each arm, each signal's share of the score, and the raw signals."""
        return cls(
            place=place,
            arms={str(arm): rank for arm, rank in ranked.candidate.arms.items()},
            shares={name: round(share, 6) for name, share in ranked.shares.items()},
            signals=dict(ranked.signals),
            stands_for=[StandsFor(id=ref.id, timestamp=ref.timestamp) for ref in replaces] or None,
        )


class ResultAnswer(AnswerModel):
    model_config = ConfigDict(title="SearchResult")

    id: str
    kind: Annotated[str, OneOf("event", "memory")]
    content: str
    score: float
    timestamp: Time
    importance: Share
    source: SourceName
    source_event_ids: list[str]
    persona_id: Maybe[str] = None
    household_id: Maybe[str] = None
    speaker: Maybe[str] = None
    key: Maybe[str] = None
    space_id: Maybe[str] = None
    role: Maybe[RoleName] = None
    conversation_id: Maybe[str] = None
    event_type: Maybe[SpokenType] = None
    title: Maybe[str] = None
    tags: Maybe[list[str]] = None
    keywords: Maybe[list[str]] = None
    metadata: Maybe[Free] = None
    status: Maybe[Annotated[str, OneOf(*MemoryStatus)]] = None
    superseded_by: Maybe[str] = None
    version: Maybe[Count] = None
    valid_from: Maybe[Time] = None
    valid_to: Maybe[Time] = None
    note: Maybe[str] = None
    scores: Maybe[Numbers] = None
    why: Maybe[Why] = None

    @classmethod
    def of(cls, result: "SearchResult", explain: bool) -> Self:
        """A hit: the memory where one was made of the record, else the event."""
        ranked = result.ranked
        return cls(
            **(_event_hit(result.event) if result.memory is None else _memory_hit(result.event, result.memory)),
            score=round(ranked.score, 6),
            scores=dict(ranked.signals),
            note=replacement_note(result.replaces),
            why=Why.of(ranked, result.place, result.replaces) if explain else None,
        )


class KnowledgeEntryAnswer(AnswerModel):
    model_config = ConfigDict(title="KnowledgeEntry")

    namespace: str
    key: str
    value: Any
    version: Count
    updated_at: Time
    source: Maybe[Annotated[str, OneOf("inferred")]] = None


class Sentence(AnswerModel):
    text: str
    source_event_ids: list[str]


class CheckInAnswer(AnswerModel):
    model_config = ConfigDict(title="KeptOrMissed")

    date: _Day
    status: Annotated[str, OneOf(*CheckInStatus)]


class TrackedGoal(AnswerModel):
    goal: str
    status: Annotated[str, OneOf(*GoalStatus)]
    history: list[CheckInAnswer]
    check_in_frequency: Maybe[str] = None


class GoalAnswer(TrackedGoal):
    model_config = ConfigDict(title="Goal")

    id: str
    version: Count
    source_event_ids: list[str]
    persona_id: Maybe[str] = None
    source: Maybe[SourceName] = None


class SummaryAnswer(AnswerModel):
    model_config = ConfigDict(title="Summary")

    id: str
    persona_id: Maybe[str] = None
    conversation_id: Maybe[str] = None
    summary: str
    sentences: list[Sentence]
    tracked_goals: list[TrackedGoal]
    message_count: Count
    covered_from: Time
    covered_until: Time
    created_at: Time
    reason: Annotated[str, OneOf(*Reason)]
    model: str
    source_event_ids: list[str]

    @classmethod
    def of(cls, summary: "Summary") -> Self:
        """A summary, with the sources of each of its sentences."""
        values = {name: getattr(summary, name) for name in cls.model_fields if name != "summary"}
        return cls.model_validate({**values, "summary": summary.text})


_OF_THE_CHANGE = ("at", "actor", "action", "via", "rule", "reason")
_OF_THE_EVENT = (
    "id", "content", "timestamp", "importance", "source", "role", "speaker", "conversation_id", "event_type", "key",
    "space_id", "title", "persona_id", "household_id", "tags", "metadata", "superseded_by", "version",
)  # fmt: skip
_OF_THE_MEMORY = (
    "id", "content", "timestamp", "importance", "source", "key", "persona_id", "household_id", "keywords", "metadata",
    "status", "valid_from", "valid_to", "superseded_by", "source_event_ids", "version",
)  # fmt: skip
_WHERE_IT_WAS_SAID = ("role", "speaker", "conversation_id", "event_type", "space_id", "title", "tags")


def _event_hit(event: "Event") -> dict[str, Any]:
    return {"kind": "event", **{n: getattr(event, n) for n in _OF_THE_EVENT}, "source_event_ids": [event.id]}


def _memory_hit(event: "Event", memory: "Memory") -> dict[str, Any]:
    """With where it was said, unless it was saved directly."""
    said = {} if event.is_carrier else {name: getattr(event, name) for name in _WHERE_IT_WAS_SAID}
    return {"kind": "memory", **{name: getattr(memory, name) for name in _OF_THE_MEMORY}, **said}


def event_json(event: "Event") -> dict[str, Any]:
    """An event without its vector."""
    return EventAnswer.model_validate(event).document()


def memory_json(memory: "Memory") -> dict[str, Any]:
    """A memory as it stands."""
    return MemoryAnswer.of(memory).document()


def version_json(one: "MemoryVersion") -> dict[str, Any]:
    """A version of a memory, with the change that made it."""
    return MemoryVersionAnswer.of_version(one).document()


def result_json(result: "SearchResult", explain: bool) -> dict[str, Any]:
    """A hit of a search."""
    return ResultAnswer.of(result, explain).document()


def knowledge_json(entry: "KnowledgeEntry") -> dict[str, Any]:
    """An entry of the knowledge, its value as it is stored."""
    return KnowledgeEntryAnswer.model_validate(entry).document()


def summary_json(summary: "Summary") -> dict[str, Any]:
    """A summary, with the sources of each of its sentences."""
    return SummaryAnswer.of(summary).document()


def goal_json(goal: "Goal") -> dict[str, Any]:
    """A goal with its version."""
    return GoalAnswer.model_validate(goal).document()


MOST_DAYS = 110_000
Days = Annotated[float, Field(ge=0, le=MOST_DAYS)]
History = Annotated[list[Annotated[str, Text(CONTENT_BYTES)]], Field(min_length=0, max_length=50)]
Dropped = Annotated[dict[str, int], Shows(words_as_keys(*DropReason))]


class GivenTimes(RequestModel):
    start: Maybe[Instant] = Field(None, alias="from", description="Inclusive.")
    end: Maybe[Instant] = Field(None, alias="to", description="Inclusive.")
    last_days: Maybe[Days] = Field(None, description="Days back from now, or from `as_of`.")


_NO_TIMES = GivenWindow()


class Filters(RequestModel):
    conversation_id: Maybe[Identifier] = None
    event_type: Maybe[SpokenType] = None
    key: Maybe[Identifier] = None
    tags: Maybe[Annotated[list[Annotated[str, Text(128)]], Field(min_length=0, max_length=50)]] = Field(
        None, description="All of them."
    )
    space_id: Maybe[Identifier] = None
    source: Maybe[Annotated[str, OneOf(*Source)]] = None
    metadata: Maybe[Metadata] = Field(None, description="Top-level pairs that must be equal.")


class Question(RequestModel):
    """Whose memory is asked, and as of when."""

    user_id: Identifier
    persona_id: Maybe[Identifier] = Field(None, description="Absent: every persona.")
    household_id: Maybe[Identifier] = Field(None, description="Absent: every household.")
    active_space_id: Maybe[Identifier] = None
    as_of: Maybe[Instant] = Field(
        None, description="Event time: what held then; windows, recency and relative times count from it."
    )
    recorded_as_of: Maybe[Instant] = Field(None, description="What the store knew then.")
    include_superseded: Maybe[bool] = None
    explain: Maybe[bool] = Field(None, description="Adds `why` to each result; to a search, the near misses.")


class _Window(Protocol):
    @property
    def start(self) -> datetime | None: ...
    @property
    def end(self) -> datetime | None: ...
    @property
    def last_days(self) -> float | None: ...


def filters_of(
    asked: Question, now: datetime, window: GivenTimes | None = None, filters: Filters | None = None
) -> SearchFilters:
    """The filters of a search or a context. Raises InvalidInput for a window that ends before it begins."""
    given = filters.given() if filters else {}
    bounds = window_of(window or _NO_TIMES, asked.as_of or now, ("body", "time_window"))
    return SearchFilters(
        now=now,
        window=bounds,
        as_of=asked.as_of,
        recorded_as_of=asked.recorded_as_of,
        include_superseded=bool(asked.include_superseded),
        **given | {"tags": tuple(given.get("tags", ()))},
    )


def window_of(given: _Window, now: datetime, loc: tuple[str, ...], default: timedelta | None = None) -> TimeWindow:
    """The window that is given, both ends inclusive. Raises InvalidInput where it ends before it begins."""
    if given.start is not None and given.end is not None and given.start > given.end:
        raise InvalidInput("ends before it begins: from lies after to", loc)
    return GivenWindow(given.start, given.end, given.last_days).resolve(now, default)
