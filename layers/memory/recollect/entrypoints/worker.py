"""The threads of `recollect serve` and of embedded use, and the drain that a command waits for.

One thread works through the pending markers: those that an earlier process left, those that this process announces,
and on a slow poll those of other processes. On the AWS engines another thread reads the table's stream as the function
`project` does, and the markers are only the net below it. Three more do what a schedule does in the cloud: summaries
(H-05, H-06, H-10), jobs, and the bridge's part of reconcile (P-10); one writes what was counted (`usage`).
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol, Self

from recollect.app import App
from recollect.contradictions import ask_model
from recollect.contradictions.ask_model import OpinionRun
from recollect.core.errors import RecollectError
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.in_turn import InTurn
from recollect.jobs import run as run_jobs
from recollect.memories import deferred_promotion as promote_deferred
from recollect.projection.attempt import raised_at
from recollect.projection.project import ProjectionReport
from recollect.projection.under_way import LONGEST
from recollect.summaries import run as run_summaries

_LOG = logging.getLogger(__name__)
_ROUND_SECONDS = 300.0
_LONGEST_PAUSE_SECONDS = 300.0
_DOUBLINGS = 8
_WAIT_SECONDS = 0.5
_MOST_WAITS = 2 * LONGEST // timedelta(seconds=_WAIT_SECONDS)
_LAST_ROUNDS = 3  # settling a contradiction marks other events

Clock = Callable[[], datetime]
RemainingSeconds = Callable[[], float]


class Report(Protocol):
    """What a round did."""

    @property
    def counts(self) -> dict[str, int]:
        """For a log line."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a thread does again and again; it begins nothing with less than `reserve_seconds` left."""

    name: str
    reserve_seconds: float
    run: Callable[[App, Clock, RemainingSeconds], Report]


def _summaries(app: App, clock: Clock, remaining_seconds: RemainingSeconds) -> Report:
    report = app.summaries.rounds.run(clock, remaining_seconds)
    if report.made or report.failed:
        _LOG.info("summarized", extra=report.counts)
    return report


def _jobs(app: App, clock: Clock, remaining_seconds: RemainingSeconds) -> Report:
    turns = InTurn()
    turns.part("tombstones", lambda: app.deletion.tombstones.apply(clock(), remaining_seconds))
    if not app.settings.test_clock:  # else requests live in a time of their own, and would lose all
        turns.part("schedule", lambda: app.archive.retention_schedule.schedule(clock()))
    if app.settings.engines == "local":
        turns.part("reindex", lambda: app.reindexing.generations.begin(clock()))
    turns.part("segments", lambda: app.segments.compact_due(clock(), remaining_seconds))
    report = app.job_runs.run(clock, remaining_seconds)
    if report.errors:
        _LOG.warning("jobs that could not be run", extra={"errors": dict(report.errors)})
    turns.end()
    return report


def _bridge(app: App, clock: Clock, remaining_seconds: RemainingSeconds) -> Report:
    report = app.memories.bridge.reconcile(clock(), remaining_seconds=remaining_seconds)
    if any(report.counts.values()):
        _LOG.info("bridge reconciled", extra=report.counts)
    return report


def _opinions(app: App, clock: Clock, remaining_seconds: RemainingSeconds) -> Report:
    if app.contradictions.opinions is None:
        return OpinionRun()
    report = app.contradictions.opinions.run(clock, remaining_seconds)
    if any(report.counts.values()):
        _LOG.info("open conflicts were asked about", extra=report.counts | {"errors": dict(report.failed)})
    return report


def _usage(app: App, _clock: Clock, _remaining_seconds: RemainingSeconds) -> Report:
    return Written(app.usage.write())


OPINIONS = Work("opinions", ask_model.RESERVE_SECONDS, _opinions)
SUMMARIES = Work("summaries", run_summaries.RESERVE_SECONDS, _summaries)
USAGE = Work("usage", 0.0, _usage)
JOBS = Work("jobs", run_jobs.LEAST_SECONDS, _jobs)
BRIDGE = Work("bridge", promote_deferred.RESERVE_SECONDS, _bridge)


