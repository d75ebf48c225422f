"""Which entries a reading has, and where it goes on."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.items import Item, json_bytes
from recollect.session_log.branches import Span
from recollect.session_log.entries import Entry, batch_in

MOST_BYTES = 4_000_000
"""Bytes of JSON of one reading's entries, of which there is always one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reading goes on: the page of the store that has the next entry, and the last sequence that was read."""

    page: str | None = None
    sequence: int = 0

    def passed(self, entry: Entry, newest_first: bool) -> bool:
        """Whether the entry was read."""
        if self.sequence == 0:
            return False
        return entry.sequence >= self.sequence if newest_first else entry.sequence <= self.sequence


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries in the order that was asked for; `more` is where the next page begins, None at the end.

    A page may be short before the end.
    """

    entries: tuple[Entry, ...]
    more: Place | None


class Walk:
    """Takes what a reading is about from batches, in its order."""

    def __init__(self, limit: int, place: Place, newest_first: bool, spans: Sequence[Span]) -> None:
        self.place = place
        self.found: list[Entry] = []
        self._limit, self._newest_first, self._spans = limit, newest_first, spans
        self._bytes = 0

    @property
    def last(self) -> int:
        """The last sequence that was read."""
        return self.found[-1].sequence if self.found else self.place.sequence

    def take(self, items: Sequence[Item]) -> bool:
        """False where there is one more than the reading may have."""
        for item in items:
            entries = batch_in(item).entries
            for entry in reversed(entries) if self._newest_first else entries:
                if self._is_asked_for(entry) and not self._fits(entry):
                    return False
        return True

    def _is_asked_for(self, entry: Entry) -> bool:
        if self.place.passed(entry, self._newest_first):
            return False
        return any(span.has(entry.branch, entry.sequence) for span in self._spans)

    def _fits(self, entry: Entry) -> bool:
        self._bytes += json_bytes({"payload": entry.payload, "blob": entry.blob})
        if len(self.found) == self._limit or (self.found and self._bytes > MOST_BYTES):
            return False
        self.found.append(entry)
        return True
