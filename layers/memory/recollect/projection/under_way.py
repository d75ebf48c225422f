"""What is being projected: noted before it is begun, so that an event with which the process ends is known afterwards.

| collection    | owner   | key                | item                                                          |
|---------------|---------|--------------------|---------------------------------------------------------------|
| `projections` | nobody  | hash of the events | their ids by user, in the queue `projections`, due at its end |

One note for all that is written together, removed when it is done: so it is there only while a projection is under
way, or after a process that ended in the middle of one (out of time, out of memory, killed). The stream needs none:
Lambda halves a batch with which the function ends, and gives up what is left alone. A removal is not noted: what
deletes has no model in it.
"""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

from recollect.core.errors import RecollectError
from recollect.core.event import EventRef
from recollect.core.items import Due, ItemKey, ItemPath, ItemWrite, of_tenant, pages
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.ports import Items, Projections, Timeline
from recollect.projection.attempt import Noting
from recollect.projection.project import ProjectionReport
from recollect.projection.quarantine import FailedEvents
from recollect.timeline.failed_projections import NEVER
from recollect.timeline.timeline import PendingEvent

LONGEST = timedelta(seconds=15)
"""What is written together is projected within it; a note that is older is one of a process that ended. Where it was
only slow, some events are projected twice, which changes nothing."""

_OWNER = of_tenant("")
_PATH = ItemPath("projections")
_QUEUE = "projections"
_PAGE = 100
_LOG = logging.getLogger(__name__)

Whose: TypeAlias = tuple[Scope, str]
Project: TypeAlias = Callable[[Sequence[PendingEvent], datetime, Noting], ProjectionReport]


class ProjectPending:
    """Behind reconciliation, the laptop's drain and the job `reindex`. Raises as `Items` does.

    Events that another run is projecting are left to it. Those of a run that ended in the middle are set apart: they
    get the note of a failed projection, and are tried again each alone, after all others (`RetryFailed`).
    """

    def __init__(
        self, project: Project, timeline: Timeline, projections: Projections, items: Items, failed: FailedEvents
    ) -> None:
        """`project` is that of `ProjectEvents`."""
        self._project = project
        self._timeline = timeline
        self._projections = projections
        self._items = items
        self._failed = failed

    def project(self, pending: Sequence[PendingEvent], now: datetime) -> ProjectionReport:
        """As `ProjectEvents.project`."""
        elsewhere, apart = self._taken(now)
        own = [marker for marker in pending if _whose(marker) not in elsewhere | apart]
        report = self._project(own, now, self.noting(now)) if own else ProjectionReport()
        report.elsewhere = sum(_whose(marker) in elsewhere for marker in pending)
        return report

    def spared(self, scope: Scope, event_ids: Collection[str], now: datetime) -> set[str]:
        """Of a user's events those that a rebuild leaves to others: what another run is projecting, and what is tried
        alone, since a process ended with it.
        """
        elsewhere, apart = self._taken(now)
        taken = {event_id for owner, event_id in elsewhere | apart if owner == scope.user}
        return (taken | self._failed.tried_alone(scope)) & set(event_ids)

    def noting(self, now: datetime) -> Noting:
        """What surrounds each part of what is begun at this moment."""
        return partial(self._noting, now=now, began=time.monotonic())

    def _taken(self, now: datetime) -> tuple[set[Whose], set[Whose]]:
        """What is not this run's: what is under way elsewhere, and what is set apart now."""
        elsewhere: set[Whose] = set()
        apart: set[Whose] = set()
        for page in pages(lambda after: self._items.due(_QUEUE, NEVER, _PAGE, after)):
            for due in page.items:
                markers = self._read(due.key)
                if now < due.at < now + 2 * LONGEST:  # what is due later, a clock that was set back wrote
                    elsewhere |= {_whose(marker) for marker in markers}
                else:
                    apart |= self._set_apart(due.key, markers, now)
        return elsewhere, apart

    def _set_apart(self, key: ItemKey, markers: Sequence[PendingEvent], now: datetime) -> set[Whose]:
        found: set[Whose] = set()
        for scope, own in _by_user(markers).items():
            there = self._timeline.read(scope, [marker.ref for marker in own])
            found |= {(scope, event_id) for event_id in self._failed.set_apart(own, there.keys(), now)}
        if found:
            _LOG.warning("a process ended while it projected events", extra={"events": len(found)})
        self._items.write(_OWNER, [ItemWrite(key, None)], now)
        return found

    @contextmanager
    def _noting(self, markers: Sequence[PendingEvent], now: datetime, began: float) -> Iterator[None]:
        """The note goes unless the process does: also where a person interrupts it."""
        moment = now + timedelta(seconds=time.monotonic() - began)
        key = ItemKey(_PATH, _digest(markers))
        self._write(ItemWrite(key, _document(markers), due=Due(_QUEUE, moment + LONGEST)), moment)
        try:
            yield
        except (Exception, KeyboardInterrupt, SystemExit):
            self._write(ItemWrite(key, None), moment)
            raise
        self._write(ItemWrite(key, None), moment)

    def _write(self, write: ItemWrite, now: datetime) -> None:
        """Without waiting for a laptop's disk: a process that ends loses nothing that was written.

        A note that cannot be written stops no projection.
        """
        try:
            with self._projections.together():
                self._items.write(_OWNER, [write], now)
        except RecollectError as error:
            _LOG.warning("the note of a projection could not be written", extra={"error": type(error).__name__})

    def _read(self, key: ItemKey) -> Sequence[PendingEvent]:
        item = self._items.get(_OWNER, [key]).get(key)
        return () if item is None else _markers(item.value["users"])


def _whose(marker: PendingEvent) -> Whose:
    return marker.scope.user, marker.ref.id


def _by_user(markers: Collection[PendingEvent]) -> dict[Scope, list[PendingEvent]]:
    found: dict[Scope, list[PendingEvent]] = {}
    for marker in markers:
        found.setdefault(marker.scope.user, []).append(marker)
    return found


def _digest(markers: Collection[PendingEvent]) -> str:
    named = sorted((marker.scope.tenant, marker.scope.user_id, marker.ref.id) for marker in markers)
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def _document(markers: Collection[PendingEvent]) -> Mapping[str, object]:
    users = [
        [scope.tenant, scope.user_id, [[marker.ref.id, iso(marker.ref.timestamp)] for marker in own]]
        for scope, own in _by_user(markers).items()
    ]
    return {"users": users}


def _markers(users: Sequence[tuple[str, str, Sequence[tuple[str, str]]]]) -> list[PendingEvent]:
    return [
        PendingEvent(Scope(tenant, user_id), EventRef(event_id, from_iso(at)))
        for tenant, user_id, refs in users
        for event_id, at in refs
    ]
