"""`GET|PUT /v1/rules`: resolved, versioned, for administrators, each tenant for itself."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openapi_schema_validator import OAS31Validator

from entrypoints.http.calling import Answered, Caller, Cloud
from entrypoints.http.promised import document as published_document
from recollect.app import App
from recollect.core.items import ItemWrite, of_tenant
from recollect.rules.groups import Rules, document_of

DEFAULT_VERSION = Rules().version
GROUPS = sorted(document_of(Rules()))
NAMES = sorted({name for group in document_of(Rules()).values() if isinstance(group, dict) for name in group})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=6), inner),
    max_leaves=10,
)
SNOW = {"tags": {"winter": ["snow"]}, "scoring": {"base": {"userinput": 0.75}}}


def put(caller: Caller, document: Any, **headers: str) -> Answered:
    """Sends rules."""
    return caller.put("/v1/rules", document, **headers)


def of(app: App, tenant: str, *, admin: bool = True) -> Caller:
    """A caller of that tenant, in the cloud."""
    return Caller(Cloud(app, {"tenant": tenant, "scope": "recollect/admin" if admin else "openid"}))


def tags_said(caller: Caller, content: str) -> list[str]:
    tags: list[str] = caller.add({"content": content}).json["results"][0]["tags"]
    return tags


def test_without_own_rules_the_defaults_are_answered(caller: Caller) -> None:
    answer = caller.get("/v1/rules")
    assert (answer.status, answer.headers["etag"]) == (200, f'"{DEFAULT_VERSION}"')
    assert answer.json == {"version": DEFAULT_VERSION, "rules": document_of(Rules()), "own": {}}


@pytest.mark.spec("K-53")
def test_a_put_holds_from_the_next_request_on(caller: Caller) -> None:
    assert tags_said(caller, "snow in May") == []
    answer = put(caller, SNOW, x_recollect_now="2024-05-01T12:00:00Z")
    assert answer.status == 200, answer.text
    version = answer.json["version"]
    assert version != DEFAULT_VERSION
    assert answer.headers["etag"] == f'"{version}"'
    assert (answer.json["own"], answer.json["updated_at"]) == (SNOW, "2024-05-01T12:00:00.000000Z")
    assert answer.json["rules"]["tags"] == {**document_of(Rules())["tags"], "winter": ["snow"]}
    assert answer.json["rules"]["scoring"]["base"]["userinput"] == 0.75
    assert caller.get("/v1/rules").json == answer.json
    assert tags_said(caller, "snow in June") == ["winter"]
    analysis = caller.post("/v1/analyze", {"text": "snow in July"}).json
    assert (analysis["tags"], analysis["importance"], analysis["rules_version"]) == (["winter"], 0.75, version)


def test_the_version_stands_in_each_receipt(caller: Caller) -> None:
    for document in (SNOW, {"context": {"total": 2}}, {}):
        version = put(caller, document).json["version"]
        question = {"user_id": "anna", "query": "tea"}
        assert caller.post("/v1/search", question).json["diagnostics"]["rules_version"] == version
        asked = {"user_id": "anna", "input": "tea"}
        assert caller.post("/v1/context", asked).json["diagnostics"]["rules_version"] == version
        assert caller.post("/v1/analyze", {"text": ""}).json["rules_version"] == version


def test_a_context_obeys_the_tenants_numbers(caller: Caller) -> None:
    caller.added(*(f"note {n}" for n in range(12)))
    for total in (2, 12, 5):
        put(caller, {"context": {"total": total, "recent": 50, "recent_fill": 50}})
        answer = caller.post("/v1/context", {"user_id": "anna", "input": "x"}).json
        assert len(in_prompt(answer)) == total
    limited = caller.post("/v1/context", {"user_id": "anna", "input": "x", "limits": {"total": 1}}).json
    assert len(in_prompt(limited)) == 1


def in_prompt(answer: Any) -> list[Any]:
    return [one for one in answer["items"] if "prompt" in one["shown_in"]]


def test_a_put_replaces_the_own_rules_as_a_whole(caller: Caller) -> None:
    put(caller, SNOW)
    answer = put(caller, {"context": {"total": 3}}).json
    assert (answer["own"], "winter" in answer["rules"]["tags"]) == ({"context": {"total": 3}}, False)
    emptied = put(caller, {})
    assert emptied.json == {"version": DEFAULT_VERSION, "rules": document_of(Rules()), "own": {}}


def test_tenants_are_kept_apart(app: App) -> None:
    put(of(app, "acme"), SNOW)
    put(of(app, "globex"), {"tags": {"winter": ["ice"]}})
    assert tags_said(of(app, "acme", admin=False), "snow") == ["winter"]
    assert tags_said(of(app, "globex", admin=False), "snow") == []
    assert tags_said(of(app, "globex", admin=False), "ice") == ["winter"]
    assert of(app, "other").get("/v1/rules").json["version"] == DEFAULT_VERSION


def test_if_match(caller: Caller) -> None:
    first = put(caller, SNOW, if_match=f'"{DEFAULT_VERSION}"')
    assert first.status == 200
    for stale in (f'"{DEFAULT_VERSION}"', '"x"', "x", f"W/{first.headers['etag']}", first.json["version"], '""'):
        assert put(caller, {}, if_match=stale).status == 412, stale
    assert caller.get("/v1/rules").json["own"] == SNOW
    assert put(caller, {"context": {"total": 1}}, if_match=f'"x", {first.headers["etag"]}').status == 200
    assert put(caller, {}, if_match="*").status == 200
    assert caller.get("/v1/rules").json["own"] == {}


@pytest.mark.parametrize(
    ("document", "locs"),
    [
        ({"scoring": {"base": {"userinput": "x"}}}, {("body", "scoring", "base", "userinput")}),
        ({"context": {"total": -1, "recent": 0.5}}, {("body", "context", "total"), ("body", "context", "recent")}),
        ({"retention": [{"older_than_days": -1}]}, {("body", "retention", 0, "older_than_days")}),
        ({"tags": {"food": [1]}, "odd": 1}, {("body", "tags", "food", 0), ("body", "odd")}),
        ({"tenant": "acme"}, {("body", "tenant")}),
        ({"context": None}, {("body", "context")}),
        ([], {("body",)}),
    ],
)
def test_what_is_wrong_is_422_with_every_path_and_changes_nothing(
    caller: Caller, document: Any, locs: set[Any]
) -> None:
    put(caller, SNOW)
    answer = put(caller, document)
    assert (answer.status, answer.locs) == (422, locs)
    assert caller.get("/v1/rules").json["own"] == SNOW


@given(st.dictionaries(st.sampled_from(GROUPS) | st.text(max_size=4), JSON, max_size=4) | JSON)
@settings(max_examples=150)
def test_whatever_is_put_holds_or_is_refused(cloud: Cloud, document: Any) -> None:
    caller = Caller(cloud)
    answer = put(caller, document)
    assert answer.status in (200, 400, 422), answer.text
    if answer.status == 200:
        assert caller.get("/v1/rules").json == answer.json
        assert put(caller, answer.json["rules"]).json["version"] == answer.json["version"]
    else:
        assert answer.locs
        assert all(loc[0] == "body" for loc in answer.locs)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"scoring": {"boost": NaN}}', b"[" * 50_000])
def test_what_is_no_json_is_400(caller: Caller, body: bytes) -> None:
    assert put(caller, body).status == 400


def test_a_document_has_an_end(caller: Caller) -> None:
    texts = {"scoring": {"keywords": ["x" * 250] * 300}}
    assert put(caller, texts).status == 422
    assert put(caller, {f"odd{n}": 1 for n in range(5_000)}).status == 422


def test_resolved_rules_can_be_put(caller: Caller) -> None:
    put(caller, SNOW)
    resolved = caller.get("/v1/rules").json
    assert put(caller, resolved["rules"]).json["version"] == resolved["version"]


def test_what_cannot_be_read_any_more_is_listed_and_stops_nothing(app: App, caller: Caller) -> None:
    from recollect.rules.use_cases import OWN_RULES

    value = {"document": '{"context": {"total": 1, "places": 2}}'}
    now = app.parts.items.write(of_tenant("local"), [ItemWrite(OWN_RULES, value)], _now())
    assert now
    caller.added("a", "b")
    answer = caller.get("/v1/rules")
    assert answer.json["ignored"] == [{"loc": ["context", "places"], "message": "unknown name"}]
    assert len(caller.post("/v1/context", {"user_id": "anna", "input": "x"}).json["items"]) == 1


def _now() -> Any:
    from datetime import UTC, datetime

    return datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("document", "good"),
    [
        ({}, True),
        (SNOW, True),
        (document_of(Rules()), True),
        ({"retention": [{"older_than_days": 0.5, "event_types": None}]}, True),
        ({"retention": [{}]}, False),
        ({"retention": [{"older_than_days": 0}]}, False),
        ({"context": {"total": 51}}, False),
        ({"context": {"total": 1.5}}, False),
        ({"context": {"decay_half_life_days": None}}, True),
        ({"scoring": {"base": {"opinion": 0.5}}}, False),
        ({"scoring": {"keywords": [""]}}, False),
        ({"tags": {"food": "soup"}}, False),
        ({"bridge": {"event_types": ["party"]}}, False),
        ({"conflict": {"auto_apply": "maybe"}}, False),
        ({"odd": 1}, False),
    ],
)
def test_the_schema_and_the_reader_agree(cloud: Cloud, document: Any, good: bool) -> None:
    schema = published_document()["components"]["schemas"]["RulesDocument"]
    assert OAS31Validator(schema).is_valid(document) is good
    assert (put(Caller(cloud), document).status == 200) is good