@dataclass(frozen=True, slots=True)
class Written:
    """How many counts of a tenant's day were written."""

    days: int

    @property
    def counts(self) -> dict[str, int]:
        """For a log line."""
        return {"days": self.days}


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rounds of one work until `stop` is set; the step under way is ended then, and no other one begun."""

    work: Work
    app: App
    clock: Clock
    stop: threading.Event
    pause_seconds: float

    def run(self) -> None:
        """Until `stop` is set; after rounds that failed as a whole with longer and longer pauses."""
        failed = 0
        while not self.stop.wait(min(self.pause_seconds * 2**failed, _LONGEST_PAUSE_SECONDS)):
            failed = 0 if self.round() else min(failed + 1, _DOUBLINGS)

    def round(self) -> Report | None:
        """One round; None where it failed as a whole, which is logged. What is due stays due."""
        try:
            return self.work.run(self.app, self.clock, self._remaining_seconds)
        except RecollectError as error:
            _LOG.warning(f"{self.work.name} failed", extra={"error": type(error).__name__})
        except Exception as error:  # noqa: BLE001 - a defect must not end the thread
            _LOG.error(f"{self.work.name} failed unexpectedly", extra={"error": type(error).__name__})
        return None

    def _remaining_seconds(self) -> float:
        return 0.0 if self.stop.is_set() else self.work.reserve_seconds + _ROUND_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectorPolicy:
    """How often the projector looks for markers without a call (`poll_seconds`), and how failures slow that down.

    Summaries, and questions to a model, have a round every `summary_seconds`, jobs every `job_seconds`, the bridge
    every `bridge_seconds`; what was counted is written every `usage_seconds`. After a round without success the pause
    doubles from `first_pause_seconds` to `longest_pause_seconds`; an announcement ends a pause, but at most once in
    `hurried_pause_seconds`. `stop` waits `stop_seconds` at most.
    """

    poll_seconds: float = 1.0
    summary_seconds: float = 3.0
    job_seconds: float = 1.0
    bridge_seconds: float = 300.0
    usage_seconds: float = 10.0
    first_pause_seconds: float = 0.2
    longest_pause_seconds: float = 30.0
    hurried_pause_seconds: float = 1.0
    stop_seconds: float = 5.0


LOCAL_POLICY = ProjectorPolicy()
BESIDE_THE_STREAM = ProjectorPolicy(poll_seconds=15.0, summary_seconds=15.0, job_seconds=5.0)


class Projector:
    """A thread that projects what is pending; a context manager, or `start` and `stop`."""

    def __init__(self, app: App, policy: ProjectorPolicy = LOCAL_POLICY, clock: Clock = utc_now) -> None:
        self._app = app
        self._policy = policy
        self._clock = clock
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begins with what an earlier process left. Once for each projector."""
        self._app.listeners.append(self._announced)
        self._start_threads()

    def stop(self) -> bool:
        """Ends after the page under way; False where that took longer than `stop_seconds`."""
        self._stop.set()
        self._wake.set()
        if self._announced in self._app.listeners:
            self._app.listeners.remove(self._announced)
        deadline = time.monotonic() + self._policy.stop_seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._app.usage.in_background = False
        return not any(thread.is_alive() for thread in self._threads)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _start_threads(self) -> None:
        self._run_in_thread("projector", self._run)
        policy = self._policy
        pauses = {
            SUMMARIES: policy.summary_seconds,
            JOBS: policy.job_seconds,
            BRIDGE: policy.bridge_seconds,
            USAGE: policy.usage_seconds,
        }
        self._app.usage.in_background = True
        if self._app.settings.judge == "model":
            pauses[OPINIONS] = policy.summary_seconds
        for work, pause_seconds in pauses.items():
            self._run_in_thread(work.name, Rounds(work, self._app, self._clock, self._stop, pause_seconds).run)

    def _run_in_thread(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=f"recollect-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _announced(self, _scope: Scope, _refs: Sequence[EventRef]) -> None:
        self._wake.set()

    def _run(self) -> None:
        failed_rounds = 0
        while not self._stop.is_set():
            self._wake.clear()
            failed_rounds = 0 if self._round() else failed_rounds + 1
            self._rest(failed_rounds)

    def _round(self) -> bool:
        """Tries every marker once; True unless every event of the round failed."""
        total = ProjectionReport()
        try:
            self._pages(total)
        except RecollectError as error:
            _LOG.warning("projection failed", extra={"error": type(error).__name__})
            return False
        except Exception as error:  # noqa: BLE001 - a defect must not end the thread; the events stay marked
            # No message and no traceback: they may quote a user's text.
            _LOG.error("projection failed unexpectedly", extra={"error": type(error).__name__, "at": raised_at(error)})
            return False
        _log(total)
        return not total.failed.keys() - total.noted or total.projected + total.gone > 0

    def _pages(self, total: ProjectionReport) -> None:
        after: str | None = None
        while not self._stop.is_set():
            report, after = self._app.projection.reconciliation.page(self._clock(), after)
            total.add(report)
            if after is None:
                return

    def _rest(self, failed_rounds: int) -> None:
        policy = self._policy
        if not failed_rounds:
            self._wake.wait(policy.poll_seconds)
            return
        pause = min(policy.longest_pause_seconds, policy.first_pause_seconds * 2 ** min(failed_rounds - 1, 30))
        hurried = min(pause, policy.hurried_pause_seconds)
        if not self._stop.wait(hurried):
            self._wake.wait(pause - hurried)


class AwaitedProjector(Projector):
    """A projector for whose rounds a thread can wait that has stored events."""

    def __init__(self, app: App, policy: ProjectorPolicy) -> None:
        super().__init__(app, policy)
        self._turn = threading.Condition()
        self._begun = self._ended = 0
        self._stored = _Stored()

    def wait(self, seconds: float) -> None:
        """Until a round has tried what this thread stored since it last waited; at most so long."""
        wanted, self._stored.tried_by = self._stored.tried_by, 0
        self._wait_for(wanted, seconds)

    def finish(self, seconds: float) -> None:
        """Until nothing waits, or a few rounds have tried what does; at most so long."""
        deadline = time.monotonic() + seconds
        for _ in range(_LAST_ROUNDS):
            if not _marked_again(self._app):
                return
            with self._turn:
                wanted = self._begun + 1
            self._wake.set()
            self._wait_for(wanted, deadline - time.monotonic())

    def _wait_for(self, round_number: int, seconds: float) -> None:
        with self._turn:
            self._turn.wait_for(lambda: self._ended >= round_number or self._stop.is_set(), seconds)

    def _announced(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        with self._turn:
            self._stored.tried_by = self._begun + 1
        super()._announced(scope, refs)

    def _round(self) -> bool:
        with self._turn:
            self._begun += 1
        try:
            return super()._round()
        finally:
            with self._turn:
                self._ended = self._begun
                self._turn.notify_all()


class _Stored(threading.local):
    """The round that begins after the current thread's last events were stored."""

    tried_by = 0


class StreamProjector(Projector):
    """Reads the table's stream as Lambda would, and works through the markers now and then."""

    def __init__(self, app: App, run_pump: Callable[[threading.Event], None]) -> None:
        super().__init__(app, BESIDE_THE_STREAM)
        self._run_pump = run_pump

    def start(self) -> None:
        """Begins the threads; what is announced comes with the stream, so nothing wakes the slow one."""
        self._run_in_thread("stream", self._pump)
        self._start_threads()

    def _pump(self) -> None:
        while not self._stop.is_set():
            try:
                self._run_pump(self._stop)
            except Exception as error:  # noqa: BLE001 - as above; meanwhile the markers are worked through
                _LOG.error("the stream's reader failed", extra={"error": type(error).__name__, "at": raised_at(error)})
                self._stop.wait(self._policy.longest_pause_seconds)


def background_projector(app: App) -> Projector:
    """What `recollect serve` runs: on the AWS engines the stream and a slow reconcile, else reconcile alone."""
    if app.settings.engines != "aws":
        return Projector(app)
    try:
        return StreamProjector(app, stream_pump(app))
    except (ImportError, RecollectError) as error:
        _LOG.warning("the table's stream cannot be read: reconcile alone", extra={"error": type(error).__name__})
        return Projector(app)


def stream_pump(app: App) -> Callable[[threading.Event], None]:
    """Feeds the table's stream to the `project` handler until the event is set. Raises NotReady without a stream."""
    from recollect.adapters.aws.clients import dynamodb_client, streams_client
    from recollect.adapters.aws.stream import PumpPolicy, StreamPump
    from recollect.adapters.aws.table import Table
    from recollect.entrypoints.projection_runs import project_records

    def handle(event: dict[str, Any]) -> dict[str, Any]:
        report = project_records(event["Records"], app.projection.events.project, utc_now())
        _log(report.projection)
        return dict(report.answer)

    arn = Table(dynamodb_client(), app.settings.table).stream_arn()
    # What came before is found by its markers; the stream's whole day would be projected again at every start.
    return StreamPump(streams_client(), arn, handle, PumpPolicy(from_start=False)).run


@dataclass(slots=True)
class Drained:
    """What a drain did; `failures` counts, by kind of error, what stood in the way of the last round.

    `noted` counts the events that failed by their own fault: they are tried again later, without holding up others.
    """

    projected: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)

    @property
    def refusals(self) -> str:
        """What was noted, for a line that a person reads; empty without any."""
        return ", ".join(f"{kind} ({count})" for kind, count in sorted(self.noted.items()))


def count_pending(app: App) -> int:
    """How many events wait to be projected, of every tenant."""
    count, after = 0, None
    while True:
        page = app.parts.projections.pending(1000, after)
        count, after = count + len(page.markers), page.more
        if after is None:
            return count


def drain(app: App, progress: Callable[[int], None], clock: Clock = utc_now, tries: int = 4) -> Drained:
    """Projects until nothing is pending, or nothing moved in `tries` rounds; `progress` gets the count of each page.

    Waits for what another process is projecting, or was, when it ended (`under_way`). Raises nothing where a part is
    away: then events are left, and `failures` says why.
    """
    done, stuck, waited = Drained(), 0, 0
    while stuck < tries:
        time.sleep(0.2 * 2**stuck if stuck and done.failures else 0)
        before = done.projected
        if _drain_round(app, progress, clock, done) and waited < _MOST_WAITS:
            time.sleep(_WAIT_SECONDS)
            waited += 1
            continue
        if not done.failures and not _marked_again(app) and not _has_due(app, clock()):
            break
        stuck = 0 if done.failures and done.projected > before else stuck + 1
    return done


def _marked_again(app: App) -> bool:
    """Whether the last page marked other events: settling a contradiction may do so."""
    try:
        return bool(app.parts.projections.pending(1, None).markers)
    except RecollectError:
        return False


def _has_due(app: App, now: datetime) -> bool:
    """Whether more was set apart than one page tries again."""
    try:
        return bool(app.projection.failed_events.due(now, 1))
    except RecollectError:
        return False


def _drain_round(app: App, progress: Callable[[int], None], clock: Clock, done: Drained) -> bool:
    """Whether all that it left is under way elsewhere."""
    done.failures.clear()
    elsewhere, after = 0, None
    while True:
        try:
            report, after = app.projection.reconciliation.page(clock(), after)
        except RecollectError as error:
            done.failures[type(error).__name__] += 1
            return False
        elsewhere += report.elsewhere
        done.projected += report.projected + report.gone
        done.failures.update(error for event_id, error in report.failed.items() if event_id not in report.noted)
        done.noted.update(report.failed[event_id] for event_id in report.noted)
        progress(report.projected + report.gone)
        if after is None:
            return elsewhere > 0 and not done.failures


def _log(report: ProjectionReport) -> None:
    if report.projected or report.gone or report.failed:
        counts = {"projected": report.projected, "gone": report.gone, "failed": len(report.failed)}
        _LOG.info("projected", extra=counts)
