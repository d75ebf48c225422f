"""Forget: an event, or a slot with its whole history, is gone from every read at once and for good (P-22).

The record of the event goes first, in one step with the tombstone of its identity; what was derived from it follows by
a marker, through the same use case that derives it. So a failure on the way leaves nothing half deleted, and asking
again goes on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.application.fill_slots import FillSlots
from recollect.domain.errors import NotFound, VersionMismatch
from recollect.domain.event import Event, EventRef
from recollect.domain.scope import Scope
from recollect.domain.slots import slot_of
from recollect.domain.timeline import Removal
from recollect.ports import Projections, Timeline

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The ids of the events that are gone, newest first."""

    event_ids: tuple[str, ...]


def any_version(_version: int) -> bool:
    """The event as it is, whatever its version."""
    return True


class ForgetEvents:
    """The use case behind `DELETE …/events/{event_id}` and `DELETE …/keys/{key}`.

    `announce` tells who projects.
    """

    def __init__(
        self,
        timeline: Timeline,
        projections: Projections,
        announce: Callable[[Scope, Sequence[EventRef]], None],
    ) -> None:
        self._timeline = timeline
        self._fill_slots = FillSlots(timeline, projections)
        self._announce = announce

    def __call__(
        self,
        scope: Scope,
        *,
        now: datetime,  # noqa: ARG002 - the audit will say when
        event_id: str | None = None,
        key: str | None = None,
        accepts: Callable[[int], bool] = any_version,
    ) -> Forgotten:
        """Deletes the event that is named, an expired one too, or all events of a slot: each with a tombstone.

        The slot is that of the scope's persona and household; absent, the default ones. Newest first, so that the
        slot is empty from the first step on. Raises NotFound where there is nothing to delete, VersionMismatch where
        `accepts` refuses the event's version.
        """
        found = self._named(scope, event_id) if event_id is not None else self._of_slot(scope, key)
        first = [event.ref for event in found[:1] if self._forget(scope, event, accepts, self._remove)]
        rest = [event.ref for event in found[1:] if self._forget(scope, event, accepts, self._remove_older)]
        gone = [*first, *rest]
        if not gone:
            raise NotFound("no such event")
        self._announce(scope, gone)
        return Forgotten(tuple(ref.id for ref in gone))

    def _named(self, scope: Scope, event_id: str) -> list[Event]:
        event = self._timeline.find(scope, event_id)
        admitted = event is not None and scope.admits(event.persona_id, event.household_id)
        return [event] if event is not None and admitted else []

    def _of_slot(self, scope: Scope, key: str | None) -> list[Event]:
        slot = (scope.persona_id or "", scope.household_id or "", key or "")
        return self._timeline.of_slot(scope, slot)

    def _forget(
        self,
        scope: Scope,
        event: Event,
        accepts: Callable[[int], bool],
        remove: Callable[[Scope, Event], bool],
    ) -> bool:
        """False where somebody else was faster; a projection that changes the event meanwhile is waited out."""
        found: Event | None = event
        for _ in range(_TRIES):
            if found is None:
                return False
            if not accepts(found.version):
                raise VersionMismatch("the event changed since it was read")
            try:
                return remove(scope, found)
            except VersionMismatch:
                found = self._timeline.read(scope, [event.ref]).get(event.id)
        raise VersionMismatch("the event changes all the time")

    def _remove(self, scope: Scope, event: Event) -> bool:
        """With a key, the slot is settled first: else a value that the event had not yet superseded would come back."""
        slot = slot_of(event)
        if slot is None:
            return self._timeline.remove(scope, event, Removal())
        settled = {one.id: one for one in self._fill_slots(scope, event)}
        own = settled.pop(event.id, event)
        also = tuple(neighbour.ref for neighbour in settled.values())
        newest = next(iter(self._timeline.of_slot(scope, slot)), own)
        return self._timeline.remove(scope, own, Removal(newest.id == own.id, also))

    def _remove_older(self, scope: Scope, event: Event) -> bool:
        """One of a slot whose newest value is removed already: what is behind it is behind that one too."""
        return self._timeline.remove(scope, event, Removal())
