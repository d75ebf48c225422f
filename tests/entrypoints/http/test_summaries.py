"""Summaries and goals over HTTP: the triggers under the test clock, lists, versions, check-ins, failures."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from embedded.setting import _With
from embedded.summarizing import Said, ScriptedModel, answer
from entrypoints.http.calling import Answered, Caller, Cloud, Laptop
from entrypoints.http.conftest import settings_in
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.contradictions.decisions import ConflictStatus, OpenConflict, Step, conflict_write
from recollect.core.errors import Throttled, Unavailable, UpstreamFailed
from recollect.core.scope import Scope
from recollect.summaries.goals import MOST_GOALS

NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)
SUMMARIES = "/v1/users/anna/summaries"
GOALS = "/v1/users/anna/goals"


def at(**later: float) -> str:
    """An instant after noon, as a header."""
    return (NOON + timedelta(**later)).isoformat()


def say(caller: Caller, count: int, start: datetime = NOON, **more: Any) -> list[str]:
    """So many messages, the last one at `start`; their ids."""
    moments = [start - timedelta(minutes=count - 1 - n) for n in range(count)]
    ids: list[str] = []
    for first in range(0, count, 100):
        events = [
            {"content": f"I counted sheep number {n} near Lyon.", "timestamp": moments[n].isoformat()}
            for n in range(first, min(first + 100, count))
        ]
        made = caller.post("/v1/events", {"user_id": "anna", "events": events, **more})
        assert made.status in (200, 201), made.text
        ids += [one["event_id"] for one in made.json["results"]]
    return ids


def summarize(caller: Caller, query: str = "", now: str | None = None, **headers: str) -> Answered:
    """POST …/summaries at noon, or at another time."""
    return caller.post(f"{SUMMARIES}{query}", b"", x_recollect_now=now or at(), **headers)


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[tuple[App, ScriptedModel]]:
    """An app whose model says what it is told to."""
    opened = open_app(settings_in(tmp_path))
    model = ScriptedModel()
    app = App(opened.settings, _With(opened.parts, "model", model))
    yield app, model
    opened.parts.close()


@pytest.mark.spec("H-02", "H-05", "H-07", "H-14", "H-22", "H-24", "H-25", "P-5")
def test_the_fiftieth_message_makes_it_due(caller: Caller) -> None:
    ids = say(caller, 49, NOON - timedelta(minutes=1))
    early = summarize(caller)
    assert early.status == 200
    assert early.json == {"due": False, "messages_since": 49, "days_since": pytest.approx(49 / 1440, abs=1e-6)}
    ids += say(caller, 1)
    made = summarize(caller)
    assert made.status == 201, made.text
    summary = made.json["summary"]
    assert (made.json["due"], made.json["reason"]) == (True, "messages")
    assert (summary["message_count"], summary["created_at"]) == (40, "2024-06-01T12:00:00.000000Z")
    assert summary["covered_until"] == "2024-06-01T11:50:00.000000Z"
    assert summary["covered_from"] == "2024-06-01T11:11:00.000000Z"
    assert 0 < len(summary["summary"].split()) <= 200
    assert set(summary["source_event_ids"]) <= set(ids[:40])
    assert all(one["source_event_ids"] for one in summary["sentences"])
    assert summary["tracked_goals"] == []
    assert caller.get(SUMMARIES).json == {"summaries": [summary]}
    again = summarize(caller)
    assert (again.status, again.json) == (200, {"due": False, "messages_since": 0, "days_since": 0.0})


@pytest.mark.spec("H-05", "H-08", "P-5")
def test_earlier_turns_that_are_imported_after_a_summary_are_summed_up_once(app: App, caller: Caller) -> None:
    say(caller, 50)
    say(caller, 3, user_id="ben")
    for user in ("anna", "ben"):
        assert caller.post(f"/v1/users/{user}/summaries?force=true", b"", x_recollect_now=at()).status == 201
    counts = []
    for _ in range(2):  # the same file twice
        say(caller, 60, NOON - timedelta(days=30), conversation_id="imported")
        app.projection.reconciliation.run(NOON)
        answered = summarize(caller, now=at(days=1)).json
        counts.append(answered["summary"]["message_count"] if answered["due"] else answered["messages_since"])
    assert counts == [60, 0]
    newest, first = caller.get(SUMMARIES).json["summaries"]
    assert newest["covered_until"] == first["covered_until"]
    assert newest["covered_from"] == "2024-05-02T11:01:00.000000Z"
    assert len(caller.get("/v1/users/ben/summaries").json["summaries"]) == 1


@pytest.mark.parametrize(
    ("query", "loc"),
    [
        ("?force=yes", ("query", "force")),
        ("?force=1", ("query", "force")),
        ("?persona_id=", ("query", "persona_id")),
        ("?tenant=x", ("query", "tenant")),
        ("?force=true&force=true", ("query", "force")),
    ],
)
def test_wrong_parameters_are_named(caller: Caller, query: str, loc: tuple[str, ...]) -> None:
    refused = summarize(caller, query)
    assert (refused.status, refused.locs) == (422, {loc})


@pytest.mark.spec("P-21")
def test_summaries_are_of_personas_and_lists_narrow(caller: Caller) -> None:
    say(caller, 3)
    say(caller, 4, persona_id="coach")
    own = summarize(caller, "?force=true").json["summary"]
    coached = summarize(caller, "?force=true&persona_id=coach", now=at(seconds=1)).json["summary"]
    assert (own["message_count"], "persona_id" in own) == (3, False)
    assert (coached["message_count"], coached["persona_id"]) == (4, "coach")
    assert [one["id"] for one in caller.get(SUMMARIES).json["summaries"]] == [coached["id"], own["id"]]
    assert [one["id"] for one in caller.get(f"{SUMMARIES}?persona_id=coach").json["summaries"]] == [coached["id"]]
    assert caller.get("/v1/users/ben/summaries").json == {"summaries": []}


def test_lists_are_walked_by_cursors_that_are_bound_to_them(caller: Caller) -> None:
    made = []
    for n in range(5):
        say(caller, 1, NOON + timedelta(hours=n))
        made.append(summarize(caller, "?force=true", now=at(hours=n)).json["summary"]["id"])
    assert [one["id"] for one in caller.walk(SUMMARIES, "summaries", limit=2)] == made[::-1]
    query = {"limit": "2", "cursor": caller.get(SUMMARIES, {"limit": "2"}).json["next_cursor"]}
    assert caller.get("/v1/users/ben/summaries", query).locs == {("query", "cursor")}
    assert caller.get(SUMMARIES, {**query, "persona_id": "p"}).locs == {("query", "cursor")}


@pytest.mark.spec("H-30", "H-31")
@pytest.mark.parametrize(
    "says", [UpstreamFailed("x"), Unavailable("x"), Throttled("x", 9), "no JSON", answer("w " * 500), answer("")]
)
def test_a_model_that_fails_is_a_502_and_nothing_is_stored(scripted: tuple[App, ScriptedModel], says: Said) -> None:
    app, model = scripted
    caller = Caller(Cloud(app))
    say(caller, 50)
    model.says = [says]
    failed = summarize(caller, idempotency_key="k1")
    assert failed.status == 502
    assert failed.json["type"] == "urn:recollect:problem:upstream-failed"
    assert caller.get(SUMMARIES).json == {"summaries": []}
    model.says = [answer("Good.")]
    made = summarize(caller, idempotency_key="k1")
    assert (made.status, made.json["reason"], made.json["summary"]["summary"]) == (201, "messages", "Good.")


def test_the_same_key_gives_the_same_answer(caller: Caller) -> None:
    say(caller, 12)
    assert caller.twice(f"{SUMMARIES}?force=true", b"", "k1", x_recollect_now=at()).status == 201
    assert len(caller.get(SUMMARIES).json["summaries"]) == 1
    other = caller.post("/v1/users/ben/summaries?force=true", b"", idempotency_key="k1", x_recollect_now=at())
    assert other.json["due"] is False
    assert summarize(caller, idempotency_key="k2").json == summarize(caller, idempotency_key="k2").json


def goal_of(scripted: tuple[App, ScriptedModel], *goals: dict[str, Any]) -> tuple[Caller, list[Any]]:
    """A caller whose user follows these goals."""
    app, model = scripted
    caller = Caller(Cloud(app))
    say(caller, 1)
    model.says = [answer("Good.", *goals)]
    assert summarize(caller, "?force=true").status == 201
    return caller, caller.get(GOALS).json["goals"]


@pytest.mark.spec("H-03", "H-24")
def test_goals_are_listed_patched_and_checked_in(scripted: tuple[App, ScriptedModel]) -> None:
    caller, (goal,) = goal_of(scripted, {"goal": "Meditate daily", "check_in_frequency": "daily"})
    assert goal == {
        "id": goal["id"], "goal": "Meditate daily", "status": "active", "check_in_frequency": "daily",
        "history": [], "version": 1, "source_event_ids": [], "source": "inferred",
    }  # fmt: skip
    one = f"{GOALS}/{goal['id']}"
    patched = caller.patch(one, {"status": "completed", "goal": " Meditate\n twice "}, if_match='"1"')
    assert (patched.status, patched.headers["etag"]) == (200, '"2"')
    assert (patched.json["goal"], patched.json["status"], patched.json["version"]) == ("Meditate twice", "completed", 2)
    for date, status in (("2024-06-02", "missed"), ("2024-06-01", "completed"), ("2024-06-02T10:00:00Z", "completed")):
        checked = caller.post(f"{one}/check-ins", {"date": date, "status": status})
        assert checked.status == 201, checked.text
    assert checked.json["history"] == [
        {"date": "2024-06-01", "status": "completed"},
        {"date": "2024-06-02", "status": "completed"},
    ]
    assert checked.headers["etag"] == '"5"'
    assert caller.get(GOALS).json["goals"] == [checked.json]


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ({"status": "completed"}, {}, 428),
        ({"status": "completed"}, {"if_match": '"2"'}, 412),
        ({"status": "completed"}, {"if_match": 'W/"1"'}, 412),
        ({"status": "completed"}, {"if_match": '"9", "1"'}, 200),
        ({"status": "completed"}, {"if_match": "*"}, 200),
        ({"status": "done"}, {"if_match": "*"}, 422),
        ({"goal": " "}, {"if_match": "*"}, 422),
        ({"goal": "g" * 501}, {"if_match": "*"}, 422),
        ({"history": []}, {"if_match": "*"}, 422),
        ({}, {"if_match": "*"}, 422),
        ({"check_in_frequency": None}, {"if_match": "*"}, 422),
        ([], {"if_match": "*"}, 422),
    ],
)
def test_patches_say_which_version_they_change(
    scripted: tuple[App, ScriptedModel], body: Any, headers: dict[str, str], status: int
) -> None:
    caller, (goal,) = goal_of(scripted, {"goal": "Meditate daily"})
    assert caller.patch(f"{GOALS}/{goal['id']}", body, **headers).status == status


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"status": "missed"}, ("body", "date")),
        ({"date": "yesterday", "status": "missed"}, ("body", "date")),
        ({"date": "2024-06-01"}, ("body", "status")),
        ({"date": "2024-06-01", "status": "active"}, ("body", "status")),
        ({"date": "2024-06-01", "status": "missed", "note": ""}, ("body", "note")),
    ],
)
def test_check_ins_that_are_none_are_named(
    scripted: tuple[App, ScriptedModel], body: Any, loc: tuple[str, ...]
) -> None:
    caller, (goal,) = goal_of(scripted, {"goal": "Meditate daily"})
    refused = caller.post(f"{GOALS}/{goal['id']}/check-ins", body)
    assert (refused.status, refused.locs) == (422, {loc})


@pytest.mark.spec("H-03", "H-24")
def test_a_goal_is_set_once_in_a_persons_own_words(caller: Caller) -> None:
    made = caller.post(GOALS, {"goal": " Run a\n marathon", "check_in_frequency": "weekly"})
    goal = made.json
    assert (made.status, made.headers["etag"]) == (201, '"1"')
    assert goal == {
        "id": goal["id"], "goal": "Run a marathon", "status": "active", "check_in_frequency": "weekly",
        "history": [], "version": 1, "source_event_ids": [], "source": "user",
    }  # fmt: skip
    assert caller.get(GOALS).json == {"goals": [goal]}
    known = caller.post(GOALS, {"goal": "run a MARATHON"})
    assert (known.status, known.headers["etag"], known.json) == (200, '"1"', goal)
    coached = caller.post(f"{GOALS}?persona_id=coach", {"goal": "Run a marathon"})
    assert (coached.status, coached.json["persona_id"]) == (201, "coach")
    assert "check_in_frequency" not in coached.json
    assert caller.get(GOALS).json == {"goals": [goal, coached.json]}


@pytest.mark.parametrize("status", ["completed", "abandoned"])
def test_a_goal_that_ended_is_active_again_when_it_is_set_again(caller: Caller, status: str) -> None:
    goal = caller.post(GOALS, {"goal": "Run a marathon"}).json
    caller.patch(f"{GOALS}/{goal['id']}", {"status": status}, if_match="*")
    again = caller.post(GOALS, {"goal": "Run a marathon", "check_in_frequency": "daily"})
    changed = {"status": "active", "check_in_frequency": "daily", "version": 3}
    assert (again.status, again.json, again.headers["etag"]) == (200, goal | changed, '"3"')


@pytest.mark.spec("P-22")
def test_a_goal_that_went_with_its_event_is_a_new_one_when_it_is_set_again(laptop: Laptop) -> None:
    caller = Caller(laptop)
    (event,) = caller.added("My goal is to run a marathon.")
    summarize(caller, "?force=true")
    (told,) = caller.get(GOALS).json["goals"]
    known = caller.post(GOALS, {"goal": told["goal"]}, idempotency_key="k")
    assert (known.status, known.json) == (200, told)
    assert laptop.send("DELETE", f"/v1/users/anna/events/{event}", None, {}).status == 204
    assert caller.get(GOALS).json == {"goals": []}
    replayed = caller.post(GOALS, {"goal": told["goal"]}, idempotency_key="k")
    assert (replayed.status, replayed.json) == (200, {"refused": [told["id"]]})
    assert replayed.headers["idempotent-replayed"] == "true"
    again = caller.post(GOALS, {"goal": told["goal"]})
    assert (again.status, again.json["id"] != told["id"], again.json["source_event_ids"]) == (201, True, [])
    assert caller.get(GOALS).json == {"goals": [again.json]}


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({}, ("body", "goal")),
        ({"goal": " \n"}, ("body", "goal")),
        ({"goal": "g" * 501}, ("body", "goal")),
        ({"goal": None}, ("body", "goal")),
        ({"goal": 5}, ("body", "goal")),
        ({"goal": "Run", "check_in_frequency": " "}, ("body", "check_in_frequency")),
        ({"goal": "Run", "check_in_frequency": "d" * 101}, ("body", "check_in_frequency")),
        ({"goal": "Run", "status": "completed"}, ("body", "status")),
        ({"goal": "Run", "persona_id": "coach"}, ("body", "persona_id")),
        ([], ("body",)),
    ],
)
def test_goals_that_are_none_are_named_and_not_stored(caller: Caller, body: Any, loc: tuple[str, ...]) -> None:
    refused = caller.post(GOALS, body)
    assert (refused.status, refused.locs) == (422, {loc})
    assert caller.post(f"{GOALS}?persona=x", {"goal": "Run"}).locs == {("query", "persona")}
    assert caller.get(GOALS).json == {"goals": []}


def test_a_goal_as_long_as_may_be_is_set(caller: Caller) -> None:
    body = {"goal": "ü" * 500, "check_in_frequency": "ü" * 100}
    assert caller.post(GOALS, body).status == 201


@pytest.mark.spec("P-22")
def test_a_rejected_value_is_no_goal(laptop: Laptop) -> None:
    caller = Caller(laptop)
    (event,) = caller.added("Run a marathon")
    assert laptop.send("DELETE", f"/v1/users/anna/events/{event}?reject=true", None, {}).status == 204
    for headers in ({}, {"idempotency_key": "k"}, {"idempotency_key": "k"}):
        refused = caller.post(GOALS, {"goal": "run a marathon"}, **headers)
        assert (refused.status, refused.json["type"]) == (409, "urn:recollect:problem:conflict")
    assert caller.get(GOALS).json == {"goals": []}
    assert caller.post("/v1/users/ben/goals", {"goal": "Run a marathon"}).status == 201


def test_a_hundred_goals_are_enough(caller: Caller) -> None:
    for n in range(MOST_GOALS):
        assert caller.post(GOALS, {"goal": f"Visit city{n}"}).status == 201
    refused = caller.post(GOALS, {"goal": "Learn Spanish"})
    assert (refused.status, refused.json["detail"]) == (409, "there are 100 goals already")
    assert caller.post(GOALS, {"goal": "Visit city7"}).status == 200
    assert caller.post(f"{GOALS}?persona_id=coach", {"goal": "Learn Spanish"}).status == 201


def test_goals_of_users_and_tenants_do_not_meet(app: App) -> None:
    callers = [Caller(Cloud(app, {"tenant": tenant})) for tenant in ("acme", "other")]
    places = [(caller, f"/v1/users/{user}/goals") for caller in callers for user in ("anna", "ben")]
    made = [caller.post(path, {"goal": "Run a marathon"}, idempotency_key="k") for caller, path in places]
    assert [one.status for one in made] == [201] * 4
    assert len({one.json["id"] for one in made}) == 4
    assert [caller.get(path).json["goals"] for caller, path in places] == [[one.json] for one in made]


def test_a_goal_under_a_key_is_set_once(caller: Caller) -> None:
    body = {"goal": "Run a marathon"}
    goal = caller.twice(GOALS, body, "k").json
    caller.patch(f"{GOALS}/{goal['id']}", {"status": "completed"}, if_match="*")
    replayed = caller.post(GOALS, body, idempotency_key="k")
    assert (replayed.status, replayed.headers["etag"]) == (201, '"2"')
    assert replayed.json == goal | {"status": "completed", "version": 2}
    assert caller.post(GOALS, {"goal": "Paint"}, idempotency_key="k").status == 422
    assert caller.post(f"{GOALS}?persona_id=coach", body, idempotency_key="k").status == 201
    assert len(caller.get(GOALS).json["goals"]) == 2


def test_a_try_that_failed_after_it_stored_a_goal_goes_on_where_it_stopped(app: App, caller: Caller) -> None:
    class Forgetful:
        """Loses the first answer: as a process that dies before its record is written."""

        def complete(self, *_: object) -> None:
            raise Unavailable("gone")

        def __getattr__(self, name: str) -> Any:
            return getattr(app.parts.idempotency, name)

    dying = App(app.settings, _With(app.parts, "idempotency", Forgetful()))
    later = {"x_recollect_now": at(hours=1)}
    died = Caller(Cloud(dying)).post(GOALS, {"goal": "Run"}, idempotency_key="k", x_recollect_now=at())
    (stored,) = caller.get(GOALS).json["goals"]
    retried = caller.post(GOALS, {"goal": "Run"}, idempotency_key="k", **later)
    assert (died.status, retried.status, retried.json) == (503, 201, stored)
    assert caller.get(GOALS).json == {"goals": [stored]}


def test_a_check_in_under_a_key_is_noted_once(scripted: tuple[App, ScriptedModel]) -> None:
    caller, (goal,) = goal_of(scripted, {"goal": "Meditate daily"})
    path, body = f"{GOALS}/{goal['id']}/check-ins", {"date": "2024-06-01", "status": "missed"}
    assert caller.twice(path, body, "k").status == 201
    assert caller.post(path, {**body, "status": "completed"}, idempotency_key="k").status == 422


def test_another_users_goal_is_none(scripted: tuple[App, ScriptedModel]) -> None:
    caller, (goal,) = goal_of(scripted, {"goal": "Meditate daily"})
    entry = {"date": "2024-06-01", "status": "missed"}
    for path in (f"/v1/users/ben/goals/{goal['id']}", f"{GOALS}/none", f"{GOALS}/~8J-YgA"):
        assert caller.patch(path, {"status": "active"}, if_match="*").status == 404
        assert caller.post(f"{path}/check-ins", entry).status == 404
    foreign = Caller(Cloud(scripted[0], {"tenant": "other"}))
    assert foreign.get(GOALS).json == {"goals": []}
    assert foreign.get(SUMMARIES).json == {"summaries": []}


def test_a_summary_that_was_redacted_is_read_back_as_it_is_now(laptop: Laptop) -> None:
    caller = Caller(laptop)
    caller.added("I moved to Lyon in May.", "My sister paints boats all day.")
    first = summarize(caller, "?force=true", idempotency_key="k").json["summary"]
    gone = first["sentences"][0]["source_event_ids"][0]
    assert laptop.send("DELETE", f"/v1/users/anna/events/{gone}", None, {}).status == 204
    again = summarize(caller, "?force=true", idempotency_key="k").json["summary"]
    assert "Lyon" in first["summary"]
    assert "Lyon" not in again["summary"]
    assert "paints boats" in again["summary"]


def test_no_text_of_a_summary_is_logged(laptop: Laptop) -> None:
    caller = Caller(laptop)
    say(caller, 12)
    summarize(caller, "?force=true")
    assert "sheep" not in laptop.log.getvalue()
    assert '"due": true' in laptop.log.getvalue() or '"due":true' in laptop.log.getvalue()


@pytest.mark.spec("H-16", "H-17", "H-18", "H-19", "H-20", "H-22", "P-21")
def test_messages_and_summaries_have_the_columns_of_the_document(caller: Caller) -> None:
    (event_id,) = say(caller, 1)
    summarize(caller, "?force=true")
    (event,) = caller.get("/v1/users/anna/events", {"from": "0"}).json["events"]
    (summary,) = caller.get(SUMMARIES).json["summaries"]
    assert [UUID(one).version for one in (event["id"], summary["id"])] == [7, 7]
    assert (event["id"], event["user_id"], event["role"]) == (event_id, "anna", "user")
    assert (event["content"], event["timestamp"]) == (
        "I counted sheep number 0 near Lyon.",
        "2024-06-01T12:00:00.000000Z",
    )
    for wrong in ({"content": ""}, {"content": "x", "role": "system"}):
        assert caller.add(wrong).status == 422


@pytest.mark.spec("P-24")
def test_what_an_open_conflict_puts_in_doubt_is_said_beside_the_words(app: App, caller: Caller) -> None:
    older, newer = caller.added("I live in Lyon near the river.", "My kettle is red and old.")[:2]
    made = summarize(caller, "?force=true").json["summary"]
    assert {one["in_doubt"] for one in made["sentences"]} == {False}
    conflict = OpenConflict(newer=newer, older=older, at=NOON, step=Step.JUDGE, rule="judge")
    app.parts.items.write(Scope("local", "anna"), [conflict_write(conflict)], NOON)
    (shown,) = caller.get(SUMMARIES).json["summaries"]
    assert {("Lyon" in one["text"], one["in_doubt"]) for one in shown["sentences"]} == {(True, True), (False, False)}
    assert shown | {"sentences": made["sentences"]} == made
    ended = replace(conflict, status=ConflictStatus.SETTLED)
    app.parts.items.write(Scope("local", "anna"), [conflict_write(ended)], NOON)
    assert caller.get(SUMMARIES).json == {"summaries": [made]}


@pytest.mark.spec("H-12", "H-38")
def test_no_state_of_a_coaching_is_kept_anywhere(app: App, caller: Caller) -> None:
    phases = (
        "I am forty.",
        "My goal is to run a marathon.",
        "I will run three times a week.",
        "I ran today!",
        "I did it!",
    )
    caller.added(*phases)
    app.projection.reconciliation.run(NOON)
    summary = summarize(caller, "?force=true").json["summary"]
    goal, *_ = caller.get(GOALS).json["goals"]
    assert not {"state", "stage", "phase", "topic"} & (summary.keys() | goal.keys())
    with closing(sqlite3.connect(app.settings.home / "recollect.db")) as file:
        kept = {row[0] for row in file.execute("SELECT DISTINCT collection FROM items")}
        tables = {row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {one for one in kept if "summar" in one or "goal" in one or "coach" in one} == {
        "summaries", "summary_list", "summary_states", "summary_covered", "goals",
    }  # fmt: skip
    assert not any("coach" in table or "state" in table for table in tables)
