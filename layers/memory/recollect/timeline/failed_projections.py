"""An event whose projection failed by its own fault: what is noted of it, and when it is tried again.

| collection           | owner | key      | item                                                                    |
|----------------------|-------|----------|-------------------------------------------------------------------------|
| `failed_projections` | user  | event id | `FailedProjection`; in the queue `projection_retries` while it is tried |
|                      |       |          | again, in `projection_quarantine` once it is quarantined                |

While the note is there, the event has no pending marker: it stands in nobody's way. The event itself stays in the
timeline. A note holds ids, counts, times and the class of the error, never a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from recollect.core.errors import (
    ConfigurationError,
    Conflict,
    StoredDataError,
    Unavailable,
    UpstreamFailed,
    VersionMismatch,
)
from recollect.core.event import EventRef
from recollect.core.items import Due, Item, ItemKey, ItemPath, ItemWrite
from recollect.core.time import from_iso, iso

FAILED = ItemPath("failed_projections")
RETRIES = "projection_retries"
QUARANTINE = "projection_quarantine"
NEVER = datetime(2199, 12, 31, tzinfo=UTC)
"""Due at this instant: in the queue to be counted and listed, but not to be tried by itself."""

_OUTAGES = (Unavailable, VersionMismatch, Conflict, ConfigurationError, OSError, MemoryError)
_LONGEST_NAME = 100


class Fault(StrEnum):
    """Whose fault a failure is: the event's own, that of an engine or a race, or one of both: nobody can tell yet."""

    OWN = "own"
    OUTAGE = "outage"
    UNSURE = "unsure"


def fault_of(error: Exception) -> Fault:
    """By the class alone. A service that refused a request may refuse this one, or every one: UNSURE."""
    if isinstance(error, _OUTAGES):
        return Fault.OUTAGE
    return Fault.UNSURE if isinstance(error, UpstreamFailed) else Fault.OWN


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """After its own failure number n an event waits `first_pause` times 2 to the n-1, at most `longest_pause`.

    After `most_tries` failures it is quarantined: with these values about an hour after the first one.
    """

    most_tries: int = 8
    first_pause: timedelta = timedelta(seconds=30)
    longest_pause: timedelta = timedelta(hours=1)

    def pause(self, tries: int) -> timedelta:
        """How long to wait after so many failures (1 or more)."""
        doublings: int = 2 ** min(tries - 1, 30)
        return min(self.first_pause * doublings, self.longest_pause)


RETRY_POLICY = RetryPolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedProjection:
    """What is noted of one event. `error` is the class of the last error, `next_at` None for no try by itself.

    `removed`: the event is gone, and what was derived from it could not be taken away. That is tried for ever.
    `replay` names the last replay that it was part of; `version` is that of its item, 0 for none yet.
    """

    ref: EventRef
    error: str
    tries: int
    first_at: datetime
    last_at: datetime
    next_at: datetime | None
    quarantined: bool = False
    removed: bool = False
    replay: str = ""
    version: int = 0

    def waits(self, now: datetime) -> bool:
        """Whether it is not to be tried yet, or not by itself at all."""
        return self.next_at is None or now < self.next_at

    def again(self, error: str, removed: bool, now: datetime, policy: RetryPolicy = RETRY_POLICY) -> "FailedProjection":
        """After one more failure. One that came before its time, by a change record, is not counted."""
        if self.waits(now):
            return self
        tries = self.tries + 1
        quarantined = tries >= policy.most_tries
        next_at = None if quarantined and not removed else now + policy.pause(tries)
        return replace(
            self, error=error, tries=tries, last_at=now, next_at=next_at, quarantined=quarantined, removed=removed
        )

    def replayed(self, replay: str, now: datetime) -> "FailedProjection":
        """As if it had never been tried: due at once."""
        return replace(self, tries=0, next_at=now, quarantined=False, replay=replay)


def first_failure(ref: EventRef, now: datetime) -> FailedProjection:
    """Before its first failure is counted."""
    return FailedProjection(ref=ref, error="", tries=0, first_at=now, last_at=now, next_at=now)


def failed_key(event_id: str) -> ItemKey:
    """Where the note of an event is, in what belongs to its user."""
    return ItemKey(FAILED, event_id)


def failed_write(failed: FailedProjection) -> ItemWrite:
    """The note as it is to be stored, on the condition that its item is as it was read."""
    due = Due(QUARANTINE if failed.quarantined else RETRIES, failed.next_at or NEVER)
    return ItemWrite(failed_key(failed.ref.id), _document(failed), failed.version, due)


def failed_in(item: Item) -> FailedProjection:
    """Reads what `failed_write` wrote. Raises StoredDataError."""
    value = item.value
    try:
        return FailedProjection(
            ref=EventRef(item.key.key, from_iso(value["timestamp"])),
            error=value["error"],
            tries=value["tries"],
            first_at=from_iso(value["first_at"]),
            last_at=from_iso(value["last_at"]),
            next_at=from_iso(value["next_at"]) if "next_at" in value else None,
            quarantined=value["quarantined"],
            removed=value["removed"],
            replay=value.get("replay", ""),
            version=item.version,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"a note of a failed projection cannot be read: {type(error).__name__}") from error


def _document(failed: FailedProjection) -> Mapping[str, Any]:
    document = {
        "timestamp": iso(failed.ref.timestamp),
        "error": failed.error[:_LONGEST_NAME],
        "tries": failed.tries,
        "first_at": iso(failed.first_at),
        "last_at": iso(failed.last_at),
        "quarantined": failed.quarantined,
        "removed": failed.removed,
    }
    document |= {"next_at": iso(failed.next_at)} if failed.next_at else {}
    return document | ({"replay": failed.replay} if failed.replay else {})
