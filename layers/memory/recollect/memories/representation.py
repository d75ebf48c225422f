"""What a reader sees of a record: the event, or the memory made from it, under one id (P-1; `docs/memories.md`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from recollect.core.event import Event, EventRef
from recollect.memories.memory import Lapse, Memory, MemoryStatus, memory_at, text_at
from recollect.retrieval.filters import DropReason, SearchFilters
from recollect.text.omission import left_of, words_replaced

_REPLACED = (MemoryStatus.SUPERSEDED, MemoryStatus.MERGED, MemoryStatus.RETRACTED)


def represented(event: Event, memory: Memory | None) -> Event:
    """The event with the words and the importance of its memory; its version grows with either.

    The memory comes in the form of `seen`, or of `as_said` for the index. A vector that came with the event does not
    fit other words. For ranking and the index alone: the stored event stays unchanged.
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
    """The event in its index form: with all words of its memory."""
    return represented(event, None if memory is None else as_said(memory))


def as_said(memory: Memory) -> Memory:
    """The memory in its index form: with all its words, whether they hold or not (P-24).

    Words that have ended by their own bound, by something newer, or by a retraction were said: the record stays
    findable by them, and read-back decides what to show. No clock takes part, so a document does not depend on when it
    was made. A rejected or deleted record is in no index.
    """
    return _in_words(memory, memory.content)


def seen(memory: Memory, filters: SearchFilters) -> Memory | None:
    """The memory for this reader, in the words that hold; None where none do (P-24).

    Under `as_of` event time decides. Otherwise a superseded memory has ended as soon as the store knows it, even where
    its successor's timestamp is in the future. `include_superseded` shows all its words.
    """
    if filters.as_of is not None:
        found = memory_at(memory, filters.as_of)
    else:
        found = _current(memory, max(filters.moment, memory.valid_from))
    if filters.include_superseded:
        return _in_words(found or memory, memory.content)
    return _in_words(found, found.content) if found is not None else None


def in_words_of(memory: Memory, moment: datetime) -> Memory:
    """The stored memory in the words that hold at `moment`; in all its words where none do.

    Superseded where all of it ended on a day for which that was announced.
    """
    text = text_at(memory, moment)
    if text is None and memory.status is MemoryStatus.ACTIVE:
        return _ended_as_announced(memory, moment)
    return memory if text is None or text == memory.content else _in_words(memory, text)


def _ended_as_announced(memory: Memory, moment: datetime) -> Memory:
    passed = [one for one in memory.lapses if one.announced and one.covers(moment)]
    if not passed:
        return memory
    last = max(passed, key=lambda one: (one.since, one.by))
    ended = replace(memory, status=MemoryStatus.SUPERSEDED, superseded_by=last.by)
    return replace(ended, valid_to=last.since, settled_by=last.rule)


def as_it_stands(memory: Memory, event: Event) -> Memory:
    """The memory superseded at once where its record is: by a newer value of its key (P-19)."""
    if event.superseded_by is None or memory.status is not MemoryStatus.ACTIVE:
        return memory
    ends = event.superseded_at if memory.valid_to is None else memory.valid_to
    return replace(memory, status=MemoryStatus.SUPERSEDED, superseded_by=event.superseded_by, valid_to=ends)


def memory_drop_reason(
    memory: Memory | None, filters: SearchFilters, see: Callable[[Memory, SearchFilters], Memory | None] = seen
) -> DropReason | None:
    """Why a read may not show a record because of its memory; None where it may, or without a memory.

    `see` is `seen`, or a function with a cache of its results.
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
    """The record that holds instead of a hidden memory: its successor, or one that suspends it for a while.

    As an EventRef where its most likely place is known: the ended memory's `valid_to` is its successor's timestamp.
    None where the memory has ended by its own bound.
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
    """A note for a record that replaces older ones: the days of those, without their words."""
    days = sorted({ref.timestamp.astimezone(UTC).date().isoformat() for ref in replaced})
    if not days:
        return None
    earlier = f"{', '.join(days[:-1])} and " if len(days) > 1 else ""
    return f"replaces what was said on {earlier}{days[-1]}"


def says_otherwise(memory: Memory, event: Event) -> bool:
    """Whether somebody edited the memory of several events, so that this event's words no longer find it."""
    return memory.id != event.id and memory.content.strip() != event.content.strip()


