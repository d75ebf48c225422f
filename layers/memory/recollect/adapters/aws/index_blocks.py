"""Blocks of the table's own index: parts as bytes, in objects of the bucket.

| object of the tenant                                       | content                                        |
|------------------------------------------------------------|------------------------------------------------|
| `search-blocks/{generation}/{user hash}/{number}-{token}`  | up to `BLOCK_RECORDS` documents of one user    |

`number` is that of the list of blocks that first names it: whatever is not named by a list, and has no greater number,
is left over and is deleted. A block begins with its form and the length of a packed JSON header (names, terms, labels,
the types of the columns, and ids that are no UUIDs); the columns follow. The form tells whether vectors are as they
were given, as of a user of few records, or packed. In blocks of the former form, which stay until something of them is
removed, all ids are in the header and the importance is a column of its own numbers.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.aws.index_cache import BlockCache
from recollect.adapters.aws.index_ids import PackedIds
from recollect.adapters.aws.index_lists import Lists
from recollect.adapters.aws.index_part import NAMES, NUMBERS, Part
from recollect.adapters.aws.index_vectors import STORED_VECTOR, FullVectors, PackedVectors
from recollect.core.errors import StoredDataError
from recollect.core.scope import Scope, user_hash
from recollect.ports import SnapshotStore
from recollect.search_index.page import safe_name

BLOCK_RECORDS = 16_384
FOLDER = "search-blocks/"
_FORM, _FULL, _FORMER = b"RXB3", b"RXB4", b"RXB2"
_START = struct.Struct("<4sI")
_DIGITS = 12
ANY_NUMBER = 10**_DIGITS - 1
"""Of whichever list: all blocks."""


def pack_part(part: Part) -> bytes:
    """A part as bytes."""
    ids = PackedIds.of(part.ids)
    kinds, coded = np.unique(part.numbers["importance"], return_inverse=True)
    arrays = (*_numbers(part, coded), *_lists(part), *_vectors(part.vectors), kinds, ids.numbers)
    columns = [np.ascontiguousarray(one) for one in arrays]
    header = {
        "count": len(part),
        "ids": list(ids.others.items()),
        "strings": list(part.strings),
        "terms": list(part.terms.vocabulary),
        "labels": list(part.labels.vocabulary),
        "dimension": part.vectors.dimension,
        "columns": [[one.dtype.str, one.size] for one in columns],
    }
    packed = zlib.compress(json.dumps(header, separators=(",", ":")).encode("utf-8", "surrogatepass"), 1)
    form = _FULL if isinstance(part.vectors, FullVectors) else _FORM
    return b"".join([_START.pack(form, len(packed)), packed, *(one.tobytes() for one in columns)])


def unpack_part(data: bytes) -> Part:
    """Reads what `pack_part` wrote. Raises StoredDataError."""
    try:
        form, length = _START.unpack_from(data)
        if form not in (_FORM, _FULL, _FORMER):
            raise StoredDataError("a block of the index of an unknown form")
        header = json.loads(zlib.decompress(data[_START.size : _START.size + length]))
        arrays = _arrays(data, _START.size + length, header["columns"])
        if form == _FORMER:
            return _columns(header, len(header["ids"]), arrays, full=False)
        return _part(header, arrays, full=form == _FULL)
    except (struct.error, zlib.error, ValueError, KeyError) as error:
        raise StoredDataError("a block of the index that cannot be read") from error


def _numbers(part: Part, importance: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Numbers and names; `recorded_at` as what has passed since `timestamp`; of equal ones the first.

    The importance has few values: here are codes of them.
    """
    stored = part.numbers | {"recorded_at": part.numbers["recorded_at"] - part.numbers["timestamp"]}
    stored["importance"] = importance
    for column in (*(stored[name] for name in NUMBERS), *(part.names[name] for name in NAMES)):
        same = len(column) > 0 and bool(np.all(column == column[0]))
        yield _small(column[:1] if same else column)


def _lists(part: Part) -> Iterator[NDArray[Any]]:
    """Of the counts only those that are not 1, and how far each of them is from the one before."""
    for lists in (part.terms, part.labels):
        several = np.flatnonzero(lists.counts != 1)
        gaps = np.diff(several, prepend=0)
        yield from map(_small, (np.diff(lists.starts), lists.places, gaps, lists.counts[several], lists.lengths))


