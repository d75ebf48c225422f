"""One user's documents as columns in memory, which filters, counts and the vector arm scan; and their cache.

Position i of every column, and row i of the matrix, is one document. Positions are sorted by the document's row
number, which is its arrival; a removed document is a dead position until the columns are loaded anew.
"""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.exact_search import COSINE_NOISE, NEVER, NO_NAME, Places
from recollect.adapters.local.rows import User
from recollect.core.vectors import FloatArray

_UNKNOWN = -2
_SPARE = 0.25
_BYTES_PER_NAME = 120
_MANY_DEAD = 1000
_AT_ONCE = 500

_TIMES = ("timestamp", "recorded_at", "expires_at")
_NAMES = ("persona", "household", "conversation", "event_type", "source", "key", "space", "role")
_CHANGED = "SELECT row FROM documents WHERE scope = ? AND revision > ?"
_SELECT = f"""SELECT d.row, d.length, d.private, d.superseded, d.importance,
    {", ".join(f"d.{name}" for name in (*_TIMES, *_NAMES))}, v.vector
    FROM documents d LEFT JOIN document_vectors v ON v.row = d.row AND v.generation = ?
    WHERE d.row IN ({{}})"""  # noqa: S608
_TYPES: dict[str, Any] = {
    "row": np.int64, "length": np.int32, "private": np.bool_, "superseded": np.bool_,
    "importance": np.float64,
    **dict.fromkeys(_TIMES, np.int64), **dict.fromkeys(_NAMES, np.int32),
    "alive": np.bool_, "embedded": np.bool_, "inverse_norm": np.float32,
}  # fmt: skip


