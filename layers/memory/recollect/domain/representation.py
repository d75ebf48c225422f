"""What a reader sees of a record: the event, or the memory made from it, under one id (P-1, api.md *Read*)."""

from dataclasses import replace
from datetime import datetime

from recollect.domain.event import Event
from recollect.domain.filters import DropReason, SearchFilters
from recollect.domain.memory import Memory, MemoryStatus


def represented(event: Event, memory: Memory | None) -> Event:
    """The event in the words and with the weight of its memory; its version grows with either.

    A vector that came with the event is not that of other words. For ranking and the index alone: what is written is
    always the event itself.
    """
    if memory is None:
        return event
    return replace(
        event,
        content=memory.content,
        importance=memory.importance,
        metadata=memory.metadata,
        expires_at=_earlier(event.expires_at, memory.expires_at),
        embedding=event.embedding if memory.content == event.content else None,
        superseded_by=event.superseded_by or _ended_by(memory),
        version=event.version + memory.version,
    )


def as_it_stands(memory: Memory, event: Event) -> Memory:
    """The memory with what its record says already: a newer value of its key supersedes it at once (P-19)."""
    if event.superseded_by is None or memory.status is not MemoryStatus.ACTIVE:
        return memory
    return replace(
        memory,
        status=MemoryStatus.SUPERSEDED,
        superseded_by=event.superseded_by,
        valid_to=event.superseded_at if memory.valid_to is None else memory.valid_to,
    )


def memory_drop_reason(memory: Memory | None, filters: SearchFilters) -> DropReason | None:
    """Why a read may not show a record because of its memory; None where it may, or where there is no memory."""
    if memory is None:
        return None
    if memory.expired(filters.now):
        return DropReason.EXPIRED
    if memory.status is not MemoryStatus.ACTIVE and not filters.admits_superseded:
        return DropReason.SUPERSEDED
    return None


def says_otherwise(memory: Memory, event: Event) -> bool:
    """Whether the memory of several events was edited since: by this one's words it is found no longer."""
    return memory.id != event.id and memory.content.strip() != event.content.strip()


def _ended_by(memory: Memory) -> str | None:
    return None if memory.status is MemoryStatus.ACTIVE else memory.superseded_by or memory.id


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    known = [moment for moment in (one, other) if moment is not None]
    return min(known, default=None)
