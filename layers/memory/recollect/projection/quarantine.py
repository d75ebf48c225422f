"""The notes of failed projections: written, read, replayed, and removed with the event.

A note is an item of the event's user, so that an erasure reaches it. It is durable before the pending marker goes.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from recollect.core.errors import StoredDataError, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.ids import accepted_ms
from recollect.core.items import DueItem, ItemKey, ItemWrite, pages
from recollect.core.scope import Scope
from recollect.ports import Items, PartState, Projections
from recollect.projection.attempt import Failure
from recollect.timeline.failed_projections import (
    FAILED,
    NEVER,
    QUARANTINE,
    RETRIES,
    RETRY_POLICY,
    FailedProjection,
    Fault,
    RetryPolicy,
    failed_in,
    failed_key,
    failed_write,
    fault_of,
    first_failure,
)
from recollect.timeline.timeline import PendingEvent, Projection

MOST_COUNTED = 1_000
"""Notes of a queue that are counted; a larger number is reported as this one."""

_PAGE = 100
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Noted:
    """A note with its event's scope."""

    scope: Scope
    failed: FailedProjection

    @property
    def marker(self) -> PendingEvent:
        return PendingEvent(self.scope, self.failed.ref)


@dataclass(frozen=True, slots=True)
class NotedPage:
    """Some notes of a walk over both queues; `more` is where it continues."""

    notes: list[Noted]
    more: str | None


@dataclass(frozen=True, slots=True)
class Standing:
    """How many events are retried automatically, and how many are quarantined.

    `oldest_ms` is when the oldest retried one was accepted, in milliseconds since 1970; None without any.
    """

    retried: int = 0
    quarantined: int = 0
    oldest_ms: int | None = None


