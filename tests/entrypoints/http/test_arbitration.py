"""`/v1/arbitrations` and `/v1/merges` over both servers (A-69 to A-107)."""

from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller
from recollect.app import App
from recollect.arbitration.arbiter import Arbitration, ArbitrationPolicy, weigh
from recollect.arbitration.arbitrate import Applying, ArbitrationRequest
from recollect.core.scope import Scope
from recollect.memories.audit import ActorKind

NOON = "2024-05-01T12:00:00Z"


def m(statement_id: str | None = "new", **changes: Any) -> dict[str, Any]:
    """A statement of Anna's."""
    plain = {"user_id": "anna", "content": "I live in Paris", "importance": 0.5, "timestamp": NOON}
    return {"id": statement_id, **plain, **changes}


def arbitrated(caller: Caller, candidate: dict[str, Any], *existing: dict[str, Any], **more: Any) -> Answered:
    """The answer about these."""
    return caller.post("/v1/arbitrations", {"candidate": candidate, "existing": list(existing), **more})


@pytest.mark.spec("A-69", "A-70", "A-72", "A-73", "A-74", "A-77")
def test_conflicts_and_the_verdict_are_answered(caller: Caller) -> None:
    candidate = m(importance=0.9, keywords=["Home", "Paris"], embedding=[1, 0])
    old = m("old", importance=0.1, keywords=["home"], embedding=[0.96, 0.28], timestamp="2024-05-01T11:57:30Z")
    answer = arbitrated(caller, candidate, old, m("far", timestamp="2020-01-01T00:00:00Z"))
    assert answer.status == 200, answer.text
    (conflict,) = answer.json["conflicts"]
    assert conflict["memory_id"] == "old"
    assert conflict["signals"] == [
        {"type": "semantic", "score": pytest.approx(0.96), "memory_id": "old"},
        {"type": "keyword", "score": 1.0, "keywords": ["home"]},
        {"type": "time", "score": 0.5, "deltaMs": 150_000, "windowMs": 300_000},
        {"type": "importance", "score": 0.8, "delta": 0.8},
    ]
    assert conflict["severity"] == pytest.approx(0.96 + 1 + 0.5 + 0.8)
    result = answer.json["result"]
    assert {**result, "reason": ""} == {
        "action": "keep", "winner": "new", "loser": "old", "confidence": 1.0, "reason": "", "strategy": "importance"
    }  # fmt: skip
    assert answer.json["rule"] == "default"


@pytest.mark.spec("P-11")
def test_unrelated_facts_of_one_minute_cost_each_other_nothing(caller: Caller) -> None:
    answer = arbitrated(caller, m(importance=1), m("old", importance=0, content="My cat is called Tom"))
    assert [signal["type"] for signal in answer.json["conflicts"][0]["signals"]] == ["time", "importance"]
    assert "loser" not in answer.json["result"]
    assert (answer.json["result"]["action"], answer.json["result"]["winner"]) == ("keep", "new")


@pytest.mark.spec("A-85", "A-90")
def test_what_is_merged_is_answered_as_a_statement(caller: Caller) -> None:
    old = m("old", content="I like tea", keywords=["tea"], source="skill")
    candidate = m(content="I like coffee", keywords=["tea", "coffee"], source="skill")
    answer = arbitrated(caller, candidate, old, options={"contentStrategy": "concatenate"})
    result = answer.json["result"]
    assert (result["action"], result["confidence"], result["strategy"]) == ("merge", 0.6, "multi-factor")
    merged = result["merged"]
    assert (merged["content"], merged["keywords"]) == ("I like tea\nI like coffee", ["tea", "coffee"])
    assert (merged["user_id"], merged["source"]) == ("anna", "skill")


@pytest.mark.spec("A-87", "A-88")
@pytest.mark.parametrize(("strategy", "action"), [("keep-candidate", "keep"), ("reject", "reject")])
@pytest.mark.parametrize("grouped", [False, True])
def test_options_stand_by_themselves_or_in_groups(caller: Caller, strategy: str, action: str, grouped: bool) -> None:
    options: dict[str, Any] = {"allowMerge": False, "defaultStrategy": strategy}
    options = {"arbitration": options, "detection": {"keywordThreshold": 0.4}} if grouped else {
        **options, "keywordThreshold": 0.4
    }  # fmt: skip
    answer = arbitrated(caller, m(keywords=["a", "b"]), m("old", keywords=["b", "c"]), options=options)
    result = answer.json["result"]
    assert (result["action"], result["confidence"], result["strategy"]) == (action, 0.5, "default")
    assert strategy in result["reason"]


