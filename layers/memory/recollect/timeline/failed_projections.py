"""A failed projection: the note of an event that failed by its own fault, and when to retry it.

| collection           | owner | key      | item                                                                    |
|----------------------|-------|----------|-------------------------------------------------------------------------|
| `failed_projections` | user  | event id | `FailedProjection`; in the queue `projection_retries` while it is tried |
|                      |       |          | again, in `projection_quarantine` once it is quarantined                |

An event with a note has no pending marker, so that it delays no other; the event itself stays in the timeline. A note
has ids, counts, times and the class of the error, never a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from recollect.core.errors import (
    ConfigurationError,
    Conflict,
    Unavailable,
    UpstreamFailed,
    VersionMismatch,
)
from recollect.core.event import EventRef
from recollect.core.items import Due, Item, ItemKey, ItemPath, ItemWrite, document_of, reading
from recollect.core.time import from_iso, iso

FAILED = ItemPath("failed_projections")
RETRIES = "projection_retries"
QUARANTINE = "projection_quarantine"
NEVER = datetime(2199, 12, 31, tzinfo=UTC)
"""Due at this instant: in the queue, to be counted and listed, but never retried automatically."""

PROCESS_ENDED = "ProcessEnded"
"""The error of an event during whose projection the process ended: out of time, out of memory, or killed."""

_OUTAGES = (Unavailable, VersionMismatch, Conflict, ConfigurationError, OSError, MemoryError)
_LONGEST_NAME = 100


class Fault(StrEnum):
    """The cause of a failure: the event itself, an engine or a race, or either of them."""

    OWN = "own"
    OUTAGE = "outage"
    UNSURE = "unsure"


def fault_of(error: Exception) -> Fault:
    """By the class alone. UNSURE for a service that refused a request: it may refuse this one, or every one."""
    if isinstance(error, _OUTAGES):
        return Fault.OUTAGE
    return Fault.UNSURE if isinstance(error, UpstreamFailed) else Fault.OWN


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """After failure number n an event waits `first_pause` times 2 to the n-1, at most `longest_pause`.

    After `most_tries` failures it is quarantined: with these values about an hour after the first failure. After
    `most_ends` ends of a process, since each stops everything else too: with these values after 30 seconds.
    """

    most_tries: int = 8
    most_ends: int = 3
    first_pause: timedelta = timedelta(seconds=30)
    longest_pause: timedelta = timedelta(hours=1)

    def pause(self, tries: int) -> timedelta:
        """The wait after so many failures (1 or more)."""
        doublings: int = 2 ** min(tries - 1, 30)
        return min(self.first_pause * doublings, self.longest_pause)


RETRY_POLICY = RetryPolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedProjection:
    """The note of one event. `error` is the class of the last error; `next_at` None means no automatic retry.

    `removed`: the event is deleted, but its derived data could not be removed; this is retried without a limit.
    `replay` names its last replay; `version` is that of its item, 0 before it is stored.
    """

    ref: EventRef
    error: str
    tries: int
    first_at: datetime
    last_at: datetime
    quarantined: bool = False
    removed: bool = False
    next_at: datetime | None
    replay: str = ""
    version: int = 0

    def waits(self, now: datetime) -> bool:
        """Whether it must not be tried yet, or not automatically."""
        return self.next_at is None or now < self.next_at

    def again(self, error: str, removed: bool, now: datetime, policy: RetryPolicy = RETRY_POLICY) -> "FailedProjection":
        """After one more failure. A failure before `next_at`, caused by a change record, does not count."""
        if self.waits(now):
            return self
        tries = self.tries + 1
        quarantined = tries >= policy.most_tries
        next_at = None if quarantined and not removed else now + policy.pause(tries)
        return replace(
            self, error=error, tries=tries, last_at=now, next_at=next_at, quarantined=quarantined, removed=removed
        )

    @property
    def is_tried_alone(self) -> bool:
        """Whether a process ended while it was projected."""
        return self.error == PROCESS_ENDED

    def apart(self, now: datetime) -> "FailedProjection":
        """After a process ended that projected it, alone or among others: to be tried alone, now."""
        if self.is_tried_alone:
            return self
        return replace(self, error=PROCESS_ENDED, tries=1, last_at=now, next_at=now, quarantined=False)

    def begun_alone(self, now: datetime, policy: RetryPolicy = RETRY_POLICY) -> "FailedProjection":
        """As it has to be noted if this try ends the process, too."""
        tries = self.tries + 1
        quarantined = tries >= policy.most_ends
        next_at = None if quarantined and not self.removed else now + policy.pause(tries)
        return replace(self, tries=tries, last_at=now, next_at=next_at, quarantined=quarantined)

    def raised_alone(self, error: str, now: datetime, policy: RetryPolicy = RETRY_POLICY) -> "FailedProjection":
        """After a try that ended with an error, not with the process."""
        return replace(self, tries=0, next_at=now).again(error, self.removed, now, policy)

    def replayed(self, replay: str, now: datetime) -> "FailedProjection":
        """Reset and due at once."""
        return replace(self, tries=0, next_at=now, quarantined=False, replay=replay)


def first_failure(ref: EventRef, now: datetime) -> FailedProjection:
    """The note before its first failure is counted."""
    return FailedProjection(ref=ref, error="", tries=0, first_at=now, last_at=now, next_at=now)


def failed_key(event_id: str) -> ItemKey:
    return ItemKey(FAILED, event_id)


def failed_write(failed: FailedProjection) -> ItemWrite:
    """The write of the note, on condition that its item has not changed since it was read."""
    due = Due(QUARANTINE if failed.quarantined else RETRIES, failed.next_at or NEVER)
    return ItemWrite(failed_key(failed.ref.id), _document(failed), failed.version, due)


@reading("a note of a failed projection")
def failed_in(item: Item) -> FailedProjection:
    value = item.value
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


def _document(failed: FailedProjection) -> Mapping[str, Any]:
    named = replace(failed, error=failed.error[:_LONGEST_NAME])
    without = ("ref", "version") if failed.replay else ("ref", "version", "replay")
    return {"timestamp": iso(failed.ref.timestamp), **document_of(named, without)}
