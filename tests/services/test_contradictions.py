"""Contradictions from what is said to what is recalled: five shapes, then and now, the ledger, and back (P-24)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from recollect.core.time import iso
from services.conftest import ON_THE_LAPTOP
from services.serving import USER, Service, good, now

PARIS, LYON, ROME = "I live in Paris.", "I moved to Lyon.", "I moved to Rome."
QUESTION = "Where do I live?"
MARCH, APRIL, MAY, JUNE = (f"2026-0{month}-02T12:00:00Z" for month in (3, 4, 5, 6))  # the first is a Monday
KEYS = pytest.mark.parametrize("key", [None, "home"], ids=["unkeyed", "keyed"])


def told(service: Service, *said: tuple[str, str], key: str | None = None, **more: Any) -> list[str]:
    """The ids of events with these contents and times, each projected before the next one is said."""
    ids = []
    more |= {"key": key} if key else {}
    for content, at in said:
        ids.append(service.say(content, timestamp=at, **more))
        service.settle()
    return ids


def memory(service: Service, memory_id: str) -> dict[str, Any]:
    return dict(good(service.caller.get(f"/v1/users/{USER}/memories/{memory_id}")))


def statuses(service: Service, *ids: str) -> list[str]:
    return [memory(service, one)["status"] for one in ids]


def listed(service: Service, name: str, **query: Any) -> list[dict[str, Any]]:
    return list(good(service.caller.get(f"/v1/users/{USER}/{name}", query))[name])


def prompt(service: Service, **asked: Any) -> str:
    return str(good(service.caller.post("/v1/context", {"user_id": USER, "input": QUESTION, **asked}))["prompt"])


@pytest.mark.spec("P-24", "P-19")
@KEYS
def test_a_change_replaces_a_value_of_a_higher_score_and_the_past_stays_askable(
    service: Service, key: str | None
) -> None:
    (old,) = told(service, (PARIS, MARCH), key=key)
    known = iso(now())
    (new,) = told(service, (LYON, MAY), key=key)
    ended = memory(service, old)
    assert (ended["status"], ended["superseded_by"], ended["valid_to"]) == (
        "superseded",
        new,
        memory(service, new)["valid_from"],
    )
    for one in (service, service.restarted()):
        assert one.found(query=QUESTION) == [LYON]
        assert "Paris" not in prompt(one)
        assert one.found(query=QUESTION, as_of=APRIL) == [PARIS]
        assert "Paris" in prompt(one, as_of=APRIL)
        assert one.found(query=QUESTION, recorded_as_of=known) == [PARIS]
        assert set(one.found(query=QUESTION, include_superseded=True)) == {PARIS, LYON}
    assert set(service.listed(**{"from": MARCH})) == {PARIS, LYON}, "the event stays evidence"


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Our boiler cover is with Hestia.", "We took our boiler cover to Novaheat."),
        ("The heating is broken.", "the engineer came, heating's working"),
    ],
)
def test_what_no_attribute_leads_to_is_found_by_the_index_when_it_is_said(
    service: Service, older: str, newer: str
) -> None:
    old, _ = told(service, (older, MARCH), (newer, MAY))
    assert statuses(service, old) == ["superseded"]
    for one in (service, service.restarted()):
        assert older not in one.found(query=older)


@pytest.mark.spec("P-24")
@KEYS
def test_what_is_no_longer_so_is_not_recalled(service: Service, key: str | None) -> None:
    old, new = told(service, ("I eat meat every day.", MARCH), ("I no longer eat meat.", MAY), key=key)
    assert statuses(service, old, new) == ["superseded", "active"]
    assert service.found(query="do I eat meat") == ["I no longer eat meat."]
    assert service.found(query="do I eat meat", as_of=APRIL) == ["I eat meat every day."]


@pytest.mark.spec("P-24")
@KEYS
def test_what_was_taken_back_held_at_no_instant_and_was_known_all_the_same(service: Service, key: str | None) -> None:
    (old,) = told(service, ("I have a sister.", MARCH), key=key)
    known = iso(now())
    told(service, ("I misspoke, I have no sister.", MAY), key=key)
    taken_back = memory(service, old)
    assert (taken_back["status"], taken_back["valid_to"]) == ("retracted", taken_back["valid_from"])
    assert service.found(query="sister") == ["I misspoke, I have no sister."]
    assert service.found(query="sister", as_of=APRIL) == []
    assert service.found(query="sister", recorded_as_of=known) == ["I have a sister."]


@pytest.mark.spec("P-24")
def test_a_partial_change_makes_one_memory_of_both(service: Service) -> None:
    said = ("The meeting is on Tuesday at 3pm", MARCH), ("The meeting is still Tuesday but at 4pm now", MAY)
    old, new = told(service, *said)
    both = memory(service, new)
    assert (both["content"], both["source_event_ids"]) == ("The meeting is on Tuesday at 4pm", [old, new])
    assert statuses(service, old, new) == ["merged", "active"]
    assert service.found(query="when is the meeting") == [both["content"]]
    assert service.found(query="when is the meeting", as_of=APRIL) == [said[0][0]]


@pytest.mark.spec("P-24")
@KEYS
def test_a_bounded_value_holds_over_the_open_one_until_its_bound(service: Service, key: str | None) -> None:
    old, bounded = told(service, (PARIS, MARCH), ("I live in Lyon until Friday.", "2026-05-04T12:00:00Z"), key=key)
    assert statuses(service, old, bounded) == ["active", "active"]
    assert service.found(query=QUESTION) == [PARIS], "the bound is over"
    for instant, value in ((APRIL, PARIS), ("2026-05-06T12:00:00Z", "I live in Lyon until Friday."), (JUNE, PARIS)):
        assert service.found(query=QUESTION, as_of=instant) == [value], instant


@pytest.mark.spec("P-24", "P-11")
@ON_THE_LAPTOP
@pytest.mark.parametrize(
    "later",
    ["My sister moved to Lyon.", "If I moved to Lyon I would miss you.", "Should I move to Lyon?",
     'Ben said: "I moved to Lyon."', "Back in 2010 I moved to Lyon.", "My dog likes carrots."],
)  # fmt: skip
def test_a_near_miss_costs_nothing_not_even_within_five_minutes(service: Service, later: str) -> None:
    (old, _) = told(service, (PARIS, "2026-05-02T11:59:00Z"), (later, MAY))
    assert memory(service, old)["status"] == "active"
    assert PARIS in service.found(query=QUESTION)
    assert listed(service, "arbitrations") == []


@pytest.mark.spec("P-24")
def test_another_speaker_is_another_subject(service: Service) -> None:
    told(service, (PARIS, MARCH), speaker="Anna")
    told(service, (LYON, MAY), speaker="Ben")
    assert set(service.found(query=QUESTION)) == {PARIS, LYON}


@pytest.mark.spec("P-24")
def test_a_decision_says_by_which_rule_and_taken_back_it_is_not_made_again(service: Service) -> None:
    old, new = told(service, (PARIS, MARCH), (LYON, MAY))
    (decision,) = listed(service, "arbitrations", status="applied")
    assert (decision["winner"], decision["loser"], decision["step"]) == (new, old, "judge")
    assert decision["rule"]
    reverted = service.send("POST", decision["revert"])
    assert (reverted.status, reverted.json["memory"]["status"]) == (200, "active"), reverted.text
    entries = service.caller.get(f"/v1/users/{USER}/audit", {"target_id": old}).json["entries"]
    assert [entry["action"] for entry in entries] == ["revert", "supersede", "create"]
    assert PARIS not in str(entries)
    assert "superseded" in str(service.caller.get(f"/v1/users/{USER}/memories/{old}/history").json)
    for again in (lambda: None, lambda: service.job("reindex", **{"from": "events"})):
        again()
        service.settle()
        assert statuses(service, old, new) == ["active", "active"]
        assert PARIS in service.found(query=QUESTION)
        assert [one["status"] for one in listed(service, "arbitrations")] == ["reverted"]


@pytest.mark.spec("P-22", "P-24")
def test_an_older_value_of_a_key_comes_back_once_and_is_deleted_with_its_origin(service: Service) -> None:
    old, new = told(service, ("Paris", MARCH), ("Lyon", MAY), key="home")
    path = f"/v1/users/{USER}/arbitrations/{new}.{old}/revert"
    first, again = (service.caller.post(path, None, idempotency_key="k") for _ in range(2))
    assert (first.status, again.json["memory"]["id"]) == (200, first.json["memory"]["id"]), first.text
    assert service.caller.post(path, None).status == 409
    service.settle()
    active = listed(service, "memories", key="home", status="active")
    assert [(one["id"], one["content"]) for one in active] == [(first.json["memory"]["id"], "Paris")]
    service.delete(f"events/{old}")
    service.settle()
    assert {one["id"] for one in listed(service, "memories", key="home")} == {new}
    assert listed(service, "memories", key="home", status="active") == []


def alike(service: Service) -> list[str]:
    """Two events of one meaning by their vectors, in which no rule sees a contradiction."""
    vector = [1.0, *[0.0] * 383]
    said = [("Pay bill 1", MARCH, 0.9), ("Pay bill 2", MAY, 0.8)]
    ids = []
    for content, at, importance in said:
        ids.append(service.say(content, timestamp=at, importance=importance, embedding=vector, event_type="task"))
        service.settle()
    return ids


@pytest.mark.spec("P-24")
def test_what_is_merely_alike_stays_with_a_proposal_until_a_person_resolves_it(service: Service) -> None:
    older, newer = alike(service)
    assert statuses(service, older, newer) == ["active", "active"]
    (conflict,) = listed(service, "conflicts", status="open")
    assert (conflict["older"], conflict["newer"], conflict["step"]) == (older, newer, "arbiter")
    assert conflict["proposal"]
    assert conflict["signals"]
    path = f"/v1/users/{USER}/conflicts/{conflict['id']}/resolve"
    assert service.caller.post(path, {"winner": "nobody"}).status == 422
    for _ in range(2):
        resolved = service.caller.post(path, {"winner": newer})
        assert (resolved.status, resolved.json["status"]) == (200, "settled"), resolved.text
    assert service.caller.post(path, {"winner": older}).status == 409
    service.settle()
    assert statuses(service, older, newer) == ["superseded", "active"]
    assert service.found(query="bill") == ["Pay bill 2"]
    assert listed(service, "conflicts", status="open") == []
    decision = resolved.json["decision_id"]
    assert service.send("POST", f"/v1/users/{USER}/arbitrations/{decision}/revert").status == 200
    service.settle()
    assert [one["id"] for one in listed(service, "conflicts", status="open")] == [conflict["id"]]
    assert statuses(service, older, newer) == ["active", "active"]


@pytest.mark.spec("P-24")
def test_what_is_applied_by_itself_is_a_rule(service: Service) -> None:
    service.rules(conflict={"auto_apply": "all"})
    older, newer = alike(service)
    assert statuses(service, older, newer) == ["active", "superseded"], "the more important one wins"
    service.rules(conflict={"auto_apply": "off"})
    told(service, (PARIS, MARCH), (LYON, MAY))
    assert set(service.found(query=QUESTION)) >= {PARIS, LYON}
    told(service, ("I drink tea", MARCH), ("I drink water", MAY), key="drink")
    assert "I drink tea" not in service.found(query="what do I drink"), "what a key means is no option"


@pytest.mark.spec("P-24", "P-25")
def test_delivered_again_or_made_again_from_the_events_nothing_changes(service: Service) -> None:
    told(service, (PARIS, MARCH))
    new = service.say(LYON, timestamp=MAY)
    markers = [one for one in service.app.parts.projections.pending(1000, None).markers if one.ref.id == new]
    service.settle()
    seen = sorted(service.memories().items()), listed(service, "arbitrations"), listed(service, "conflicts")
    for _ in range(2):
        assert service.app.projection.events.project(markers, now()).failed == {}
        service.settle()
        assert (
            sorted(service.memories().items()),
            listed(service, "arbitrations"),
            listed(service, "conflicts"),
        ) == seen
    service.job("reindex", **{"from": "events"})
    service.settle()
    assert service.found(query=QUESTION) == [LYON]
    assert [(one["winner"], one["status"]) for one in listed(service, "arbitrations")] == [(new, "applied")]


@pytest.mark.spec("P-24", "P-25")
def test_two_that_come_at_once_end_as_one_after_the_other(service: Service) -> None:
    (old,) = told(service, (PARIS, MARCH))
    lyon, rome = (service.say(content, timestamp=at) for content, at in ((LYON, APRIL), (ROME, MAY)))
    both = (service, service.restarted())
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: one.app.projection.reconciliation.run(now()), both))
    service.settle()
    assert [memory(service, one).get("superseded_by") for one in (old, lyon, rome)] == [lyon, rome, None]
    assert service.found(query=QUESTION) == [ROME]
