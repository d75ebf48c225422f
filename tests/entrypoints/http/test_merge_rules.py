"""`/v1/merge-rules` over both servers (A-108 to A-130)."""

from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller, Cloud
from recollect.app import App

RULES = "/v1/merge-rules"
BASE = {"priority": 5, "arbitration": {"mergeThreshold": 0.3, "weights": {"importance": 0.5, "recency": 0.2}}}


def put(caller: Caller, name: str, document: Any, **headers: str) -> Answered:
    """Registers a rule."""
    return caller.put(f"{RULES}/{name}", document, **headers)


def patch(caller: Caller, name: str, changes: Any, if_match: str = "*") -> Answered:
    return caller.patch(f"{RULES}/{name}", changes, if_match=if_match)


def listed(caller: Caller) -> Any:
    return caller.get(RULES).json


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
    assert caller.get(f"{RULES}/mine").json == answer.json
    assert (listed(caller)["version"], [rule["name"] for rule in listed(caller)["rules"]]) == (
        3, ["default", "base", "mine"]
    )  # fmt: skip


@pytest.mark.spec("A-116", "A-117", "A-118")
def test_a_patch_needs_the_version(caller: Caller) -> None:
    version = put(caller, "mine", BASE).headers["etag"]
    assert caller.patch(f"{RULES}/mine", {"priority": 1}).status == 428
    good = patch(caller, "mine", {"priority": None, "arbitration": {"allowMerge": False}}, version)
    assert good.status == 200, good.text
    assert good.json["resolved"] == {"arbitration": {**BASE["arbitration"], "allowMerge": False}}  # type: ignore[dict-item]
    assert patch(caller, "mine", {"priority": 1}, version).status == 412
    assert patch(caller, "mine", {"priority": 1}).status == 200
    assert patch(caller, "other", {"priority": 1}).status == 404
    renamed = patch(caller, "mine", {"name": "other"})
    assert (renamed.status, renamed.locs) == (422, {("body", "name")})
    assert patch(caller, "mine", {}).status == 422


def test_a_put_may_name_the_version(caller: Caller) -> None:
    assert put(caller, "mine", {}, if_match="*").status == 412  # there is none
    version = put(caller, "mine", {}).headers["etag"]
    assert put(caller, "mine", {"priority": 1}, if_match=version).status == 200
    assert put(caller, "mine", {"priority": 2}, if_match=version).status == 412


@pytest.mark.spec("A-130")
def test_a_rule_is_deleted_but_the_default_one(caller: Caller) -> None:
    version = put(caller, "mine", {}).headers["etag"]
    put(caller, "derived", {"extends": "mine"})
    assert caller.delete(f"{RULES}/default").status == 409
    assert caller.delete(f"{RULES}/mine").status == 409  # another one extends it
    assert caller.delete(f"{RULES}/derived", if_match='"1"').status == 412
    assert caller.delete(f"{RULES}/derived").status == 204
    assert caller.delete(f"{RULES}/mine", if_match=version).status == 204
    assert caller.get(f"{RULES}/mine").status == 404
    assert caller.delete(f"{RULES}/mine").status == 404


@pytest.mark.spec("A-120", "A-121", "A-122", "A-123")
def test_the_rule_that_a_candidate_meets(caller: Caller) -> None:
    put(caller, "base", {**BASE, "enabled": False})
    put(caller, "mine", {"extends": "base", "enabled": True, "conditions": {"importanceRange": {"min": 0.5}}})
    candidate = {"id": "c", "user_id": "anna", "content": "x", "importance": 0.5, "timestamp": "2024-05-01"}
    met = caller.post(f"{RULES}/match", {"candidate": candidate, "existing": candidate}).json
    assert (met["name"], met["rule"]["arbitration"]["mergeThreshold"], met["rule"]["extends"]) == ("mine", 0.3, "base")
    missed = caller.post(f"{RULES}/match", {"candidate": {**candidate, "importance": 0.4}, "existing": []})
    assert missed.json["name"] == "default"
    assert caller.post(f"{RULES}/match", {"candidate": {"user_id": "anna"}}).json["name"] == "default"
    assert caller.post(f"{RULES}/match", {"candidate": {}}).locs == {("body", "candidate", "user_id")}


@pytest.mark.spec("A-126", "A-127", "A-128", "A-129")
def test_an_export_is_imported_as_it_came(caller: Caller, app: App) -> None:
    put(caller, "base", BASE)
    put(caller, "mine", {"extends": "base", "conditions": {"source": ["user"]}})
    export = listed(caller)
    other = Caller(Cloud(app, {"tenant": "other"}))
    answer = other.twice(f"{RULES}/import", {**export, "rules": export["rules"][::-1]})
    assert answer.status == 200, answer.text
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
        answer = caller.post(f"{RULES}/import", {"rules": rules})
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
    changed = patch(caller, "mine", document)
    assert (changed.status, changed.locs) == (422, {loc})


def test_pages_have_every_rule_once(caller: Caller) -> None:
    for name in ("c", "a", "~w6k", "b"):
        assert put(caller, name, {}).status == 200
    assert [rule["name"] for rule in caller.walk(RULES, "rules", limit=2)] == ["a", "b", "c", "default", "é"]
    assert caller.get(RULES, {"cursor": "x"}).status == 422


def test_tenants_are_kept_apart(app: App, caller: Caller) -> None:
    put(caller, "mine", {})
    other = Caller(Cloud(app, {"tenant": "other"}))
    assert other.get(f"{RULES}/mine").status == 404
    assert [rule["name"] for rule in listed(other)["rules"]] == ["default"]
