"""Notes of the events whose projection failed: made, read, replayed, and taken away with the event.

A note is an item of the event's user, so that an erasure reaches it. It is durable before the pending marker goes.
"""

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from recollect.core.errors import StoredDataError, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.ids import id_milliseconds
from recollect.core.items import DueItem, ItemWrite
from recollect.core.scope import Scope
from recollect.ports import Items, Projections
from recollect.search_index.health import PartState
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
from recollect.timeline.projection_attempt import Failure
from recollect.timeline.timeline import PendingEvent, Projection

MOST_COUNTED = 1_000
"""How many notes of a queue are counted: more are told as so many."""

_PAGE = 100
_MOST_PAGES = 1_000
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Noted:
    """A note, and whose event it is about."""

    scope: Scope
    failed: FailedProjection

    @property
    def marker(self) -> PendingEvent:
        """As `project` is asked for it."""
        return PendingEvent(self.scope, self.failed.ref)


@dataclass(frozen=True, slots=True)
class NotedPage:
    """Some notes of a walk over both queues; `more` is where it goes on."""

    notes: list[Noted]
    more: str | None


@dataclass(frozen=True, slots=True)
class Standing:
    """How many events are tried again by themselves, and how many are quarantined.

    `oldest_ms` is when the oldest of the first kind was accepted, in milliseconds since 1970; None without any.
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
        """Counts one event's own failure and takes its marker away; False where that failed: then the marker stays.

        Raises nothing: what hinders the note of one event must not hinder the others.
        """
        (marker,) = failure.markers
        try:
            failed = self._counted(marker, failure, now)
            self._unmark(marker, failure.removed)
        except Exception as error:  # noqa: BLE001 - see above
            told = {"event_id": marker.ref.id, "error": failure.error, "reason": type(error).__name__}
            _LOG.warning("a failed projection could not be noted", extra=told)
            return False
        told = {"event_id": marker.ref.id, "error": failure.error, "at": failure.at}
        _LOG.warning(
            "an event could not be projected",
            extra=told | {"tries": failed.tries, "quarantined": failed.quarantined},
        )
        return True

    def _counted(self, marker: PendingEvent, failure: Failure, now: datetime) -> FailedProjection:
        owner, key = marker.scope.user, failed_key(marker.ref.id)
        item = self._items.get(owner, [key]).get(key)
        before = failed_in(item) if item is not None else first_failure(marker.ref, now)
        failed = before.again(failure.error, failure.removed, now, self._policy)
        if failed is not before:
            self._items.write(owner, [failed_write(failed)], now)
        return failed

    def _unmark(self, marker: PendingEvent, removed: bool) -> None:
        """Of what is gone, `forget` takes the marker: `settle` leaves the one of a removal."""
        scope, ref = marker.scope.user, marker.ref
        if removed:
            self._projections.forget(scope, [ref])
            return
        self._keep_findable(scope, ref)
        self._projections.settle(scope, [ref])

    def _keep_findable(self, scope: Scope, ref: EventRef) -> None:
        """By its marker, or else by its projection, a store finds an event whose id alone is known: to delete it."""
        try:
            if ref.id not in self._projections.vectors(scope, [ref.id]):
                self._projections.save(scope, [Projection(ref, None, None)])
        except Exception as error:
            if fault_of(error) is not Fault.OWN:
                raise
            told = {"event_id": ref.id, "error": type(error).__name__}
            _LOG.warning("an event that failed cannot be kept findable by its id", extra=told)

    def noted(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, FailedProjection]:
        """The notes of these events of a user."""
        found = self._items.get(scope.user, [failed_key(event_id) for event_id in event_ids]) if event_ids else {}
        return {key.key: failed_in(item) for key, item in found.items()}

    def of_user(self, scope: Scope) -> frozenset[str]:
        """The ids of a user's events that are noted: the first `MOST_COUNTED`."""
        page = self._items.page(scope.user, FAILED, MOST_COUNTED, None)
        return frozenset(item.key.key for item in page.items)

    def forget(self, scope: Scope, event_ids: Sequence[str], now: datetime) -> None:
        """The events are gone, and so are their notes."""
        for failed in self.noted(scope, event_ids).values():
            self._clear(Noted(scope.user, failed), now)

    def clear(self, notes: Iterable[Noted], now: datetime) -> None:
        """The events were projected: their notes go, unless they were written again since."""
        for note in notes:
            self._clear(note, now)

    def _clear(self, note: Noted, now: datetime) -> None:
        with suppress(VersionMismatch):
            key = failed_key(note.failed.ref.id)
            self._items.write(note.scope, [ItemWrite(key, None, note.failed.version)], now)

    def due(self, now: datetime, limit: int, tenant: str | None = None) -> list[Noted]:
        """At most `limit` notes whose time has come, of every tenant or of one, those that waited longest first."""
        found: list[Noted] = []
        for queue in (RETRIES, QUARANTINE):
            after: str | None = None
            for _ in range(_MOST_PAGES):
                page = self._items.due(queue, now, _PAGE, after)
                found += [one for one in self._read(page.items, tenant) if not one.failed.waits(now)]
                after = page.more
                if after is None or len(found) >= limit:
                    break
        return found[:limit]

    def page(self, tenant: str, after: str | None) -> NotedPage:
        """Some of all notes of a tenant, the quarantined ones first; some pages may be empty."""
        queue, _, place = (after or f"{QUARANTINE} ").partition(" ")
        page = self._items.due(queue, NEVER, _PAGE, place or None)
        more = f"{queue} {page.more}" if page.more else f"{RETRIES} " if queue == QUARANTINE else None
        return NotedPage(self._read(page.items, tenant), more)

    def listed(self, tenant: str, limit: int) -> list[Noted]:
        """At most `limit` of a tenant's notes, the quarantined ones first."""
        found: list[Noted] = []
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = self.page(tenant, after)
            found, after = found + page.notes, page.more
            if after is None or len(found) >= limit:
                break
        return found[:limit]

    def replay(self, notes: Sequence[Noted], replay: str, now: datetime) -> list[Noted]:
        """Makes them due at once, their tries forgotten, and answers them as they are then.

        Those that this replay has tried already are left out, and those that somebody wrote meanwhile.
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
        """How many there are, of every tenant or of one, at most `MOST_COUNTED` of each kind."""
        retried, quarantined = self._queued(RETRIES, tenant), self._queued(QUARANTINE, tenant)
        times = [moment for due in retried if (moment := _accepted_ms(due.key.key)) is not None]
        return Standing(len(retried), len(quarantined), min(times, default=None))

    def check(self) -> PartState:
        """The part `projection` of readiness: ready whatever failed, since all else is served."""
        standing = self.standing()
        if not standing.retried and not standing.quarantined:
            return PartState(True, "no event has failed")
        detail = f"{_at_least(standing.quarantined)} quarantined, {_at_least(standing.retried)} tried again later"
        return PartState(True, f"events that could not be projected: {detail}", standing.quarantined)

    def _queued(self, queue: str, tenant: str | None) -> list[DueItem]:
        found: list[DueItem] = []
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = self._items.due(queue, NEVER, _PAGE, after)
            found += [one for one in page.items if tenant in (None, one.owner.tenant)]
            after = page.more
            if after is None or len(found) >= MOST_COUNTED:
                break
        return found[:MOST_COUNTED]

    def _read(self, due: Iterable[DueItem], tenant: str | None) -> list[Noted]:
        """The notes as they are now, in the order of the queue; one that cannot be read stands in nobody's way."""
        own = [one for one in due if tenant in (None, one.owner.tenant)]
        found: list[Noted] = []
        for owner, ones in groupby(own, key=lambda one: one.owner):
            for item in self._items.get(owner, [one.key for one in ones]).values():
                try:
                    found.append(Noted(owner, failed_in(item)))
                except StoredDataError as error:
                    told = {"event_id": item.key.key, "error": type(error).__name__}
                    _LOG.warning("a note of a failed projection cannot be read", extra=told)
        return found


def _accepted_ms(event_id: str) -> int | None:
    """When it was accepted; None for an id that is none of ours."""
    try:
        return id_milliseconds(event_id)
    except ValueError:
        return None


def _at_least(count: int) -> str:
    return f"{count} or more" if count >= MOST_COUNTED else str(count)
