"""The audit over HTTP: every refusal of a rejected value, who acted, in the order of `at`; and exact deletions."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from embedded.summarizing import ScriptedModel, answer
from entrypoints.http.calling import Answered
from recollect.core.time import iso
from services.serving import USER, Service, ago, good

SECRET = "The zebra sings at midnight"
_AUDIT = f"/v1/users/{USER}/audit"


def audit(service: Service, **query: Any) -> list[dict[str, Any]]:
    """The whole audit in pages of three, newest first."""
    found: list[dict[str, Any]] = []
    asked = {"limit": 3, **query}
    while True:
        page = service.caller.get(_AUDIT, asked).json
        found += page["entries"]
        if "next_cursor" not in page:
            return found
        asked["cursor"] = page["next_cursor"]


def refusals(service: Service) -> list[dict[str, Any]]:
    """What was refused, newest first; nothing that was said stands anywhere in the audit."""
    assert "zebra" not in json.dumps(audit(service)).lower()
    return audit(service, action="refuse")


def reject(service: Service, text: str = SECRET) -> None:
    """Says it, rejects it, and deletes what was said."""
    event_id = service.say(text)
    service.delete(f"events/{event_id}?reject=true")


def tools(service: Service, tool: str, **parameters: Any) -> dict[str, Any]:
    text = f"[[ABP_TOOL:{tool}]]{json.dumps(parameters)}[[END_ABP_TOOL]]"
    made = service.caller.post("/v1/tool-calls", {"text": text, "user_id": USER, "execute": True})
    return dict(good(made)["results"][0])


def patch(service: Service, path: str, version: int, body: Any) -> Answered:
    return service.patch(f"/v1/users/{USER}/{path}", f'"{version}"', body)


def import_lines(service: Service) -> int:
    """Exports two records, rejects the value of one, and imports both for another user and for the same."""
    service.say(SECRET)
    service.say("The cat sleeps")
    service.settle()
    lines = service.caller.get(f"/v1/users/{USER}/export").text
    reject(service)
    counted = service.caller.post(f"/v1/users/{USER}/import", lines.encode(), content_type="application/x-ndjson")
    assert (counted.status, counted.json["refused"]) == (200, 1)
    return 1


def revert(service: Service) -> None:
    service.say(SECRET, key="song")
    service.say("Something else", key="song")
    service.settle()
    (decision,) = service.caller.get(f"/v1/users/{USER}/arbitrations", {"step": "key"}).json["arbitrations"]
    reject(service)
    assert service.caller.post(decision["revert"], None).status == 409


def patch_goal(service: Service) -> None:
    reject(service)
    tools(service, "track_goal", goal="Run a marathon")
    (goal,) = service.caller.get(f"/v1/users/{USER}/goals").json["goals"]
    assert patch(service, f"goals/{goal['id']}", goal["version"], {"goal": SECRET}).status == 409
    assert service.caller.get(f"/v1/users/{USER}/goals").json["goals"] == [goal]


def patch_memory(service: Service) -> None:
    reject(service)
    memory = service.saved("Ben cooks")
    assert patch(service, f"memories/{memory['id']}", 1, {"content": SECRET}).status == 409


def save(service: Service) -> None:
    reject(service)
    assert service.save(SECRET).status == 409


def apply(service: Service) -> None:
    reject(service)
    statement = {"id": "c1", "user_id": USER, "content": SECRET, "importance": 0.5, "timestamp": ago(days=1)}
    body = {"candidate": statement, "existing": [], "apply": True}
    assert service.caller.post("/v1/arbitrations", body).status == 409


def track_goal(service: Service) -> None:
    reject(service)
    assert tools(service, "track_goal", goal=SECRET)["status"] == "conflict"
    assert service.caller.get(f"/v1/users/{USER}/goals").json == {"goals": []}


def manage_knowledge(service: Service) -> None:
    reject(service)
    value = {"instruction": f"Be kind. {SECRET}. Always.", "trigger": "songs"}
    refused = tools(service, "manage_knowledge", namespace="correction", key="songs", value=value)
    assert refused["status"] == "conflict"
    assert service.caller.get("/v1/knowledge").json["entries"] == []


def save_memory(service: Service) -> None:
    reject(service)
    assert tools(service, "save_memory", content=SECRET)["status"] == "conflict"


def say_as_user(service: Service) -> None:
    reject(service)
    (result,) = service.told({"content": SECRET})
    assert result["status"] == "refused"


def say_as_bot(service: Service) -> None:
    reject(service)
    for role in ("bot", "assistant"):
        (result,) = service.told({"content": SECRET, "role": role})
        assert result["status"] == "refused"


def say_as_model(service: Service) -> None:
    reject(service)
    assert tools(service, "record_event", content=SECRET)["status"] == "conflict"


PERSON = {"kind": "user", "id": USER}
REFUSED: dict[str, tuple[Callable[[Service], Any], dict[str, str], str, int]] = {
    "import": (import_lines, PERSON, "import", 1),
    "revert": (revert, PERSON, "revert", 1),
    "patch of a goal": (patch_goal, PERSON, "goals", 1),
    "patch of a memory": (patch_memory, PERSON, "memories", 1),
    "a memory": (save, PERSON, "memories", 1),
    "apply": (apply, PERSON, "memories", 1),
    "track_goal": (track_goal, {"kind": "model", "id": "track_goal"}, "goals", 1),
    "manage_knowledge": (manage_knowledge, {"kind": "model", "id": "manage_knowledge"}, "knowledge", 1),
    "save_memory": (save_memory, {"kind": "model", "id": "save_memory"}, "memories", 1),
    "a user's event": (say_as_user, PERSON, "events", 1),
    "a bot's event": (say_as_bot, {"kind": "bot", "id": "events"}, "events", 2),
    "record_event": (say_as_model, {"kind": "model", "id": "events"}, "events", 1),
}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("way", REFUSED)
def test_each_refusal_of_a_rejected_value_is_in_the_audit_without_the_value(service: Service, way: str) -> None:
    refused, actor, via, times = REFUSED[way]
    refused(service)
    found = refusals(service)
    assert [(one["actor"], one["via"], one["reason"]) for one in found] == [(actor, via, "rejected")] * times


@pytest.mark.spec("P-22")
def test_a_restore_of_what_was_rejected_is_in_the_audit(service: Service) -> None:
    event_id = service.say(SECRET, timestamp=ago(days=1))
    service.say("The cat sleeps")
    service.settle()
    snapshot = service.job("snapshot")["job_id"]
    reject(service)
    service.settle()
    assert service.job("restore", snapshot_id=snapshot)["counts"]["refused"] == 1
    (entry,) = refusals(service)
    assert (entry["actor"], entry["via"]) == ({"kind": "job", "id": "restore"}, "restore")
    assert (entry["reason"], entry["target_ids"]) == ("rejected", [event_id])


@pytest.mark.spec("P-22")
def test_goals_and_knowledge_of_a_models_call_are_inferred_whatever_they_claim(service: Service) -> None:
    goal_id = tools(service, "track_goal", goal="Run a marathon")["result"]["id"]
    tools(service, "track_goal", goal="run a marathon", check_in_frequency="weekly")
    term = {"target": "total_amount", "source": "user_instruction"}
    tools(service, "manage_knowledge", namespace="vocabulary", key="shop:cost", value=term)
    tools(service, "manage_knowledge", namespace="notes", key="zebra", value={"source": "user"})
    tools(service, "manage_knowledge", namespace="notes", key="zebra", action="delete")
    (goal,) = service.caller.get(f"/v1/users/{USER}/goals").json["goals"]
    assert (goal["source"], goal["check_in_frequency"]) == ("inferred", "weekly")
    entry = service.caller.get("/v1/knowledge/vocabulary/shop:cost").json
    assert (entry["source"], entry["value"]["source"]) == ("inferred", "inference")
    told = [(one["actor"]["kind"], one["actor"]["id"], one["action"]) for one in audit(service)]
    by_goal, by_knowledge = ("model", "track_goal"), ("model", "manage_knowledge")
    assert told == [
        (*by_knowledge, "delete"), (*by_knowledge, "create"), (*by_knowledge, "create"), (*by_goal, "patch"),
        (*by_goal, "create"),
    ]  # fmt: skip
    assert [one["via"] for one in audit(service, target_id=goal_id)] == ["goals", "goals"]
    assert "zebra" not in json.dumps(audit(service))


@pytest.mark.spec("P-22")
def test_what_a_person_writes_is_no_models(service: Service) -> None:
    service.send("PUT", "/v1/knowledge/notes/ant", {"value": {"size": 1}})
    assert "source" not in service.caller.get("/v1/knowledge/notes/ant").json
    tools(service, "manage_knowledge", namespace="notes", key="ant", value={"size": 2})
    assert service.caller.get("/v1/knowledge/notes/ant").json["source"] == "inferred"
    service.send("PUT", "/v1/knowledge/notes/ant", {"value": {"size": 3}})
    assert "source" not in service.caller.get("/v1/knowledge/notes/ant").json
    goal_id = tools(service, "track_goal", goal="Run a marathon")["result"]["id"]
    assert patch(service, f"goals/{goal_id}", 1, {"status": "completed"}).json["source"] == "inferred"
    assert patch(service, f"goals/{goal_id}", 2, {"goal": "Walk to Rome"}).json["source"] == "user"
    tools(service, "track_goal", goal="walk to Rome", check_in_frequency="daily")
    (goal,) = service.caller.get(f"/v1/users/{USER}/goals").json["goals"]
    assert (goal["source"], goal["check_in_frequency"]) == ("user", "daily")
    told = [(one["actor"], one["action"]) for one in audit(service, target_id=goal_id)]
    model = {"kind": "model", "id": "track_goal"}
    assert told == [(model, "patch"), (PERSON, "patch"), (PERSON, "patch"), (model, "create")]


SENTENCES = (
    "The user wants to take part in the marathon in Lyon in May.",
    "By June they hope to speak Spanish.",
    "A trip to Oslo is planned for July.",
)
GOALS = ("Take part in the marathon in Lyon", "Speak Spanish by June", "Travel to Oslo in July")
PLANS = ("run the Lyon marathon in May", "learn Spanish by June", "visit Oslo in July")


@pytest.mark.spec("P-5", "P-22")
@pytest.mark.parametrize("place", range(3))
def test_deleting_one_of_three_plans_takes_its_sentence_and_its_goal_and_no_other(service: Service, place: int) -> None:
    model = ScriptedModel([answer(" ".join(SENTENCES), *({"goal": goal} for goal in GOALS))])
    own = service.with_parts(model=model)
    plans = [{"content": f"I plan to {plan}.", "timestamp": ago(hours=9 - n)} for n, plan in enumerate(PLANS)]
    ids = [one["event_id"] for one in own.told(*plans)]
    talk = "The bakery on street {} sells bread."
    own.told(*({"content": talk.format(n), "timestamp": ago(minutes=90 - n)} for n in range(20)))
    made = own.send("POST", f"/v1/users/{USER}/summaries?force=true")
    assert made.status == 201, made.text
    before = own.caller.get(f"/v1/users/{USER}/goals").json["goals"]
    assert [(one["goal"], one["source"], one["source_event_ids"]) for one in before] == [
        (goal, "inferred", [event_id]) for goal, event_id in zip(GOALS, ids, strict=True)
    ]
    (entry,) = audit(own)
    assert (entry["actor"], entry["action"]) == ({"kind": "model", "id": "summarize"}, "create")
    assert (entry["target_ids"], entry["rule"]) == ([one["id"] for one in before], "scripted")
    own.delete(f"events/{ids[place]}")
    own.settle()
    (summary,) = own.caller.get(f"/v1/users/{USER}/summaries").json["summaries"]
    left = [n for n in range(3) if n != place]
    assert summary["sentences"] == [
        {"text": SENTENCES[n], "source_event_ids": [ids[n]], "in_doubt": False} for n in left
    ]
    assert [one["goal"] for one in summary["tracked_goals"]] == [GOALS[n] for n in left]
    assert own.caller.get(f"/v1/users/{USER}/goals").json["goals"] == [before[n] for n in left]


@pytest.mark.spec("P-22")
def test_without_a_model_a_goal_is_of_the_conversation_and_the_jobs(service: Service) -> None:
    service.say("I plan to meditate every day.", timestamp=ago(days=1))
    made = service.send("POST", f"/v1/users/{USER}/summaries?force=true")
    assert made.status == 201, made.text
    (goal,) = service.caller.get(f"/v1/users/{USER}/goals").json["goals"]
    assert goal["source"] == "conversation"
    (entry,) = audit(service, target_id=goal["id"])
    assert (entry["actor"], entry["rule"]) == ({"kind": "job", "id": "summarize"}, "extractive")


def test_the_audit_is_in_the_order_of_at_whoever_wrote_late(service: Service) -> None:
    """The test's clock stands before a service: an instant of long ago is written last."""
    start = datetime(2024, 5, 1, tzinfo=UTC)
    hours = (5, 3, 9, 0, 7, 1, 8)
    slow = service.elsewhere(test_clock=True)
    for hour in hours:
        body = {"user_id": USER, "content": f"memory of hour {hour}"}
        saved = slow.caller.post("/v1/memories", body, x_recollect_now=iso(start + timedelta(hours=hour)))
        assert saved.status == 201, saved.text
    found = audit(slow)
    assert [one["at"] for one in found] == [iso(start + timedelta(hours=h)) for h in sorted(hours, reverse=True)]
    assert len({one["id"] for one in found}) == len(hours)
    first = slow.caller.get(_AUDIT, {"limit": 3}).json
    between = {"user_id": USER, "content": "memory of hour 4"}
    slow.caller.post("/v1/memories", between, x_recollect_now=iso(start + timedelta(hours=4)))
    rest = slow.caller.get(_AUDIT, {"limit": 10, "cursor": first["next_cursor"]}).json["entries"]
    assert [one["at"][11:13] for one in (*first["entries"], *rest)] == ["09", "08", "07", "05", "04", "03", "01", "00"]
