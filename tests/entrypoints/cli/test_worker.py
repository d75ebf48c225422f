"""The projector beside a server, and the drain that a command waits for."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from entrypoints.cli.running import ANA, Home, indexed_documents, say, soon
from recollect.app import App
from recollect.core.errors import Unavailable
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.entrypoints import worker
from recollect.entrypoints.cli.console import counting_progress
from recollect.entrypoints.cli.import_file import index_all
from recollect.entrypoints.worker import (
    Projector,
    ProjectorPolicy,
    StreamProjector,
    background_projector,
    count_pending,
    drain,
)
from recollect.projection.reconcile import PAGE
from recollect.retrieval.nomination import IndexDocument

QUICK = ProjectorPolicy(poll_seconds=60, first_pause_seconds=0.05, longest_pause_seconds=0.4, hurried_pause_seconds=0.1)
_PATIENCE_SECONDS = 30
NOW = datetime(2025, 3, 1, tzinfo=UTC)


class HookedIndex:
    """The index, and before each write what `before` does, by the number of the write (from 1)."""

    def __init__(self, real: Any, before: Callable[[int], None]) -> None:
        self._real, self._before = real, before
        self.calls = 0

    def put(self, documents: Sequence[IndexDocument], **options: Any) -> Any:
        self.calls += 1
        self._before(self.calls)
        return self._real.put(documents, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def hook_index(app: App, before: Callable[[int], None]) -> HookedIndex:
    app.parts.__dict__["index"] = hooked = HookedIndex(app.parts.index, before)
    return hooked


def break_index(app: App, failures: int, error: Exception | None = None) -> HookedIndex:
    """The first writes fail: the index is away, or another error."""

    def before(call: int) -> None:
        if call <= failures:
            raise error or Unavailable("the index is away")

    return hook_index(app, before)


def test_it_begins_with_what_an_earlier_process_left(app: App) -> None:
    say(app, "one", "two")
    with Projector(app, QUICK):
        assert soon(lambda: count_pending(app) == 0)
    assert indexed_documents(app, ANA) == 2


def test_an_announcement_wakes_it(app: App) -> None:
    with Projector(app, QUICK):
        time.sleep(0.2)
        say(app, "one")
        assert soon(lambda: count_pending(app) == 0, 2)


def test_other_processes_events_are_found_by_polling(app: App, home: Home) -> None:
    other = home.app()
    with Projector(app, ProjectorPolicy(poll_seconds=0.1)):
        time.sleep(0.2)
        say(other, "one")
        assert soon(lambda: count_pending(app) == 0, 2)
    other.parts.close()


def test_failures_slow_it_down_and_end_nothing(app: App) -> None:
    broken = break_index(app, failures=5)
    with Projector(app, QUICK):
        say(app, "one")
        assert soon(lambda: count_pending(app) == 0)
    assert broken.calls == 6
    assert indexed_documents(app, ANA) == 1


def test_a_part_that_stays_away_is_not_hammered(app: App) -> None:
    broken = break_index(app, failures=10_000)
    with Projector(app, QUICK):
        for number in range(60):
            say(app, f"turn {number}")
            time.sleep(0.01)
        time.sleep(0.4)
    assert 2 <= broken.calls <= 15
    assert count_pending(app) == 60


def test_a_defect_does_not_end_the_thread_and_tells_no_text(app: App, caplog: pytest.LogCaptureFixture) -> None:
    break_index(app, 1, ValueError("my secret"))
    with caplog.at_level(logging.INFO, "recollect"), Projector(app, QUICK):
        say(app, "my secret")
        assert soon(lambda: app.projection.failed_events.standing().retried == 1)
        say(app, "another")
        assert soon(lambda: len(app.parts.publisher.published("local", None, None)) == 1)
    assert count_pending(app) == 0
    assert "ValueError" in str([record.__dict__ for record in caplog.records])
    assert "my secret" not in str([record.__dict__ for record in caplog.records])


def test_it_logs_counts(app: App, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "recollect"):
        say(app, "one", "two")
        with Projector(app, QUICK):
            soon(lambda: count_pending(app) == 0)
    assert any(getattr(record, "projected", 0) == 2 for record in caplog.records)


def test_it_stops_after_the_page_under_way(app: App) -> None:
    for _ in range(10):
        say(app, *(f"turn {n}?" for n in range(100)))
    begun, go = threading.Event(), threading.Event()

    def before(_call: int) -> None:
        begun.set()
        assert go.wait(_PATIENCE_SECONDS)

    hook_index(app, before)
    projector = Projector(app, replace(QUICK, stop_seconds=_PATIENCE_SECONDS))
    projector.start()
    assert begun.wait(_PATIENCE_SECONDS)

    def let_go() -> None:
        soon(lambda: app.listeners == [], _PATIENCE_SECONDS)
        go.set()

    told = threading.Thread(target=let_go)
    told.start()
    assert projector.stop()
    told.join()
    assert 0 < count_pending(app) < 1000
    assert app.listeners == []


def test_a_drain_tells_what_failed_by_its_own_fault(app: App) -> None:
    break_index(app, 1, ValueError("my secret"))
    say(app, "one")
    drained = drain(app, lambda _: None)
    assert (drained.projected, drained.failures, drained.refusals) == (0, {}, "ValueError (1)")


def test_a_drain_ends_with_nothing_pending_and_tells_its_progress(app: App) -> None:
    for _ in range(3):
        say(app, *(f"turn {n}?" for n in range(PAGE)))
    told: list[int] = []
    drained = drain(app, told.append)
    assert (drained.projected, not drained.failures, sum(told)) == (3 * PAGE, True, 3 * PAGE)
    assert told == [PAGE] * 3


class MarkingAgain:
    """Marks the first event that is settled once more, as the settling of a contradiction may."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.marked = 0

    def settle(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        self._real.settle(scope, refs)
        if not self.marked:
            self.marked += 1
            self._real.mark(scope, refs[:1])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_drain_projects_what_its_last_page_marked_again(app: App) -> None:
    say(app, "one", "two")
    app.parts.__dict__["projections"] = marking = MarkingAgain(app.parts.projections)
    assert not drain(app, lambda count: None).failures
    assert (marking.marked, count_pending(app)) == (1, 0)


def test_a_bar_shows_no_more_done_than_there_was_to_do(app: App) -> None:
    say(app, "one", "two")
    app.parts.__dict__["projections"] = MarkingAgain(app.parts.projections)
    bar = counting_progress()
    assert index_all(app, bar).projected == 3
    assert [(task.completed, task.total) for task in bar.tasks] == [(3, 3)]


def test_a_drain_waits_out_a_short_absence(app: App) -> None:
    say(app, "one")
    break_index(app, failures=2)
    assert not drain(app, lambda count: None).failures
    assert count_pending(app) == 0


def test_a_drain_gives_up_where_nothing_moves(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.entrypoints.worker.time.sleep", lambda seconds: None)
    say(app, "one", "two")
    break_index(app, failures=10_000)
    assert drain(app, lambda count: None).failures == {"Unavailable": 2}
    assert count_pending(app) == 2


def test_beside_the_stream_both_threads_end(app: App) -> None:
    pumped = threading.Event()

    def pump(stop: threading.Event) -> None:
        pumped.set()
        stop.wait()

    projector = StreamProjector(app, pump)
    projector.start()
    assert pumped.wait(2)
    assert projector.stop()


def test_without_the_stream_it_is_reconcile_alone(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_stream(_: App) -> None:
        raise Unavailable("no stream")

    monkeypatch.setattr(worker, "stream_pump", no_stream)
    object.__setattr__(app.settings, "engines", "aws")
    assert type(background_projector(app)) is Projector
