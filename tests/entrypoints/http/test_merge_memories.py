"""`POST …/memories/{memory_id}/merge`: two memories become one, and two again (P-22, P-24)."""

from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller
from entrypoints.http.promised import check, document
from entrypoints.http.test_contradictions import caller, contents, say, settle
from recollect.app import App

__all__ = ["caller"]
MERGE = "/v1/users/{user_id}/memories/{memory_id}/merge"
VIOLIN, ORCHESTRA = "The lamp glows at night", "Rivers bend beyond the hill"


def saved(caller: Caller, content: str, user: str = "anna", **more: Any) -> str:
    return str(caller.post("/v1/memories", {"user_id": user, "content": content, **more}).json["id"])


def memory(caller: Caller, memory_id: str) -> Any:
    return caller.get(f"/v1/users/anna/memories/{memory_id}").json


def merged(caller: Caller, kept: str, other: str, user: str = "anna", version: str = '"1"', **more: Any) -> Answered:
    body = {"other": other, "other_version": 1, **{k: v for k, v in more.items() if k != "idempotency_key"}}
    once = {"idempotency_key": more["idempotency_key"]} if "idempotency_key" in more else {}
    answer = caller.post(f"/v1/users/{user}/memories/{kept}/merge", body, if_match=version, **once)
    check(answer, document()["paths"][MERGE]["post"])
    return answer


@pytest.mark.spec("P-24")
def test_two_become_one_with_the_sources_of_both_and_two_again(app: App, caller: Caller) -> None:
    old, new = say(app, caller, VIOLIN, ORCHESTRA)
    before = memory(caller, old), memory(caller, new)
    done = merged(caller, new, old, idempotency_key="m")
    one, decision = done.json["memory"], done.json["decision"]
    assert (one["content"], one["origin"], one["status"]) == (f"{VIOLIN}\n{ORCHESTRA}", "merged", "active")
    assert set(one["source_event_ids"]) == {old, new}
    assert (memory(caller, old)["status"], memory(caller, old)["superseded_by"]) == ("merged", new)
    assert (decision["step"], decision["outcome"]) == ("user", "merged")
    assert merged(caller, new, old, idempotency_key="m").headers["idempotent-replayed"] == "true"
    settle(app)
    assert contents(caller, "the lamp at night") == [f"{VIOLIN}\n{ORCHESTRA}"]
    assert caller.post(decision["revert"], None).status == 200
    settle(app)
    shown = ("content", "status", "source_event_ids", "origin")
    after = memory(caller, old), memory(caller, new)
    assert [[one[name] for name in shown] for one in after] == [[one[name] for name in shown] for one in before]
    for one in (old, new):
        history = caller.get(f"/v1/users/anna/memories/{one}/history").json["history"]
        assert [version["action"] for version in history][-2:] == ["merge", "revert"]
        assert [version["actor"]["id"] for version in history][-2:] == ["anna", "anna"]
        assert all("at" in version for version in history)
    versions = [one["version"] for one in after]
    again = merged(caller, old, new, version=f'"{versions[0]}"', other_version=versions[1], content="Both at once")
    assert (again.status, again.json["memory"]["content"]) == (200, "Both at once")


@pytest.mark.spec("P-22")
def test_who_forgets_the_other_ones_event_takes_its_part_out(app: App, caller: Caller) -> None:
    old, new = say(app, caller, VIOLIN, ORCHESTRA)
    assert merged(caller, new, old).status == 200
    assert caller.delete(f"/v1/users/anna/events/{old}").status in (200, 204)
    assert memory(caller, new)["content"] == ORCHESTRA
    assert "lamp" not in caller.get(f"/v1/users/anna/memories/{new}/history").text


def test_what_cannot_become_one_is_refused_and_stays(app: App, caller: Caller) -> None:
    one, two = saved(caller, VIOLIN), saved(caller, ORCHESTRA)
    keyed, apart = saved(caller, "Lyon", key="city"), saved(caller, "tea", persona_id="coach")
    foreign = saved(caller, "I am Ben", user="ben")
    for other, status in (one, 422), (keyed, 409), (apart, 409), (foreign, 404), ("nothing", 404):
        assert merged(caller, one, other).status == status, other
    assert merged(caller, one, foreign, user="ben").status == 404
    assert merged(caller, one, two, version='"2"').status == 412
    assert merged(caller, one, two, other_version=2).status == 412
    assert merged(caller, one, two, content=" ").status == 422
    assert caller.post(f"/v1/users/anna/memories/{one}/merge", {"other": two, "other_version": 1}).status == 428
    assert caller.delete(f"/v1/users/anna/memories/{saved(caller, 'secret')}?reject=true", if_match="*").status == 204
    assert merged(caller, one, two, content="secret").status == 409
    assert [memory(caller, known)["version"] for known in (one, two)] == [1, 1]
    assert merged(caller, one, two).status == 200
    assert merged(caller, one, two, version="*").status == 412
