"""Blocks of the table's own index: parts as bytes, in objects of the bucket.

| object of the tenant                                       | content                                        |
|------------------------------------------------------------|------------------------------------------------|
| `search-blocks/{generation}/{user hash}/{number}-{token}`  | up to `BLOCK_RECORDS` documents of one user    |

`number` is that of the list of blocks that first names it: whatever is not named by a list, and has no greater number,
is left over and is deleted. A block begins with its form and the length of a packed JSON header (ids, names, terms,
labels, and the types of the columns); the columns follow.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.aws.index_part import NAMES, NUMBERS, Lists, PackedVectors, Part
from recollect.core.errors import StoredDataError
from recollect.core.scope import Scope, user_hash
from recollect.ports import SnapshotStore
from recollect.search_index.page import safe_name

BLOCK_RECORDS = 8192
FOLDER = "search-blocks/"
_FORM = b"RXB1"
_START = struct.Struct("<4sI")
_DIGITS = 12
ANY_NUMBER = 10**_DIGITS - 1
"""Of whichever list: all blocks."""


def pack_part(part: Part) -> bytes:
    """A part with packed vectors as bytes."""
    columns = [np.ascontiguousarray(one) for one in _columns(part)]
    header = {
        "ids": list(part.ids),
        "strings": list(part.strings),
        "terms": list(part.terms.vocabulary),
        "labels": list(part.labels.vocabulary),
        "dimension": part.vectors.dimension,
        "columns": [[one.dtype.str, one.size] for one in columns],
    }
    packed = zlib.compress(json.dumps(header, separators=(",", ":")).encode("utf-8", "surrogatepass"), 1)
    return b"".join([_START.pack(_FORM, len(packed)), packed, *(one.tobytes() for one in columns)])


def unpack_part(data: bytes) -> Part:
    """Reads what `pack_part` wrote. Raises StoredDataError."""
    try:
        form, length = _START.unpack_from(data)
        if form != _FORM:
            raise StoredDataError("a block of the index of an unknown form")
        header = json.loads(zlib.decompress(data[_START.size : _START.size + length]))
        return _part(header, _arrays(data, _START.size + length, header["columns"]))
    except (struct.error, zlib.error, ValueError, KeyError) as error:
        raise StoredDataError("a block of the index that cannot be read") from error


def _columns(part: Part) -> Iterator[NDArray[Any]]:
    vectors = part.vectors
    if not isinstance(vectors, PackedVectors):
        raise StoredDataError("a block holds packed vectors")
    yield from (part.numbers[name] for name in NUMBERS)
    yield from (_small(part.names[name]) for name in NAMES)
    for lists in (part.terms, part.labels):
        yield _small(lists.codes)
        yield _small(lists.lengths)
    yield from (vectors.codes, vectors.scales, vectors.errors)


def _small(codes: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in as few bytes as the greatest of them needs; all are -1 or more."""
    most = int(codes.max(initial=0))
    return codes.astype(next(kind for kind in (np.int8, np.int16, np.int32) if most <= np.iinfo(kind).max))


def _arrays(data: bytes, start: int, columns: Sequence[tuple[str, int]]) -> Iterator[NDArray[Any]]:
    for kind, size in columns:
        found = np.frombuffer(data, dtype=kind, count=size, offset=start)
        start += found.nbytes
        yield found


def _part(header: dict[str, Any], arrays: Iterator[NDArray[Any]]) -> Part:
    numbers = {name: next(arrays) for name in NUMBERS}
    names = {name: next(arrays).astype(np.int32) for name in NAMES}
    terms, labels = (
        Lists(header[name], next(arrays), np.cumsum(next(arrays), dtype=np.int64)) for name in ("terms", "labels")
    )
    codes = next(arrays).reshape(len(header["ids"]), header["dimension"])
    return Part(
        header["ids"],
        numbers,
        names,
        header["strings"],
        terms,
        labels,
        PackedVectors(codes, next(arrays), next(arrays)),
    )


def block_name(generation: str, scope: Scope, number: int, token: str) -> str:
    """The object of a block that the list with this number is the first to name."""
    return f"{block_folder(generation, scope)}{number:0{_DIGITS}d}-{token}"


def block_folder(generation: str, scope: Scope) -> str:
    """The beginning of the names of a user's blocks."""
    return f"{FOLDER}{safe_name(generation)}/{user_hash(scope.user_id)}/"


def read_block(store: SnapshotStore, scope: Scope, name: str) -> Part | None:
    """The block of this name; None where it is gone. Raises StoredDataError."""
    found = store.get(scope.tenant, name)
    return None if found is None else unpack_part(found[0])


def delete_blocks(store: SnapshotStore, generation: str, scope: Scope, number: int, kept: Sequence[str]) -> None:
    """Deletes what no list names any more, up to this number, with its earlier versions."""
    last = f"{block_folder(generation, scope)}{number:0{_DIGITS}d}-~"
    left = [name for name in store.names(scope.tenant, block_folder(generation, scope)) if name <= last]
    for name in [name for name in left if name not in set(kept)]:
        store.delete(scope.tenant, name)
        store.purge(scope.tenant, name)
