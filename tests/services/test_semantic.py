"""The semantic service: saving, searching by similarity, its controls and its isolation (A-19 to A-32, P-9)."""

import json
from datetime import datetime
from math import sqrt
from typing import Any

import pytest

from recollect.timeline.bus import SEMANTIC_SAVED
from services.intent_asking import contents
from services.serving import SCOPES, SEEN, USER, Service

LYON, OSLO = "Anna lives in Lyon", "Ben drives to Oslo"
DIMENSION = 384
QUERY = [1.0, *[0.0] * (DIMENSION - 1)]
NEAR, FAR = 0.8, 0.6
DAYS = ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z")


def at_cosine(cosine: float) -> list[float]:
    return [cosine, sqrt(1 - cosine * cosine), *[0.0] * (DIMENSION - 2)]


def similar(service: Service, **asked: Any) -> dict[str, Any]:
    return service.search(vector=QUERY, mode="semantic", **asked)


@pytest.mark.spec("A-19", "K-85")
def test_what_was_saved_is_kept_and_found_by_similarity_after_a_restart(service: Service) -> None:
    lyon, oslo = service.saved(LYON), service.saved(OSLO)
    service.settle()
    again = service.restarted()
    for text, memory in ((LYON, lyon), (OSLO, oslo)):
        (found,) = again.search(query=text, mode="semantic")["results"]
        assert (found["id"], found["kind"], found["content"]) == (memory["id"], "memory", text)
        assert again.caller.get(f"/v1/users/{USER}/memories/{memory['id']}").json == memory


@pytest.mark.spec("A-20", "P-9")
def test_required_fields_are_required_and_the_others_have_their_defaults(service: Service) -> None:
    whole = {"user_id": USER, "content": LYON, "embedding": QUERY, "importance": 0.5}
    faults: list[tuple[str, Any]] = [
        ("user_id", None), ("content", None), ("content", "  "), ("embedding", QUERY[:-1]), ("embedding", []),
        ("embedding", ["1", *QUERY[1:]]), ("importance", 1.01), ("importance", -0.01), ("importance", "high"),
    ]  # fmt: skip
    for name, value in faults:
        body = {field: one for field, one in {**whole, name: value}.items() if one is not None}
        answer = service.caller.post("/v1/memories", body)
        assert (answer.status, {loc[:2] for loc in answer.locs}) == (422, {("body", name)}), (name, value)
    infinite = json.dumps({**whole, "embedding": QUERY}).replace("1.0,", "1e999,", 1).encode()
    assert service.caller.post("/v1/memories", infinite).status in (400, 422)
    assert service.memories() == {}
    saved = service.saved(LYON)
    assert (saved["importance"], saved["user_id"], "persona_id" in saved) == (0.5, USER, False)
    assert [service.saved(f"at {bound}", importance=bound)["importance"] for bound in (0, 1)] == [0, 1]
    given = service.saved("words of no likeness", embedding=QUERY)
    assert [one["id"] for one in similar(service, min_similarity=0.999)["results"]] == [given["id"]]


@pytest.mark.spec("A-21", "A-23")
def test_the_same_words_of_a_persona_are_one_memory_even_after_a_restart(service: Service) -> None:
    first = service.saved(LYON, persona_id="coach", household_id="home")
    service.settle()
    again = service.restarted()
    for content in (LYON, f"  {LYON}\n"):
        answer = again.save(content, persona_id="coach", household_id="home", importance=0.9)
        assert (answer.status, answer.json) == (200, first)
    others = [{"persona_id": "cook", "household_id": "home"}, {"persona_id": "coach"}, {}]
    ids = [again.saved(LYON, **scope)["id"] for scope in others] + [again.saved(LYON, user="ben")["id"]]
    again.saved(LYON.lower(), persona_id="coach", household_id="home")
    again.settle()
    assert len({first["id"], *ids}) == 5
    told = [one["memoryId"] for one in again.bus(SEMANTIC_SAVED)]
    assert len(told) == len(set(told)) == 6


