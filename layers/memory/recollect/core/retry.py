"""Optimistic writes: what lost against another writer is read and tried again."""

from collections.abc import Callable
from typing import Final, TypeVar

from recollect.core.errors import Conflict, VersionMismatch

TRIES: Final = 8
"""Each try loses only to another writer's success, so eight writers at once all come through."""

_Result = TypeVar("_Result")


def retry_on_conflict(work: Callable[[], _Result], what: str, tries: int = TRIES) -> _Result:
    """The result of `work`, which reads anew and writes on the version that it read; tried again on VersionMismatch.

    Raises Conflict after so many tries, naming `what` changes all the time.
    """
    for _ in range(tries):
        try:
            return work()
        except VersionMismatch:
            continue
    raise Conflict(f"{what} changes all the time")
