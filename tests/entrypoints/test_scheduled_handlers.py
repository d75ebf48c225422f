"""The functions `summarize`, `jobs` and `retain`: what their schedules run, as far as their time goes.

Their counts are metrics, and no text is in the log.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from embedded.setting import ANNA, Memory, open_memory, with_parts
from embedded.summarizing import Summaries, summaries_of
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.pairs import PairScores
from recollect.core.errors import InvalidInput, UpstreamFailed
from recollect.entrypoints.lambda_handlers import (
    WRITTEN_IDLE,
    Handler,
    asks_for,
    jobs_handler,
    project_handler,
    retain_handler,
    summarize_handler,
)
from recollect.jobs.job import Job, JobStatus
from recollect.jobs.run import JobOrder
from recollect.timeline.record import EventDraft
from samples.scripted import MODEL, Scripted, says


class Context:
    """What handlers read of the runtime's context."""

    function_name = "recollect-summarize"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:recollect-summarize"
    aws_request_id = "00000000-0000-0000-0000-000000000000"
    remaining_ms = 900_000

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    opened = open_memory(tmp_path)
    yield opened
    opened.app.parts.close()


def call(handler: Handler, event: Any, remaining_ms: int = 900_000) -> Any:
    """The handler's answer."""
    context = Context()
    context.remaining_ms = remaining_ms
    return handler(event, context)  # type: ignore[arg-type]