class FailedEvents:
    """Reads raise as `Items` does."""

    def __init__(self, items: Items, projections: Projections, policy: RetryPolicy = RETRY_POLICY) -> None:
        self._items = items
        self._projections = projections
        self._policy = policy

    def note(self, failure: Failure, now: datetime) -> bool:
        """Counts one event's failure and removes its marker; False, with the marker in place, where that failed.

        Raises nothing: a note that cannot be written must not stop the other events.
        """
        (marker,) = failure.markers
        try:
            failed = self._counted(marker, failure, now)
            self._unmark(marker, failure.removed)
        except Exception as error:  # noqa: BLE001 - see above
            fields = {"event_id": marker.ref.id, "error": failure.error, "reason": type(error).__name__}
            _LOG.warning("a failed projection could not be noted", extra=fields)
            return False
        fields = {"event_id": marker.ref.id, "error": failure.error, "at": failure.at}
        counts = {"tries": failed.tries, "quarantined": failed.quarantined}
        _LOG.warning("an event could not be projected", extra={**fields, **counts})
        return True

    def _counted(self, marker: PendingEvent, failure: Failure, now: datetime) -> FailedProjection:
        owner, key = marker.scope.user, failed_key(marker.ref.id)
        item = self._items.get(owner, [key]).get(key)
        before = failed_in(item) if item is not None else first_failure(marker.ref, now)
        failed = before.again(failure.error, failure.removed, now, self._policy)
        if failed is not before:
            self._items.write(owner, [failed_write(failed)], now)
        return failed

    def set_apart(self, markers: Sequence[PendingEvent], there: Collection[str], now: datetime) -> set[str]:
        """Notes that a process ended while it projected these events of one user: each will be tried alone.

        Answers which. `there` are those that are stored; of a deleted one no note is made.
        """
        found: set[str] = set()
        owner, keys = markers[0].scope.user, [failed_key(marker.ref.id) for marker in markers]
        stored = self._items.get(owner, keys)
        for marker, key in zip(markers, keys, strict=True):
            item = stored.get(key)
            if item is None and marker.ref.id not in there:
                continue
            before = failed_in(item) if item is not None else first_failure(marker.ref, now)
            with suppress(VersionMismatch):  # somebody is trying it
                self._items.write(owner, [failed_write(before.apart(now))], now)
                self._unmark(marker, before.removed)
                found.add(marker.ref.id)
        return found

    def begun_alone(self, note: Noted, now: datetime) -> Noted | None:
        """Counts a try before it is begun; None where somebody else has begun one."""
        return self._rewritten(note, note.failed.begun_alone(now, self._policy), now)

    def ended_alone(self, begun: Noted, before: Noted, error: str, now: datetime, *, is_own: bool) -> None:
        """Counts the failure in place of the end; nothing, where it was not the event's own."""
        failed = before.failed.raised_alone(error, now, self._policy) if is_own else before.failed
        self._rewritten(begun, failed, now)

    def _rewritten(self, note: Noted, failed: FailedProjection, now: datetime) -> Noted | None:
        with suppress(VersionMismatch):
            write = failed_write(replace(failed, version=note.failed.version))
            (item,) = self._items.write(note.scope, [write], now)
            return None if item is None else Noted(note.scope, failed_in(item))
        return None

    def _unmark(self, marker: PendingEvent, removed: bool) -> None:
        """For a deleted event `forget` removes the marker: `settle` leaves the marker of a removal.

        Its segment stays known, for the retry.
        """
        scope, ref = marker.scope.user, marker.ref
        if removed:
            self._projections.forget(scope, [ref], keeps_segment=True)
            return
        self._keep_findable(scope, ref)
        self._projections.settle(scope, [ref])

    def _keep_findable(self, scope: Scope, ref: EventRef) -> None:
        """A deletion finds an event by its id alone through its marker or its projection: one of them must stay."""
        try:
            if ref.id not in self._projections.vectors(scope, [ref.id]):
                self._projections.save(scope, [Projection(ref, None, None)])
        except Exception as error:
            if fault_of(error) is not Fault.OWN:
                raise
            fields = {"event_id": ref.id, "error": type(error).__name__}
            _LOG.warning("an event that failed cannot be kept findable by its id", extra=fields)

    def noted(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, FailedProjection]:
        """The notes of a user's events, by the events' ids."""
        found = self._items.get(scope.user, [failed_key(event_id) for event_id in event_ids]) if event_ids else {}
        return {key.key: failed_in(item) for key, item in found.items()}

    def of_user(self, scope: Scope) -> frozenset[str]:
        """The ids of a user's events with a note: the first `MOST_COUNTED`."""
        page = self._items.page(scope.user, FAILED, MOST_COUNTED, None)
        return frozenset(item.key.key for item in page.items)

    def tried_alone(self, scope: Scope) -> frozenset[str]:
        """The ids of a user's events with which a process ended: of the first `MOST_COUNTED` with a note."""
        keys = [failed_key(event_id) for event_id in self.of_user(scope)]
        notes = self._notes(scope.user, keys) if keys else []
        return frozenset(note.failed.ref.id for note in notes if note.failed.is_tried_alone)

    def forget(self, scope: Scope, event_ids: Sequence[str], now: datetime) -> None:
        """Removes the notes of deleted events."""
        for failed in self.noted(scope, event_ids).values():
            self._clear(Noted(scope.user, failed), now)

    def clear(self, notes: Iterable[Noted], now: datetime) -> None:
        """Removes the notes of projected events, unless somebody has written them since."""
        for note in notes:
            self._clear(note, now)

    def _clear(self, note: Noted, now: datetime) -> None:
        with suppress(VersionMismatch):
            key = failed_key(note.failed.ref.id)
            self._items.write(note.scope, [ItemWrite(key, None, note.failed.version)], now)

    def due(self, now: datetime, limit: int, tenant: str | None = None) -> list[Noted]:
        """At most `limit` due notes, of every tenant or of one, the longest due first."""
        found: list[Noted] = []
        for queue in (RETRIES, QUARANTINE):
            for items in self._due(queue, now):
                found += [one for one in self._read(items, tenant) if not one.failed.waits(now)]
                if len(found) >= limit:
                    break
        return found[:limit]

    def _due(self, queue: str, now: datetime) -> Iterator[Sequence[DueItem]]:
        for page in pages(lambda after: self._items.due(queue, now, _PAGE, after)):
            yield page.items

    def page(self, tenant: str, after: str | None) -> NotedPage:
        """Some of all notes of a tenant, the quarantined ones first; a page may be empty."""
        queue, _, place = (after or f"{QUARANTINE} ").partition(" ")
        page = self._items.due(queue, NEVER, _PAGE, place or None)
        more = f"{queue} {page.more}" if page.more else f"{RETRIES} " if queue == QUARANTINE else None
        return NotedPage(self._read(page.items, tenant), more)

    def listed(self, tenant: str, limit: int) -> list[Noted]:
        """At most `limit` of a tenant's notes, the quarantined ones first."""
        found: list[Noted] = []
        for page in pages(lambda after: self.page(tenant, after)):
            found += page.notes
            if len(found) >= limit:
                break
        return found[:limit]

    def replay(self, notes: Sequence[Noted], replay: str, now: datetime) -> list[Noted]:
        """Resets the notes and makes them due at once; returns them as stored.

        Leaves out those that this replay has tried already, and those that somebody wrote meanwhile.
        """
        reset: list[Noted] = []
        for note in notes:
            if note.failed.replay == replay and note.failed.tries:
                continue
            with suppress(VersionMismatch):
                failed = note.failed.replayed(replay, now)
                (item,) = self._items.write(note.scope, [failed_write(failed)], now)
                assert item is not None
                reset.append(Noted(note.scope, failed_in(item)))
        return reset

    def standing(self, tenant: str | None = None) -> Standing:
        """The counts of every tenant or of one, at most `MOST_COUNTED` of each kind."""
        retried, quarantined = self._queued(RETRIES, tenant), self._queued(QUARANTINE, tenant)
        times = [moment for due in retried if (moment := accepted_ms(due.key.key)) is not None]
        return Standing(len(retried), len(quarantined), min(times, default=None))

    def check(self) -> PartState:
        """The part `projection` of readiness: always ready, since everything else is served."""
        standing = self.standing()
        if not standing.retried and not standing.quarantined:
            return PartState(True, "no event has failed")
        detail = f"{_at_least(standing.quarantined)} quarantined, {_at_least(standing.retried)} tried again later"
        return PartState(True, f"events that could not be projected: {detail}", standing.quarantined)

    def _queued(self, queue: str, tenant: str | None) -> list[DueItem]:
        found: list[DueItem] = []
        for items in self._due(queue, NEVER):
            found += [one for one in items if tenant in (None, one.owner.tenant)]
            if len(found) >= MOST_COUNTED:
                break
        return found[:MOST_COUNTED]

    def _read(self, due: Iterable[DueItem], tenant: str | None) -> list[Noted]:
        """The current notes in the order of the queue, without unreadable ones."""
        own = [one for one in due if tenant in (None, one.owner.tenant)]
        found: list[Noted] = []
        for owner, ones in groupby(own, key=lambda one: one.owner):
            found += self._notes(owner, [one.key for one in ones])
        return found

    def _notes(self, owner: Scope, keys: Sequence[ItemKey]) -> list[Noted]:
        """Together; where one cannot be read each by itself."""
        try:
            return [Noted(owner, failed_in(item)) for item in self._items.get(owner, keys).values()]
        except StoredDataError as error:
            if len(keys) > 1:
                return [note for key in keys for note in self._notes(owner, [key])]
            fields = {"event_id": keys[0].key, "error": type(error).__name__}
            _LOG.warning("a note of a failed projection cannot be read", extra=fields)
            return []


def _at_least(count: int) -> str:
    return f"{count} or more" if count >= MOST_COUNTED else str(count)
