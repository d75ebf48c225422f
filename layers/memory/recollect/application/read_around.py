"""Reading a batch around what cannot be read, for a reader who goes on without it (R-71)."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from recollect.domain.errors import StoredDataError

V = TypeVar("V")


def read_around(
    read: Callable[[Sequence[str]], dict[str, V]], ids: Sequence[str], unreadable: set[str]
) -> dict[str, V]:
    """What `read` answers for these; of what it cannot read by itself the id is added to `unreadable`.

    A batch that fails is read again in halves: for each such id at most twice as many reads as the batch can be halved.
    Raises what `read` raises, but for StoredDataError.
    """
    try:
        return read(ids)
    except StoredDataError:
        if len(ids) < 2:
            unreadable.update(ids)
            return {}
    half = len(ids) // 2
    return read_around(read, ids[:half], unreadable) | read_around(read, ids[half:], unreadable)
