"""Whatever is sent: an answer below 500, in the right form, the same from the cloud and the laptop."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entrypoints.http.calling import Caller, Cloud, Laptop
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.entrypoints.http.routes.ingest import NewEvent

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(["\ud800", "\x00", "..", "2024-05-01", "1e400", "hybrid", "user", "-1", "𝔘" * 129, 10**30, -0.0]),
)
UNNAMED = "is invalid"  # what a type of pydantic's errors without a sentence of its own would say
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
POSTS = {route.path: route.body for route in routes_of(GROUPS) if route.body is not None}
FIELDS = sorted({name for body in POSTS.values() if body for name in body.model_fields} | set(NewEvent.model_fields))
KNOWN = st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6)
GOOD = {"user_id": "anna", "query": "tea", "input": "tea", "text": "tea", "store": "tea"}


def allowed(path: str, values: dict[str, Any]) -> dict[str, Any]:
    """Good values for what the route needs, with the drawn ones over them."""
    body = POSTS[path]
    assert body is not None
    needed = {name: GOOD[name] for name in GOOD if name in body.model_fields}
    drawn = {name: value for name, value in values.items() if name in body.model_fields}
    return {**needed, **drawn}


def looks_right(status: int, text: str) -> None:
    """Below 500, and a problem where it is one."""
    assert status < 500, text
    if status >= 400:
        problem = json.loads(text)
        assert {"type", "title", "status", "detail", "errors"} <= set(problem)
        assert UNNAMED not in {one["message"] for one in problem["errors"]}


@pytest.mark.parametrize("path", sorted(POSTS))
@given(values=KNOWN, any_json=JSON, events=st.lists(KNOWN | JSON, max_size=4))
@settings(max_examples=15)
def test_bodies(cloud: Cloud, path: str, values: dict[str, Any], any_json: Any, events: list[Any]) -> None:
    caller = Caller(cloud)
    with_events = {**allowed(path, values), "events": events} if path == "/v1/events" else allowed(path, values)
    for body in (with_events, values, any_json):
        answer = caller.post(path, body)
        looks_right(answer.status, answer.text)


@given(body=st.binary(max_size=60))
@settings(max_examples=60)
def test_bytes(cloud: Cloud, laptop: Laptop, body: bytes) -> None:
    answers = [surface.send("POST", "/v1/analyze", body, {}) for surface in (cloud, laptop)]
    assert answers[0].status == answers[1].status
    assert answers[0].text == answers[1].text
    looks_right(answers[0].status, answers[0].text)


QUERY = st.dictionaries(
    st.sampled_from(["top_k", "limit", "from", "to", "last_days", "cursor", "persona_id", "event_type", "odd"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(["1", "2024-05-01", "0.5", "task"]),
    max_size=3,
)


def reaches_the_server(segment: str) -> bool:
    """HTTP clients resolve dot segments themselves, before anything is sent."""
    return not {".", ".."} & set(segment.split("/"))


@given(segment=st.text("abc~%2F/é0-_. #?", max_size=8).filter(reaches_the_server), query=QUERY)
@settings(max_examples=120)
def test_paths_and_queries(cloud: Cloud, laptop: Laptop, segment: str, query: dict[str, str]) -> None:
    path = f"/v1/users/{quote(segment)}/events"
    answers = [Caller(surface).get(path, query, x_recollect_now="2024-05-01") for surface in (cloud, laptop)]
    assert answers[0].status == answers[1].status
    assert answers[0].text == answers[1].text
    looks_right(answers[0].status, answers[0].text)
