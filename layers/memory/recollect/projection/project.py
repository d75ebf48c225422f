"""Project: derives everything from events; a failure stays with the event that caused it.

Events that fail together are tried again in parts, until each failing event stands alone. An event that fails by its
own fault gets a note instead of its marker, and is retried later (`RetryFailed`). Where an engine is away, events keep
their markers, and every reconciliation tries them again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from recollect.core.ids import accepted_ms
from recollect.core.items import in_parts
from recollect.core.scope import Scope
from recollect.ports import Embedder, Projections, Publisher, SearchIndex, Timeline
from recollect.projection.attempt import Failure, Noting, Outcome, ProjectionAttempt, unnoted
from recollect.projection.quarantine import FailedEvents
from recollect.projection.steps import ProjectionSteps
from recollect.timeline.failed_projections import Fault
from recollect.timeline.timeline import PendingEvent

PARTS = 8
"""Parts into which events that failed together are split."""

MOST_OUTAGES = 16
"""After so many attempts in a row that met an absent engine, the call splits nothing more."""

PATIENCE_MS = 300_000
"""While an engine is away for less than this, events wait together, and none is tried alone."""

Attempt: TypeAlias = Callable[[Sequence[PendingEvent]], Outcome]


@dataclass(slots=True)
class ProjectionReport:
    """How many events were projected, how many were deleted before, and which failed, with the class of the error.

    `noted` are failed events with a note instead of a marker; `done` are the projected and the deleted events, each
    with its user's scope. `elsewhere` counts events that were left to another run, which is projecting them.
    """

    projected: int = 0
    gone: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    noted: set[str] = field(default_factory=set)
    done: set[tuple[Scope, str]] = field(default_factory=set)
    elsewhere: int = 0

    def add(self, other: "ProjectionReport") -> None:
        self.projected += other.projected
        self.gone += other.gone
        self.elsewhere += other.elsewhere
        self.failed |= other.failed
        self.noted |= other.noted
        self.done |= other.done


@dataclass(slots=True, eq=False)
class ProjectEvents:
    """Behind the stream reader; what a process may end with is noted by `ProjectPending`. Without `failed` it writes no
    notes.
    """

    _timeline: Timeline
    _projections: Projections
    _index: SearchIndex
    _embedder: Embedder | None
    _publisher: Publisher
    _steps: ProjectionSteps
    _failed: FailedEvents | None = None

    def project(self, pending: Sequence[PendingEvent], now: datetime, noting: Noting = unnoted) -> ProjectionReport:
        """Projects all events but those that fail. Raises none of their exceptions. `noting`: see the attempt."""
        stores = (self._timeline, self._projections, self._index, self._embedder, self._publisher)
        attempt = ProjectionAttempt(*stores, self._steps, self._failed.forget if self._failed is not None else None)
        isolation = _Isolation(
            attempt=lambda markers: attempt.run(markers, now, noting),
            note=lambda failure: self._failed is not None and self._failed.note(failure, now),
            now_ms=int(now.timestamp() * 1000),
        )
        isolation.run(tuple(pending))
        return isolation.report


@dataclass(slots=True, kw_only=True)
class _Isolation:
    """Finds the failing events of one call: splits failures down to single events, with at most two attempts for each.

    Failures that may come from an absent engine are `doubtful` and wait for all others. Where nothing was projected
    yet, one of their events is tried alone, once one of them has waited for five minutes; `now_ms` chooses it, another
    one in each call, so that no event that always fails this way stops the others for good. `answered`: something was
    projected; `in_a_row`: the attempts since then that met an absent engine; `away`: the engine counts as absent.
    """

    attempt: Attempt
    note: Callable[[Failure], bool]
    now_ms: int
    report: ProjectionReport = field(default_factory=ProjectionReport)
    doubtful: list[Failure] = field(default_factory=list)
    unsure: list[Failure] = field(default_factory=list)
    answered: bool = False
    away: bool = False
    in_a_row: int = 0

    def run(self, pending: tuple[PendingEvent, ...]) -> None:
        waiting = [pending] if pending else []
        while waiting or self.doubtful:
            if waiting:
                waiting += self._parts(self._try(waiting.pop()))
            else:
                waiting += self._parts_of_doubtful(self.doubtful.pop())
        if self.answered:
            self._note_all(self.unsure)

    def _try(self, markers: tuple[PendingEvent, ...]) -> list[Failure]:
        outcome = self.attempt(markers)
        self.report.add(ProjectionReport(outcome.projected, outcome.gone, done=outcome.done))
        if outcome.done:
            self.answered, self.away, self.in_a_row = True, False, 0
        else:
            self.in_a_row += any(failure.fault is not Fault.OWN for failure in outcome.failures)
            self.away = self.away or self.in_a_row >= MOST_OUTAGES
        return outcome.failures

    def _parts(self, failures: Sequence[Failure]) -> list[tuple[PendingEvent, ...]]:
        """What to try again at once, in reverse order; a single event has failed for good."""
        parts: list[tuple[PendingEvent, ...]] = []
        for failure in failures:
            if len(failure.markers) == 1:
                self._fail_alone(failure)
            elif failure.fault is Fault.OWN:
                parts += _split(failure.markers)
            else:
                self.doubtful.append(failure)
        return parts[::-1]

    def _parts_of_doubtful(self, failure: Failure) -> list[tuple[PendingEvent, ...]]:
        """The same; nothing, where the engine is away."""
        markers = failure.markers
        if not self.answered and not self.away:
            self.away = failure.fault is Fault.OUTAGE and not self._is_late(markers)
        if not self.answered and not self.away:
            place = self.now_ms % len(markers)
            for alone in self._try((markers[place],)):
                self.away = alone.fault is not Fault.OWN
                self._fail_alone(alone)
            markers = (*markers[:place], *markers[place + 1 :])
        if self.away:
            self._fail(markers, failure.error)
            return []
        return _split(markers)[::-1]

    def _is_late(self, markers: Sequence[PendingEvent]) -> bool:
        # An id that is not ours counts as old.
        return self.now_ms - min(accepted_ms(marker.ref.id) or 0 for marker in markers) > PATIENCE_MS

    def _fail_alone(self, failure: Failure) -> None:
        self._fail(failure.markers, failure.error)
        if failure.fault is Fault.OWN:
            self._note_all([failure])
        elif failure.fault is Fault.UNSURE:
            self.unsure.append(failure)

    def _note_all(self, failures: Sequence[Failure]) -> None:
        self.report.noted |= {one.markers[0].ref.id for one in failures if self.note(one)}

    def _fail(self, markers: Sequence[PendingEvent], error: str) -> None:
        self.report.failed |= {marker.ref.id: error for marker in markers}


def _split(markers: tuple[PendingEvent, ...]) -> list[tuple[PendingEvent, ...]]:
    size = -(-len(markers) // PARTS)
    return [tuple(part) for part in in_parts(markers, size)]
