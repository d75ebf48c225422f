"""`/v1/merge-rules` over both servers (A-108 to A-130)."""

import json
from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller, Cloud
from recollect.app import App

BASE = {"priority": 5, "arbitration": {"mergeThreshold": 0.3, "weights": {"importance": 0.5, "recency": 0.2}}}


def send(caller: Caller, method: str, name: str, document: Any = None, **headers: str) -> Answered:
    """A request about one rule."""
    body = None if document is None else json.dumps(document).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return caller.surface.send(method, f"/v1/merge-rules/{name}", body, named)


def put(caller: Caller, name: str, document: Any, **headers: str) -> Answered:
    """Registers a rule."""
    return send(caller, "PUT", name, document, **headers)


def listed(caller: Caller) -> Any:
    return caller.get("/v1/merge-rules").json


@pytest.mark.spec("A-109", "A-110", "A-111", "A-112")
def test_a_rule_is_kept_raw_and_answered_resolved(caller: Caller) -> None:
    assert listed(caller)["version"] == 1
    assert put(caller, "base", BASE).status == 200
    answer = put(caller, "mine", {"extends": "base", "arbitration": {"mergeThreshold": 0.1}})
    assert answer.status == 200, answer.text
    assert answer.headers["etag"] == '"3"'
    assert answer.json == {
        "name": "mine",
        "version": 3,
        "extends": "base",
        "arbitration": {"mergeThreshold": 0.1},
        "resolved": {"priority": 5, "arbitration": {**BASE["arbitration"], "mergeThreshold": 0.1}},  # type: ignore[dict-item]
    }
    assert send(caller, "GET", "mine").json == answer.json
    assert (listed(caller)["version"], [rule["name"] for rule in listed(caller)["rules"]]) == (
        3, ["default", "base", "mine"]
    )  # fmt: skip


@pytest.mark.spec("A-116", "A-117", "A-118")
def test_a_patch_needs_the_version(caller: Caller) -> None:
    version = put(caller, "mine", BASE).headers["etag"]
    assert send(caller, "PATCH", "mine", {"priority": 1}).status == 428
    good = send(caller, "PATCH", "mine", {"priority": None, "arbitration": {"allowMerge": False}}, if_match=version)
    assert good.status == 200, good.text
    assert good.json["resolved"] == {"arbitration": {**BASE["arbitration"], "allowMerge": False}}  # type: ignore[dict-item]
    assert send(caller, "PATCH", "mine", {"priority": 1}, if_match=version).status == 412
    assert send(caller, "PATCH", "mine", {"priority": 1}, if_match="*").status == 200
    assert send(caller, "PATCH", "other", {"priority": 1}, if_match="*").status == 404
    renamed = send(caller, "PATCH", "mine", {"name": "other"}, if_match="*")
    assert (renamed.status, renamed.locs) == (422, {("body", "name")})
    assert send(caller, "PATCH", "mine", {}, if_match="*").status == 422


def test_a_put_may_name_the_version(caller: Caller) -> None:
    assert put(caller, "mine", {}, if_match="*").status == 412  # there is none
    version = put(caller, "mine", {}).headers["etag"]
    assert put(caller, "mine", {"priority": 1}, if_match=version).status == 200
    assert put(caller, "mine", {"priority": 2}, if_match=version).status == 412


@pytest.mark.spec("A-130")
def test_a_rule_is_deleted_but_the_default_one(caller: Caller) -> None:
    version = put(caller, "mine", {}).headers["etag"]
    put(caller, "derived", {"extends": "mine"})
    assert send(caller, "DELETE", "default").status == 409
    assert send(caller, "DELETE", "mine").status == 409  # another one extends it
    assert send(caller, "DELETE", "derived", if_match='"1"').status == 412
    assert send(caller, "DELETE", "derived").status == 204
    assert send(caller, "DELETE", "mine", if_match=version).status == 204
    assert send(caller, "GET", "mine").status == 404
    assert send(caller, "DELETE", "mine").status == 404


@pytest.mark.spec("A-124", "A-125")
def test_changes_are_on_the_bus(caller: Caller) -> None:
    put(caller, "mine", BASE)
    send(caller, "PATCH", "mine", {"priority": 1}, if_match="*")
    send(caller, "DELETE", "mine")
    events = [one for one in caller.get("/v1/bus").json["events"] if one["type"].startswith("rule:")]
    assert [one["type"] for one in events] == ["rule:registered", "rule:updated", "rule:deleted"]
    assert {one["detail"]["name"] for one in events} == {"mine"}
    assert [one["detail"]["configuration"]["priority"] for one in events] == [5, 1, 1]


