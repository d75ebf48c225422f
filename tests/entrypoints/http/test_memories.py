"""`POST /v1/memories` and its neighbours: saved, found, read, edited, deleted (A-19 to A-32, P-9)."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from entrypoints.http.calling import Answered, Caller, Cloud
from entrypoints.http.conftest import settings_in
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.entrypoints.http.routing import path_segment

MODES = ("hybrid", "semantic", "lexical")
LYON = "Anna lives in Lyon"
OSLO = "Anna moved to Oslo"
TEA = "Anna likes green tea"


def save(caller: Caller, content: str = LYON, user: str = "anna", **more: Any) -> Answered:
    return caller.post("/v1/memories", {"user_id": user, "content": content, **more})


def saved(caller: Caller, content: str = LYON, user: str = "anna", **more: Any) -> dict[str, Any]:
    answer = save(caller, content, user, **more)
    assert answer.status == 201, answer.text
    return dict(answer.json)


def path(memory_id: str, user: str = "anna") -> str:
    return f"/v1/users/{user}/memories/{memory_id}"


def patch(caller: Caller, memory_id: str, body: bytes, if_match: str = "*", user: str = "anna") -> Answered:
    return caller.patch(path(memory_id, user), body, if_match=if_match)


def listed(caller: Caller, user: str = "anna", **query: Any) -> list[dict[str, Any]]:
    answer = caller.get(f"/v1/users/{user}/memories", query)
    assert answer.status == 200, answer.text
    return list(answer.json["memories"])


def results(caller: Caller, query: str, user: str = "anna", **more: Any) -> list[dict[str, Any]]:
    answer = caller.post("/v1/search", {"user_id": user, "query": query, **more})
    assert answer.status == 200, answer.text
    return list(answer.json["results"])


def contents(caller: Caller, query: str, **more: Any) -> list[str]:
    return [one["content"] for one in results(caller, query, **more)]


def project(app: App) -> None:
    assert app.projection.reconciliation.run(datetime.now(UTC)).failed == {}


def direction(cosine: float) -> list[float]:
    """A vector of that cosine to the first axis."""
    return [cosine, (1 - cosine * cosine) ** 0.5, *[0.0] * 382]


def by_vector(caller: Caller, **more: Any) -> Answered:
    asked = {"user_id": "anna", "vector": direction(1.0), "mode": "semantic", **more}
    return caller.post("/v1/search", asked)


# Saving


@pytest.mark.spec("A-19", "A-20", "A-22", "P-9")
def test_a_saved_memory_is_answered_whole(caller: Caller) -> None:
    answer = save(caller, "  Anna lives in Lyon  ", metadata={"from": {"form": [1, None]}}, keywords=["city", "home"])
    memory = answer.json
    assert (answer.status, answer.headers["etag"]) == (201, '"1"')
    assert (memory["content"], memory["importance"], memory["source"]) == ("  Anna lives in Lyon  ", 0.5, "user")
    assert (memory["status"], memory["origin"], memory["version"]) == ("active", "direct", 1)
    assert (memory["keywords"], memory["metadata"]) == (["city", "home"], {"from": {"form": [1, None]}})
    assert memory["source_event_ids"] == []
    assert memory["timestamp"] == memory["valid_from"] == memory["recorded_at"]
    assert memory["embedding_id"] == f"hashing.1/{memory['id']}"
    assert not {"persona_id", "household_id", "key", "valid_to", "superseded_by", "expires_at"} & memory.keys()
    read = caller.get(path(memory["id"]))
    assert (read.status, read.json, read.headers["etag"]) == (200, memory, '"1"')


@pytest.mark.spec("A-20", "P-9")
def test_what_is_given_stands(caller: Caller) -> None:
    given: dict[str, Any] = {
        "persona_id": "coach", "household_id": "home", "importance": 0.91, "source": "system", "key": "city",
        "timestamp": "2024-05-01T12:00:00.000000Z", "expires_at": "2100-01-01T00:00:00.000000Z",
    }  # fmt: skip
    memory = saved(caller, **given)
    assert {name: memory[name] for name in given} == given
    assert memory["valid_from"] == given["timestamp"]


# Duplicates


@pytest.mark.spec("A-21")
def test_the_same_words_are_one_memory(caller: Caller) -> None:
    first = saved(caller, importance=0.9)
    again = save(caller, f"\n {LYON} ", importance=0.1, metadata={"other": 1})
    assert (again.status, again.json, again.headers["etag"]) == (200, first, '"1"')
    assert len(listed(caller)) == 1
    assert save(caller, LYON.upper()).status == 201


@pytest.mark.spec("A-21")
def test_another_scope_or_key_is_another_memory(caller: Caller) -> None:
    home = {"household_id": "home"}
    whose: tuple[dict[str, str], ...] = ({}, {"persona_id": "coach"}, home, {"persona_id": "coach", **home})
    ids = {saved(caller, **narrowing)["id"] for narrowing in whose}
    ids |= {saved(caller, key="city")["id"], saved(caller, key="home")["id"], saved(caller, user="ben")["id"]}
    assert len(ids) == 7
    assert [save(caller, **narrowing).status for narrowing in whose] == [200] * 4


@pytest.mark.spec("A-21")
@pytest.mark.parametrize("projected", [False, True])
def test_duplicates_survive_a_restart(tmp_path: Path, projected: bool) -> None:
    app = open_app(settings_in(tmp_path))
    first = saved(Caller(Cloud(app)))
    if projected:
        project(app)
    app.parts.close()
    again = open_app(settings_in(tmp_path))
    caller = Caller(Cloud(again))
    assert (save(caller).status, save(caller).json["id"]) == (200, first["id"])
    assert len(listed(caller)) == 1
    again.parts.close()


@pytest.mark.spec("A-21")
def test_saved_by_many_at_once_it_is_one_memory(app: App) -> None:
    callers = [Caller(Cloud(app)) for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(save, callers))
    assert sorted(answer.status for answer in answers) == [200] * 7 + [201]
    assert len({answer.json["id"] for answer in answers}) == len(listed(callers[0])) == 1
    project(app)
    assert contents(callers[0], LYON) == [LYON]


@pytest.mark.spec("A-21")
def test_of_a_promoted_memory_it_is_a_duplicate_too(app: App, caller: Caller) -> None:
    (event_id,) = caller.added(LYON, importance=0.9)
    project(app)
    again = save(caller)
    assert (again.status, again.json["id"], again.json["origin"]) == (200, event_id, "event")
    assert again.json["source_event_ids"] == [event_id]


@pytest.mark.spec("A-21")
def test_an_event_of_the_same_words_joins_the_memory(app: App, caller: Caller) -> None:
    memory = saved(caller)
    (event_id,) = caller.added(LYON, importance=0.9)
    project(app)
    (only,) = results(caller, LYON)
    assert (only["id"], only["kind"], only["source_event_ids"]) == (memory["id"], "memory", [event_id])
    (known,) = listed(caller, source_event_id=event_id)
    assert (known["id"], known["version"]) == (memory["id"], 2)


@pytest.mark.spec("A-21", "P-22")
def test_of_a_deleted_one_it_is_none(caller: Caller) -> None:
    first = saved(caller)
    assert caller.delete(path(first["id"])).status == 204
    second = saved(caller)
    assert second["id"] != first["id"]
    assert [one["id"] for one in listed(caller)] == [second["id"]]


# Idempotency


@pytest.mark.spec("A-21")
def test_a_replay_has_the_first_answer_and_writes_nothing(caller: Caller) -> None:
    body = {"user_id": "anna", "content": LYON}
    first = caller.twice("/v1/memories", body, "k1")
    assert first.status == 201
    assert caller.post("/v1/memories", {**body, "content": "x"}, Idempotency_Key="k1").status == 422
    other = caller.post("/v1/memories", body, Idempotency_Key="k2")
    assert (other.status, other.json, "idempotent-replayed" in other.headers) == (200, first.json, False)
    assert caller.delete(path(first.json["id"])).status == 204
    for key, status in (("k1", 201), ("k2", 200)):
        gone = caller.post("/v1/memories", body, Idempotency_Key=key)
        assert (gone.status, gone.json) == (status, {"refused": [first.json["id"]]})
    assert listed(caller) == []


def test_the_idempotency_record_holds_no_text(app: App, tmp_path: Path) -> None:
    Caller(Cloud(app)).post("/v1/memories", {"user_id": "anna", "content": LYON}, Idempotency_Key="k1")
    with app.parts.timeline._database.reading() as connection:  # type: ignore[attr-defined]
        rows = connection.execute("SELECT * FROM idempotency").fetchall()
    assert rows
    assert "Lyon" not in str(rows)


# Found


@pytest.mark.spec("A-19", "A-26")
@pytest.mark.parametrize("mode", MODES)
def test_the_very_next_search_finds_it(app: App, caller: Caller, mode: str) -> None:
    """Nobody projects here: what is found comes from the tail."""
    memory = saved(caller, keywords=["city"], metadata={"a": 1}, key="home", importance=0.7)
    for _ in range(2):
        (found,) = results(caller, LYON, mode=mode)
        shared = ("id", "content", "timestamp", "importance", "source", "source_event_ids", "status", "keywords")
        assert {name: found[name] for name in shared} == {name: memory[name] for name in shared}
        assert (found["kind"], found["key"], found["metadata"], found["version"]) == ("memory", "home", {"a": 1}, 1)
        assert not {"conversation_id", "role", "event_type"} & found.keys()
        project(app)


@pytest.mark.spec("A-19", "A-25", "A-26")
@pytest.mark.parametrize("projected", [False, True])
def test_by_vector_at_most_so_many_the_nearest_first(app: App, caller: Caller, projected: bool) -> None:
    cosines = {f"memory {number}": 0.99 - 0.03 * number for number in range(8)}
    for content, cosine in reversed(cosines.items()):
        saved(caller, content, embedding=direction(cosine))
    if projected:
        project(app)
    nearest = list(cosines)
    assert [one["content"] for one in by_vector(caller).json["results"]] == nearest[:3]
    wide = by_vector(caller, top_k=100).json["results"]
    assert [one["content"] for one in wide] == nearest
    assert [one["scores"]["similarity"] for one in wide] == pytest.approx(list(cosines.values()), abs=1e-3)
    assert by_vector(caller, top_k=101).status == 422


@pytest.mark.spec("A-27", "A-28", "A-30")
@pytest.mark.parametrize("projected", [False, True])
def test_what_is_below_the_threshold_is_dropped(app: App, caller: Caller, projected: bool) -> None:
    for cosine in (0.9, 0.72, 0.68):
        saved(caller, f"cosine {cosine}", embedding=direction(cosine))
    saved(caller, "cosine one half", embedding=[0.5] * 4 + [0.0] * 380)
    if projected:
        project(app)
    answer = by_vector(caller).json
    assert [one["content"] for one in answer["results"]] == ["cosine 0.9", "cosine 0.72"]
    seen = answer["diagnostics"]
    assert (seen["matched_count"], seen["filtered_count"], seen["returned_count"]) == (2, 2, 2)
    assert seen["dropped"] == {"threshold": 2}
    assert len(by_vector(caller, min_similarity=0.5, top_k=9).json["results"]) == 4
    assert len(by_vector(caller, min_similarity=0.5001, top_k=9).json["results"]) == 3
    everything = by_vector(caller, min_similarity=-1).json["diagnostics"]
    assert (everything["matched_count"], everything["filtered_count"], everything["returned_count"]) == (4, 0, 3)


@pytest.mark.spec("A-30", "A-31")
def test_nothing_matched_is_said_so_that_a_caller_can_fall_back(caller: Caller) -> None:
    saved(caller, embedding=direction(0.1))
    caller.added("Anna said that she lives in Lyon")
    answer = by_vector(caller).json
    assert (answer["results"], answer["diagnostics"]["matched_count"]) == ([], 0)
    assert [event["content"] for event in caller.timeline().json["events"]] == ["Anna said that she lives in Lyon"]


@pytest.mark.spec("A-24", "A-32")
@pytest.mark.parametrize("projected", [False, True])
def test_persona_and_household_narrow_before_the_ranking(app: App, caller: Caller, projected: bool) -> None:
    """The others are nearer, and more than are wanted: ranked first, they would leave no place."""
    for number in range(5):
        saved(caller, f"nobody's {number}", embedding=direction(1.0))
        saved(caller, f"the cook's {number}", persona_id="cook", embedding=direction(1.0))
    saved(caller, "the coach's", persona_id="coach", embedding=direction(0.8))
    saved(caller, "the coach's at home", persona_id="coach", household_id="home", embedding=direction(0.75))
    if projected:
        project(app)

    def found(**whose: str) -> list[str]:
        return [one["content"] for one in by_vector(caller, **whose).json["results"]]

    assert found(persona_id="coach") == ["the coach's", "the coach's at home"]
    assert found(household_id="home") == found(persona_id="coach", household_id="home") == ["the coach's at home"]
    assert found(persona_id="nobody") == []
    assert len(by_vector(caller, top_k=100).json["results"]) == 12
    assert {one["content"] for one in listed(caller, persona_id="coach")} == {"the coach's", "the coach's at home"}
    assert [one["content"] for one in listed(caller, household_id="home")] == ["the coach's at home"]
    (home,) = listed(caller, household_id="home")
    for narrowing in ("persona_id=cook", "household_id=other", "persona_id=coach&household_id=other"):
        for target in (path(home["id"]), f"{path(home['id'])}/history"):
            assert caller.get(f"{target}?{narrowing}").status == 404
        assert caller.delete(f"{path(home['id'])}?{narrowing}").status == 404
        assert patch(caller, f"{home['id']}?{narrowing}", b'{"importance": 1}').status == 404
    assert caller.delete(f"{path(home['id'])}?persona_id=coach&household_id=home").status == 204


def test_a_context_shows_it_and_no_timeline_does(app: App, caller: Caller) -> None:
    memory = saved(caller, importance=0.9)
    for _ in range(2):
        answer = caller.post("/v1/context", {"user_id": "anna", "input": "Where does Anna live?"}).json
        assert LYON in answer["prompt"]
        assert [(one["id"], one["source_event_ids"]) for one in answer["items"]] == [(memory["id"], [])]
        assert caller.timeline(last_days=3650).json["events"] == []
        assert caller.get("/v1/users/anna/conversations").json["conversations"] == []
        assert caller.get(f"/v1/users/anna/events/{memory['id']}").status == 404
        assert caller.delete(f"/v1/users/anna/events/{memory['id']}").status == 404
        project(app)


def test_what_expires_is_gone_at_that_instant(app: App, caller: Caller) -> None:
    memory = saved(caller, expires_at="2030-01-01T00:00:00Z")
    project(app)
    before, then = {"X_Recollect_Now": "2029-12-31T23:59:59Z"}, {"X_Recollect_Now": "2030-01-01T00:00:00Z"}
    assert caller.get(path(memory["id"]), **before).status == 200
    assert caller.get(path(memory["id"]), **then).status == 404
    assert caller.get("/v1/users/anna/memories", {}, **then).json == {"memories": []}
    assert caller.post("/v1/search", {"user_id": "anna", "query": LYON}, **then).json["results"] == []
    assert caller.post("/v1/memories", {"user_id": "anna", "content": LYON}, **then).status == 201
    assert patch(caller, memory["id"], b'{"expires_at": null}', '"1"').json["version"] == 2
    project(app)
    assert "expires_at" not in caller.get(path(memory["id"]), **then).json
    assert LYON in caller.post("/v1/search", {"user_id": "anna", "query": LYON}, **then).text


# Whose


@pytest.mark.spec("A-24")
def test_another_users_and_tenants_are_not_found(app: App, caller: Caller) -> None:
    memory = saved(caller)
    other = Caller(Cloud(app, {"tenant": "other"}))
    for asking, user in ((caller, "ben"), (other, "anna")):
        target = path(memory["id"], user)
        assert caller.get(path(memory["id"])).status == 200
        for answer in (
            asking.get(target),
            asking.get(f"{target}/history"),
            asking.delete(target),
            patch(asking, memory["id"], b'{"importance": 1}', user=user),
        ):
            assert (answer.status, answer.json["type"]) == (404, "urn:recollect:problem:not-found")
        assert listed(asking, user) == results(asking, LYON, user) == []
        assert saved(asking, user=user)["id"] != memory["id"]
    assert caller.get(path(memory["id"])).json == memory


# Lists


@pytest.fixture
def many(caller: Caller) -> list[str]:
    """Ids of memories, the last made first."""
    return [saved(caller, f"memory {number}", source="skill")["id"] for number in range(7)][::-1]


def test_a_walk_sees_every_memory_once(caller: Caller, many: list[str]) -> None:
    seen, query = [], {"limit": 3}
    while True:
        page = caller.get("/v1/users/anna/memories", query).json
        seen += [one["id"] for one in page["memories"]]
        saved(caller, f"meanwhile {len(seen)}")
        if "next_cursor" not in page:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == many


def test_the_current_ones_are_listed_by_their_status(caller: Caller) -> None:
    for day, content in enumerate((LYON, OSLO), start=1):
        saved(caller, content, key="city", timestamp=f"2024-05-0{day}")
    said = {status: [one["content"] for one in listed(caller, status=status)] for status in ("active", "superseded")}
    assert said == {"active": [OSLO], "superseded": [LYON]}
    assert [one["content"] for one in listed(caller)] == [OSLO, LYON]


def test_a_cursor_of_another_list_is_refused(caller: Caller, many: list[str]) -> None:
    cursor = caller.get("/v1/users/anna/memories", {"limit": 2}).json["next_cursor"]
    users = {"anna": {"status": "active"}, "ben": {}}
    for user, filters in users.items():
        answer = caller.get(f"/v1/users/{user}/memories", {**filters, "cursor": cursor})
        assert (answer.status, answer.locs) == (422, {("query", "cursor")})
    assert caller.get("/v1/users/anna/conversations", {"cursor": cursor}).status == 422
    assert caller.get("/v1/users/anna/memories", {"cursor": cursor, "limit": 200}).status == 200


def test_large_memories_are_listed_in_pages_that_an_answer_holds(caller: Caller) -> None:
    for number in range(80):
        saved(caller, f"{number} " + "é" * 32_000)
    seen, query = list[str](), {"limit": 200}
    while True:
        answer = caller.get("/v1/users/anna/memories", query)
        assert len(answer.text.encode()) < 5_000_000
        seen += [one["content"].split()[0] for one in answer.json["memories"]]
        if "next_cursor" not in answer.json:
            break
        query["cursor"] = answer.json["next_cursor"]
    assert seen == [str(number) for number in reversed(range(80))]


@pytest.mark.parametrize("user", ["a/b", "~", "🙂", ".hidden", "é" * 128])
def test_hard_user_ids(caller: Caller, user: str) -> None:
    memory = saved(caller, user=user)
    segment = quote(path_segment(user), safe="~")
    assert [one["id"] for one in listed(caller, segment)] == [memory["id"]]
    assert caller.get(path(memory["id"], segment)).json["user_id"] == user
    assert caller.delete(path(memory["id"], segment)).status == 204
    assert caller.get("/v1/users/anna/memories/~!").status == 422


# Edits


@pytest.mark.spec("A-26")
def test_an_edit_is_shown_at_once_and_found_by_its_words(app: App, caller: Caller) -> None:
    memory = saved(caller)
    project(app)
    answer = patch(caller, memory["id"], '{"content": "Anna moved to Oslo", "keywords": ["ø"]}'.encode(), '"1"')
    assert (answer.status, answer.headers["etag"], answer.json["version"]) == (200, '"2"', 2)
    assert (answer.json["content"], answer.json["keywords"]) == (OSLO, ["ø"])
    assert caller.get(path(memory["id"])).json == answer.json
    assert contents(caller, LYON) == contents(caller, "Oslo", mode="lexical") == [OSLO]
    project(app)
    for mode in MODES:
        assert contents(caller, OSLO, mode=mode) == [OSLO]
    assert contents(caller, "lives Lyon", mode="lexical") == contents(caller, LYON, mode="semantic") == []
    context = caller.post("/v1/context", {"user_id": "anna", "input": "Where does Anna live?"})
    assert OSLO in context.json["prompt"]
    assert "Lyon" not in context.text
    assert save(caller).status == 201
    assert save(caller, OSLO).json["id"] == memory["id"]


def test_metadata_is_filtered_by_as_it_is_now(app: App, caller: Caller) -> None:
    memory = saved(caller, metadata={"kind": "home"})
    patch(caller, memory["id"], b'{"metadata": {"kind": "work"}}')
    for _ in range(2):
        assert contents(caller, LYON, filters={"metadata": {"kind": "work"}}) == [LYON]
        assert contents(caller, LYON, filters={"metadata": {"kind": "home"}}) == []
        project(app)


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        (b"{}", ("body",)),
        (b'{"content": null}', ("body",)),
        (b'{"content": " "}', ("body", "content")),
        (b'{"importance": 2}', ("body", "importance")),
        (b'{"key": "other"}', ("body", "key")),
        (b'{"status": "active"}', ("body", "status")),
        (b'{"keywords": [1]}', ("body", "keywords", 0)),
        (b'{"expires_at": "x"}', ("body", "expires_at")),
    ],
)
def test_a_bad_edit_changes_nothing(caller: Caller, body: bytes, loc: tuple[Any, ...]) -> None:
    memory = saved(caller)
    answer = patch(caller, memory["id"], body)
    assert (answer.status, answer.locs) == (422, {loc})
    assert caller.get(path(memory["id"])).json == memory


def test_an_edit_names_its_version(caller: Caller) -> None:
    memory = saved(caller)
    assert caller.patch(path(memory["id"]), {"importance": 1}).status == 428
    for wrong in ('"2"', "1", 'W/"1"'):
        answer = patch(caller, memory["id"], b'{"importance": 1}', wrong)
        assert (answer.status, answer.json["type"]) == (412, "urn:recollect:problem:version-mismatch")
    assert patch(caller, memory["id"], b'{"importance": 1}', '"7", "1"').status == 200
    assert patch(caller, memory["id"], b'{"importance": 1}', '"1"').status == 412
    assert patch(caller, "none", b'{"importance": 1}', "*").status == 404


def test_whoever_takes_any_version_is_never_refused(app: App) -> None:
    callers = [Caller(Cloud(app)) for _ in range(4)]
    memory = saved(callers[0])
    edits = [f'{{"importance": 0.{number}}}'.encode() for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda n: patch(callers[n], memory["id"], edits[n]), range(4)))
    assert [answer.status for answer in answers] == [200] * 4
    assert callers[0].get(path(memory["id"])).json["version"] == 5


def test_the_history_tells_who_and_when(app: App, caller: Caller) -> None:
    (event_id,) = caller.added(LYON, importance=0.9)
    project(app)
    patch(caller, event_id, b'{"content": "Anna moved to Oslo"}')
    (again,) = caller.added(OSLO, importance=0.8)
    project(app)
    history = caller.get(f"{path(event_id)}/history").json["history"]
    assert [(one["version"], one["content"]) for one in history] == [(1, LYON), (2, OSLO), (3, OSLO)]
    assert [one["actor"]["kind"] for one in history] == ["job", "user", "job"]
    assert [(one["action"], one["via"]) for one in history] == [
        ("create", "bridge"), ("patch", "memories"), ("merge", "bridge"),
    ]  # fmt: skip
    assert all(one["at"] for one in history)
    assert history[-1]["source_event_ids"] == [event_id, again]


# Deletion


@pytest.mark.spec("P-22")
def test_of_a_deleted_memory_no_version_is_left(app: App, caller: Caller) -> None:
    memory = saved(caller, "the zebra sings at midnight")
    patch(caller, memory["id"], b'{"content": "the quokka sings"}')
    project(app)
    assert caller.delete(path(memory["id"])).status == 204
    project(app)
    with app.parts.timeline._database.reading() as connection:  # type: ignore[attr-defined]
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: str(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in tables}
    assert {name for name, row in rows.items() if "zebra" in row or "quokka" in row} <= {"words_data"}


def test_deletion_names_its_version_where_it_likes(caller: Caller) -> None:
    memory = saved(caller)
    assert caller.delete(path(memory["id"]), If_Match='"2"').status == 412
    patch(caller, memory["id"], b'{"importance": 1}')
    assert caller.delete(path(memory["id"]), If_Match='"1"').status == 412
    assert caller.delete(path(memory["id"]), If_Match='"2"').status == 204
    assert caller.delete(path(saved(caller)["id"]), If_Match="*").status == 204


def test_a_version_that_is_overtaken_deletes_nothing(app: App) -> None:
    callers = [Caller(Cloud(app)) for _ in range(8)]
    memory = saved(callers[0])

    def change(number: int) -> int:
        if number % 2:
            return callers[number].delete(path(memory["id"]), If_Match='"1"').status
        return patch(callers[number], memory["id"], b'{"importance": 0.9}', '"1"').status

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(change, range(8)))
    assert sum(status in (200, 204) for status in statuses) == 1
    kept = callers[0].get(path(memory["id"]))
    assert (kept.status == 200) == (200 in statuses)


def test_a_key_is_deleted_with_its_memories(app: App, caller: Caller) -> None:
    saved(caller, "Lyon", key="city")
    project(app)
    saved(caller, "Oslo", key="city")
    assert caller.delete("/v1/users/anna/keys/city").status == 204
    assert listed(caller) == []
    assert contents(caller, "Lyon Oslo") == []


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("projected", [False, True])
def test_a_rejected_sentence_is_in_no_memory_that_is_read(app: App, caller: Caller, projected: bool) -> None:
    long = saved(caller, f"{LYON}. She likes green tea.", keywords=["k"])
    whole = saved(caller, LYON.upper())
    patch(caller, long["id"], json.dumps({"content": f"She likes black tea. {LYON}."}).encode())
    if projected:
        project(app)
    assert caller.delete(f"{path(saved(caller)['id'])}?reject=true").status == 204
    answers = [
        caller.get("/v1/users/anna/memories"),
        caller.get(path(long["id"])),
        caller.get(f"{path(long['id'])}/history"),
        caller.post("/v1/search", {"user_id": "anna", "query": "What does Anna like? Where does she live?"}),
        save(caller, f"She likes black tea. {LYON}."),
        patch(caller, long["id"], b'{"importance": 0.9}'),
    ]
    for answer in answers:
        assert answer.status == 200, answer.text
        assert "tea" in answer.text
        assert "lyon" not in answer.text.lower()
    assert caller.get(path(whole["id"])).status == patch(caller, whole["id"], b'{"importance": 1}').status == 404
    (rejection,) = caller.get("/v1/users/anna/rejections").json["rejections"]
    assert caller.delete(f"/v1/users/anna/rejections/{rejection['id']}").status == 204
    assert caller.get(path(long["id"])).json["content"] == f"She likes black tea. {LYON}."
    assert caller.get(path(whole["id"])).json["version"] == 1
