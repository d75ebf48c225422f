"""Documents of the table's own index in memory: a part of them as columns, from which a search reads.

A part is what one block holds, or the documents that no block has yet. Position i of each column is one document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.exact_search import NEVER, NO_NAME, Places, labels_of
from recollect.core.time import microseconds
from recollect.core.vectors import FloatArray, pack_vector
from recollect.retrieval.nomination import IndexDocument

NAMES = ("persona", "household", "conversation", "event_type", "source", "key", "space", "role", "speaker")
NUMBERS: dict[str, Any] = {
    "version": np.int32, "timestamp": np.int64, "recorded_at": np.int64, "expires_at": np.int64,
    "importance": np.float64, "private": np.bool_, "superseded": np.bool_, "embedded": np.bool_,
}  # fmt: skip
STORED_VECTOR = "<f2"


class Record(NamedTuple):
    """What the index holds of a document; the names are in the order of `NAMES`, the times in microseconds."""

    id: str
    version: int
    timestamp: int
    recorded_at: int
    expires_at: int | None
    names: Sequence[str | None]
    importance: float
    private: bool
    superseded: bool
    terms: str
    labels: Sequence[str]
    vector: bytes | None = None


def record_of(document: IndexDocument) -> Record:
    """A document as it is stored; a private one has no words and no vector: it is counted, never found."""
    d = document
    names = (
        d.persona_id, d.household_id, d.conversation_id, str(d.event_type), str(d.source), d.key, d.space_id,
        str(d.role), d.speaker,
    )  # fmt: skip
    return Record(
        d.ref.id,
        d.version,
        microseconds(d.ref.timestamp),
        microseconds(d.recorded_at),
        None if d.expires_at is None else microseconds(d.expires_at),
        names,
        d.importance,
        d.is_private,
        d.superseded,
        "" if d.is_private else " ".join(d.terms),
        labels_of(d.tags, d.facets),
        None if d.is_private or d.vector is None else pack_vector(d.vector),
    )


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of strings for each position: codes into `vocabulary`; those of position i end before `ends[i]`."""

    vocabulary: Sequence[str]
    codes: NDArray[np.int32]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, lists: Iterable[Sequence[str]]) -> Lists:
        """Codes in the order in which the strings come."""
        known: dict[str, int] = {}
        codes: list[int] = []
        ends: list[int] = []
        for strings in lists:
            codes += [known.setdefault(one, len(known)) for one in strings]
            ends.append(len(codes))
        return cls(list(known), np.array(codes, dtype=np.int32), np.array(ends, dtype=np.int64))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many strings each position has."""
        return np.diff(self.ends, prepend=0)

    def having(self, wanted: Sequence[str]) -> dict[str, tuple[Places, NDArray[np.int64]]]:
        """For each of these strings that occurs, the positions that have it, and how often."""
        names = set(wanted)
        found = {name: code for code, name in enumerate(self.vocabulary) if name in names}
        return {name: self._places(code) for name, code in found.items()}

    def _places(self, code: int) -> tuple[Places, NDArray[np.int64]]:
        return np.unique(
            np.searchsorted(self.ends, np.flatnonzero(self.codes == code), side="right"), return_counts=True
        )


@dataclass(frozen=True, slots=True)
class FullVectors:
    """The vectors as they were given, (positions, dimension); zero where there is none."""

    matrix: FloatArray

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    def cosines(self, query: FloatArray) -> FloatArray:
        """The cosine of each position; `query` has length 1."""
        norms = np.sqrt(np.einsum("ij,ij->i", self.matrix, self.matrix))
        found: FloatArray = ((self.matrix @ query) / np.where(norms == 0, 1, norms)).astype(np.float32)
        return found

    def rows(self, places: Places) -> FloatArray:
        """The vectors of these positions."""
        return self.matrix[places]

    @classmethod
    def of(cls, packed: Sequence[bytes | None]) -> FullVectors:
        """Of stored vectors of one length."""
        data = [one for one in packed if one is not None]
        dimension = len(data[0]) // 2 if data else 0
        matrix: FloatArray = np.zeros((len(packed), dimension), dtype=np.float32)
        if data:
            there = np.array([one is not None for one in packed])
            matrix[there] = np.frombuffer(b"".join(data), dtype=STORED_VECTOR).reshape(len(data), dimension)
        return cls(matrix)


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a user's documents, each once. `names` are codes into `strings`, `NO_NAME` for none."""

    ids: Sequence[str]
    numbers: dict[str, NDArray[Any]]
    names: dict[str, NDArray[np.int32]]
    strings: Sequence[str]
    terms: Lists
    labels: Lists
    vectors: FullVectors

    def __len__(self) -> int:
        return len(self.ids)


def part_of(records: Sequence[Record]) -> Part:
    """Records as columns, in their order."""
    known: dict[str | None, int] = {None: NO_NAME}
    vectors = FullVectors.of([one.vector for one in records])
    numbers = {name: np.array([getattr(one, name, 0) for one in records], dtype=kind) for name, kind in _PLAIN.items()}
    numbers["expires_at"] = np.array([_expiry(one) for one in records], dtype=np.int64)
    numbers["embedded"] = np.any(vectors.matrix, axis=1)
    names = {
        name: np.array([known.setdefault(one.names[n], len(known) - 1) for one in records], dtype=np.int32)
        for n, name in enumerate(NAMES)
    }
    strings = [name for name in known if name is not None]
    terms = Lists.of(one.terms.split(" ") if one.terms else () for one in records)
    return Part(
        [one.id for one in records], numbers, names, strings, terms, Lists.of(r.labels for r in records), vectors
    )


_PLAIN = {name: kind for name, kind in NUMBERS.items() if name not in ("expires_at", "embedded")}


def _expiry(record: Record) -> int:
    return NEVER if record.expires_at is None else record.expires_at
