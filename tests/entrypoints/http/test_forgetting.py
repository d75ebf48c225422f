"""`DELETE …/events/{event_id}` and `DELETE …/keys/{key}` (`docs/memories.md`, *Gone*)."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from entrypoints.http.calling import Caller, Cloud
from recollect.app import App
from recollect.entrypoints.http.routing import path_segment

AT = "2024-05-01T12:00:00Z"
HARD = ("#", "a/b", "~", "🙂", "\u202eabc", "*", "\U00020000" * 128)


def contents(caller: Caller, **query: Any) -> list[str]:
    return [event["content"] for event in caller.timeline(last_days=3650, **query).json["events"]]


def found(caller: Caller, query: str) -> list[str]:
    answer = caller.post("/v1/search", {"user_id": "anna", "query": query})
    return [result["content"] for result in answer.json["results"]]


@pytest.mark.spec("P-22")
def test_a_deleted_event_is_gone_and_refused(caller: Caller) -> None:
    said = {"content": "the zebra sings", "timestamp": AT}
    (kept,) = caller.added("the cat sleeps")
    (event_id,) = (result["event_id"] for result in caller.add(said).json["results"])
    path = f"/v1/users/anna/events/{event_id}"
    answer = caller.delete(path)
    assert (answer.status, answer.text) == (204, "")
    for again in (caller.delete(path), caller.get(path)):
        assert (again.status, again.json["type"]) == (404, "urn:recollect:problem:not-found")
    assert contents(caller) == found(caller, "zebra sings") == ["the cat sleeps"]
    (result,) = caller.add(said).json["results"]
    assert result == {"status": "refused", "reason": "deleted"}
    assert caller.get(f"/v1/users/anna/events/{kept}").status == 200
    assert caller.add({**said, "timestamp": "2024-05-01T12:00:01Z"}).status == 201


@pytest.mark.spec("P-22")
def test_a_replay_names_what_was_deleted_as_refused(caller: Caller) -> None:
    first = caller.add({"content": "the zebra sings"}, {"content": "the cat sleeps"}, user="anna")
    body = {"user_id": "anna", "events": [{"content": "one"}, {"content": "two"}]}
    first = caller.post("/v1/events", body, Idempotency_Key="k1")
    one, two = (result["event_id"] for result in first.json["results"])
    caller.delete(f"/v1/users/anna/events/{one}")
    replayed = caller.post("/v1/events", body, Idempotency_Key="k1")
    assert (replayed.status, replayed.headers["idempotent-replayed"]) == (201, "true")
    assert replayed.json["results"][0] == {"status": "refused", "event_id": one, "reason": "deleted"}
    assert (replayed.json["results"][1]["status"], replayed.json["results"][1]["event_id"]) == ("created", two)


def test_if_match_is_honoured(caller: Caller) -> None:
    (event_id,) = caller.added("the zebra sings")
    path = f"/v1/users/anna/events/{event_id}"
    for wrong in ('"7"', "7", 'W/"1"', '"7", "8"'):
        answer = caller.delete(path, If_Match=wrong)
        assert (answer.status, answer.json["type"]) == (412, "urn:recollect:problem:version-mismatch")
    assert caller.delete(path, If_Match=caller.get(path).headers["etag"]).status == 204
    assert caller.delete(path, If_Match="*").status == 404
    (event_id,) = caller.added("another")
    assert caller.delete(f"/v1/users/anna/events/{event_id}", If_Match='"3", "1"').status == 204


@pytest.mark.parametrize("key", HARD)
@pytest.mark.spec("P-22")
def test_a_key_is_deleted_with_its_history(caller: Caller, key: str) -> None:
    cities = [{"content": name, "key": key, "timestamp": f"2024-05-0{n}T12:00:00Z"} for n, name in enumerate("abcd", 1)]
    assert caller.add(*cities).status == 201
    assert caller.add({"content": "another", "key": "other"}).status == 201
    path = f"/v1/users/anna/keys/{quote(path_segment(key), safe='~')}"
    assert caller.delete(path).status == 204
    assert contents(caller) == ["another"]
    assert caller.delete(path).status == 404
    assert [result["status"] for result in caller.add(*cities).json["results"]] == ["refused"] * 4
    late = {"content": "late", "key": key, "timestamp": "2024-05-04T12:00:00Z"}
    assert caller.add(late, {**late, "content": "earlier", "timestamp": "2024-05-02T12:00:00Z"}).status == 201
    assert found(caller, "late earlier") == ["another"]
    assert sorted(contents(caller)) == ["another", "earlier", "late"]
    assert caller.add({**late, "content": "newer", "timestamp": "2024-05-05T00:00:00Z"}).status == 201
    assert "newer" in found(caller, "newer")


@pytest.mark.spec("P-22")
def test_deleting_the_current_value_leaves_the_slot_empty(app: App, caller: Caller) -> None:
    answers = [
        caller.add({"content": name, "key": "city", "timestamp": f"2024-05-0{n}T12:00:00Z"}).json["results"][0]
        for n, name in enumerate(("Rome", "Lyon"), 1)
    ]
    assert caller.delete(f"/v1/users/anna/events/{answers[1]['event_id']}").status == 204
    assert found(caller, "Rome Lyon") == []
    app.projection.reconciliation.run(datetime.now(UTC))
    assert found(caller, "Rome Lyon") == []
    (rome,) = caller.timeline(last_days=3650).json["events"]
    assert (rome["content"], rome["superseded_by"]) == ("Rome", answers[1]["event_id"])


def test_persona_and_household_narrow(caller: Caller) -> None:
    everyone = [{}, {"persona_id": "coach"}, {"persona_id": "coach", "household_id": "home"}]
    for number, whose in enumerate(everyone):
        event = {"content": f"note {number}", "key": "city"}
        assert caller.post("/v1/events", {"user_id": "anna", **whose, "events": [event]}).status == 201
    ids = {event["content"]: event["id"] for event in caller.timeline().json["events"]}
    path = f"/v1/users/anna/events/{ids['note 1']}"
    assert caller.delete(f"{path}?persona_id=other").status == 404
    assert caller.delete(f"{path}?persona_id=coach&household_id=home").status == 404
    assert caller.delete("/v1/users/anna/keys/city?persona_id=coach&household_id=home").status == 204
    assert sorted(contents(caller)) == ["note 0", "note 1"]
    assert caller.delete("/v1/users/anna/keys/city").status == 204
    assert contents(caller) == ["note 1"]
    assert caller.delete(f"{path}?persona_id=coach").status == 204


def test_another_users_and_tenants_are_not_found(app: App, caller: Caller) -> None:
    (event_id,) = caller.added("mine")
    caller.add({"content": "Rome", "key": "city"})
    other = Caller(Cloud(app, {"tenant": "other"}))
    for asking, user in ((caller, "ben"), (other, "anna")):
        assert asking.delete(f"/v1/users/{user}/events/{event_id}").status == 404
        assert asking.delete(f"/v1/users/{user}/keys/city").status == 404
    assert sorted(contents(caller)) == ["Rome", "mine"]


@pytest.mark.parametrize("path", ["/v1/users/anna/events/x?reject=maybe", "/v1/users/anna/keys/~!"])
def test_bad_input_is_refused(caller: Caller, path: str) -> None:
    assert caller.delete(path).status == 422


@pytest.mark.spec("P-22")
def test_a_rejected_value_is_refused_listed_and_lifted(caller: Caller) -> None:
    said = {"content": "the zebra sings", "timestamp": AT}
    (event_id,) = (result["event_id"] for result in caller.add(said).json["results"])
    assert caller.delete(f"/v1/users/anna/events/{event_id}?reject=true").status == 204
    (result,) = caller.add({"content": "The ZEBRA s\u0456ngs!"}).json["results"]
    assert result == {"status": "refused", "reason": "rejected"}
    assert caller.post("/v1/memories", {"user_id": "anna", "content": "the zebra sings"}).status == 409
    caller.added("We met. The zebra sings. We parted.")
    assert found(caller, "zebra sings") == ["We met. We parted."]
    listed = caller.get("/v1/users/anna/rejections").json["rejections"]
    assert [one.keys() for one in listed] == [{"id", "time", "scope"}]
    assert listed[0]["scope"] == {"user_id": "anna"}
    assert caller.get("/v1/users/ben/rejections").json == {"rejections": []}
    path = f"/v1/users/anna/rejections/{listed[0]['id']}"
    assert caller.delete(path.replace("anna", "ben")).status == 404
    assert (caller.delete(path).status, caller.delete(path).status) == (204, 404)
    assert caller.add({"content": "the zebra sings"}).status == 201
    assert caller.get("/v1/users/anna/rejections").json == {"rejections": []}


@pytest.mark.spec("P-22")
def test_the_value_of_a_memory_is_rejected_with_it(caller: Caller) -> None:
    body = {"user_id": "anna", "content": "The zebra sings"}
    saved = caller.post("/v1/memories", body)
    path = f"/v1/users/anna/memories/{saved.json['id']}?reject=true"
    assert caller.delete(path, If_Match='"9"').status == 412
    assert caller.get("/v1/users/anna/rejections").json == {"rejections": []}
    assert caller.delete(path, If_Match=saved.headers["etag"]).status == 204
    again = caller.post("/v1/memories", {**body, "content": "the ZEBRA sings."})
    assert (again.status, again.json["type"]) == (409, "urn:recollect:problem:conflict")
    other = caller.post("/v1/memories", {**body, "content": "The lion sings"})
    target, if_match = f"/v1/users/anna/memories/{other.json['id']}", other.headers["etag"]
    patched = caller.patch(target, {"content": "the zebra sings"}, if_match=if_match)
    assert patched.status == 409
    assert caller.add({"content": "the zebra sings"}).json["results"] == [{"status": "refused", "reason": "rejected"}]
    assert caller.post("/v1/memories", {**body, "persona_id": "coach"}).status == 201


def test_rejections_are_listed_in_pages_and_by_scope(caller: Caller) -> None:
    for number in range(5):
        scope = {"persona_id": "coach"} if number == 3 else {}
        answer = caller.post("/v1/events", {"user_id": "anna", **scope, "events": [{"content": f"value {number}"}]})
        event_id = answer.json["results"][0]["event_id"]
        assert caller.delete(f"/v1/users/anna/events/{event_id}?reject=true", If_Match='"1"').status == 204
    walked = [one["id"] for one in caller.walk("/v1/users/anna/rejections", "rejections", limit=2)]
    assert len(set(walked)) == 5
    assert walked == sorted(walked)
    (coach,) = caller.get("/v1/users/anna/rejections?persona_id=coach").json["rejections"]
    assert coach["id"] == walked[3]
    assert caller.delete(f"/v1/users/anna/rejections/{walked[0]}?persona_id=coach").status == 404
    assert caller.get("/v1/users/anna/rejections?reject=1").status == 422


def settled(caller: Caller, erasure_id: str) -> dict[str, Any]:
    """The report once the job of the erasure has run: in the cloud that is another function's work."""
    app = caller.surface.app if isinstance(caller.surface, Cloud) else None
    for _ in range(50):
        report: dict[str, Any] = caller.get(f"/v1/erasures/{erasure_id}").json
        if report["status"] == "done":
            return report
        if app is not None:
            app.job_runs.one("local", erasure_id, lambda: datetime.now(UTC), lambda: 60.0)
    raise AssertionError(report)


