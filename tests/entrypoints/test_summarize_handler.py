"""The function `summarize`: its routes, and its schedule, with counts as metrics and no text in the log."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.setting import ANNA, Memory, open_memory
from embedded.summarizing import Summaries, summaries_of
from recollect.core.errors import UpstreamFailed
from recollect.entrypoints.lambda_handlers import Handler, asks_for, summarize_handler
from recollect.rules.groups import Rules
from recollect.summaries.run import SummaryRun


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
def summaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Summaries]:
    """A memory that was talked to until now."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    memory: Memory = open_memory(tmp_path)
    memory.now = datetime.now(UTC) - timedelta(hours=2)
    yield summaries_of(memory)
    memory.app.parts.close()


def call(handler: Handler, event: dict[str, Any], context: Context | None = None) -> Any:
    """The handler's answer."""
    return handler(event, context or Context())  # type: ignore[arg-type]


def metrics_in(text: str) -> dict[str, float]:
    """The metrics of the embedded metric format that were printed."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{") and '"_aws"' in line]
    return {name: value[0] for line in lines for name, value in line.items() if isinstance(value, list)}


@pytest.mark.spec("H-10")
def test_the_schedule_makes_what_is_due(summaries: Summaries, capsys: pytest.CaptureFixture[str]) -> None:
    summaries.say(50)
    summaries.memory.project()
    handler = summarize_handler(summaries.app)
    assert call(handler, {"task": "summarize"}) == {"made": 1, "not_due": 0, "busy": 0, "failed": 0, "complete": True}
    assert len(summaries.stored()) == 1
    printed = capsys.readouterr().out
    assert metrics_in(printed) == {
        "SummariesMade": 1.0, "SummariesNotDue": 0.0, "SummariesBusy": 0.0, "SummariesFailed": 0.0,
    }  # fmt: skip
    assert "This is number" not in printed
    assert "Anna counts" not in printed


def test_without_time_it_begins_nothing(summaries: Summaries) -> None:
    summaries.say(50)
    summaries.memory.project()
    context = Context()
    context.remaining_ms = 59_000
    assert call(summarize_handler(summaries.app), {"task": "summarize"}, context)["complete"] is False
    assert summaries.model.asked == []


@pytest.mark.spec("H-29")
def test_failures_are_logged_by_kind(summaries: Summaries, caplog: pytest.LogCaptureFixture) -> None:
    summaries.say(50)
    summaries.memory.project()
    summaries.model.says = [UpstreamFailed("the words of a user")]
    assert call(summarize_handler(summaries.app), {"task": "summarize"})["failed"] == 1
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


def test_the_counts_of_a_run_start_at_nothing() -> None:
    assert SummaryRun().counts == dict.fromkeys(("made", "not_due", "busy", "failed"), 0)
    assert Rules().summary.messages == 50
