"""Documents of the table's own index in memory: a part of them as columns, from which a search reads.

A part is what one block holds, or the documents that no block has yet. Position i of each column is one document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.aws.index_lists import Lists
from recollect.adapters.aws.index_vectors import FullVectors, PackedVectors
from recollect.adapters.exact_search import NEVER, NO_NAME, Mask
from recollect.adapters.index_filters import labels_of
from recollect.core.time import microseconds
from recollect.core.vectors import FloatArray, pack_vector
from recollect.retrieval.nomination import IndexDocument

StoredVectors: TypeAlias = Callable[[Sequence[str]], Mapping[str, FloatArray]]
"""The vectors of records as they were given, by id; of some perhaps none."""
NAMES = ("persona", "household", "conversation", "event_type", "source", "key", "space", "role", "speaker")
NUMBERS: dict[str, Any] = {
    "version": np.int32, "timestamp": np.int64, "recorded_at": np.int64, "expires_at": np.int64,
    "importance": np.float64, "private": np.bool_, "superseded": np.bool_, "embedded": np.bool_,
}  # fmt: skip


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
        labels_of(d.tags, d.facets, d.attributes),
        None if d.is_private or d.vector is None else pack_vector(d.vector),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a user's documents, each once. `names` are codes into `strings`, `NO_NAME` for none."""

    ids: Sequence[str]
    numbers: dict[str, NDArray[Any]]
    names: dict[str, NDArray[np.int32]]
    strings: Sequence[str]
    terms: Lists
    labels: Lists
    vectors: FullVectors | PackedVectors

    def __len__(self) -> int:
        return len(self.ids)


def with_packed(part: Part) -> Part:
    """The same with packed vectors."""
    full = part.vectors
    return part if isinstance(full, PackedVectors) else replace(part, vectors=PackedVectors.of(full.matrix))


def with_full(part: Part, stored: StoredVectors) -> Part:
    """The same with vectors as they were given; of a record that has none any more about what it was."""
    if isinstance(part.vectors, FullVectors):
        return part
    places = np.flatnonzero(part.numbers["embedded"]).tolist()
    matrix, found = part.vectors.rows(np.arange(len(part))), stored([part.ids[place] for place in places])
    for place in places:
        given = found.get(part.ids[place])
        if given is not None and given.shape == matrix[place].shape:
            matrix[place] = given
    return replace(part, vectors=FullVectors(matrix.astype(np.float16)))


def selected(part: Part, mask: Mask) -> Part:
    """Some positions of a part; nothing of the others stays, not even a name."""
    places = np.flatnonzero(mask)
    codes = np.concatenate([part.names[name][mask] for name in NAMES])
    strings, recoded = _pruned(part.strings, codes)
    return Part(
        [part.ids[place] for place in places.tolist()],
        {name: column[mask] for name, column in part.numbers.items()},
        dict(zip(NAMES, np.split(recoded, len(NAMES)), strict=True)),
        strings,
        part.terms.selected(mask),
        part.labels.selected(mask),
        part.vectors.selected(mask),
    )


def joined(parts: Sequence[Part]) -> Part:
    """Parts as one, one after another, whose vectors are all packed or all as they were given."""
    strings, codes = _recoded([(p.strings, np.concatenate([p.names[name] for name in NAMES])) for p in parts])
    split = [np.split(one, len(NAMES)) for one in codes]
    return Part(
        [event_id for part in parts for event_id in part.ids],
        {name: np.concatenate([part.numbers[name] for part in parts]) for name in NUMBERS},
        {name: np.concatenate([one[n] for one in split]) for n, name in enumerate(NAMES)},
        strings,
        Lists.joined([part.terms for part in parts]),
        Lists.joined([part.labels for part in parts]),
        _joined([part.vectors for part in parts]),
    )


def _joined(vectors: Sequence[FullVectors | PackedVectors]) -> FullVectors | PackedVectors:
    full = [one for one in vectors if isinstance(one, FullVectors)]
    packed = [one for one in vectors if isinstance(one, PackedVectors)]
    return FullVectors.joined(full) if full else PackedVectors.joined(packed)


def _pruned(names: Sequence[str], codes: NDArray[np.int32]) -> tuple[list[str], NDArray[np.int32]]:
    """Only the names that some code names, and the codes in them; negative codes stay."""
    used = np.unique(codes[codes >= 0])
    places = np.full(len(names) + 1, NO_NAME, dtype=np.int32)
    places[used] = np.arange(len(used), dtype=np.int32)
    return [names[code] for code in used.tolist()], places[codes]


def _recoded(parts: Sequence[tuple[Sequence[str], NDArray[np.int32]]]) -> tuple[list[str], list[NDArray[np.int32]]]:
    """One list of names for all parts, and each part's codes in it; negative codes stay."""
    known: dict[str, int] = {}
    tables = [np.array([*(known.setdefault(n, len(known)) for n in names), NO_NAME], np.int32) for names, _ in parts]
    return list(known), [table[codes] for table, (_, codes) in zip(tables, parts, strict=True)]


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
