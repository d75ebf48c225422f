"""The merge rules as they are kept: named, inherited, matched, told of, persisted (A-108 to A-130, P-14)."""

from typing import Any

import pytest

from entrypoints.http.calling import Answered
from services.serving import USER, Service, good

BASE: dict[str, Any] = {
    "priority": 7,
    "enabled": True,
    "conditions": {"userId": [USER, "ben"], "importanceRange": {"min": 0.2, "max": 0.8}},
    "arbitration": {"mergeThreshold": 0.3, "allowMerge": False},
    "merge": {"metadataStrategy": {"importance": "boost", "keywords": "union"}},
}
EVENTS = ("rule:registered", "rule:updated", "rule:deleted")


def put(service: Service, name: str, **document: Any) -> dict[str, Any]:
    return dict(good(service.send("PUT", f"/v1/merge-rules/{name}", document)))


def patch(service: Service, name: str, match: str = "*", /, **changes: Any) -> Answered:
    return service.patch(f"/v1/merge-rules/{name}", match, changes)


def rule(service: Service, name: str) -> dict[str, Any]:
    return dict(good(service.caller.get(f"/v1/merge-rules/{name}")))


def exported(service: Service) -> dict[str, Any]:
    return dict(service.caller.get("/v1/merge-rules").json)


def loaded(service: Service, *rules: dict[str, Any]) -> Answered:
    return service.caller.post("/v1/merge-rules/import", {"rules": list(rules)})


def matched(service: Service, **candidate: Any) -> str:
    return str(
        good(service.caller.post("/v1/merge-rules/match", {"candidate": {"user_id": USER, **candidate}}))["name"]
    )


def raw(service: Service) -> list[dict[str, Any]]:
    return [
        {name: one[name] for name in one if name not in ("version", "resolved")} for one in exported(service)["rules"]
    ]


@pytest.mark.spec("A-109", "A-110", "A-111", "P-14")
def test_a_rule_is_registered_by_its_name_again_replaces_it_and_the_version_grows_by_one(service: Service) -> None:
    assert exported(service)["version"] == 1
    assert service.caller.get("/v1/merge-rules/mine").status == 404
    made = put(service, "mine", priority=5, enabled=False)
    assert (exported(service)["version"], rule(service, "mine")) == (2, made)
    again = put(service, "mine", priority=6)
    assert (again["resolved"], exported(service)["version"]) == ({"priority": 6}, 3)
    assert service.restarted().caller.get("/v1/merge-rules/mine").json == again
    assert loaded(service, {"priority": 1}).status == 422, "a rule has a name"


@pytest.mark.spec("A-112", "A-113", "A-114")
def test_all_is_inherited_and_overridden_deeply_lists_as_a_whole(service: Service) -> None:
    put(service, "base", **BASE)
    assert put(service, "same", extends="base")["resolved"] == BASE
    derived = put(service, "derived", extends="base", priority=1, conditions={"userId": ["carl"]},
                  merge={"metadataStrategy": {"importance": "max"}})  # fmt: skip
    assert derived["resolved"] == BASE | {
        "priority": 1,
        "conditions": {"userId": ["carl"], "importanceRange": {"min": 0.2, "max": 0.8}},
        "merge": {"metadataStrategy": {"importance": "max", "keywords": "union"}},
    }


@pytest.mark.spec("A-115", "P-14")
def test_several_levels_inherit_and_a_change_of_the_base_reaches_all(service: Service) -> None:
    put(service, "a", priority=1)
    put(service, "b", extends="a", arbitration={"allowMerge": False})
    put(service, "c", extends="b")
    assert patch(service, "a", priority=9).status == 200
    assert rule(service, "c")["resolved"] == {"priority": 9, "arbitration": {"allowMerge": False}}


@pytest.mark.spec("A-119", "A-124", "A-125")
def test_every_change_is_told_on_the_bus_with_name_and_configuration(service: Service) -> None:
    put(service, "mine", priority=1)
    patch(service, "mine", enabled=False)
    service.send("DELETE", "/v1/merge-rules/mine")
    service.settle()
    told = [(kind, one["name"], one["configuration"]) for kind in EVENTS for one in service.bus(kind)]
    changed = {"priority": 1, "enabled": False}
    assert told == list(zip(EVENTS, ["mine"] * 3, [{"priority": 1}, changed, changed], strict=True))


@pytest.mark.spec("A-120", "A-122", "A-123", "P-14")
def test_the_first_that_matches_by_priority_is_met_and_the_default_last_of_all(service: Service) -> None:
    assert matched(service) == "default"
    put(service, "default", priority=1000)
    for name, priority in (("low", -5), ("a", 5), ("b", 5)):
        put(service, name, priority=priority)
    put(service, "off", priority=9, enabled=False)
    assert matched(service) == "a"
    for name, next_one in (("a", "b"), ("b", "low"), ("low", "default")):
        assert service.send("DELETE", f"/v1/merge-rules/{name}").status == 204
        assert matched(service) == next_one


@pytest.mark.spec("A-108", "A-122")
def test_a_rule_that_is_named_counts_though_none_would_meet_it(service: Service) -> None:
    put(service, "deaf", detection={"keywordThreshold": 1.0}, enabled=False)
    said = {"user_id": USER, "content": "x", "keywords": ["home"]}
    candidate = {"id": "new", "importance": 0.9, "timestamp": "2026-05-01T12:00:00Z", **said}
    existing = {"id": "old", "importance": 0.1, "timestamp": "2026-05-01T13:00:00Z", **said}
    body: dict[str, Any] = {"candidate": candidate, "existing": [existing]}
    met, named = (service.caller.post("/v1/arbitrations", body | rule).json for rule in ({}, {"rule": "deaf"}))
    assert (met["result"]["winner"], met["result"]["loser"], "loser" in named["result"]) == ("new", "old", False)


@pytest.mark.spec("A-126", "A-127", "A-128", "A-129", "P-14")
def test_an_export_is_loaded_again_whatever_its_order_and_after_a_restart(service: Service) -> None:
    put(service, "base", **BASE)
    put(service, "derived", extends="base", priority=1)
    before = exported(service.restarted())
    assert [one["name"] for one in before["rules"]] == ["default", "base", "derived"]
    assert before["rules"][2]["extends"] == "base"
    for name in ("derived", "base"):
        assert service.send("DELETE", f"/v1/merge-rules/{name}").status == 204
    answer = loaded(service, *before["rules"][::-1])
    assert answer.status == 200, answer.text
    assert sorted(raw(service), key=str) == sorted(
        ({n: v for n, v in one.items() if n not in ("version", "resolved")} for one in before["rules"]), key=str
    )
    assert rule(service, "derived")["resolved"] == before["rules"][2]["resolved"]