def metrics_in(text: str) -> dict[str, float]:
    """The metrics of the embedded metric format that were printed."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{") and '"_aws"' in line]
    return {name: value[0] for line in lines for name, value in line.items() if isinstance(value, list)}


@pytest.fixture
def summaries(memory: Memory) -> Summaries:
    """A memory that was talked to until now."""
    memory.now = datetime.now(UTC) - timedelta(hours=2)
    return summaries_of(memory)


@pytest.fixture
def due(summaries: Summaries) -> Summaries:
    """The same, with so much said that a summary is due."""
    summaries.say(50)
    summaries.memory.project()
    return summaries


@pytest.mark.spec("H-10")
def test_the_schedule_makes_what_is_due(due: Summaries, capsys: pytest.CaptureFixture[str]) -> None:
    handler = summarize_handler(due.app)
    assert call(handler, {"task": "summarize"}) == {"made": 1, "not_due": 0, "busy": 0, "failed": 0, "complete": True}
    assert len(due.stored()) == 1
    printed = capsys.readouterr().out
    assert metrics_in(printed) == {"SummariesMade": 1.0}
    assert "This is number" not in printed
    assert "Anna counts" not in printed


def test_without_time_it_begins_nothing(due: Summaries) -> None:
    assert call(summarize_handler(due.app), {"task": "summarize"}, 59_000)["complete"] is False
    assert due.model.asked == []


@pytest.mark.spec("H-29")
def test_failures_are_logged_by_kind(due: Summaries, caplog: pytest.LogCaptureFixture) -> None:
    due.model.says = [UpstreamFailed("the words of a user")]
    assert call(summarize_handler(due.app), {"task": "summarize"})["failed"] == 1
    (failed,) = [record for record in caplog.records if "failed" in record.getMessage()]
    assert failed.__dict__["failed"] == {"UpstreamFailed": 1}
    assert "the words" not in str([record.__dict__ for record in caplog.records])


def test_requests_come_to_the_routes_of_summaries_alone(summaries: Summaries) -> None:
    summaries.say(12)
    handler = summarize_handler(summaries.app)

    def request(method: str, path: str, query: str = "") -> Any:
        context = {
            "http": {"method": method, "path": path}, "stage": "$default",
            "authorizer": {"jwt": {"claims": {"tenant": ANNA.tenant}, "scopes": []}},
        }  # fmt: skip
        event = {"version": "2.0", "rawPath": path, "rawQueryString": query, "headers": {}, "requestContext": context}
        return call(handler, event)

    made = request("POST", "/v1/users/anna/summaries", "force=true")
    assert made["statusCode"] == 201
    assert json.loads(made["body"])["summary"]["summary"] == "Anna counts."
    assert json.loads(request("GET", "/v1/users/anna/summaries")["body"])["summaries"]
    assert request("GET", "/v1/users/anna/goals")["statusCode"] == 200
    assert request("GET", "/v1/users/anna/events")["statusCode"] == 404


@pytest.mark.parametrize(
    ("event", "meant"),
    [({"task": "summarize"}, True), ({"task": "reconcile"}, False), ({}, False), ([], False), (None, False)],
)
def test_what_asks_for_a_run(event: Any, meant: bool) -> None:
    assert asks_for(event, "summarize") is meant


@pytest.fixture
def forgetful(memory: Memory) -> Memory:
    """A tenant that forgets after a month, with one thing old and one new."""
    memory.now = datetime.now(UTC)
    memory.app.rules.replace("acme", {"retention": [{"older_than_days": 30}]}, memory.now, None)
    for text, days in (("the zebra sings", 40), ("the cat sleeps", 1)):
        memory.add(EventDraft(content=text, timestamp=memory.now - timedelta(days=days)))
    memory.project()
    return memory


def start(memory: Memory, kind: str) -> Job:
    """A job that nobody runs yet."""
    now = datetime.now(UTC)
    order = JobOrder(kind=kind, now=now, real_now=now)
    return memory.app.jobs.start("acme", order, memory.app.ids.seed(int(now.timestamp() * 1000)))


def left(memory: Memory) -> list[str]:
    """The contents of all records."""
    return [event.content for event in memory.app.parts.timeline.records(ANNA, 100, None).events]


def test_jobs_runs_every_kind_that_is_due(forgetful: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [start(forgetful, kind) for kind in ("retain", "reconcile")]
    answer = call(jobs_handler(forgetful.app), {"task": "jobs"})
    assert answer == {"done": 2, "failed": 0, "running": 0, "complete": True}
    assert {forgetful.app.jobs.read("acme", job.id).status for job in jobs} == {JobStatus.DONE}
    assert left(forgetful) == ["the cat sleeps"]
    printed = capsys.readouterr().out
    assert metrics_in(printed) == {"JobsDone": 2.0}
    assert "zebra" not in printed


@pytest.mark.spec("A-57")
def test_retain_asks_for_the_days_jobs_and_runs_these_alone(forgetful: Memory) -> None:
    other = start(forgetful, "reconcile")
    handler = retain_handler(forgetful.app)
    assert call(handler, {"task": "retain"})["done"] == 1
    assert left(forgetful) == ["the cat sleeps"]
    assert forgetful.app.jobs.read("acme", other.id).status is JobStatus.RUNNING
    assert call(handler, {"task": "retain"})["done"] == 0


def test_without_time_nothing_is_begun(forgetful: Memory) -> None:
    job = start(forgetful, "retain")
    assert call(jobs_handler(forgetful.app), {"task": "jobs"}, 19_000)["complete"] is False
    assert forgetful.app.jobs.read("acme", job.id).version == 1


def test_a_job_that_fails_is_counted(forgetful: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: Any) -> None:
        raise InvalidInput("what a user said")

    job = start(forgetful, "retain")
    forgetful.app.archive.retention = SimpleNamespace(step=broken)  # type: ignore[assignment]
    assert call(jobs_handler(forgetful.app), {"task": "jobs"})["failed"] == 1
    printed = capsys.readouterr().out
    assert metrics_in(printed)["JobsFailed"] == 1.0
    assert "what a user said" not in printed
    assert forgetful.app.jobs.read("acme", job.id).errors == {"InvalidInput": 1}
    assert json.loads(json.dumps(dict(forgetful.app.jobs.read("acme", job.id).counts))) == {}


def test_where_nothing_happens_those_metrics_alone_are_written_that_an_alarm_waits_for(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each costs by the hours in which it is written."""
    made = {
        "jobs": jobs_handler,
        "retain": retain_handler,
        "summarize": summarize_handler,
        "reconcile": project_handler,
    }
    for task, handler in made.items():
        call(handler(memory.app), {"task": task})
    assert set(metrics_in(capsys.readouterr().out)) == set(WRITTEN_IDLE)


def test_jobs_asks_a_configured_model_about_open_conflicts_and_counts_what_it_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    texts = "I live in Paris.", "Handed over the keys, first night in Lyon."
    unsure = TablePairModel({(texts[1], texts[0]): PairScores(changed=0.4)})
    asking = with_parts(open_memory(tmp_path, **MODEL), model=Scripted(says("replaced")), pair_model=unsure)
    asking.add(*texts)
    asking.project()
    call(jobs_handler(asking.app), {"task": "jobs"})
    printed = capsys.readouterr().out
    counted = metrics_in(printed)
    assert (counted["JudgeCalls"], counted["JudgeSettled"], counted["JudgeInputTokens"]) == (1.0, 1.0, 120.0)
    assert "Paris" not in printed
    assert "Lyon" not in printed


@pytest.mark.parametrize("event", [{"task": "retain"}, {}, [], None, {"Records": []}])
def test_what_is_no_task_of_jobs(forgetful: Memory, event: Any) -> None:
    with pytest.raises(InvalidInput):
        call(jobs_handler(forgetful.app), event)
