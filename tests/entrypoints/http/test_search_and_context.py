"""`POST /v1/search` and `POST /v1/context` over HTTP: shapes, defaults, reasons, budgets, faults of parts."""

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from entrypoints.http.calling import Caller, Cloud
from recollect.app import App
from recollect.core.errors import Unavailable
from recollect.core.scope import Scope
from recollect.entrypoints.cli import evaluate
from recollect.retrieval.evaluation import GoldQuestion
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import RankingPolicy
from recollect.retrieval.reasons import SIGNALS
from recollect.retrieval.search import SearchAnswer, SearchMemory
from recollect.text.sentences import count_tokens

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
PLACES = ("prompt", "messages")
TALK = ["I like green tea", "My sister lives in Porto", "The meeting is on Monday", "Green is my favourite colour"]


def search(caller: Caller, query: str, **more: Any) -> Any:
    """A search's answer."""
    answer = caller.post("/v1/search", {"user_id": "anna", "query": query, **more})
    assert answer.status == 200, answer.text
    return answer.json


def context(caller: Caller, text: str, **more: Any) -> Any:
    """A context's answer."""
    answer = caller.post("/v1/context", {"user_id": "anna", "input": text, **more})
    assert answer.status == 200, answer.text
    return answer.json


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_what_was_just_said_is_found_in_every_mode(caller: Caller, mode: str) -> None:
    ids = caller.added(*TALK)
    found = search(caller, "sister Porto", mode=mode, min_similarity=None if mode != "semantic" else 0.1)
    best = found["results"][0]
    assert (best["id"], best["source_event_ids"], best["kind"]) == (ids[1], [ids[1]], "event")
    assert best["content"] == TALK[1]
    assert "why" not in best
    assert found["diagnostics"]["returned_count"] == len(found["results"])
    assert found["diagnostics"]["missing"] == []


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical", "intent"])
def test_explained_each_hit_says_why_in_words(caller: Caller, mode: str) -> None:
    caller.added(*TALK)
    asked = {"mode": mode, "top_k": 1, **({"min_similarity": 0.1} if mode == "semantic" else {})}
    (best,) = search(caller, "my sister in Porto", explain=True, **asked)["results"]
    assert best["because"].endswith(".")
    assert ("“sister” and “Porto”" in best["because"]) == (mode != "semantic")
    assert set(best["why"]["signals"]) | set(best["why"]["shares"]) <= set(SIGNALS)
    assert "because" not in search(caller, "my sister in Porto", **asked)["results"][0]


def test_a_context_explained_says_of_each_line_why_it_is_there_and_of_others_why_not(caller: Caller) -> None:
    caller.added(*(f"note {n} about the dog" for n in range(30)))
    asked = {"user_id": "anna", "input": "dog?", "memory_tokens": 0}
    plain, explained = (caller.post("/v1/context", {**asked, **more}).json for more in ({}, {"explain": True}))
    assert all(one["because"].endswith(".") for one in explained["items"] + explained["near_misses"])
    left = explained["diagnostics"]["left_out"]
    assert "The prompt takes the first 3 that the question finds." in [one["because"] for one in left]
    assert left[0]["content"].startswith("note ")
    assert [set(one) for one in plain["diagnostics"]["left_out"]] == [{"id", "section", "reason"}] * len(left)
    assert not any("because" in one for one in plain["items"])
    places = [(one["why"]["place"], one["score"]) for one in explained["items"] if "why" in one]
    assert [score for _, score in sorted(places)] == sorted((score for _, score in places), reverse=True)


def test_explain_tells_why(caller: Caller) -> None:
    caller.added(*TALK)
    why = search(caller, "green tea", explain=True)["results"][0]["why"]
    assert why["place"] == 1
    assert set(why["arms"]) <= {"lexical", "vector", "tail", "timeline"}
    assert set(why["signals"]) >= {"similarity", "bm25"}
    assert set(why["shares"]) == {field.name for field in fields(RankingPolicy)}
    assert sum(why["shares"].values()) == pytest.approx(search(caller, "green tea")["results"][0]["score"], abs=1e-5)


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_explain_tells_the_near_misses_and_changes_no_result(caller: Caller, mode: str) -> None:
    caller.added(*[f"green tea number {n}" for n in range(12)])
    asked = {"mode": mode, "top_k": 4, "min_similarity": None if mode != "semantic" else -1}
    plain, explained = (search(caller, "green tea number 3", **asked, **more) for more in ({}, {"explain": True}))
    assert [one["id"] for one in explained["results"]] == [one["id"] for one in plain["results"]]
    assert explained["diagnostics"]["returned_count"] == 4
    assert "near_misses" not in plain
    near = explained["near_misses"]
    assert [one["why"]["place"] for one in near] == [5, 6, 7, 8, 9]
    assert not {one["id"] for one in near} & {one["id"] for one in plain["results"]}
    scores = [one["score"] for one in explained["results"] + near]
    assert scores == sorted(scores, reverse=True)


