"""The business rules as data: every number and word list that a deployment or a tenant may change.

The defaults are those of the specification. Groups and field names are those of the rules file; `rules_reading` reads
such a file, `document_of` writes one.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from recollect.domain.rule_groups import (
    DEFAULT_TAGS,
    MOST_PLACES,
    BridgeRules,
    ConflictRules,
    ContextRules,
    IntentRules,
    LimitRules,
    LoggingRules,
    MatchingRules,
    RetentionRule,
    ScoringRules,
    SummaryRules,
    WebSearchRules,
)

__all__ = [
    "MOST_PLACES",
    "BridgeRules",
    "ConflictRules",
    "ContextRules",
    "IntentRules",
    "LimitRules",
    "LoggingRules",
    "MatchingRules",
    "RetentionRule",
    "Rules",
    "ScoringRules",
    "SummaryRules",
    "WebSearchRules",
    "document_of",
]

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
