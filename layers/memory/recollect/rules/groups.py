"""The business rules as data: every number and word list that a deployment or a tenant may change.

Groups and fields have the names of the rules file, which `reading` reads and `document_of` writes; the defaults are
those of the specification. Each field carries its bounds and its meaning, from which the documentation is made.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import MappingProxyType
from typing import Any

from recollect.core.event import SPOKEN_TYPES, ContentType
from recollect.rules.values import Choice, Choices, Flag, Number, Table, Texts, option

MOST_PLACES = 50
"""Items of one section of a context, and messages of a raw window, at most."""

_SHARE = Number(0, 1)
_PLACES = Number(0, MOST_PLACES, whole=True)
_CENTURY_DAYS = 36_525
_YEAR_MS = 366 * 24 * 3600 * 1000

SCORES = Table(_SHARE, tuple(ContentType))
CATEGORIES = Table(Texts())

DEFAULT_BASE: Mapping[str, float] = MappingProxyType(
    {
        "userpreference": 0.9,
        "factuallearning": 0.8,
        "contextualfact": 0.7,
        "default": 0.5,
        "userinput": 0.4,
        "assistantresponse": 0.3,
    }
)
DEFAULT_TAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "weather": ("weather", "temperature", "rain", "sunny", "cloudy", "forecast"),
        "greeting": ("hello", "hi", "hey", "good morning", "good evening"),
        "question": ("what", "how", "why", "when", "where", "who", "?"),
        "preference": ("prefer", "like", "favorite", "always", "never", "usually"),
        "personal": ("my name", "i am", "i live", "i work", "my job"),
        "time": ("time", "clock", "hour", "minute", "schedule", "calendar"),
        "news": ("news", "today", "latest", "current", "recent", "breaking", "update", "happening"),
    }
)


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """How important a content is (K-01 to K-14). `base` always has the type `default`."""

    base: Mapping[str, float] = field(
        default_factory=lambda: dict(DEFAULT_BASE),
        metadata={"kind": SCORES, "meaning": "Score of a content type, which unknown ones share with `default`"},
    )
    boost: float = option(_SHARE, 0.2, "Added once where any keyword occurs; a score is 1.0 at most")
    keywords: tuple[str, ...] = option(
        Texts(),
        ("remember", "prefer", "always", "never", "my name is", "i am", "i live", "i work"),
        "What makes a content more important",
    )


@dataclass(frozen=True, slots=True)
class WebSearchRules:
    """What asks for current information: a keyword, or a question pattern with a temporal word (K-38 to K-42)."""

    keywords: tuple[str, ...] = option(
        Texts(),
        (
            "news", "today", "latest", "current", "recent", "now", "this week", "this month", "today's",
            "recent events", "what's happening", "what happened", "breaking", "update",
        ),
        "What triggers a web search by itself",
    )  # fmt: skip
    patterns: tuple[str, ...] = option(
        Texts(),
        ("what is", "what are", "what's", "tell me about", "update on", "latest on"),
        "Questions that trigger one together with a temporal word",
    )
    temporal: tuple[str, ...] = option(Texts(), ("today", "now", "latest"), "Temporal words")


@dataclass(frozen=True, slots=True)
class MatchingRules:
    """How keywords match (P-3)."""

    word_boundary: bool = option(Flag(), False, "Whether a keyword must stand as a whole word; else inside words too")


@dataclass(frozen=True, slots=True)
class ContextRules:
    """How many memories stand in a context, and from where (P-1, P-4). A source at 0 is off."""

    total: int = option(_PLACES, 8, "Memories in a context at most")
    recent: int = option(_PLACES, 5, "Places that go to the newest")
    recent_fill: int = option(_PLACES, 10, "How many of the newest may fill places that are left over")
    semantic: int = option(_PLACES, 3, "Places for what search finds")
    important: int = option(_PLACES, 5, "Places for the most important")
    displace_delta: float = option(_SHARE, 0.4, "How much more important a memory must be to take a search hit's place")
    decay_half_life_days: float | None = option(
        Number(0, _CENTURY_DAYS, above=True, optional=True),
        None,
        "Halves a memory's weight in the order of importance, and nothing else",
    )


@dataclass(frozen=True, slots=True)
class SummaryRules:
    """When a conversation is summarised, what stays raw, and how long a summary may be (H-05, H-06, H-13, P-5)."""

    messages: int = option(Number(1, 10_000, whole=True), 50, "New messages that make a summary due")
    days: int = option(Number(0, 3_650, whole=True), 21, "Age in days that makes one due, with a new message at least")
    raw_window: int = option(_PLACES, 10, "Newest messages that a model gets word by word")
    max_words: int = option(Number(1, 2_000, whole=True), 200, "Words of a summary at most")


@dataclass(frozen=True, slots=True)
class BridgeRules:
    """Which events become memories by themselves: those that pass both policies (A-58 to A-68, P-10)."""

    enabled: bool = option(Flag(), True, "Whether any event becomes a memory by itself")
    min_importance: float = option(_SHARE, 0.6, "Least importance; 0 turns this policy off")
    event_types: tuple[str, ...] = option(
        Choices(SPOKEN_TYPES), ("task", "reminder", "conversation"), "Event types that pass; all turn this policy off"
    )
    healthy_lag_ms: int = option(
        Number(0, _YEAR_MS, whole=True), 10_000, "Lag in ms at which a saved event is healthy again"
    )


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """A policy of forgetting: what is older, and of these event types, and less important than that. None: any."""

    older_than_days: float = field(
        metadata={"kind": Number(0, _CENTURY_DAYS, above=True), "meaning": "Age in days; must be given"}
    )
    event_types: tuple[str, ...] | None = option(Choices(SPOKEN_TYPES, optional=True), None, "Only these event types")
    below_importance: float | None = option(Number(0, 1, optional=True), None, "Only what is less important")
    keep_keyed: bool = option(Flag(), True, "Whether events with a key stay")
    archive: bool = option(Flag(), False, "Whether they are archived before")


@dataclass(frozen=True, slots=True)
class ConflictRules:
    """What is done about contradictions, and what counts as one (P-24, A-69 to A-75)."""

    auto_apply: str = option(
        Choice(("judged", "all", "off")),
        "judged",
        "What is settled without being asked: by keys and the judge, by the arbiter too, or by keys alone",
    )
    settle: float = option(_SHARE, 0.8, "The judge's confidence from which on a contradiction is settled")
    ask: float = option(_SHARE, 0.3, "That from which on a conflict is left open; below it both simply stand")
    semantic_threshold: float = option(_SHARE, 0.8, "Cosine above which two memories are alike")
    keyword_threshold: float = option(_SHARE, 0.5, "Share of common keywords above which they are")
    time_window_ms: int = option(Number(0, _YEAR_MS, whole=True), 300_000, "Distance in ms within which they are close")
    importance_delta: float = option(_SHARE, 0.4, "Difference in importance above which they differ")


@dataclass(frozen=True, slots=True)
class IntentRules:
    """Intent-driven retrieval (R-102 to R-108, P-15). `context_lookback` counts for 2 at most (R-P20)."""

    enabled: bool = option(Flag(), True, "Whether a search may go by intent; else it is answered by date")
    relevance_threshold: float = option(_SHARE, 0.3, "Least relevance of a result")
    max_results: int = option(Number(0, 100, whole=True), 15, "Results at most; 15 whatever stands above")
    min_query_words: int = option(Number(0, 100, whole=True), 3, "Words below which a query is too short for it")
    max_keywords: int = option(Number(1, 1_000, whole=True), 10, "Keywords taken of a query of more than 100 words")
    context_lookback: int = option(
        Number(0, 100, whole=True), 2, "Messages before the query that are read; 2 whatever stands above"
    )
    allow_cross_space: bool = option(Flag(), True, "Whether records of other spaces are considered")
    require_match: bool = option(Flag(), True, "Whether a result must hold a keyword, or its space be named")


@dataclass(frozen=True, slots=True)
class LimitRules:
    """Bounds on what a tenant stores and asks (A-38, A-39); null is none. Processes share the counts by the second."""

    index_capacity: int | None = option(
        Number(1, 10**12, whole=True, optional=True), None, "Records of the index before a warning is published"
    )
    writes_per_second: float | None = option(
        Number(0, 10**6, above=True, optional=True), None, "Records written a second before requests are throttled"
    )
    turns_per_second: float | None = option(
        Number(0, 10**6, above=True, optional=True), None, "Turns taken a second before `POST /v1/turns` is throttled"
    )


@dataclass(frozen=True, slots=True)
class LoggingRules:
    """What logs may hold (P-18)."""

    content: bool = option(Flag(), False, "Whether log lines hold texts; else a length and a keyed hash")


_VERSION_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Rules:
    """All rule groups. `version` names their content: equal rules have equal versions, in every process.

    `tags`: category to the keywords that give it, in the order in which tags are listed (K-43 to K-53). `retention`:
    policies of forgetting, any of which suffices; none by default.
    """

    scoring: ScoringRules = field(default_factory=ScoringRules)
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(DEFAULT_TAGS))
    web_search: WebSearchRules = field(default_factory=WebSearchRules)
    matching: MatchingRules = field(default_factory=MatchingRules)
    context: ContextRules = field(default_factory=ContextRules)
    summary: SummaryRules = field(default_factory=SummaryRules)
    bridge: BridgeRules = field(default_factory=BridgeRules)
    retention: tuple[RetentionRule, ...] = ()
    conflict: ConflictRules = field(default_factory=ConflictRules)
    intent: IntentRules = field(default_factory=IntentRules)
    limits: LimitRules = field(default_factory=LimitRules)
    logging: LoggingRules = field(default_factory=LoggingRules)
    version: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", _version_of(self))


def document_of(rules: Rules) -> dict[str, Any]:
    """All rules as a JSON document, which reads back as the same rules. Its parts are copies."""
    return {group.name: _plain(getattr(rules, group.name)) for group in fields(rules) if group.init}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | float | int):
        return value
    if isinstance(value, RetentionRule):
        return {name: one for name, one in _named(value).items() if one is not None}
    if is_dataclass(value):
        return _named(value)
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _named(value: Any) -> dict[str, Any]:
    return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}


def _version_of(rules: Rules) -> str:
    # Keys are not sorted: the order of the tag categories is part of the rule (K-50).
    canonical = json.dumps(document_of(rules), ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:_VERSION_LENGTH]
