"""What more than one resource shows: events, memories, results, knowledge, summaries, goals."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Protocol, Self

from pydantic import Field

from recollect.core.errors import InvalidInput, NotFound
from recollect.core.event import ContentType, Role, Source
from recollect.core.filter import EVERYTHING, Filter, filter_of
from recollect.entrypoints.http.models import (
    CONTENT_BYTES,
    AnswerModel,
    Conditions,
    Count,
    Free,
    Identifier,
    Instant,
    Maybe,
    Metadata,
    NamespaceLabels,
    OneOf,
    RequestModel,
    Share,
    Shows,
    Some,
    SourceName,
    SpokenType,
    Text,
    Time,
    Whose,
    words_as_keys,
)
from recollect.entrypoints.http.problems import located
from recollect.memories.audit import Action, ActorKind, audit_json
from recollect.memories.memory import MemoryStatus, Origin
from recollect.memories.representation import replacement_note
from recollect.retrieval.attributes import EVENT_FIELDS, of_fields
from recollect.retrieval.filters import DropReason, SearchFilters, TimeWindow
from recollect.retrieval.nomination import Arm
from recollect.retrieval.reasons import SIGNALS
from recollect.summaries.goals import CheckInStatus, GoalStatus
from recollect.summaries.summary import Reason
from recollect.timeline.listing import GivenWindow

if TYPE_CHECKING:
    from recollect.app import App
    from recollect.core.event import EventRef
    from recollect.core.scope import Scope
    from recollect.memories.memory import Memory
    from recollect.memories.reading import MemoryVersion
    from recollect.retrieval.ranking import Ranked
    from recollect.retrieval.search import SearchResult

RoleName = Annotated[str, OneOf(*Role)]
Numbers = dict[str, float]
_Day = Annotated[date | str, Shows({"type": "string", "format": "date"})]


class EventAnswer(AnswerModel, title="Event"):
    id: str
    user_id: str
    persona_id: Maybe[str] = None
    household_id: Maybe[str] = None
    agent_id: Maybe[str] = None
    app_id: Maybe[str] = None
    namespace: Some[str] = None
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
    derive: bool
    idempotency_key: Maybe[str] = None
    expires_at: Maybe[Time] = None
    superseded_by: Maybe[str] = None
    metadata: Free
    version: Count


class LapseAnswer(AnswerModel, title="Lapse"):
    by: str
    start: Count
    end: Count
    since: Time
    until: Maybe[Time] = None
    rule: str
    announced: Maybe[bool] = None


class MemoryAnswer(AnswerModel, title="Memory"):
    id: str
    user_id: str
    persona_id: Maybe[str] = None
    household_id: Maybe[str] = None
    agent_id: Maybe[str] = None
    app_id: Maybe[str] = None
    namespace: Some[str] = None
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
    lapses: Some[LapseAnswer] = None
    settled_by: Maybe[str] = None
    version: Count


class ActorAnswer(AnswerModel, title="Actor"):
    kind: Annotated[str, OneOf(*ActorKind)]
    id: str


class MemoryVersionAnswer(MemoryAnswer, title="MemoryVersion"):
    at: Maybe[Time] = None
    actor: Maybe[ActorAnswer] = None
    action: Maybe[Annotated[str, OneOf(*Action)]] = None
    via: Maybe[str] = None
    rule: Maybe[str] = None
    reason: Maybe[str] = None

    @classmethod
    def of(cls, one: "MemoryVersion") -> Self:
        """With what the audit says of the change that made it: who, when, by which way."""
        change = audit_json(one.change) if one.change else {}
        made = {name: change[name] for name in _OF_THE_CHANGE if name in change}
        return cls.model_validate(MemoryAnswer.json_of(one.memory) | made)


Because = Annotated[
    Maybe[str], Field(description="With `explain`: in one plain sentence, why it is here. It quotes the question.")
]


class StandsFor(AnswerModel):
    id: str
    timestamp: Time


class Why(AnswerModel):
    """Where a result replaces older records, those are named: rank and signals may be of one of them."""

    place: Count
    arms: Annotated[dict[str, int], Shows(words_as_keys(*Arm))]
    shares: Numbers = Field(description="What each signal adds to the score.")
    signals: Numbers = Field(
        description=f"By name: {'; '.join(f'`{name}`, {told}' for name, told in SIGNALS.items())}."
    )
    stands_for: Some[StandsFor] = None

    @classmethod
    def of(cls, ranked: "Ranked", place: int, replaces: "Sequence[EventRef]" = ()) -> Self:
        """A result's place, its rank in each arm, each signal's share of the score, and the raw signals."""
        shares = {name: round(share, 6) for name, share in ranked.shares.items()}
        return cls.made_of(ranked.candidate, ranked, place=place, shares=shares, stands_for=replaces)


class ResultAnswer(AnswerModel, title="SearchResult"):
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
    agent_id: Maybe[str] = None
    app_id: Maybe[str] = None
    namespace: Some[str] = None
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
    because: Because = None
    why: Maybe[Why] = None

    @classmethod
    def of(cls, result: "SearchResult", asked: str | None) -> Self:
        """A hit: the memory where one was made of the record, with where it was said; else the event.

        A memory that was saved directly was said nowhere. `asked` is the question where the hit is to be explained.
        """
        event, memory, ranked = result.event, result.memory, result.ranked
        kind = {"kind": "memory"} if memory else {"kind": "event", "source_event_ids": [event.id]}
        return cls.made_of(
            memory,
            None if memory and event.is_carrier else event,
            **kind,
            score=round(ranked.score, 6),
            scores=ranked.signals,
            note=replacement_note(result.replaces),
            because=None if asked is None else result.because(asked),
            why=None if asked is None else Why.of(ranked, result.place, result.replaces),
        )


class KnowledgeEntryAnswer(AnswerModel, title="KnowledgeEntry"):
    namespace: str
    key: str
    value: Any
    version: Count
    updated_at: Time
    source: Maybe[Annotated[str, OneOf("inferred")]] = None


class Sentence(AnswerModel):
    text: str
    source_event_ids: list[str]
    in_doubt: Maybe[bool] = Field(None, description="An open conflict is about what it says: perhaps no longer so.")


class CheckInAnswer(AnswerModel, title="KeptOrMissed"):
    date: _Day
    status: Annotated[str, OneOf(*CheckInStatus)]


class TrackedGoal(AnswerModel):
    goal: str
    status: Annotated[str, OneOf(*GoalStatus)]
    history: list[CheckInAnswer]
    check_in_frequency: Maybe[str] = None


class GoalAnswer(TrackedGoal, title="Goal"):
    id: str
    version: Count
    source_event_ids: list[str]
    persona_id: Maybe[str] = None
    source: Maybe[SourceName] = None


class SummaryAnswer(AnswerModel, title="Summary"):
    id: str
    persona_id: Maybe[str] = None
    conversation_id: Maybe[str] = None
    summary: str = Field(validation_alias="text")
    sentences: list[Sentence]
    tracked_goals: list[TrackedGoal]
    message_count: Count
    covered_from: Time
    covered_until: Time
    created_at: Time
    reason: Annotated[str, OneOf(*Reason)]
    model: str
    source_event_ids: list[str]


_OF_THE_CHANGE = ("at", "actor", "action", "via", "rule", "reason")


def result_json(result: "SearchResult", asked: str | None) -> dict[str, Any]:
    """A hit of a search."""
    return ResultAnswer.of(result, asked).document()


def version_json(one: "MemoryVersion") -> dict[str, Any]:
    """A version of a memory, with the change that made it."""
    return MemoryVersionAnswer.of(one).document()


def memory_if_there(app: "App", scope: "Scope", memory_id: str, now: datetime) -> "Memory | None":
    """The memory as it is now; None where it was deleted."""
    try:
        return app.memories.store.one(scope, memory_id, now)
    except NotFound:
        return None


event_json, memory_json, knowledge_json = EventAnswer.json_of, MemoryAnswer.json_of, KnowledgeEntryAnswer.json_of
summary_json, goal_json = SummaryAnswer.json_of, GoalAnswer.json_of
MOST_DAYS = 110_000
Days = Annotated[float, Field(ge=0, le=MOST_DAYS)]
History = Annotated[list[Annotated[str, Text(CONTENT_BYTES)]], Field(min_length=0, max_length=50)]
Dropped = Annotated[dict[str, int], Shows(words_as_keys(*DropReason))]


MinSimilarity = Maybe[Annotated[float, Field(ge=-1, le=1)]]


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


class Question(Whose):
    """Whose memory is asked, what it must have, and as of when."""

    owners = (*Whose.owners, "namespace_prefix")

    namespace: Maybe[NamespaceLabels] = Field(None, description="Exactly this one.")
    namespace_prefix: Maybe[NamespaceLabels] = Field(None, description="This one and all below it.")
    filter: Maybe[Conditions] = Field(None, description="The grammar of docs/filters.md; with `filters` both hold.")
    persona_id: Maybe[Identifier] = Field(None, description="Absent: every persona.")
    household_id: Maybe[Identifier] = Field(None, description="Absent: every household.")
    active_space_id: Maybe[Identifier] = None
    as_of: Maybe[Instant] = Field(
        None, description="Event time: what held then; windows, recency and relative times count from it."
    )
    recorded_as_of: Maybe[Instant] = Field(None, description="What the store knew then.")
    include_superseded: Maybe[bool] = None
    explain: Maybe[bool] = Field(
        None, description="Adds `why` to each result; to a search and a context, the near misses."
    )


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
    """The filters of a search or a context.

    Raises InvalidInput for a window that ends before it begins, and for a filter that cannot be read.
    """
    given = filters.given() if filters else {}
    bounds = window_of(window or _NO_TIMES, asked.as_of or now, ("body", "time_window"))
    return SearchFilters(
        now=now,
        window=bounds,
        as_of=asked.as_of,
        recorded_as_of=asked.recorded_as_of,
        include_superseded=bool(asked.include_superseded),
        agent_id=asked.agent_id,
        app_id=asked.app_id,
        namespace=asked.namespace,
        namespace_prefix=asked.namespace_prefix,
        where=filter_in(asked.filter, EVENT_FIELDS),
        **given | {"tags": tuple(given.get("tags", ()))},
    )


def filter_in(given: Mapping[str, Any] | None, fields: frozenset[str], part: str = "body") -> Filter:
    """The filter over these fields in a request; what is wrong with it is said where it stands."""
    if not given:
        return EVERYTHING
    with located(lambda _: (part, "filter")):
        return of_fields(filter_of(given), fields)


def window_of(given: _Window, now: datetime, loc: tuple[str, ...], default: timedelta | None = None) -> TimeWindow:
    """The window that is given, both ends inclusive. Raises InvalidInput where it ends before it begins."""
    if given.start is not None and given.end is not None and given.start > given.end:
        raise InvalidInput("ends before it begins: from lies after to", loc)
    return GivenWindow(given.start, given.end, given.last_days).resolve(now, default)