def test_what_is_below_the_threshold_is_a_near_miss(caller: Caller) -> None:
    (shown,) = caller.added("green tea")
    strict = search(caller, "green tea or black", mode="semantic", min_similarity=0.999, explain=True)
    assert strict["results"] == []
    assert [one["id"] for one in strict["near_misses"]] == [shown]
    assert strict["near_misses"][0]["why"]["signals"]["similarity"] < 0.999


def test_a_near_miss_is_nothing_that_may_not_be_shown(caller: Caller) -> None:
    ids = caller.added(*[f"green tea number {n}" for n in range(4)])
    caller.added("green tea that nobody may see", is_private=True)
    assert caller.delete(f"/v1/users/anna/events/{ids[0]}").status in (200, 204)
    near = search(caller, "green tea", top_k=1, explain=True)["near_misses"]
    assert len(near) == 2
    assert {one["content"] for one in near} < {f"green tea number {n}" for n in range(1, 4)}


def test_a_context_explained_tells_its_near_misses_and_shows_the_same(caller: Caller) -> None:
    ids = caller.added(*[f"green tea number {n}" for n in range(60)])
    caller.added("green tea that nobody may see", is_private=True)
    asked = {"user_id": "anna", "input": "green tea number 3"}
    plain, explained = (caller.post("/v1/context", {**asked, **more}).json for more in ({}, {"explain": True}))
    assert [one["id"] for one in explained["items"]] == [one["id"] for one in plain["items"]]
    assert "near_misses" not in plain
    near = explained["near_misses"]
    assert 0 < len(near) <= 10
    assert not {one["id"] for one in near} & {one["id"] for one in plain["items"]}
    assert {one["id"] for one in near} < set(ids)
    assert [one["score"] for one in near] == sorted((one["score"] for one in near), reverse=True)


