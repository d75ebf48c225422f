"""What is remembered of an event, set right in a person's words (`docs/memories.md`, *Edited*)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from recollect.core.errors import Conflict, VersionMismatch
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.memories.memory import Memory
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.save import MemoryChange, SaveMemories
from recollect.ports import Items, Timeline
from recollect.timeline.listing import ListEvents

Remembered = Callable[[Scope, Event, datetime], StoredMemory | None]
"""The memory of an event, made now where there is none; None where nothing may be remembered of it."""


@dataclass(eq=False)
class CorrectEvent:
    """The memory's first version says what was said, the second what is right: it can be put back.

    What was said stays as it was said, and is found by the words that are right alone.
    """

    _timeline: Timeline
    _items: Items
    _remembered: Remembered
    _memories: SaveMemories

    def __post_init__(self) -> None:
        self._events = ListEvents(self._timeline)
        self._read = ReadMemories(self._items)

    def correct(
        self, scope: Scope, event_id: str, change: MemoryChange, now: datetime, *, again: bool = False
    ) -> Memory:
        """`change` is of the event's version. `again`: an earlier try of the same request may have begun.

        Raises NotFound, VersionMismatch, and Conflict where there is a memory of it already, where nothing may be
        remembered of it (it is private, or nothing is derived of it), and for rejected words; and as an edit.
        """
        event = self._events.one(scope, event_id, now)
        if not change.accepts(event.version):
            raise VersionMismatch("the event has changed since it was read", is_named=True)
        known = self._read.stored(scope.user, [event_id]).get(event_id)
        if known is not None and not again:
            raise Conflict("there is a memory of it already: edit that")
        stored = known or self._remembered(scope.user, event, now)
        if stored is None:
            raise Conflict("nothing is remembered of it: it is private, or nothing is derived of it")
        if all(getattr(stored.memory, name) == value for name, value in change.changes.items()):
            return stored.memory
        edit = MemoryChange(change.changes, change.actor, lambda version: version == stored.memory.version)
        return self._memories.patch(scope, stored.memory.id, edit, now)
