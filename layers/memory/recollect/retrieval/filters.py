"""Which events a read may see, and why another is dropped: one rule for every adapter and path."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.core.event import Event, Json, no_metadata
from recollect.core.filter import EVERYTHING, Filter, holds
from recollect.core.scope import Labels, Scope
from recollect.retrieval.attributes import Asked, asked_of_labels, event_fields


class DropReason(StrEnum):
    """Why a record is not in a result, in the order of the checks."""

    DELETED = "deleted"
    SCOPE = "scope"
    PRIVATE = "private"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    WINDOW = "window"
    FILTER = "filter"
    THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Both ends inclusive; None is open (A-50)."""

    start: datetime | None = None
    end: datetime | None = None

    def contains(self, moment: datetime) -> bool:
        return (self.start is None or self.start <= moment) and (self.end is None or moment <= self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilters:
    """What a search asks of a record besides its words.

    `now` decides expiry. `as_of` shows events up to it, `recorded_as_of` what had arrived by then; under either,
    supersession is decided at read-back. `tags`: all of them. `namespace` is exact, `namespace_prefix` a subtree;
    `where` is a filter over `attributes.EVENT_FIELDS`.
    """

    now: datetime
    window: TimeWindow = TimeWindow()
    as_of: datetime | None = None
    recorded_as_of: datetime | None = None
    include_superseded: bool = False
    conversation_id: str | None = None
    event_type: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    space_id: str | None = None
    source: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=no_metadata)
    agent_id: str | None = None
    app_id: str | None = None
    namespace: tuple[str, ...] | None = None
    namespace_prefix: tuple[str, ...] | None = None
    where: Filter = EVERYTHING

    @property
    def labels(self) -> list[Asked]:
        """What the labels that are asked for ask of an index; none where none is asked for."""
        return asked_of_labels(self.agent_id, self.app_id, self.namespace, self.namespace_prefix)

    @property
    def admits_superseded(self) -> bool:
        """Whether an arm must let superseded records pass."""
        return self.include_superseded or self.looks_back

    @property
    def looks_back(self) -> bool:
        """Whether it asks of the past: what held, or what was known."""
        return self.as_of is not None or self.recorded_as_of is not None

    @property
    def moment(self) -> datetime:
        """The instant that the query asks about: `as_of`, else `recorded_as_of`, else `now`."""
        return self.as_of or self.recorded_as_of or self.now

    @property
    def latest(self) -> datetime | None:
        """The last instant an event may have: the window's end or `as_of`, whichever is earlier."""
        ends = [moment for moment in (self.window.end, self.as_of) if moment is not None]
        return min(ends) if ends else None

    def known_then(self, said_at: datetime, recorded_at: datetime) -> bool:
        """Whether what was said and recorded at these instants was so at the one that is asked about."""
        said = self.as_of is None or said_at <= self.as_of
        return said and (self.recorded_as_of is None or recorded_at <= self.recorded_as_of)


def drop_reason(scope: Scope, event: Event, filters: SearchFilters) -> DropReason | None:
    """Why a search in this scope may not show the event; None where it may.

    Under `as_of` or `recorded_as_of` supersession needs the key's history and is decided by `slots.current_at`.
    """
    if not scope.admits(event.persona_id, event.household_id):
        return DropReason.SCOPE
    if event.is_private:
        return DropReason.PRIVATE
    if event.expired(filters.now):
        return DropReason.EXPIRED
    if event.superseded_by is not None and not filters.admits_superseded:
        return DropReason.SUPERSEDED
    if not filters.known_then(event.timestamp, event.recorded_at) or not filters.window.contains(event.timestamp):
        return DropReason.WINDOW
    return None if fits(event, filters) else DropReason.FILTER


def fits(event: Event, filters: SearchFilters) -> bool:
    """Whether the event has what the filters name."""
    return (
        (filters.conversation_id is None or filters.conversation_id == event.conversation_id)
        and (filters.event_type is None or filters.event_type == event.event_type)
        and (filters.key is None or filters.key == event.key)
        and (filters.space_id is None or filters.space_id == event.space_id)
        and (filters.source is None or filters.source == event.source)
        and (filters.agent_id is None or filters.agent_id == event.agent_id)
        and (filters.app_id is None or filters.app_id == event.app_id)
        and (filters.namespace is None or filters.namespace == event.namespace)
        and (not filters.tags or set(filters.tags) <= set(event.tags))
        and (not filters.metadata or set(metadata_facets(filters.metadata)) <= set(metadata_facets(event.metadata)))
        and lies_below(event.namespace, filters.namespace_prefix)
        and (filters.where is EVERYTHING or holds(filters.where, event_fields(event)))
    )


def lies_below(namespace: tuple[str, ...], prefix: tuple[str, ...] | None) -> bool:
    """Whether a namespace is this one, or one below it; so is any where none is asked for."""
    return prefix is None or namespace[: len(prefix)] == prefix


def narrowed_to(labels: Labels) -> dict[str, Any]:
    """The fields of filters that ask for these labels, of those that are there."""
    return {"agent_id": labels.agent_id, "app_id": labels.app_id, "namespace": labels.namespace or None}


def metadata_facets(metadata: Mapping[str, Json]) -> tuple[str, ...]:
    """One short hash for each top-level pair, so that an index can filter on any JSON value by equality."""
    pairs = (json.dumps([name, value], sort_keys=True) for name, value in metadata.items())
    return tuple(hashlib.sha256(pair.encode("utf-8", "surrogatepass")).hexdigest()[:24] for pair in pairs)