class Columns:
    """The columns of one user as of `revision`; their user holds their lock (`ColumnsCache`)."""

    def __init__(self) -> None:
        self.revision = 0
        self.matrix: FloatArray = np.zeros((0, 0), dtype=np.float32)
        self._arrays: dict[str, NDArray[Any]] = {name: np.zeros(0, dtype=kind) for name, kind in _TYPES.items()}
        self._count = 0
        self._dead = 0
        self._codes: dict[str | None, int] = {None: NO_NAME}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column, one value per position."""
        return self._arrays[name][: self._count]

    @property
    def vectors(self) -> FloatArray:
        """(positions, dimension): the vector of each position, zero where it has none."""
        return self.matrix[: self._count]

    @property
    def dimension(self) -> int:
        """Length of the vectors; 0 before the first."""
        return int(self.matrix.shape[1])

    @property
    def noise(self) -> float:
        """How far a cosine of `cosines` may be from the exact one."""
        return COSINE_NOISE

    def cosines(self, query: FloatArray) -> FloatArray:
        """The cosine of each position in float32; `query` has length 1."""
        found: FloatArray = (self.vectors @ query) * self["inverse_norm"]
        return found

    def exact(self, places: Places) -> FloatArray:
        """The vectors of these positions."""
        return self.vectors[places]

    @property
    def size_bytes(self) -> int:
        """The memory of the columns, about."""
        columns = sum(array.nbytes for array in self._arrays.values())
        return self.matrix.nbytes + columns + _BYTES_PER_NAME * len(self._codes)

    @property
    def worn(self) -> bool:
        """Whether so many positions are dead that the columns are loaded anew."""
        return self._dead > _MANY_DEAD and 3 * self._dead > self._count

    def code(self, name: str | None) -> int:
        """The code of a name in the name columns; an unknown name has one that no position has."""
        return self._codes.get(name, _UNKNOWN)

    @property
    def strings(self) -> Sequence[str]:
        """The names by their codes."""
        return [name or "" for name in self._codes]

    def find(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The positions of the rows that are loaded, and which of the rows these are."""
        known = self["row"]
        places = np.searchsorted(known, rows)
        here = places < self._count
        here[here] = known[places[here]] == rows[here]
        return places[here], here

    def positions(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions of the rows that are loaded."""
        return self.find(rows)[0]

    def refresh(self, connection: sqlite3.Connection, user: int, revision: int, generation: str | None) -> None:
        """Brings the columns from their revision to the file's.

        Row numbers come first, from an index of nothing else: one statement that sorts would pass a million documents
        with their vectors through SQLite's sorter, in memory beside the matrix.
        """
        removed = connection.execute(
            "SELECT row FROM removals WHERE scope = ? AND revision > ?", (user, self.revision)
        ).fetchall()
        changed = connection.execute(_CHANGED, (user, self.revision)).fetchall()
        rows = np.sort(np.array(changed, dtype=np.int64).reshape(-1))
        self._kill(np.array([row for (row,) in removed], dtype=np.int64))
        self._make_places(rows)
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE].tolist()
            query = _SELECT.format(", ".join("?" * len(some)))
            self._write(connection.execute(query, (generation, *some)).fetchall())
        self.revision = revision

    def _kill(self, rows: NDArray[np.int64]) -> None:
        places = self.positions(rows)
        self._dead += int(self["alive"][places].sum())
        self["alive"][places] = False
        self["embedded"][places] = False

    def _write(self, found: Sequence[tuple[Any, ...]]) -> None:
        row, length, private, superseded, importance, *others, vectors = zip(*found, strict=True)
        places = self.positions(np.array(row, dtype=np.int64))
        self["length"][places] = length
        self["private"][places] = private
        self["superseded"][places] = superseded
        self["importance"][places] = importance
        self["alive"][places] = True
        for name, values in zip(_TIMES, others, strict=False):
            self[name][places] = [NEVER if value is None else value for value in values]
        for name, values in zip(_NAMES, others[len(_TIMES) :], strict=True):
            self[name][places] = self._coded(values)
        self._write_vectors(places, vectors)

    def _make_places(self, rows: NDArray[np.int64]) -> None:
        """Appends positions for the new ones of these sorted rows, dead until they are written."""
        last = self["row"][-1] if self._count else -1
        fresh = rows[rows > last]
        self._grow(len(fresh))
        self._arrays["row"][self._count : self._count + len(fresh)] = fresh
        self._count += len(fresh)

    def _grow(self, more: int) -> None:
        needed = self._count + more
        capacity = len(self._arrays["row"])
        if needed <= capacity:
            return
        capacity = needed + int(_SPARE * self._count)
        for name, array in self._arrays.items():
            self._arrays[name] = _enlarged(array, capacity, self._count)
        self.matrix = _enlarged(self.matrix, capacity, self._count)

    def _coded(self, names: Sequence[str | None]) -> list[int]:
        """The names' codes; each distinct name is looked up once, the rest is done in C."""
        codes = self._codes
        for name in set(names):
            codes.setdefault(name, len(codes))
        return list(map(codes.__getitem__, names))

    def _write_vectors(self, places: NDArray[np.int64], blobs: Sequence[bytes | None]) -> None:
        with_vector = np.array([blob is not None for blob in blobs])
        self["embedded"][places] = with_vector
        data = [blob for blob in blobs if blob is not None]
        if data:
            vectors = np.frombuffer(b"".join(data), dtype="<f2").astype(np.float32).reshape(len(data), -1)
            self._write_block(places[with_vector], vectors)

    def _write_block(self, places: NDArray[np.int64], vectors: FloatArray) -> None:
        if not self.matrix.shape[1]:
            self.matrix = np.zeros((len(self.matrix), vectors.shape[1]), dtype=np.float32)
        self.matrix[places] = vectors
        norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        self["inverse_norm"][places] = 1 / np.where(norms == 0, 1, norms)


@dataclass(slots=True)
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    columns: Columns = field(default_factory=Columns)
    size_bytes: int = 0


class ColumnsCache:
    """The columns of the users searched last, with vectors of one generation, within a budget of bytes.

    The least recently used go first; those in use stay, however large they are. The user's revision, which the caller
    reads in the same transaction in which the columns are brought up to it, shows what any process wrote.
    """

    def __init__(self, generation: str, budget_bytes: int) -> None:
        self._generation = generation
        self._budget_bytes = budget_bytes
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._size_bytes = 0

    @contextmanager
    def columns(self, connection: sqlite3.Connection, user: User) -> Iterator[Columns]:
        """The user's columns, at least as new as this transaction's view, locked for the caller."""
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
        """The memory of all of them, about."""
        return self._size_bytes

    def _entry(self, user_number: int) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(user_number, _Entry())
            self._entries.move_to_end(user_number)
            return entry

    def _account(self, in_use: int, entry: _Entry) -> None:
        """Adjusts the sum: adding up anew would take as long as there are users in memory."""
        with self._lock:
            if self._entries.get(in_use) is not entry:
                return  # another thread evicted it meanwhile
            self._size_bytes += entry.columns.size_bytes - entry.size_bytes
            entry.size_bytes = entry.columns.size_bytes
            while self._size_bytes > self._budget_bytes:
                oldest = next((number for number in self._entries if number != in_use), None)
                if oldest is None:
                    return
                self._size_bytes -= self._entries.pop(oldest).size_bytes


def _enlarged(array: NDArray[Any], capacity: int, count: int) -> NDArray[Any]:
    larger = np.zeros((capacity, *array.shape[1:]), dtype=array.dtype)
    larger[:count] = array[:count]
    return larger
