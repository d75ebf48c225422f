"""The record of a request that carries an idempotency key: ids and statuses, no text."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

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