@pytest.mark.spec("A-22")
def test_metadata_and_the_id_of_the_embedding_are_kept(service: Service) -> None:
    metadata = {"list": [1, None, {"deep": "é"}], "no": False}
    saved = service.saved(LYON, metadata=metadata, keywords=["city"], source="skill", timestamp=DAYS[0])
    service.settle()
    kept = service.restarted().memories()[LYON]
    assert (kept["metadata"], kept["keywords"], kept["source"]) == (metadata, ["city"], "skill")
    assert datetime.fromisoformat(kept["timestamp"]) == datetime.fromisoformat(DAYS[0])
    generation, _, record_id = kept["embedding_id"].partition("/")
    assert record_id == saved["id"]
    projection = service.app.parts.projections.vectors(service.scope(), [record_id])[record_id]
    assert projection.generation == generation
    assert projection.vector is not None
    assert projection.vector.shape == (DIMENSION,)


@pytest.mark.spec("A-23")
def test_a_memory_is_told_on_the_bus_after_it_was_written_and_never_when_refused(service: Service) -> None:
    saved = service.saved(LYON, importance=0.8, persona_id="coach")
    assert service.save("", importance=2).status == 422
    service.settle()
    (told,) = service.bus(SEMANTIC_SAVED)
    wanted = {"memoryId": saved["id"], "userId": USER, "personaId": "coach", "importance": 0.8, "content": LYON}
    assert {name: told[name] for name in wanted} == wanted
    assert told["embeddingId"] == saved["embedding_id"]
    service.settle()
    assert len(service.bus(SEMANTIC_SAVED)) == 1


@pytest.mark.spec("A-24")
def test_scopes_are_filtered_before_the_ranking(service: Service) -> None:
    for number in range(4):
        service.saved(f"cook's {number}", persona_id="cook", household_id="home", embedding=QUERY)
        service.saved(f"neighbours' {number}", persona_id="coach", household_id="next door", embedding=QUERY)
        service.saved(f"Ben's {number}", user="ben", persona_id="coach", household_id="home", embedding=QUERY)
    service.saved("hers", persona_id="coach", household_id="home", embedding=at_cosine(NEAR))
    for _ in service.pending_and_projected():
        answer = similar(service, persona_id="coach", household_id="home", top_k=1)
        assert contents(answer) == ["hers"], "nearer ones of others take no place"
        assert answer["diagnostics"]["matched_count"] == 1
        assert contents(similar(service, persona_id="nobody")) == []


@pytest.mark.spec("A-25")
def test_the_most_similar_come_first_of_equals_the_newer_and_no_more_than_asked(service: Service) -> None:
    cosines = (0.75, 0.95, 0.85, 0.9)
    for cosine in cosines:
        service.saved(f"at {cosine}", embedding=at_cosine(cosine))
    service.saved("older", embedding=QUERY, timestamp=DAYS[0])
    service.saved("newer", embedding=QUERY, timestamp=DAYS[1])
    ordered = ["newer", "older", "at 0.95", "at 0.9", "at 0.85", "at 0.75"]
    for _ in service.pending_and_projected():
        assert contents(similar(service)) == ordered[:3], "three, unless asked otherwise"
        assert contents(similar(service, top_k=100)) == ordered
        assert contents(similar(service, top_k=5)) == ordered[:5]
    for top_k in (0, 101):
        asked = {"user_id": USER, "vector": QUERY, "mode": "semantic", "top_k": top_k}
        assert service.caller.post("/v1/search", asked).locs == {("body", "top_k")}


@pytest.mark.spec("A-26")
def test_a_result_has_its_score_its_source_and_the_content_as_it_was_saved(service: Service) -> None:
    saved = service.saved("  Anna, née Müller,\nlives in Lyon ", source="system", embedding=at_cosine(NEAR), key="home")
    for _ in service.pending_and_projected():
        (found,) = similar(service)["results"]
        named = ("id", "content", "source", "timestamp", "importance", "source_event_ids", "version", "status", "key")
        assert {name: found[name] for name in named} == {name: saved[name] for name in named}
        assert found["source"] == "system"
        assert found["scores"]["similarity"] == pytest.approx(NEAR, abs=1e-3)
        assert found["score"] == pytest.approx(NEAR, abs=1e-3)


@pytest.mark.spec("A-27")
def test_the_same_question_has_the_same_answer(service: Service) -> None:
    for number in range(8):
        service.saved(f"note {number}", embedding=at_cosine(0.9 if number % 2 else 0.5), timestamp=DAYS[0])
    service.settle()
    answers = [similar(service, top_k=3, min_similarity=0.7) for _ in range(3)] + [
        similar(service.restarted(), top_k=3, min_similarity=0.7)
    ]
    for answer in answers:
        answer["diagnostics"].pop("duration_ms")
        assert answer == answers[0]
    assert len(answers[0]["results"]) == 3