@pytest.mark.spec("P-22")
def test_an_erased_user_is_gone_and_may_start_anew(caller: Caller) -> None:
    said = {"content": "the zebra sings", "timestamp": AT}
    body = {"user_id": "anna", "events": [{"content": "one"}]}
    first = caller.post("/v1/events", body, Idempotency_Key="k1").json["results"][0]["event_id"]
    caller.add(said)
    caller.add(said, user="ben")
    answer = caller.delete("/v1/users/anna")
    assert (answer.status, answer.json.keys()) == (202, {"erasure_id"})
    assert contents(caller) == found(caller, "zebra") == []
    assert [e["content"] for e in caller.timeline("ben", last_days=3650).json["events"]] == ["the zebra sings"]
    report = settled(caller, answer.json["erasure_id"])
    assert (report["status"], report["verified"], report["reached"]["events"]) == ("done", True, 2)
    assert all(one["until"] > "2024" for one in report["lapses"])
    assert caller.add(said).json["results"] == [{"status": "refused", "reason": "deleted"}]
    replayed = caller.post("/v1/events", body, Idempotency_Key="k1")
    assert replayed.json["results"] == [{"status": "refused", "event_id": first, "reason": "deleted"}]
    assert caller.add({"content": "a new life"}).status == 201
    assert contents(caller) == ["a new life"]
    entries = caller.get("/v1/users/anna/audit").json["entries"]
    assert [entry["action"] for entry in entries if entry["target_ids"] == [answer.json["erasure_id"]]] == ["erase"]
    assert not [entry for entry in entries if first in entry["target_ids"]]
    assert caller.get("/v1/erasures/018f0000-0000-7000-8000-000000000009").status == 404
    assert caller.get("/v1/ready").json["parts"]["tombstones"]["ready"]
