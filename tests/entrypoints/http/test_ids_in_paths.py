"""Ids of every class: kept apart, never merged, and read the same way by the cloud and the laptop."""

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.http.calling import Caller, Cloud, Laptop
from recollect.core.errors import InvalidInput
from recollect.core.ids import id_fault
from recollect.entrypoints.http.routing import path_id, path_segment

IDS = [
    "anna", "🦊", "👩‍👩‍👧", "उपयोगकर्ता", "किरण", "\u200fאבג\u200f", "\u202eevil", "a#b", "a/b", "/", "//",
    "a%2Fb", "100%", "%", "a?b=c&d", "a b", " a", "a+b", "a\u00a0b", "~anna", "~", "é", "e\u0301", "...",
    "a:b|c\\d", "TENANT#acme", "\u2028", "\ufeff", "x" * 128, "𝔘" * 128,
]  # fmt: skip
NO_IDS = ["", ".", "..", "a\x00", "a\nb", "\x7f", "\x85", "x" * 129, "\ud800"]


def encoded(value: str) -> str:
    """`~` and unpadded base64url, whatever the id."""
    return "~" + base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


def test_each_class_of_id_is_a_user_of_its_own(caller: Caller) -> None:
    stored = {user: caller.added(f"of {position}", user=user)[0] for position, user in enumerate(IDS)}
    for position, user in enumerate(IDS):
        page = caller.timeline(user)
        assert page.status == 200, (user, page.text)
        assert [(one["id"], one["user_id"], one["content"]) for one in page.json["events"]] == [
            (stored[user], user, f"of {position}")
        ]
        event = caller.get(f"/v1/users/{quote(path_segment(user), safe='')}/events/{stored[user]}")
        assert event.json["user_id"] == user


@pytest.mark.parametrize("user", [one for one in IDS if "/" not in one and not one.startswith("~")])
def test_an_id_that_is_only_percent_encoded_is_taken_as_it_stands(caller: Caller, user: str) -> None:
    caller.added("mine", user=user)
    page = caller.get(f"/v1/users/{quote(user, safe='')}/events")
    assert [one["user_id"] for one in page.json["events"]] == [user]


def test_both_ways_answer_alike_for_every_segment(cloud: Cloud, laptop: Laptop) -> None:
    segments = [
        *(quote(user, safe="") for user in IDS),
        *(encoded(user) for user in IDS),
        "~",
        "~=",
        "~a",
        "a%252Fb",
        "%",
    ]
    for segment in segments:
        answers = [surface.send("GET", f"/v1/users/{segment}/events", None, {}) for surface in (cloud, laptop)]
        assert answers[0].status == answers[1].status, segment
        assert answers[0].text == answers[1].text, segment


@pytest.mark.parametrize("user", [one for one in NO_IDS if one and one.isascii() and one not in (".", "..")])
def test_what_is_no_id_is_refused_in_a_path(caller: Caller, user: str) -> None:
    for segment in (quote(user, safe=""), encoded(user)):
        answer = caller.get(f"/v1/users/{segment}/events")
        assert (answer.status, answer.locs) == (422, {("path", "user_id")}), segment


@pytest.mark.parametrize(
    "segment", ["~", "~YQ==", "~YQ=", "~YR", "~a", "~_w", "~gA", "~YS9i!", "~Lg", "~Li4", "~AA", "~YQ%0A"]
)
def test_a_broken_encoding_is_refused(caller: Caller, segment: str) -> None:
    answer = caller.get(f"/v1/users/{segment}/events")
    assert (answer.status, answer.locs) == (422, {("path", "user_id")})


@pytest.mark.parametrize("name", ["user_id", "persona_id", "household_id", "conversation_id"])
@pytest.mark.parametrize("value", NO_IDS)
def test_what_is_no_id_is_refused_in_a_body(caller: Caller, name: str, value: str) -> None:
    answer = caller.post("/v1/events", {"user_id": "anna", "events": [{"content": "x"}], name: value})
    assert (answer.status, answer.locs) == (422, {("body", name)})


def test_other_paths_are_not_found(caller: Caller) -> None:
    for path in (
        "/v1",
        "/v1/users//events",
        "/v1/users/a/b/events",
        "/v1/events/",
        "/v1/users/a%2Fb/events",
        "/V1/events",
    ):
        answer = caller.get(path)
        assert answer.status == 404, path
        assert answer.json["type"] == "urn:recollect:problem:no-such-route"
    assert caller.get("/v1/users/anna%0Ab/events").status == 422


def test_a_known_path_with_another_method(caller: Caller) -> None:
    for method, path, allowed in (
        ("DELETE", "/v1/events", "POST"),
        ("HEAD", "/v1/health", "GET"),
        ("OPTIONS", "/v1/search", "POST"),
    ):
        answer = caller.surface.send(method, path, None, {})
        assert (answer.status, answer.headers["allow"]) == (405, allowed)
        assert "access-control-allow-origin" not in answer.headers


def test_a_stage_is_no_part_of_the_path(cloud: Cloud) -> None:
    event = cloud.event("GET", "/prod/v1/health", None, {})
    event["requestContext"]["stage"] = "prod"
    assert cloud.handle(event).status == 200
    assert cloud.handle(event | {"rawPath": "/v1/health"}).json["status"] == "ok"


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=128).filter(
        lambda t: t not in (".", "..")
    )
)
def test_every_id_comes_back_from_its_segment(value: str) -> None:
    assert id_fault(value) is None
    segment = path_segment(value)
    assert path_id(segment, ()) == value
    assert quote(segment, safe="~") == segment


@given(st.text(max_size=12), st.text(max_size=12))
def test_two_segments_that_mean_one_id_are_one_spelling_each(first: str, second: str) -> None:
    try:
        same = path_id(f"~{first}", ()) == path_id(f"~{second}", ())
    except InvalidInput:
        return
    assert same == (first == second)


def test_events_of_the_repository_use_paths_as_the_api_gives_them() -> None:
    folder = Path(__file__).parents[3] / "events"
    for path in folder.glob("*.http-*.json"):
        event = json.loads(path.read_text(encoding="utf-8"))
        assert event["rawPath"] == event["requestContext"]["http"]["path"]