@pytest.mark.spec("A-28")
def test_what_is_less_similar_than_asked_is_dropped_and_what_is_just_so_stays(service: Service) -> None:
    service.saved("near", embedding=at_cosine(NEAR))
    service.saved("far", embedding=at_cosine(FAR))
    for _ in service.pending_and_projected():
        assert contents(similar(service)) == ["near"], "0.7, unless asked otherwise"
        assert contents(similar(service, min_similarity=FAR)) == ["near", "far"]
        assert contents(similar(service, min_similarity=FAR + 0.01)) == ["near"]
        assert contents(similar(service, min_similarity=NEAR + 0.01)) == []
    service.saved("the same", embedding=QUERY)
    for _ in service.pending_and_projected():
        assert contents(similar(service, min_similarity=1)) == ["the same"]


@pytest.mark.spec("A-29")
def test_what_lies_outside_the_window_is_dropped_and_both_ends_are_inside(service: Service) -> None:
    for day in DAYS:
        service.saved(day, embedding=QUERY, timestamp=day)
    for _ in service.pending_and_projected():
        whole = {"from": DAYS[0], "to": DAYS[2]}
        assert contents(similar(service, time_window=whole)) == [*DAYS][::-1]
        assert contents(similar(service, time_window={"from": DAYS[1]})) == [DAYS[2], DAYS[1]]
        assert contents(similar(service, time_window={"to": DAYS[0]})) == [DAYS[0]]
        inside = {"from": "2026-01-02T00:00:00.000001Z", "to": "2026-01-03T23:59:59.999999Z"}
        assert contents(similar(service, time_window=inside)) == [DAYS[1]]


@pytest.mark.spec("A-30")
def test_diagnostics_say_how_many_matched_were_filtered_and_returned(service: Service) -> None:
    for number in range(4):
        service.saved(f"near {number}", embedding=at_cosine(NEAR), timestamp=DAYS[1])
    service.saved("far", embedding=at_cosine(FAR), timestamp=DAYS[1])
    service.saved("old", embedding=QUERY, timestamp=DAYS[0])
    service.saved("cook's", embedding=QUERY, timestamp=DAYS[1], persona_id="cook")
    for persona in (None, "cook"):
        asked: dict[str, Any] = {"time_window": {"from": DAYS[1]}, "top_k": 2}
        asked |= {"persona_id": persona} if persona else {}
        for settled in (False, True):
            seen = similar(service, **asked)["diagnostics"]
            dropped = {"window": 1, "threshold": 1} if persona is None else {"scope": 6}
            matched = 5 if persona is None else 1
            assert (seen["matched_count"], seen["filtered_count"], seen["dropped"]) == (matched, 7 - matched, dropped)
            assert seen["returned_count"] == min(2, matched)
            assert seen["exact"] or not settled
            service.settle()


@pytest.mark.spec("A-31")
def test_where_nothing_matches_the_episodic_memory_answers(service: Service) -> None:
    said = service.say("The bakery opens at seven", scope={"conversation_id": "c"})
    asked = {"user_id": USER, "input": "quantum chromodynamics", "conversation_id": "c"}
    for _ in service.pending_and_projected():
        missed = service.search(query="quantum chromodynamics", mode="semantic")
        assert (missed["diagnostics"]["matched_count"], missed["results"]) == (0, [])
        answer = service.caller.post("/v1/context", asked).json
        assert [(item["id"], item["section"]) for item in answer["items"]] == [(said, "recent")]
        assert "The bakery opens at seven" in answer["prompt"]


@pytest.mark.spec("A-32")
def test_a_record_without_the_id_that_is_asked_for_does_not_match(service: Service) -> None:
    for name, scope in SCOPES.items():
        service.saved(name, embedding=QUERY, **scope)
    for _ in service.pending_and_projected():
        assert {name: set(contents(similar(service, top_k=10, **scope))) for name, scope in SCOPES.items()} == SEEN
        assert contents(service.search(user_id="ben", vector=QUERY, mode="semantic")) == []
