"""Contradictions on the real engines, from HTTP over table and stream to the index: current, listed, undone."""

from datetime import UTC, datetime
from typing import Any

import pytest

from engines.conftest import Deployment
from engines.test_memories_end_to_end import MEMORIES, drain, get

pytestmark = pytest.mark.engines

USER = "/v1/users/anna"
PARIS, LYON, NICE = "I live in Paris.", "I moved to Lyon.", "I live in Nice until 10 April 2024."
MEAT, NO_MEAT = "I eat meat every day.", "I no longer eat meat."
TUESDAY, LATER = "The meeting is on Tuesday at 3pm", "The meeting is still Tuesday but at 4pm now"


def say(deployment: Deployment, content: str, day: int, **more: Any) -> str:
    """An event of that day of April, and what the stream makes of it; its id."""
    event = {"content": content, "role": "user", "timestamp": f"2024-04-{day:02d}T09:00:00Z", **more}
    answer = deployment.call("ingest", "POST", "/v1/events", {"user_id": "anna", "events": [event]})
    assert answer.status == 201, answer.body
    drain(deployment)
    drain(deployment)
    return str(answer.body["results"][0]["event_id"])


def shown(deployment: Deployment, query: str, **more: Any) -> list[str]:
    answer = deployment.call("retrieval", "POST", "/v1/search", {"user_id": "anna", "query": query, **more})
    assert answer.status == 200, answer.body
    return [one["content"] for one in answer.body["results"]]


def prompt(deployment: Deployment, text: str) -> str:
    answer = deployment.call("context", "POST", "/v1/context", {"user_id": "anna", "input": text})
    assert answer.status == 200, answer.body
    return str(answer.body["prompt"])


def status(deployment: Deployment, memory_id: str) -> tuple[str, str | None]:
    memory = get(deployment, f"{MEMORIES}/{memory_id}")
    return memory["status"], memory.get("superseded_by")


def decisions(deployment: Deployment) -> list[dict[str, Any]]:
    return list(get(deployment, f"{USER}/arbitrations")["arbitrations"])


@pytest.mark.spec("P-24", "P-25")
@pytest.mark.parametrize("late", [False, True])
def test_a_replacement_and_its_undoing(deployment: Deployment, late: bool) -> None:
    told = [(PARIS, 1), (LYON, 3)]
    ids = {text: say(deployment, text, day) for text, day in (reversed(told) if late else told)}
    assert status(deployment, ids[PARIS]) == ("superseded", ids[LYON])
    assert shown(deployment, "where do I live") == [LYON]
    assert "Paris" not in prompt(deployment, "Where do I live?")
    assert PARIS in shown(deployment, "where do I live", as_of="2024-04-02T00:00:00Z")
    (decision,) = decisions(deployment)
    assert (decision["winner"], decision["loser"]) == (ids[LYON], ids[PARIS])
    path = f"{USER}/arbitrations/{decision['id']}/revert"
    assert deployment.call("retrieval", "POST", path, {}, headers={"idempotency-key": "undo"}).status == 200
    for _ in range(2):
        drain(deployment)
        assert status(deployment, ids[PARIS]) == ("active", None)
        assert set(shown(deployment, "where do I live")) == {PARIS, LYON}


@pytest.mark.spec("P-24")
def test_an_end_and_a_retraction(deployment: Deployment) -> None:
    meat, _ = say(deployment, MEAT, 1), say(deployment, NO_MEAT, 2)
    sister, _ = say(deployment, "I have a sister.", 3), say(deployment, "I misspoke, I have no sister.", 4)
    assert status(deployment, meat)[0] == "superseded"
    assert status(deployment, sister)[0] == "retracted"
    assert MEAT not in shown(deployment, "eat meat")
    assert "I have a sister." not in shown(deployment, "sister", as_of="2024-04-03T12:00:00Z")


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("key", [None, "home"])
def test_a_bounded_value_holds_within_its_bounds(deployment: Deployment, key: str | None) -> None:
    more = {} if key is None else {"key": key}
    paris, _ = say(deployment, PARIS, 1, **more), say(deployment, NICE, 5, **more)
    assert status(deployment, paris) == ("active", None)
    assert shown(deployment, "where do I live", as_of="2024-04-06T00:00:00Z") == [NICE]
    assert shown(deployment, "where do I live") == [PARIS]


@pytest.mark.spec("P-24")
def test_a_partial_change_names_both_sources(deployment: Deployment) -> None:
    old, new = say(deployment, TUESDAY, 1), say(deployment, LATER, 2)
    assert status(deployment, old) == ("merged", new)
    both = get(deployment, f"{MEMORIES}/{new}")
    assert both["source_event_ids"] == [old, new]
    assert shown(deployment, "when is the meeting") == [both["content"]]
    (decision,) = decisions(deployment)
    path = f"{USER}/arbitrations/{decision['id']}/revert"
    assert deployment.call("retrieval", "POST", path, {}).status == 200
    drain(deployment)
    assert set(shown(deployment, "when is the meeting")) == {TUESDAY, LATER}


@pytest.mark.spec("P-24")
def test_what_is_merely_alike_is_an_open_conflict(deployment: Deployment) -> None:
    rules = {"conflict": {"semantic_threshold": 0.5}}
    deployment.app.rules.replace("acme", rules, datetime.now(UTC), None)
    texts = ("Anna's blue bicycle stands in the old shed", "Anna's blue bicycle stands in the old barn")
    ids = [say(deployment, text, day, importance=0.9) for day, text in enumerate(texts, 1)]
    assert [status(deployment, one) for one in ids] == [("active", None)] * 2
    (conflict,) = get(deployment, f"{USER}/conflicts?status=open")["conflicts"]
    path = f"{USER}/conflicts/{conflict['id']}/resolve"
    assert deployment.call("retrieval", "POST", path, {"winner": ids[1]}).status == 200
    drain(deployment)
    assert shown(deployment, "blue bicycle") == [texts[1]]
    assert get(deployment, f"{USER}/conflicts?status=open")["conflicts"] == []