def test_eval_asks_what_the_endpoint_asks_by_default(app: App, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[RecallRequest] = []
    searched = SearchMemory.search

    def noted(self: SearchMemory, scope: Scope, request: RecallRequest) -> SearchAnswer:
        asked.append(replace(request, filters=replace(request.filters, now=NOON)))
        return searched(self, scope, request)

    monkeypatch.setattr(SearchMemory, "search", noted)
    search(caller, "Where does my sister live?", top_k=50)
    gold = GoldQuestion("anna", "Where does my sister live?", "any", frozenset({"t1"}))
    evaluate._search(app, gold, NOON, 50, evaluate._Seconds())
    by_endpoint, by_eval = asked
    assert by_eval == by_endpoint


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical", "intent"])
def test_the_diagnostics_say_how_many_wait(app: App, caller: Caller, mode: str) -> None:
    first = caller.added("My violin teacher is called Berta")[0]
    for part in range(3):
        caller.added(*(f"r{part}{n} s{part}{n}" for n in range(50)))
    asked = {"mode": mode, "min_similarity": 0.3 if mode == "semantic" else None}
    found = search(caller, "the violin teacher called", **asked)
    told = found["diagnostics"]
    assert (told["pending"], told["tail"], told["tail_cut"]) == (151, 100, True)
    assert found["results"][0]["source_event_ids"] == [first]
    built = context(caller, "the violin teacher called")
    assert (built["diagnostics"]["pending"], built["diagnostics"]["tail_cut"]) == (151, True)
    assert first in [one["id"] for one in built["items"] if one["section"] == "semantic"]
    app.projection.reconciliation.run(datetime.now(UTC))
    assert search(caller, "the violin teacher called", **asked)["diagnostics"]["pending"] == 0
    assert context(caller, "the violin teacher called")["diagnostics"]["pending"] == 0


def test_explain_adds_up_for_what_has_no_vector_yet(caller: Caller) -> None:
    caller.added("My violin teacher is called Berta")
    for part in range(3):
        caller.added(*(f"r{part}{n} s{part}{n}" for n in range(50)))
    best = search(caller, "the violin teacher called", explain=True)["results"][0]
    assert "similarity" not in best["why"]["signals"]
    assert best["why"]["shares"]["weighted_similarity"] > 0
    assert sum(best["why"]["shares"].values()) == pytest.approx(best["score"], abs=1e-5)


@pytest.mark.spec("A-28", "A-30")
def test_defaults_of_modes(caller: Caller) -> None:
    caller.added(*[f"green tea number {n}" for n in range(12)])
    assert len(search(caller, "green tea")["results"]) == 10
    assert len(search(caller, "green tea number 3", mode="semantic", min_similarity=-1)["results"]) == 3
    strict = search(caller, "quite another matter", mode="semantic")
    assert strict["results"] == []
    assert strict["diagnostics"]["dropped"].get("threshold") == 12


def test_a_vector_can_be_the_question(app: App, caller: Caller) -> None:
    from recollect.core.vectors import TextKind

    assert app.parts.embedder is not None
    ids = caller.added(*TALK)
    vector = app.parts.embedder.encode([TALK[2]], TextKind.QUERY)[0].vector.tolist()
    answer = caller.post("/v1/search", {"user_id": "anna", "vector": vector, "mode": "semantic"})
    assert answer.json["results"][0]["id"] == ids[2]
    large = [value * 1e30 for value in vector]
    again = caller.post("/v1/search", {"user_id": "anna", "vector": large, "mode": "semantic"})
    assert [one["id"] for one in again.json["results"]] == [one["id"] for one in answer.json["results"]]


@pytest.mark.parametrize(
    ("narrowing", "count"),
    [
        ({}, 3),
        ({"filters": {"tags": ["preference"]}}, 1),
        ({"filters": {"event_type": "task"}}, 1),
        ({"filters": {"key": "drink"}}, 1),
        ({"filters": {"space_id": "kitchen"}}, 1),
        ({"filters": {"source": "skill"}}, 1),
        ({"filters": {"metadata": {"n": 1}}}, 1),
        ({"filters": {"conversation_id": "other"}}, 0),
        ({"time_window": {"to": "2024-05-02"}}, 1),
        ({"time_window": {"from": "2024-05-02T00:00:01Z", "last_days": 100}}, 2),
        ({"as_of": "2024-05-02"}, 1),
        ({"persona_id": "work"}, 0),
        ({"household_id": "h"}, 0),
    ],
)
def test_filters_and_windows(caller: Caller, narrowing: dict[str, Any], count: int) -> None:
    events: list[dict[str, Any]] = [
        {"content": "tea: I prefer green", "timestamp": "2024-05-02", "space_id": "kitchen", "metadata": {"n": 1}},
        {"content": "tea is out", "timestamp": "2024-05-03", "event_type": "task", "source": "skill"},
        {"content": "tea", "timestamp": "2024-05-04", "key": "drink"},
        {"content": "tea in private", "is_private": True},
    ]
    caller.add(*events)
    body = {"user_id": "anna", "query": "tea", "mode": "lexical", **narrowing}
    answer = caller.post("/v1/search", body, x_recollect_now="2024-05-05")
    assert len(answer.json["results"]) == count
    dropped = answer.json["diagnostics"]["dropped"]
    assert sum(dropped.values()) == answer.json["diagnostics"]["filtered_count"] == 4 - count


def test_a_missing_index_is_said_and_the_timeline_answers(
    app: App, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = Caller(cloud)
    ids = caller.added(*TALK)

    def away(*_: Any) -> None:
        raise Unavailable("OpenSearch does not answer")

    monkeypatch.setattr(type(app.parts.index), "nominate", away)
    found = search(caller, "sister Porto")
    assert found["results"][0]["id"] == ids[1]
    assert (found["diagnostics"]["missing"], found["diagnostics"]["fallback"]) == (["index"], "timeline")
    built = context(caller, "sister Porto")
    assert (built["diagnostics"]["missing"], built["diagnostics"]["fallback"]) == (["index"], "timeline")
    monkeypatch.setattr(type(app.parts.timeline), "tail", away)
    answer = caller.post("/v1/search", {"user_id": "anna", "query": "x"})
    assert (answer.status, answer.json["type"]) == (503, "urn:recollect:problem:unavailable")
    assert "OpenSearch" not in answer.text


@pytest.mark.spec("K-30", "K-31", "K-36", "P-23")
def test_a_context_has_prompt_messages_and_a_receipt(caller: Caller) -> None:
    ids = caller.added(*TALK, "Which tea do I like?")
    built = context(caller, "Which tea do I like?", explain=True)
    assert built["prompt"].startswith("Here's some relevant context from our previous conversations:\n- You said (")
    assert built["prompt"].endswith("\nCurrent user input: Which tea do I like?")
    assert [one["id"] for one in built["items"]] == ids[:4]
    assert built["diagnostics"]["input_event_id"] == ids[4]
    assert all(one["reason"] and one["section"] and one["source_event_ids"] == [one["id"]] for one in built["items"])
    assert any("why" in one and "score" in one for one in built["items"])
    assert [one["role"] for one in built["messages"]] == ["system", "user"]
    assert built["messages"][-1]["content"].endswith("\n\nWhich tea do I like?")
    assert all(one["shown_in"] == ["prompt", "messages"] for one in built["items"])
    assert (built["summary"], built["goals"], built["knowledge"]) == (None, [], [])
    assert built["tokens"] >= count_tokens(built["prompt"])
    assert built["fence"]["open"] != context(caller, "x")["fence"]["open"]


def test_a_budget_holds_and_the_receipt_names_what_gave_way(caller: Caller) -> None:
    caller.added(*[f"{text} {'and so on ' * 10}" for text in TALK])
    built = context(caller, "Which tea?", token_budget=60)
    assert count_tokens(built["prompt"]) <= 60
    assert sum(count_tokens(one["content"]) for one in built["messages"]) <= 60
    assert {one["reason"] for one in built["diagnostics"]["left_out"]} == {"beyond the token budget"}
    assert built["diagnostics"]["cut_from_messages"]


def test_the_memories_of_messages_are_what_the_search_finds(caller: Caller) -> None:
    """In a new conversation the prompt has its places, and the messages what is as relevant, up to `memory_tokens`."""
    caller.added(*(f"Porto is a town with bridge number {number}" for number in range(12)), "I like green tea")
    built = context(caller, "Which bridge is in Porto?", conversation_id="new")
    by_place = {place: [one["content"] for one in built["items"] if place in one["shown_in"]] for place in PLACES}
    assert len(by_place["prompt"]) == 8
    assert len(by_place["messages"]) >= 10
    system = built["messages"][0]["content"]
    assert all(content in system for content in by_place["messages"])
    few = context(caller, "Which bridge is in Porto?", conversation_id="new", memory_tokens=50)
    shown = [one for one in few["items"] if "messages" in one["shown_in"]]
    assert 1 <= len(shown) <= 4
    assert few["prompt"] == built["prompt"]
    none = context(caller, "Which bridge is in Porto?", conversation_id="new", memory_tokens=0)
    assert all(one["shown_in"] == ["prompt"] for one in none["items"])


def test_limits_of_a_request_are_merged_over_the_rules(caller: Caller) -> None:
    caller.added(*TALK)
    assert context(caller, "tea", limits={"total": 0})["items"] == []
    sections = {one["section"] for one in context(caller, "tea", limits={"recent": 0, "important": 0})["items"]}
    assert sections == {"semantic"}


@pytest.mark.parametrize(("wish", "triggered"), [("auto", True), ("always", True), ("never", False)])
def test_web_search_is_decided_and_off(caller: Caller, wish: str, triggered: bool) -> None:
    decided = context(caller, "What is the latest news?", web_search=wish)["web_search"]
    assert (decided["triggered"], decided.get("skipped")) == (triggered, "off" if triggered else None)
    assert "latest" in decided["keywords"]


def test_context_stores_nothing(caller: Caller) -> None:
    context(caller, "remember this")
    assert caller.timeline().json["events"] == []


def test_an_answer_that_lambda_could_not_give_says_how_to_ask_for_less(caller: Caller) -> None:
    for _ in range(6):
        assert caller.add(*[{"content": "\x01" * 60_000, "importance": 1} for _ in range(10)]).status == 201
    body: dict[str, Any] = {"user_id": "anna", "input": "x", "limits": {"total": 50, "recent": 50}}
    answer = caller.post("/v1/context", body)
    assert answer.status == 422
    assert "token_budget" in answer.json["detail"]
    assert caller.post("/v1/context", body | {"token_budget": 1000}).status == 200
    found = search(caller, "x", mode="semantic", min_similarity=-1, top_k=100)
    assert 0 < found["diagnostics"]["returned_count"] == len(found["results"]) < 60
