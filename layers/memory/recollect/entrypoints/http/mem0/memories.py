"""Memories in mem0's form: as they are shown and filtered, all of a user, and those that a search finds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from recollect.app import App
from recollect.core.filter import Filter, holds
from recollect.core.items import pages
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.entrypoints.http.mem0.entities import (
    UPDATED_AT,
    Entities,
    memory_id_of,
    own_metadata,
)
from recollect.entrypoints.http.mem0.filters import Selection, in_index
from recollect.memories.memory import Memory, MemoryStatus
from recollect.memories.reading import MemoryQuery, MemoryVersion
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode

MOST_LISTED = 10_000
"""Memories of one user that a list or a count reads."""
MOST_FOUND = 100
_PAGE = 500
_ACTIVE = MemoryQuery(status=MemoryStatus.ACTIVE)
_DAY = timedelta(days=1)


def memory_json(memory: Memory, **more: Any) -> dict[str, Any]:
    """A memory as mem0 shows it."""
    made_at = iso(memory.timestamp)
    return {
        "id": memory_id_of(memory.user_id, memory.id),
        "memory": memory.content,
        **Entities.of_memory(memory.user_id, memory.metadata).shown,
        "metadata": own_metadata(memory.metadata) or None,
        "categories": [],
        "created_at": made_at,
        "updated_at": memory.metadata.get(UPDATED_AT) or made_at,
        "expiration_date": _last_day(memory.expires_at),
        **more,
    }


def _last_day(expires_at: datetime | None) -> str | None:
    """The last day on which it is there; it ends with that day."""
    return None if expires_at is None else (expires_at - timedelta(microseconds=1)).date().isoformat()


def end_of_day(day: datetime) -> datetime:
    """The first instant after a day that is given by its beginning."""
    return day + _DAY


def filtered_form(memory: Memory) -> dict[str, Any]:
    """What mem0's filters look at: without the entities that it has not."""
    return {name: value for name, value in memory_json(memory).items() if value is not None}


def selected(app: App, tenant: str, selection: Selection, now: datetime) -> Iterator[Memory]:
    """The memories of these users that pass, of each user the last made first."""
    for owner in selection.owners:
        for memory in memories_of(app, Scope(tenant, owner), now):
            if holds(selection.filter, filtered_form(memory)):
                yield memory


def every_memory(app: App, scope: Scope, now: datetime) -> Iterator[Memory]:
    """All memories of a user, ended ones among them: what a deletion has to reach."""
    for page in pages(lambda after: app.memories.listing.page(scope, MemoryQuery(), _PAGE, after, now)):
        yield from page.memories


def memories_of(app: App, scope: Scope, now: datetime) -> Iterator[Memory]:
    """The current memories of a user, the last made first; at most `MOST_LISTED`."""
    walk = pages(lambda after: app.memories.listing.page(scope, _ACTIVE, _PAGE, after, now), MOST_LISTED // _PAGE)
    for page in walk:
        yield from page.memories


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search of mem0's. `least_score` is inclusive; `as_of` None is now."""

    text: str
    wanted: int
    least_score: float
    rerank: bool
    as_of: datetime | None
    now: datetime


def found(app: App, tenant: str, selection: Selection, asked: Asked) -> list[dict[str, Any]]:
    """The best memories of these users, best first; of each user the `MOST_FOUND` best records are looked at."""
    hits = [hit for owner in selection.owners for hit in _hits(app, Scope(tenant, owner), selection.filter, asked)]
    hits.sort(key=lambda hit: -float(hit["score"]))
    return hits[: asked.wanted]


def _hits(app: App, scope: Scope, wanted: Filter, asked: Asked) -> Iterable[dict[str, Any]]:
    request = RecallRequest(
        text=asked.text,
        vector=None,
        mode=Mode.HYBRID,
        filters=SearchFilters(now=asked.now, as_of=asked.as_of, where=in_index(wanted, scope.user_id)),
        wanted=MOST_FOUND,
        rerank=asked.rerank,
    )
    shown: dict[str, dict[str, Any]] = {}
    for result in app.retrieval.memory.search(scope, request).results:
        memory, score = result.memory, round(result.ranked.score, 6)
        if memory is not None and score >= asked.least_score and holds(wanted, filtered_form(memory)):
            shown.setdefault(memory.id, memory_json(memory, score=score))
    return shown.values()


def history_json(version: MemoryVersion, before: Memory | None) -> dict[str, Any]:
    """One entry of a memory's history, with what it was before."""
    memory, change = version.memory, version.change
    at = iso(change.at if change else memory.recorded_at)
    memory_id = memory_id_of(memory.user_id, memory.id)
    return {
        "id": change.id if change else f"{memory.id}-{memory.version}",
        "memory_id": memory_id,
        "input": None,
        "old_memory": before.content if before else None,
        "new_memory": memory.content,
        **Entities.of_memory(memory.user_id, memory.metadata).shown,
        "event": "UPDATE" if before else "ADD",
        "metadata": own_metadata(memory.metadata) or None,
        "created_at": at,
        "updated_at": at,
    }


def histories_json(versions: Iterable[MemoryVersion]) -> list[dict[str, Any]]:
    """The history, oldest first."""
    listed = list(versions)
    befores = [None, *(one.memory for one in listed[:-1])]
    return [history_json(one, before) for one, before in zip(listed, befores, strict=True)]


def added_json(memory: Memory, *, made: bool) -> dict[str, Any]:
    """What mem0's `add` answers for one memory: `NONE` where it was known."""
    return memory_json(memory, event="ADD" if made else "NONE")


def in_pages(listed: Sequence[Mapping[str, Any]], page: int, size: int, address: str) -> dict[str, Any]:
    """A page in mem0's form; `next` and `previous` are addresses with the number of the page."""
    start, end = (page - 1) * size, page * size
    more = f"{address}?page={page + 1}&page_size={size}" if end < len(listed) else None
    fewer = f"{address}?page={page - 1}&page_size={size}" if page > 1 else None
    return {"count": len(listed), "next": more, "previous": fewer, "results": listed[start:end]}
