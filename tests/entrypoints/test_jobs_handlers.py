"""The functions `jobs` and `retain`: what they run, as far as their time goes, with counts as metrics and no text."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.setting import ANNA, Memory, open_memory
from entrypoints.test_summarize_handler import Context, metrics_in
from recollect.core.errors import InvalidInput
from recollect.entrypoints.lambda_handlers import Handler, jobs_handler, retain_handler
from recollect.jobs.job import Job, JobStatus
from recollect.jobs.run import JobOrder
from recollect.timeline.record import EventDraft


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A tenant that forgets after a month, with one thing old and one new."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    opened = open_memory(tmp_path)
    opened.now = datetime.now(UTC)
    opened.app.rules.replace("acme", {"retention": [{"older_than_days": 30}]}, opened.now, None)
    for text, days in (("the zebra sings", 40), ("the cat sleeps", 1)):
        opened.add(EventDraft(content=text, timestamp=opened.now - timedelta(days=days)))
    opened.project()
    yield opened
    opened.app.parts.close()


def call(handler: Handler, event: Any, remaining_ms: int = 840_000) -> Any:
    """The handler's answer."""
    context = Context()
    context.remaining_ms = remaining_ms
    return handler(event, context)  # type: ignore[arg-type]


def start(memory: Memory, kind: str) -> Job:
    """A job that nobody runs yet."""
    now = datetime.now(UTC)
    order = JobOrder(kind=kind, now=now, real_now=now)
    return memory.app.jobs.start("acme", order, memory.app.ids.seed(int(now.timestamp() * 1000)))


def left(memory: Memory) -> list[str]:
    """The contents of all records."""
    return [event.content for event in memory.app.parts.timeline.records(ANNA, 100, None).events]


def test_jobs_runs_every_kind_that_is_due(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [start(memory, kind) for kind in ("retain", "reconcile")]
    answer = call(jobs_handler(memory.app), {"task": "jobs"})
    assert answer == {"done": 2, "failed": 0, "running": 0, "complete": True}
    assert {memory.app.jobs.read("acme", job.id).status for job in jobs} == {JobStatus.DONE}
    assert left(memory) == ["the cat sleeps"]
    printed = capsys.readouterr().out
    assert metrics_in(printed) == {"JobsDone": 2.0, "JobsFailed": 0.0, "JobsRunning": 0.0}
    assert "zebra" not in printed


@pytest.mark.spec("A-57")
def test_retain_asks_for_the_days_jobs_and_runs_these_alone(memory: Memory) -> None:
    other = start(memory, "reconcile")
    handler = retain_handler(memory.app)
    assert call(handler, {"task": "retain"})["done"] == 1
    assert left(memory) == ["the cat sleeps"]
    assert memory.app.jobs.read("acme", other.id).status is JobStatus.RUNNING
    assert call(handler, {"task": "retain"})["done"] == 0


def test_without_time_nothing_is_begun(memory: Memory) -> None:
    job = start(memory, "retain")
    assert call(jobs_handler(memory.app), {"task": "jobs"}, 19_000)["complete"] is False
    assert memory.app.jobs.read("acme", job.id).version == 1


def test_a_job_that_fails_is_counted(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: Any) -> None:
        raise InvalidInput("what a user said")

    job = start(memory, "retain")
    memory.app.archive.retention.step = broken  # type: ignore[method-assign,assignment]
    assert call(jobs_handler(memory.app), {"task": "jobs"})["failed"] == 1
    printed = capsys.readouterr().out
    assert metrics_in(printed)["JobsFailed"] == 1.0
    assert "what a user said" not in printed
    assert memory.app.jobs.read("acme", job.id).errors == {"InvalidInput": 1}
    assert json.loads(json.dumps(dict(memory.app.jobs.read("acme", job.id).counts))) == {}


@pytest.mark.parametrize("event", [{"task": "retain"}, {}, [], None, {"Records": []}])
def test_what_is_no_task_of_jobs(memory: Memory, event: Any) -> None:
    with pytest.raises(InvalidInput):
        call(jobs_handler(memory.app), event)
