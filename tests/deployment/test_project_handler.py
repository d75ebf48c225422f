"""The handler of `project`: which records are sent again, which are not, and what is measured."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from deployment.template import sample_events
from engines.conftest import lambda_context
from recollect.app import App
from recollect.core.errors import InvalidInput, Throttled
from recollect.core.ids import id_milliseconds
from recollect.entrypoints.lambda_handlers import asks_for, project_handler
from recollect.entrypoints.projection_runs import RESERVE_SECONDS, project_records, run_reconcile
from recollect.memories.deferred_promotion import BridgeRun, DeferredRun
from recollect.projection.project import ProjectionReport
from recollect.projection.quarantine import Standing
from recollect.projection.reconcile import Reconcile
from recollect.timeline.bus import OutboxRun
from recollect.timeline.timeline import PendingEvent

NOW = datetime(2024, 5, 6, 9, 1, tzinfo=UTC)
INSERTS: list[dict[str, Any]] = sample_events("project")["stream-insert"]["Records"]
SECOND: str = INSERTS[1]["dynamodb"]["SequenceNumber"]


@dataclass
class Projector:
    """Notes what it is asked to project, and fails as it is told."""

    failing: dict[str, str] = field(default_factory=dict)
    noted: set[str] = field(default_factory=set)
    asked: list[PendingEvent] = field(default_factory=list)

    def project(self, pending: Sequence[PendingEvent], now: datetime) -> ProjectionReport:
        self.asked += pending
        failed = {one.ref.id: self.failing[one.ref.id] for one in pending if one.ref.id in self.failing}
        return ProjectionReport(len(pending) - len(failed), 0, failed, self.noted & failed.keys())


def event_id(record: dict[str, Any]) -> str:
    return str(record["dynamodb"]["Keys"]["sk"]["S"].split("#")[2])


def test_a_good_batch_is_asked_for_no_more() -> None:
    projector = Projector()
    report = project_records(INSERTS, projector.project, NOW)
    assert report.answer == {"batchItemFailures": []}
    assert [one.scope.user_id for one in projector.asked] == ["anna", "anna"]


def test_a_failed_event_is_sent_again_with_every_record_that_names_it() -> None:
    again = INSERTS[1] | {"dynamodb": INSERTS[1]["dynamodb"] | {"SequenceNumber": "7"}}
    projector = Projector({event_id(INSERTS[1]): "Throttled"})
    report = project_records([*INSERTS, again], projector.project, NOW)
    assert report.answer == {"batchItemFailures": [{"itemIdentifier": "7"}, {"itemIdentifier": SECOND}]}


def test_an_event_that_is_noted_as_failed_is_not_sent_again_with_all_others() -> None:
    failing = {event_id(INSERTS[0]): "ValueError", event_id(INSERTS[1]): "Throttled"}
    report = project_records(INSERTS, Projector(failing, {event_id(INSERTS[0])}).project, NOW)
    assert report.answer == {"batchItemFailures": [{"itemIdentifier": SECOND}]}
    assert report.projection.failed == failing


def test_the_lowest_number_comes_first_whatever_its_length() -> None:
    records = [
        record | {"dynamodb": record["dynamodb"] | {"SequenceNumber": number}}
        for record, number in zip(INSERTS, ("1000", "999"), strict=True)
    ]
    failing = Projector({event_id(record): "Unavailable" for record in records})
    assert project_records(records, failing.project, NOW).retry == ["999", "1000"]


def test_an_event_is_projected_once_however_often_it_is_named() -> None:
    projector = Projector()
    project_records(sample_events("project")["stream-duplicate"]["Records"], projector.project, NOW)
    assert len(projector.asked) == 1


@pytest.mark.parametrize("sort_key", ["D#identity", "V#018f", "K#a#1#b", "C#x", "R#y"])
def test_other_items_are_passed_over(sort_key: str) -> None:
    projector = Projector()
    report = project_records([keyed("U#acme#anna", sort_key)], projector.project, NOW)
    assert (projector.asked, report.malformed, report.answer) == ([], [], {"batchItemFailures": []})


def keyed(partition: str, sort_key: str) -> dict[str, Any]:
    keys = {"pk": {"S": partition}, "sk": {"S": sort_key}}
    return INSERTS[0] | {"dynamodb": INSERTS[0]["dynamodb"] | {"Keys": keys}}


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"dynamodb": None},
        {"dynamodb": {"Keys": {}}},
        {"dynamodb": {"Keys": {"pk": {"S": "U#a#b"}, "sk": {"B": "x"}}}},
        keyed("U#acme", "E#3923974800000000#018f4cf3-a400-7000-8000-000000000001"),
        keyed("U#acme#anna", "E#soon#018f4cf3-a400-7000-8000-000000000001"),
        keyed("U#acme#anna", "E#3923974800000000#not-one-of-our-ids"),
        keyed("U#acme#anna", "E#3923974800000000"),
        "not a record",
        None,
    ],
)
def test_a_record_that_cannot_be_read_is_counted_and_holds_up_nothing(record: Any) -> None:
    projector = Projector()
    report = project_records([record, INSERTS[1]], projector.project, NOW)
    assert (len(report.malformed), len(projector.asked)) == (1, 1)
    assert report.answer == {"batchItemFailures": []}


def test_the_age_is_that_of_the_oldest_event() -> None:
    now = datetime.fromtimestamp(id_milliseconds(event_id(INSERTS[0])) / 1000, UTC) + timedelta(seconds=90)
    assert project_records(INSERTS, Projector().project, now).oldest_age_seconds == pytest.approx(90, abs=1)
    assert project_records([], Projector().project, now).oldest_age_seconds == 0


@dataclass
class Pages:
    pages: int
    seen: int = 0
    age: timedelta | Exception = timedelta(seconds=3)
    quarantined: int = 0

    def page(self, now: datetime, after: str | None, limit: int) -> tuple[ProjectionReport, str | None]:
        self.seen += 1
        return ProjectionReport(projected=100), str(self.seen) if self.seen < self.pages else None

    def oldest_age(self, real_now: datetime) -> timedelta:
        if isinstance(self.age, Exception):
            raise self.age
        return self.age

    def standing(self) -> Standing:
        if isinstance(self.age, Exception):
            raise self.age
        return Standing(quarantined=self.quarantined)


def reconciling(pages: Pages) -> Reconcile:
    return cast(Reconcile, pages)


def test_a_run_works_through_all_pages_while_there_is_time() -> None:
    report = run_reconcile(reconciling(Pages(3)), lambda: NOW, lambda: RESERVE_SECONDS)
    assert (report.projection.projected, report.complete, report.oldest_age_seconds) == (300, True, 3.0)


def test_a_run_stops_before_its_time_is_over_but_always_does_a_page() -> None:
    left = iter([RESERVE_SECONDS + 1, RESERVE_SECONDS - 1])
    pages = Pages(10)
    report = run_reconcile(reconciling(pages), lambda: NOW, lambda: next(left))
    assert (pages.seen, report.complete) == (2, False)
    assert run_reconcile(reconciling(Pages(10)), lambda: NOW, lambda: 0.0).projection.projected == 100


def test_an_age_that_the_table_does_not_say_is_none() -> None:
    pages = Pages(1, age=Throttled("busy"))
    report = run_reconcile(reconciling(pages), lambda: NOW, lambda: 60.0)
    assert (report.oldest_age_seconds, report.quarantined) == (None, None)


@pytest.mark.parametrize("event", [None, [], "reconcile", {}, {"task": "other"}])
def test_only_the_schedule_asks_for_a_run(event: Any) -> None:
    assert not asks_for(event, "reconcile")


def handled(
    event: Any, projector: Projector, capsys: pytest.CaptureFixture[str], *, reconcile: Any = None, bridge: Any = None
) -> Any:
    """The answer to an event, and the lines that it left on standard output, as JSON."""
    projection = SimpleNamespace(events=projector, reconciliation=reconcile)
    memories = SimpleNamespace(bridge=SimpleNamespace(reconcile=bridge))
    settings, usage = SimpleNamespace(log_level="INFO"), SimpleNamespace(write_quietly=lambda: None)
    app = SimpleNamespace(settings=settings, projection=projection, memories=memories, usage=usage)
    answer = project_handler(cast(App, app))(event, lambda_context(100))
    return answer, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_batch_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    projector = Projector({event_id(INSERTS[1]): "Throttled"})
    answer, lines = handled({"Records": [*INSERTS, {}]}, projector, capsys)
    (metrics,) = (line for line in lines if "_aws" in line)
    assert answer == {"batchItemFailures": [{"itemIdentifier": SECOND}]}
    assert {name: metrics[name] for name in ("Records", "Projected", "Failed", "Malformed")} == {
        "Records": [3.0],
        "Projected": [1.0],
        "Failed": [1.0],
        "Malformed": [1.0],
    }
    assert metrics["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Recollect"


def test_a_scheduled_run_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[float] = []

    def bridge(_now: datetime, remaining_seconds: Callable[[], float]) -> BridgeRun:
        asked.append(remaining_seconds())
        return BridgeRun(OutboxRun(1, 2, True), DeferredRun(promoted=3))

    answer, lines = handled(
        {"task": "reconcile"}, Projector(), capsys, reconcile=Pages(2, quarantined=7), bridge=bridge
    )
    assert asked == [100.0]
    (metrics,) = (line for line in lines if "_aws" in line)
    assert answer == {"projected": 200, "gone": 0, "failed": 0, "quarantined": 7}
    assert (metrics["OldestPendingAge"], metrics["Reconciled"]) == ([3.0], [200.0])
    assert metrics["QuarantinedEvents"] == [7.0]
    assert "ReconcileFailed" not in metrics, "nothing failed"


@pytest.mark.filterwarnings("ignore:No application metrics to publish")
@pytest.mark.parametrize("event", [{}, {"task": "other"}, {"Records": None}, []])
def test_anything_else_is_an_error(event: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidInput):
        handled(event, Projector(), capsys)
