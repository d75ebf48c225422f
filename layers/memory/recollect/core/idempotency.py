"""Work that may be tried again: the record of a request with an idempotency key (no text), and retries on conflict."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from recollect.core.errors import Conflict, VersionMismatch
from recollect.core.ids import IdSeed

KEPT_FOR = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """A request's claim to be the only one that works on a key.

    `key_hash` is of tenant, route and key, `body_hash` of the body. An unfinished claim lapses at `lapses_at`; the
    record itself is deleted at `expires_at`.
    """

    key_hash: str
    body_hash: str
    seed: IdSeed
    now: datetime
    lapses_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Claimed:
    """The request may run, with this seed: that of the first try, where there was one."""

    seed: IdSeed


@dataclass(frozen=True, slots=True)
class Replay:
    """The request has already run: the first answer's status and body, without text."""

    status: int
    body: Mapping[str, Any]


ClaimOutcome = Claimed | Replay


TRIES: Final = 8
"""Each try loses only to another writer's success, so eight writers at once all come through."""

_Result = TypeVar("_Result")


def retry_on_conflict(work: Callable[[], _Result], what: str, tries: int = TRIES) -> _Result:
    """The result of `work`, which reads anew and writes on the version that it read; tried again on VersionMismatch.

    Raises Conflict after so many tries, naming `what` changes all the time, and VersionMismatch of a named version.
    """
    for _ in range(tries):
        try:
            return work()
        except VersionMismatch as mismatch:
            if mismatch.is_named:
                raise
    raise Conflict(f"{what} changes all the time")