def test_the_rule_is_named_or_matched(caller: Caller) -> None:
    body = b'{"conditions": {"source": "skill"}, "arbitration": {"priorityImportance": false, "allowMerge": false}}'
    assert caller.put("/v1/merge-rules/skills", body).status == 200
    old = m("old", keywords=["a"], importance=0.9, source="skill", timestamp="2024-05-01T11:00:00Z")
    matched = arbitrated(caller, m(keywords=["a"], source="skill"), old)
    assert (matched.json["rule"], matched.json["result"]["winner"]) == ("skills", "new")
    named = arbitrated(caller, m(keywords=["a"], source="skill"), old, rule="default")
    assert (named.json["rule"], named.json["result"]["winner"]) == ("default", "old")
    unknown = arbitrated(caller, m(), rule="nothing")
    assert (unknown.status, unknown.locs) == (422, {("body", "rule")})


def test_the_tenants_thresholds_hold(caller: Caller) -> None:
    rules = b'{"conflict": {"keyword_threshold": 0.2}}'
    assert caller.put("/v1/rules", rules).status == 200
    answer = arbitrated(caller, m(keywords=["a", "b"]), m("old", keywords=["b", "c"]))
    assert "keyword" in {signal["type"] for signal in answer.json["conflicts"][0]["signals"]}


def test_null_is_absent(caller: Caller) -> None:
    options = {"weights": None, "arbitration": None, "merge": {"metadataStrategy": None}, "mergeThreshold": None}
    assert arbitrated(caller, m(persona_id=None), m("old", embedding=None), options=options, rule=None).status == 200


class Applied:
    """What stores verdicts, for tests: notes who asked, and merges under an id of its own."""

    def __init__(self) -> None:
        self.asked: list[tuple[Scope, Applying]] = []

    def arbitrate(
        self, scope: Scope, request: ArbitrationRequest, policy: ArbitrationPolicy, applying: Applying
    ) -> Arbitration:
        self.asked.append((scope, applying))
        return weigh(request.candidate, request.existing, policy)


@pytest.fixture
def applied(app: App, monkeypatch: pytest.MonkeyPatch) -> Applied:
    """Stands in for what stores verdicts."""
    found = Applied()
    monkeypatch.setattr(app.arbitration, "given", found)
    return found


def test_what_is_applied_is_decided_once(caller: Caller, applied: Applied) -> None:
    candidate, old = m(keywords=["Home", "x"], importance=0.9, persona_id="work"), m("old", keywords=["home"])
    body = {"candidate": candidate, "existing": [old], "apply": True}
    assert caller.twice("/v1/arbitrations", body, "k1").status == 200
    (asked,) = applied.asked
    assert asked[0] == Scope("local", "anna", "work")
    assert (asked[1].actor.kind, asked[1].actor.id) == (ActorKind.USER, "anna")
    other = caller.post("/v1/arbitrations", {**body, "rule": "default"}, idempotency_key="k1")
    assert other.status == 422


def test_a_replay_names_a_merged_memory_that_is_gone(caller: Caller, applied: Applied) -> None:
    body = {"candidate": m(keywords=["a"]), "existing": [m("old", keywords=["a"])], "apply": True}
    first = caller.post("/v1/arbitrations", body, idempotency_key="k2")
    assert first.json["result"]["action"] == "merge"
    again = caller.post("/v1/arbitrations", body, idempotency_key="k2")
    assert again.json["refused"] == [first.json["result"]["merged"]["id"]]
    assert "merged" not in again.json["result"]


def test_only_known_sources_are_stored(caller: Caller, applied: Applied) -> None:
    answer = arbitrated(caller, m(source="rumour"), apply=True)
    assert (answer.status, answer.locs) == (422, {("body", "candidate", "source")})
    assert arbitrated(caller, m(source="rumour")).status == 200


@pytest.mark.spec("A-91", "A-96", "A-106", "A-107")
def test_two_are_merged(caller: Caller) -> None:
    first = m("a", content="Tea is good. I run.", keywords=["tea"], embedding=[1.0])
    second = m("b", content="Tea is good! I sing.", keywords=["song"], importance=0.8, source="user")
    options = {"contentStrategy": "concatenate", "deduplicate": True, "metadataStrategy": {"importance": "boost"}}
    answer = caller.post("/v1/merges", {"first": first, "second": second, "options": options})
    assert answer.status == 200, answer.text
    assert answer.json["merged"] == {
        "id": "a",
        "user_id": "anna",
        "content": "Tea is good. I run.\nI sing.",
        "importance": pytest.approx(0.9),
        "timestamp": "2024-05-01T12:00:00.000000Z",
        "source": "user",
        "keywords": ["tea", "song"],
    }
    assert answer.json["statistics"] == {
        "contentLength": 27,
        "keywordsCount": 2,
        "importanceDelta": pytest.approx(0.1),
        "deduplicatedCount": 1,
    }