def _vectors(vectors: FullVectors | PackedVectors) -> Iterator[NDArray[Any]]:
    if isinstance(vectors, FullVectors):
        yield vectors.matrix.astype(STORED_VECTOR)
    else:
        yield from (vectors.codes, vectors.scales, vectors.errors)


def _small(numbers: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in as few bytes as the least and the greatest of them need."""
    if not np.issubdtype(numbers.dtype, np.integer):
        return numbers
    least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    fitting = (
        k for k in (np.int8, np.int16, np.int32, np.int64) if np.iinfo(k).min <= least and most <= np.iinfo(k).max
    )
    return numbers.astype(next(fitting))


def _arrays(data: bytes, start: int, columns: Sequence[tuple[str, int]]) -> Iterator[NDArray[Any]]:
    for kind, size in columns:
        found = np.frombuffer(data, dtype=kind, count=size, offset=start)
        start += found.nbytes
        yield found


def _part(header: dict[str, Any], arrays: Iterator[NDArray[Any]], *, full: bool) -> Part:
    part = _columns(header, header["count"], arrays, full=full)
    importance = next(arrays)[part.numbers["importance"].astype(np.int64)]
    ids = PackedIds(next(arrays), dict(header["ids"]))
    return replace(part, ids=ids, numbers=part.numbers | {"importance": importance})


def _columns(header: dict[str, Any], count: int, arrays: Iterator[NDArray[Any]], *, full: bool) -> Part:
    """As they were written; the ids are those of the header."""
    numbers = {name: np.broadcast_to(next(arrays).astype(kind), count) for name, kind in NUMBERS.items()}
    numbers["recorded_at"] = numbers["recorded_at"] + numbers["timestamp"]
    names = {name: np.broadcast_to(next(arrays).astype(np.int32), count) for name in NAMES}
    terms, labels = (_list(header[name], arrays) for name in ("terms", "labels"))
    vectors = (_full_vectors if full else _packed_vectors)(count, header["dimension"], arrays)
    return Part(header["ids"], numbers, names, header["strings"], terms, labels, vectors)


def _full_vectors(count: int, dimension: int, arrays: Iterator[NDArray[Any]]) -> FullVectors:
    return FullVectors(next(arrays).reshape(count, dimension))


def _packed_vectors(count: int, dimension: int, arrays: Iterator[NDArray[Any]]) -> PackedVectors:
    codes = next(arrays).reshape(count, (dimension + 1) // 2)
    return PackedVectors(dimension, codes, next(arrays), next(arrays))


def _list(vocabulary: Sequence[str], arrays: Iterator[NDArray[Any]]) -> Lists:
    starts = np.cumsum(np.append(0, next(arrays)), dtype=np.int64)
    places = next(arrays)
    counts = np.ones(len(places), dtype=np.int32)
    several = np.cumsum(next(arrays), dtype=np.int64)
    counts[several] = next(arrays)
    return Lists(vocabulary, starts, places, counts, next(arrays))


def block_name(generation: str, scope: Scope, number: int, token: str) -> str:
    """The object of a block that the list with this number is the first to name."""
    return f"{block_folder(generation, scope)}{number:0{_DIGITS}d}-{token}"


def block_folder(generation: str, scope: Scope) -> str:
    """The beginning of the names of a user's blocks."""
    return f"{FOLDER}{safe_name(generation)}/{user_hash(scope.user_id)}/"


def read_block(store: SnapshotStore, scope: Scope, name: str, cache: BlockCache | None = None) -> Part | None:
    """The block of this name; None where it is gone. Raises StoredDataError."""
    kept = None if cache is None else cache.get(scope.tenant, name)
    if kept is not None:
        return kept
    found = store.get(scope.tenant, name)
    if found is None:
        return None
    part = unpack_part(found[0])
    if cache is not None:
        cache.put(scope.tenant, name, part, len(found[0]))
    return part


def delete_blocks(store: SnapshotStore, generation: str, scope: Scope, number: int, kept: Sequence[str]) -> None:
    """Deletes what no list names any more, up to this number, with its earlier versions."""
    last = f"{block_folder(generation, scope)}{number:0{_DIGITS}d}-~"
    left = [name for name in store.names(scope.tenant, block_folder(generation, scope)) if name <= last]
    delete_objects(store, scope, set(left).difference(kept))


def delete_objects(store: SnapshotStore, scope: Scope, names: Collection[str]) -> None:
    """Deletes blocks with their earlier versions."""
    for name in sorted(names):
        store.delete(scope.tenant, name)
        store.purge(scope.tenant, name)
