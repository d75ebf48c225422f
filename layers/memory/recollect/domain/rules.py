"""The business rules as data: every number and word list that a deployment or a tenant may change.

The defaults are those of the specification. Groups and field names are those of the rules file.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

_VERSION_LENGTH = 12


def _default_base() -> dict[str, float]:
    return {
        "userpreference": 0.9,
        "factuallearning": 0.8,
        "contextualfact": 0.7,
        "default": 0.5,
        "userinput": 0.4,
        "assistantresponse": 0.3,
    }


def _default_categories() -> dict[str, tuple[str, ...]]:
    return {
        "weather": ("weather", "temperature", "rain", "sunny", "cloudy", "forecast"),
        "greeting": ("hello", "hi", "hey", "good morning", "good evening"),
        "question": ("what", "how", "why", "when", "where", "who", "?"),
        "preference": ("prefer", "like", "favorite", "always", "never", "usually"),
        "personal": ("my name", "i am", "i live", "i work", "my job"),
        "time": ("time", "clock", "hour", "minute", "schedule", "calendar"),
        "news": ("news", "today", "latest", "current", "recent", "breaking", "update", "happening"),
    }


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """How important a content is (K-01 to K-14).

    `base` maps a content type in lower case to its score in [0, 1] and always has the type `default`;
    `boost`, ≥ 0, is added once where any of `keywords` occurs.
    """

    base: Mapping[str, float] = field(default_factory=_default_base)
    boost: float = 0.2
    keywords: tuple[str, ...] = (
        "remember", "prefer", "always", "never", "my name is", "i am", "i live", "i work",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TagRules:
    """Tag category to the keywords that give it, in the order in which tags are listed (K-43 to K-53)."""

    categories: Mapping[str, tuple[str, ...]] = field(default_factory=_default_categories)


@dataclass(frozen=True, slots=True)
class WebSearchRules:
    """What asks for current information: a keyword, or a question pattern with a temporal word (K-38 to K-42)."""

    keywords: tuple[str, ...] = (
        "news", "today", "latest", "current", "recent", "now", "this week", "this month", "today's",
        "recent events", "what's happening", "what happened", "breaking", "update",
    )  # fmt: skip
    patterns: tuple[str, ...] = ("what is", "what are", "what's", "tell me about", "update on", "latest on")
    temporal: tuple[str, ...] = ("today", "now", "latest")


@dataclass(frozen=True, slots=True)
class MatchingRules:
    """`word_boundary`: whether a keyword must stand as a whole word; by default it matches inside words too (P-3)."""

    word_boundary: bool = False


@dataclass(frozen=True, slots=True)
class ContextRules:
    """How many memories stand in a context, and from where (P-1, P-4). All counts ≥ 0; a source at 0 is off.

    `recent` places go to the newest items first, and items up to number `recent_fill` take what is left over.
    `displace_delta`: by how much more important a memory must be to take a search hit's place.
    `decay_half_life_days`, > 0, halves a memory's weight in the order of importance; None leaves it alone.
    """

    total: int = 8
    recent: int = 5
    recent_fill: int = 10
    semantic: int = 3
    important: int = 5
    displace_delta: float = 0.4
    decay_half_life_days: float | None = None


@dataclass(frozen=True, slots=True)
class SummaryRules:
    """When a conversation is summarised, what stays raw, and how long a summary may be (H-05, H-06, H-13, P-5)."""

    messages: int = 50
    days: int = 21
    raw_window: int = 10
    max_words: int = 200


@dataclass(frozen=True, slots=True)
class IntentRules:
    """Intent-driven retrieval (R-102 to R-108, P-15). `context_lookback` counts for 2 at most (R-P20)."""

    enabled: bool = True
    relevance_threshold: float = 0.3
    max_results: int = 15
    min_query_words: int = 3
    max_keywords: int = 10
    context_lookback: int = 2
    allow_cross_space: bool = True
    require_match: bool = True


@dataclass(frozen=True, slots=True)
class Rules:
    """All rule groups. `version` names their content: equal rules have equal versions, in every process."""

    scoring: ScoringRules = field(default_factory=ScoringRules)
    tags: TagRules = field(default_factory=TagRules)
    web_search: WebSearchRules = field(default_factory=WebSearchRules)
    matching: MatchingRules = field(default_factory=MatchingRules)
    context: ContextRules = field(default_factory=ContextRules)
    summary: SummaryRules = field(default_factory=SummaryRules)
    intent: IntentRules = field(default_factory=IntentRules)
    version: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", _version_of(self))


def _version_of(rules: Rules) -> str:
    # Keys are not sorted: the order of the tag categories is part of the rule (K-50).
    groups = {group.name: asdict(getattr(rules, group.name)) for group in fields(rules) if group.init}
    canonical = json.dumps(groups, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:_VERSION_LENGTH]