def _current(memory: Memory, moment: datetime) -> Memory | None:
    ended = memory.valid_to is not None and memory.valid_to <= moment
    if memory.status is not MemoryStatus.ACTIVE or ended:
        return None
    spans = [(one.start, one.end) for one in _lapsed(memory, moment)]
    text = left_of(memory.content, spans) if spans else memory.content
    return None if text is None else _in_words(memory, text)


def _lapsed(memory: Memory, moment: datetime) -> list[Lapse]:
    """The lapses in force: a lapse for good, by another record, applies at once, as a whole memory's end does.

    What was announced for a day applies from then on.
    """
    return [one for one in memory.lapses if one.covers(moment) or (_is_for_good(one, memory) and not one.announced)]


def _is_for_good(lapse: Lapse, memory: Memory) -> bool:
    return lapse.until is None and lapse.by != memory.id


def is_over(memory: Memory, moment: datetime) -> bool:
    """Whether nothing is left of the memory: all its words have ended for good, as one or piece by piece."""
    if memory.status is not MemoryStatus.ACTIVE or (memory.valid_to is not None and memory.valid_to <= moment):
        return True
    spans = [(one.start, one.end) for one in _lapsed(memory, moment) if one.until is None]
    return bool(spans) and left_of(memory.content, spans) is None


def announced(memory: Memory, moment: datetime) -> Lapse | None:
    """The first change of the memory that was announced for a day which is still to come; None without one."""
    coming = (one for one in memory.lapses if one.announced and moment < one.since)
    return min(coming, key=lambda one: (one.since, one.by), default=None)


@dataclass(frozen=True, slots=True)
class EndedWords:
    """Words of a memory, from the character `start` of its content on, that the record `by` ended, and since when.

    In a context's doubts: that it may have ended. `instead` is what that record says, where it is read.
    """

    words: str
    since: datetime
    by: str
    instead: str | None = None
    start: int = 0

    @property
    def end(self) -> int:
        """The character behind them."""
        return self.start + len(self.words)


def ended_words(memory: Memory, moment: datetime) -> tuple[EndedWords, ...]:
    """What was ended for good of a memory that holds in part, in the order of its words; of others nothing."""
    if memory.status is not MemoryStatus.ACTIVE:
        return ()
    told = (one for one in _lapsed(memory, moment) if _is_for_good(one, memory) and one.start < one.end)
    ended = sorted(told, key=lambda one: one.start)
    return tuple(EndedWords(memory.content[one.start : one.end], one.since, one.by, start=one.start) for one in ended)


def is_told_by(memory: Memory, ended: Sequence[EndedWords], left: str) -> bool:
    """Whether `left` is the memory's content without just these words: none of it is held over or out of its bound."""
    return left_of(memory.content, [(one.start, one.end) for one in ended]) == left


def no_longer_holds(
    event: Event, memory: Memory | None, filters: SearchFilters, merged: Memory | None = None
) -> tuple[EndedWords, ...]:
    """Which words of a message, as it was said, do not hold at the moment that is asked about: all, a few, or none.

    `memory` is the one that the message is in, as stored; `merged`, where known, the one that it was merged into.
    """
    if memory is None or memory.id != event.id:
        at, by = event.superseded_at, event.superseded_by
        return () if at is None or by is None or at > filters.moment else (EndedWords(event.content, at, by),)
    stands = as_it_stands(memory, event)
    if memory_drop_reason(stands, replace(filters, include_superseded=False)) is not DropReason.SUPERSEDED:
        return ended_words(stands, filters.moment)
    since = min((one.since for one in _lapsed(stands, filters.moment)), default=stands.valid_from)
    whole = EndedWords(stands.content, stands.valid_to or since, _ended_by(stands) or stands.id)
    if stands.status is not MemoryStatus.MERGED or merged is None:
        return (whole,)
    spans = words_replaced(stands.content, merged.content)
    return tuple(replace(whole, words=stands.content[start:end], start=start) for start, end in spans)


def _in_words(memory: Memory, text: str) -> Memory:
    """Other words invalidate the offsets of its lapses."""
    return replace(memory, content=text, lapses=()) if memory.lapses or text != memory.content else memory


def _ended_by(memory: Memory) -> str | None:
    return None if memory.status is MemoryStatus.ACTIVE else memory.superseded_by or memory.id


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    known = [moment for moment in (one, other) if moment is not None]
    return min(known, default=None)
