"""What a search and a context say of what was replaced: over HTTP, on every surface."""

from datetime import UTC, datetime
from typing import Any

import pytest

from entrypoints.http.calling import Caller
from recollect.app import App
from recollect.entrypoints.http.representations import ResultAnswer
from recollect.entrypoints.http.routes.context import ContextItem

PARIS, LYON = "The walrus choir meets in the harbour chapel", "The walrus choir meets at the lighthouse"
SAID = [(PARIS, "2024-03-04T10:00:00Z"), (LYON, "2024-05-01T10:00:00Z")]


def told(caller: Caller, app: App) -> list[str]:
    """Two values of a key, projected; their ids."""
    events = [{"content": text, "timestamp": at, "key": "place"} for text, at in SAID]
    answer = caller.post("/v1/events", {"user_id": "anna", "events": events})
    assert answer.status == 201, answer.text
    assert app.projection.reconciliation.run(datetime.now(UTC)).failed == {}
    return [one["event_id"] for one in answer.json["results"]]


def search(caller: Caller, **more: Any) -> list[dict[str, Any]]:
    answer = caller.post("/v1/search", {"user_id": "anna", "query": "harbour chapel", "mode": "lexical", **more})
    assert answer.status == 200, answer.text
    return list(answer.json["results"])


@pytest.mark.spec("P-24")
def test_a_result_says_when_that_was_said_which_it_replaces(caller: Caller, app: App) -> None:
    old, new = told(caller, app)
    (found,) = search(caller, explain=True)
    assert (found["id"], found["content"], found["status"]) == (new, LYON, "active")
    assert found["note"] == "replaces what was said on 2024-03-04"
    assert found["why"]["stands_for"] == [{"id": old, "timestamp": "2024-03-04T10:00:00.000000Z"}]
    assert found["valid_from"].startswith("2024-05-01")
    assert "valid_to" not in found
    assert PARIS not in str(found)
    asked = {"user_id": "anna", "input": "Where is the harbour chapel?", "explain": True}
    answer = caller.post("/v1/context", asked).json
    (item,) = answer["items"]
    assert (item["content"], item["note"]) == (LYON, "replaces what was said on 2024-03-04")
    assert PARIS not in answer["prompt"]
    assert {"note", "valid_from", "valid_to"} <= {*ResultAnswer.model_fields, *ContextItem.model_fields}


@pytest.mark.spec("P-24")
def test_the_past_has_no_successor_and_no_note(caller: Caller, app: App) -> None:
    old, new = told(caller, app)
    (found,) = search(caller, as_of="2024-04-01T00:00:00Z", explain=True)
    assert (found["id"], found["content"], found["status"]) == (old, PARIS, "active")
    assert not {"superseded_by", "valid_to", "note"} & found.keys()
    both = search(caller, include_superseded=True, mode="hybrid")
    assert {one["id"]: one["status"] for one in both} == {old: "superseded", new: "active"}
    context = {"user_id": "anna", "input": "Where is the choir?", "as_of": "2024-04-01T00:00:00Z"}
    assert [item["content"] for item in caller.post("/v1/context", context).json["items"]] == [PARIS]