@pytest.mark.spec("A-120", "A-121", "A-122", "A-123")
def test_the_rule_that_a_candidate_meets(caller: Caller) -> None:
    put(caller, "base", {**BASE, "enabled": False})
    put(caller, "mine", {"extends": "base", "enabled": True, "conditions": {"importanceRange": {"min": 0.5}}})
    candidate = {"id": "c", "user_id": "anna", "content": "x", "importance": 0.5, "timestamp": "2024-05-01"}
    met = caller.post("/v1/merge-rules/match", {"candidate": candidate, "existing": candidate}).json
    assert (met["name"], met["rule"]["arbitration"]["mergeThreshold"], met["rule"]["extends"]) == ("mine", 0.3, "base")
    missed = caller.post("/v1/merge-rules/match", {"candidate": {**candidate, "importance": 0.4}, "existing": []})
    assert missed.json["name"] == "default"
    assert caller.post("/v1/merge-rules/match", {"candidate": {"user_id": "anna"}}).json["name"] == "default"
    assert caller.post("/v1/merge-rules/match", {"candidate": {}}).locs == {("body", "candidate", "user_id")}


@pytest.mark.spec("A-126", "A-127", "A-128", "A-129")
def test_an_export_is_imported_as_it_came(caller: Caller, app: App) -> None:
    put(caller, "base", BASE)
    put(caller, "mine", {"extends": "base", "conditions": {"source": ["user"]}})
    export = listed(caller)
    other = Caller(Cloud(app, {"tenant": "other"}))
    answer = other.post("/v1/merge-rules/import", {**export, "rules": export["rules"][::-1]}, idempotency_key="k")
    assert answer.status == 200, answer.text
    again = other.post("/v1/merge-rules/import", {**export, "rules": export["rules"][::-1]}, idempotency_key="k")
    assert (again.json, again.headers["idempotent-replayed"]) == (answer.json, "true")
    shown = {rule.pop("name"): rule for rule in answer.json["rules"]}
    wanted = {rule.pop("name"): rule for rule in export["rules"]}
    assert {name: {**rule, "version": 0} for name, rule in shown.items()} == {
        name: {**rule, "version": 0} for name, rule in wanted.items()
    }


def test_a_wrong_import_changes_nothing(caller: Caller) -> None:
    for rules, loc in (
        ([{"name": "a"}, {"name": "b", "extends": "c"}], ("body", "rules", 1, "extends")),
        ([{"name": "a", "extends": "b"}, {"name": "b", "extends": "a"}], ("body", "rules", 0, "extends")),
        ([{"name": "a"}, {"priority": 1}], ("body", "rules", 1, "name")),
        ([{"name": ".."}], ("body", "rules", 0, "name")),
        ([{"name": "a"}, 7], ("body", "rules", 1)),
        ([{"name": "a", "merge": {"deduplicate": 1}}], ("body", "rules", 0, "merge", "deduplicate")),
        ([{"name": "a", "colour": 1}], ("body", "rules", 0, "colour")),
        ({}, ("body", "rules")),
    ):
        answer = caller.post("/v1/merge-rules/import", {"rules": rules})
        assert (answer.status, answer.locs) == (422, {loc})
    assert listed(caller)["version"] == 1


@pytest.mark.parametrize(
    ("document", "loc"),
    [
        ({"extends": "nothing"}, ("body", "extends")),
        ({"extends": "mine"}, ("body", "extends")),
        ({"colour": 1}, ("body", "colour")),
        ({"arbitration": {"weights": {"importance": 0.5}}}, ("body", "arbitration", "weights")),
        ({"arbitration": {"weights": {"importance": 2}}}, ("body", "arbitration", "weights", "importance")),
        ({"detection": {"semanticThreshold": -0.1}}, ("body", "detection", "semanticThreshold")),
        ({"conditions": {"importanceRange": {"min": 1, "max": 0}}}, ("body", "conditions", "importanceRange")),
        ([], ("body",)),
    ],
)
def test_a_wrong_rule_is_refused_with_its_path(caller: Caller, document: Any, loc: tuple[Any, ...]) -> None:
    answer = put(caller, "mine", document)
    assert (answer.status, answer.locs) == (422, {loc})
    put(caller, "mine", {})
    changed = send(caller, "PATCH", "mine", document, if_match="*")
    assert (changed.status, changed.locs) == (422, {loc})


def test_pages_have_every_rule_once(caller: Caller) -> None:
    for name in ("c", "a", "~w6k", "b"):
        assert put(caller, name, {}).status == 200
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = caller.get("/v1/merge-rules", query).json
        seen += [rule["name"] for rule in page["rules"]]
        assert len(page["rules"]) <= 2
        if "next_cursor" not in page:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == ["a", "b", "c", "default", "é"]
    assert caller.get("/v1/merge-rules", {"cursor": "x"}).status == 422


def test_tenants_are_kept_apart(app: App, caller: Caller) -> None:
    put(caller, "mine", {})
    other = Caller(Cloud(app, {"tenant": "other"}))
    assert send(other, "GET", "mine").status == 404
    assert [rule["name"] for rule in listed(other)["rules"]] == ["default"]
