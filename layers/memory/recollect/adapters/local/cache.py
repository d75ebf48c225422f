"""The columns of the users who were asked about last, within a budget of bytes."""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from recollect.adapters.local.columns import Columns
from recollect.adapters.local.users import User

BUDGET_BYTES = 512 * 1024 * 1024


@dataclass(slots=True)
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    columns: Columns = field(default_factory=Columns)
    size_bytes: int = 0


class ColumnsCache:
    """Least recently used out first; the one in use stays, however large it is.

    Vectors of one generation are in it. What any connection of any process wrote is noticed by the user's revision,
    which the caller has read in the same transaction in which the columns are brought up to it.
    """

    def __init__(self, generation: str | None, budget_bytes: int = BUDGET_BYTES) -> None:
        self._generation = generation
        self._budget_bytes = budget_bytes
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._size_bytes = 0

    @contextmanager
    def columns(self, connection: sqlite3.Connection, user: User) -> Iterator[Columns]:
        """The user's columns, at least as new as this transaction's view, for the caller alone."""
        entry = self._entry(user.number)
        with entry.lock:
            if entry.columns.worn:
                entry.columns = Columns()
            if entry.columns.revision < user.revision:
                entry.columns.refresh(connection, user.number, user.revision, self._generation)
                self._account(user.number, entry)
            yield entry.columns

    @property
    def size_bytes(self) -> int:
        """About how much memory all of them take."""
        return self._size_bytes

    def _entry(self, user_number: int) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(user_number, _Entry())
            self._entries.move_to_end(user_number)
            return entry

    def _account(self, in_use: int, entry: _Entry) -> None:
        """Keeps the sum as it goes: adding up anew would take as long as there are users in memory."""
        with self._lock:
            if self._entries.get(in_use) is not entry:
                return  # another thread has put it out meanwhile
            self._size_bytes += entry.columns.size_bytes - entry.size_bytes
            entry.size_bytes = entry.columns.size_bytes
            while self._size_bytes > self._budget_bytes:
                oldest = next((number for number in self._entries if number != in_use), None)
                if oldest is None:
                    return
                self._size_bytes -= self._entries.pop(oldest).size_bytes
