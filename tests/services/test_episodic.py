"""The episodic service: recording, order, windows, counts and isolation (A-40 to A-51, P-20)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from embedded.spoken import sent_of
from recollect.timeline.bus import EPISODIC_SAVED
from services.serving import SCOPES, SEEN, USER, Service, ago

DAYS = ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z")
SINCE = {"from": DAYS[0]}


def on_days(service: Service, *days: str, **scope: str) -> list[str]:
    """The ids of an event on each of these days, said in this order."""
    return [service.say(f"said on {day}", scope=scope, timestamp=day) for day in days]


def said_on(*days: str) -> list[str]:
    return [f"said on {day}" for day in days]


def counts(diagnostics: dict[str, Any]) -> tuple[int, ...]:
    """What was scanned, returned, filtered by context and by the window."""
    names = ("scanned", "returned", "filtered_by_context", "filtered_by_window")
    return tuple(diagnostics[name] for name in names)


@pytest.mark.spec("A-40")
def test_events_enter_a_prompt_in_the_order_of_their_time(service: Service) -> None:
    for minutes, text in ((5, "third"), (20, "first"), (10, "second")):
        service.say(f"the {text} thing", scope={"conversation_id": "c"}, timestamp=ago(minutes=minutes))
    for _ in service.pending_and_projected():
        asked = {"user_id": USER, "conversation_id": "c", "input": "what was it?"}
        answer = service.caller.post("/v1/context", asked).json
        assert [item["content"] for item in answer["items"]] == [
            f"the {one} thing" for one in ("first", "second", "third")
        ]
        places = [answer["prompt"].index(item["content"]) for item in answer["items"]]
        assert places == sorted(places)
        said = [text for _, text in sent_of(answer["messages"])]
        assert said == ["the first thing", "the second thing", "the third thing", "what was it?"]


@pytest.mark.spec("A-41")
def test_an_event_is_recorded_with_what_it_needs_and_refused_without(service: Service) -> None:
    (result,) = service.told({"content": "Pay the rent", "event_type": "task", "timestamp": DAYS[1]}, persona_id="work")
    kept = service.restarted().caller.get(f"/v1/users/{USER}/events/{result['event_id']}").json
    named = ("user_id", "persona_id", "event_type", "content")
    assert tuple(kept[name] for name in named) == (USER, "work", "task", "Pay the rent")
    assert datetime.fromisoformat(kept["timestamp"]) == datetime(2026, 1, 3, tzinfo=UTC)
    (bare,) = service.told({"content": "no more than words"})
    kept = service.caller.get(f"/v1/users/{USER}/events/{bare['event_id']}").json
    assert (kept["event_type"], "persona_id" in kept) == ("conversation", False)
    faults = [{}, {"content": ""}, {"content": "x", "event_type": "dance"}, {"content": "x", "timestamp": "soon"}]
    for event in faults:
        (refused,) = service.told(event)
        assert (refused["status"], bool(refused["errors"])) == ("invalid", True), event
    assert service.caller.post("/v1/events", {"events": [{"content": "x"}]}).locs == {("body", "user_id")}
    assert len(service.listed(**{"from": "0"})) == 2


@pytest.mark.spec("A-42", "A-46")
def test_what_arrives_late_has_its_place_by_its_time_newest_first(service: Service) -> None:
    on_days(service, DAYS[1], persona_id="work")
    on_days(service, DAYS[2], DAYS[0], persona_id="work")
    on_days(service, DAYS[1], persona_id="home")
    for _ in service.pending_and_projected():
        assert service.listed(persona_id="work", **SINCE) == said_on(*DAYS[::-1])


@pytest.mark.spec("A-46")
def test_of_one_instant_what_was_said_later_comes_first(service: Service) -> None:
    service.told(*({"content": f"word {number}", "timestamp": DAYS[1]} for number in range(4)))
    assert service.listed(**SINCE) == [f"word {number}" for number in (3, 2, 1, 0)]


@pytest.mark.spec("A-43", "A-44", "P-20")
def test_the_same_event_of_a_persona_is_recorded_and_published_once_even_after_a_restart(service: Service) -> None:
    ok = {"content": "ok", "timestamp": DAYS[1], "speaker": "Ben"}
    scope = {"persona_id": "work", "conversation_id": "c"}
    (first,) = service.told(ok, **scope)
    service.settle()
    again = service.restarted()
    (second,) = again.told(ok, **scope)
    assert (second["status"], second["event_id"]) == ("duplicate", first["event_id"])
    others = [{"speaker": "Eva"}, {"event_type": "task"}, {"role": "bot"}, {"timestamp": DAYS[2]}, {"content": "OK"}]
    elsewhere = [{**scope, "persona_id": "home"}, {**scope, "conversation_id": "d"}, {"persona_id": "work"}]
    results = [again.told({**ok, **other}, **scope)[0] for other in others]
    results += [again.told(ok, **other)[0] for other in elsewhere]
    assert {one["status"] for one in results} == {"created"}
    sourced = {**ok, "metadata": {"source_id": "turn-1"}}
    assert [again.told({**sourced, "content": text}, **scope)[0]["status"] for text in ("ok", "okay")] == [
        "created", "duplicate",
    ]  # fmt: skip
    assert again.told({"content": ""}, **scope)[0]["status"] == "invalid"
    again.settle()
    assert len(again.window(limit=50, **SINCE)["events"]) == len(again.bus(EPISODIC_SAVED)) == 10


@pytest.mark.spec("A-45", "A-50")
def test_a_window_is_by_its_ends_or_by_days_and_holds_so_many_of_a_persona(service: Service) -> None:
    on_days(service, *DAYS, persona_id="work")
    for days, content in ((40, "older"), (29, "old"), (1, "new")):
        service.say(content, scope={"persona_id": "work"}, timestamp=ago(days=days))
    service.say("elsewhere", scope={"persona_id": "home"}, timestamp=ago(days=1))
    for _ in service.pending_and_projected():
        assert service.listed(persona_id="work") == ["new", "old"], "30 days, unless asked otherwise"
        assert service.listed(persona_id="work", last_days=50) == ["new", "old", "older"]
        assert service.listed(persona_id="work", last_days=2) == ["new"]
        assert service.listed(persona_id="work", top_k=1) == ["new"]
        within: dict[str, Any] = {"from": DAYS[0], "to": DAYS[2], "persona_id": "work"}
        assert service.listed(**within) == said_on(*DAYS[::-1])
        assert service.listed(**within, top_k=2) == said_on(DAYS[2], DAYS[1])


@pytest.mark.spec("A-47")
def test_an_event_carries_type_importance_and_source(service: Service) -> None:
    service.say("Feed the cat", event_type="reminder", importance=0.75, source="skill", timestamp=DAYS[0])
    service.say("I remember her birthday", timestamp=DAYS[1])
    for _ in service.pending_and_projected():
        newer, older = service.window(**SINCE)["events"]
        assert [older[name] for name in ("event_type", "importance", "source")] == ["reminder", 0.75, "skill"]
        assert [newer[name] for name in ("event_type", "source")] == ["conversation", "user"]
        assert newer["importance"] == pytest.approx(0.6)


@pytest.mark.spec("A-48", "A-51")
def test_what_was_scanned_is_returned_or_counted_as_dropped_for_its_reason(service: Service) -> None:
    on_days(service, *DAYS, persona_id="work")
    on_days(service, DAYS[1], persona_id="home")
    service.say("a task", scope={"persona_id": "work"}, event_type="task", timestamp=DAYS[1])
    for _ in service.pending_and_projected():
        seen = service.window(persona_id="work", **{"from": DAYS[1], "to": DAYS[2], "event_type": "conversation"})
        scanned, returned, by_context, by_window = counts(seen["diagnostics"])
        assert scanned == returned + by_context + by_window
        assert (returned, by_context) == (len(seen["events"]), 2)
        assert seen["diagnostics"]["dropped"] == {"scope": 1, "filter": 1} | (
            {"window": by_window} if by_window else {}
        )
        found = service.search(query="said", persona_id="work", time_window={"from": DAYS[1]}, top_k=1)["diagnostics"]
        assert found["matched_count"] + sum(found["dropped"].values()) == 5
        assert (found["filtered_count"], found["returned_count"]) == (sum(found["dropped"].values()), 1)
        assert found["dropped"]["scope"] == found["dropped"]["window"] == 1


@pytest.mark.spec("A-49")
def test_nobody_sees_the_events_of_another(service: Service) -> None:
    ids = {name: service.say(name, scope=scope, timestamp=DAYS[0]) for name, scope in SCOPES.items()}
    service.say("Ben's", user="ben", scope=SCOPES["both"], timestamp=DAYS[0])
    for _ in service.pending_and_projected():
        assert {name: set(service.listed(**scope, **SINCE)) for name, scope in SCOPES.items()} == SEEN
        assert service.listed("ben", **SINCE) == ["Ben's"]
        assert service.caller.get(f"/v1/users/ben/events/{ids['both']}").status == 404
        assert service.caller.get(f"/v1/users/{USER}/events/{ids['none']}", {"persona_id": "work"}).status == 404


@pytest.mark.spec("A-50")
def test_outside_the_window_nothing_is_seen_and_both_ends_are_inside(service: Service) -> None:
    on_days(service, *DAYS, "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z")
    inside = {"from": "2026-01-02T00:00:00.000001Z", "to": "2026-01-03T23:59:59.999999Z"}
    for _ in service.pending_and_projected():
        assert service.listed(**{"from": DAYS[1], "to": DAYS[1]}) == said_on(DAYS[1])
        assert service.listed(**inside) == said_on(DAYS[1])
        ancient: dict[str, Any] = {"from": 0, "to": DAYS[0]}
        assert service.listed(**ancient) == said_on(DAYS[0], "1970-01-01T00:00:00Z")
        assert service.listed(to=0) == said_on("1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z")
