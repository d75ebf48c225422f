"""HTTP → DynamoDB → its stream → the count in `project` → the schedule's run → the summary, on the real engines."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engines.conftest import Deployment, lambda_context
from recollect.core.scope import Scope
from recollect.entrypoints.lambda_handlers import summarize_handler

pytestmark = pytest.mark.engines

ANNA = Scope("acme", "anna")


def say(deployment: Deployment, count: int, *, word: str, ended: datetime, **more: Any) -> list[str]:
    """So many messages, the last one at `ended`."""
    moments = [ended - timedelta(seconds=count - n) for n in range(count)]
    listed = [{"content": f"I counted {word} {n} in Lyon.", "timestamp": m.isoformat()} for n, m in enumerate(moments)]
    made = deployment.call("ingest", "POST", "/v1/events", {"user_id": "anna", "events": listed, **more})
    assert made.status in (200, 201), made.body
    return [one["event_id"] for one in made.body["results"]]


@pytest.mark.spec("H-05", "H-10", "P-5", "P-21")
def test_the_stream_counts_and_the_schedule_summarises_once(deployment: Deployment) -> None:
    now = datetime.now(UTC)
    deployment.handlers |= {"summarize": summarize_handler(deployment.app)}  # type: ignore[operator]
    run = deployment.handlers["summarize"]
    say(deployment, 49, word="sheep", ended=now - timedelta(hours=1))
    deployment.pump.drain()
    assert run({"task": "summarize"}, lambda_context(900))["made"] == 0
    say(deployment, 1, word="goat", ended=now)
    say(deployment, 50, word="cows", ended=now, persona_id="coach")
    deployment.pump.drain()
    answers: list[dict[str, Any]] = []
    threads = [
        threading.Thread(target=lambda: answers.append(run({"task": "summarize"}, lambda_context(900))))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(one["made"] for one in answers) == 2
    assert all(one["failed"] == 0 for one in answers)
    listed = deployment.call("summarize", "GET", "/v1/users/anna/summaries").body["summaries"]
    found = sorted((one.get("persona_id", ""), one["message_count"]) for one in listed)
    assert found == [("", 40), ("coach", 40)]
    assert run({"task": "summarize"}, lambda_context(900))["made"] == 0
    for _ in range(2):  # an import of earlier turns, sent twice
        say(deployment, 50, word="hens", ended=now - timedelta(days=9))
        deployment.pump.drain()
    assert [run({"task": "summarize"}, lambda_context(900))["made"] for _ in range(2)] == [1, 0]
    newest, *_ = deployment.call("summarize", "GET", "/v1/users/anna/summaries").body["summaries"]
    (own,) = (one for one in listed if "persona_id" not in one)
    assert newest["message_count"] == 50
    assert newest["covered_from"] < newest["covered_until"] == own["covered_until"]
