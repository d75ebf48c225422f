"""What a reader sees of a record: the event, or the memory made from it, under one id (P-1, api.md *Read*)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from recollect.core.event import Event, EventRef
from recollect.memories.memory import Lapse, Memory, MemoryStatus, left_of, memory_at, text_at
from recollect.retrieval.filters import DropReason, SearchFilters

_REPLACED = (MemoryStatus.SUPERSEDED, MemoryStatus.MERGED, MemoryStatus.RETRACTED)


def represented(event: Event, memory: Memory | None) -> Event:
    """The event in the words and with the weight of its memory; its version grows with either.

    The memory is given as it is seen (`seen`), or as the index is told of it (`as_said`). A vector that came with the
    event is not that of other words. For ranking and the index alone: what is written is always the event itself.
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


def indexed(event: Event, memory: Memory | None) -> Event:
    """The event as the index is told of it: in the words of its memory, as they were said."""
    return represented(event, None if memory is None else as_said(memory))


def as_said(memory: Memory) -> Memory:
    """The memory as the index is told of it: in all its words, whatever of them holds (P-24).

    What is over by its own bound, by something newer, or because it was taken back, was said: by its words the record
    is found for good, and read-back decides what of it is shown. No clock has a say, so a document never depends on
    when it was made. What is rejected or deleted is in no index at all.
    """
    return _in_words(memory, memory.content)


def seen(memory: Memory, filters: SearchFilters) -> Memory | None:
    """The memory as it stands for who asks, in the words that hold; None where nothing of it does (api.md, *Time*).

    Under `as_of` event time decides. Else what was superseded is over from the moment that the store knows it, also
    where its successor's timestamp is yet to come. `include_superseded` shows the whole of it, whatever holds.
    """
    if filters.as_of is not None:
        found = memory_at(memory, filters.as_of)
    else:
        found = _current(memory, max(filters.moment, memory.valid_from))
    if filters.include_superseded:
        return _in_words(found or memory, memory.content)
    return _in_words(found, found.content) if found is not None else None


def in_words_of(memory: Memory, moment: datetime) -> Memory:
    """The memory as it is stored, in the words of it that hold then; in all of them where none do."""
    text = text_at(memory, moment)
    return memory if text is None or text == memory.content else _in_words(memory, text)


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


def memory_drop_reason(
    memory: Memory | None, filters: SearchFilters, see: Callable[[Memory, SearchFilters], Memory | None] = seen
) -> DropReason | None:
    """Why a read may not show a record because of its memory; None where it may, or where there is no memory.

    `see` may be a `seen` that knows what it found before.
    """
    if memory is None:
        return None
    if memory.status is MemoryStatus.REJECTED:
        return DropReason.DELETED
    if memory.expired(filters.now) or memory.status is MemoryStatus.EXPIRED:
        return DropReason.EXPIRED
    if filters.as_of is not None and memory.valid_from > filters.as_of:
        return DropReason.WINDOW
    return DropReason.SUPERSEDED if see(memory, filters) is None else None


def successor_of(memory: Memory, filters: SearchFilters) -> EventRef | str | None:
    """The record that holds in the place of a memory that is not seen: what replaced it, or holds over it for a while.

    With the place where it most likely is: what it replaced holds until its timestamp. None where nothing does: its
    own bound is over.
    """
    if memory.status in _REPLACED:
        ended_by_it = memory.status is not MemoryStatus.RETRACTED
        place = _ref(memory.superseded_by, memory.valid_to) if ended_by_it else None
        return place or memory.superseded_by
    over = [lapse for lapse in _lapsed(memory, filters.moment) if lapse.by != memory.id]
    newest = max(over, key=lambda lapse: (lapse.since, lapse.by), default=None)
    return _ref(newest.by, newest.since) if newest is not None else None


def _ref(record_id: str | None, timestamp: datetime | None) -> EventRef | None:
    return EventRef(record_id, timestamp) if record_id is not None and timestamp is not None else None


def replacement_note(replaced: Sequence[EventRef]) -> str | None:
    """What is said of a record that stands for older ones: when those were said, and nothing of their words."""
    days = sorted({ref.timestamp.astimezone(UTC).date().isoformat() for ref in replaced})
    if not days:
        return None
    earlier = f"{', '.join(days[:-1])} and " if len(days) > 1 else ""
    return f"replaces what was said on {earlier}{days[-1]}"


def says_otherwise(memory: Memory, event: Event) -> bool:
    """Whether the memory of several events was edited since: by this one's words it is found no longer."""
    return memory.id != event.id and memory.content.strip() != event.content.strip()


def _current(memory: Memory, moment: datetime) -> Memory | None:
    ended = memory.valid_to is not None and memory.valid_to <= moment
    if memory.status is not MemoryStatus.ACTIVE or ended:
        return None
    text = _left(memory, _lapsed(memory, moment))
    return None if text is None else _in_words(memory, text)


def _lapsed(memory: Memory, moment: datetime) -> list[Lapse]:
    """What does not hold: what something newer ended for good counts at once, as a whole memory's end does."""
    return [one for one in memory.lapses if one.covers(moment) or (one.until is None and one.by != memory.id)]


def _left(memory: Memory, lapses: list[Lapse]) -> str | None:
    return left_of(memory.content, [(one.start, one.end) for one in lapses]) if lapses else memory.content


def _in_words(memory: Memory, text: str) -> Memory:
    """In other words its lapses are no places in them any more."""
    return replace(memory, content=text, lapses=()) if memory.lapses or text != memory.content else memory


def _ended_by(memory: Memory) -> str | None:
    return None if memory.status is MemoryStatus.ACTIVE else memory.superseded_by or memory.id


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    known = [moment for moment in (one, other) if moment is not None]
    return min(known, default=None)
