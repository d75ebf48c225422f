"""Who asks: claims of a token in the cloud, keys on the laptop; nobody else, and never a tenant from the input."""

import json
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller, Cloud, Laptop
from entrypoints.http.conftest import opened
from entrypoints.http.test_bad_input import GOOD_BODIES
from recollect.app import App
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.entrypoints.http.routing import Route

KEYS = '{"key-a": {"tenant": "acme", "admin": true}, "key-b": {"tenant": "globex"}, "schlüssel": {"tenant": "ü"}}'
BODY = {"user_id": "anna", "events": [{"content": "x"}]}
CHANGES: dict[str, Any] = {
    "MemoryPatch": {"importance": 1},
    "NewGoal": {"goal": "Run a marathon"},
    "GoalPatch": {"status": "active"},
    "CheckInBody": {"date": "2024-05-01", "status": "missed"},
    "Resolution": {"winner": "x"},
    "EventCorrection": {"content": "x"},
    "MemoryMerge": {"other": "y", "other_version": 1},
    "AppendBody": {"entries": [{"payload": "x"}]},
    "EntryPatch": {"payload": "x"},
}
"""Good bodies, by their models, of routes that change an object."""


def with_settings(app: App, **changes: Any) -> App:
    """The same app under other settings."""
    app.deployment = replace(app.deployment, settings=replace(app.settings, **changes))
    return app


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        (None, 401),
        ({}, 403),
        ({"tenant": ""}, 403),
        ({"tenant": 5}, 403),
        ({"tenant": ["acme"]}, 403),
        ({"tenant": "x" * 129}, 403),
        ({"tenant": "\ud800"}, 403),
        ({"tenant": "acme"}, 200),
        ({"tenant": "租户 🦊#/%"}, 200),
    ],
)
def test_the_tenant_is_a_claim(app: App, claims: Mapping[str, Any] | None, status: int) -> None:
    answer = Caller(Cloud(app, claims)).timeline()
    assert answer.status == status
    assert ("www-authenticate" in answer.headers) == (status == 401)


def test_tenants_do_not_meet(app: App) -> None:
    for tenant in ("acme", "acme ", "ACME", "local"):
        caller = Caller(Cloud(app, {"tenant": tenant}))
        assert caller.timeline().json["events"] == []
        caller.added(f"of {tenant}")
        assert [one["content"] for one in caller.timeline().json["events"]] == [f"of {tenant}"]
        found = caller.post("/v1/search", {"user_id": "anna", "query": "of"}).json["results"]
        assert [one["content"] for one in found] == [f"of {tenant}"]


@pytest.mark.parametrize(
    ("claims", "scopes", "status"),
    [
        ({"scope": "openid recollect/admin"}, None, 200),
        ({"scope": ["recollect/admin"]}, None, 200),
        ({"scp": "[openid recollect/admin]"}, None, 200),
        ({}, ["recollect/admin"], 200),
        ({"cognito:groups": "[readers recollect/admin]"}, None, 200),
        ({"cognito:groups": ["recollect/admin"], "scope": "openid"}, None, 200),
        ({"cognito:groups": "[recollect/administrators]"}, None, 403),
        ({"scope": "openid recollect/administrator"}, None, 403),
        ({"scope": "openid"}, None, 403),
        ({"scope": {"recollect/admin": 1}}, None, 403),
        ({"admin": "true"}, None, 403),
        ({}, None, 403),
    ],
)
def test_an_administrator_has_the_scope(
    app: App, claims: dict[str, Any], scopes: list[str] | None, status: int
) -> None:
    answer = Caller(Cloud(app, {"tenant": "acme", **claims}, scopes)).get("/v1/bus")
    assert answer.status == status


def test_claims_and_scope_have_the_names_that_the_deployment_gives(app: App) -> None:
    with_settings(app, tenant_claim="custom:org", admin_scope="root")
    assert Caller(Cloud(app, {"tenant": "acme"})).timeline().status == 403
    assert Caller(Cloud(app, {"custom:org": "acme", "scope": "root"})).get("/v1/bus").status == 200


@pytest.mark.parametrize(("subject", "status"), [("anna", 200), ("bert", 403), (None, 403), ("", 403)])
def test_where_a_subject_is_named_the_user_must_be_it(app: App, subject: str | None, status: int) -> None:
    with_settings(app, subject_claim="sub")
    caller = Caller(Cloud(app, {"tenant": "acme", "sub": subject}))
    assert caller.timeline().status == status
    assert caller.get("/v1/users/anna/conversations").status == status
    assert caller.post("/v1/events", BODY).status == (201 if status == 200 else 403)


def asked(caller: Caller, route: Route) -> Answered:
    """A good request of the route, about Anna and objects that are not there."""
    body = json.dumps(CHANGES.get(route.body.__name__, {})).encode() if route.body else b""
    path = re.sub(r"{\w+}", "x", route.path.replace("{user_id}", "anna"))
    return caller.surface.send(route.method, path, body, {"If-Match": "*"})


def test_where_a_subject_is_named_no_route_reaches_another_user(app: App) -> None:
    with_settings(app, subject_claim="sub")
    caller = Caller(Cloud(app, {"tenant": "acme", "sub": "bert"}))
    bodies = {path: body for path, body in GOOD_BODIES.items() if "anna" in str(body)}
    bodies["/v1/tool-calls"] = {"text": "x", "user_id": "anna", "execute": True}
    bodies["/v1/feedback"] = {"user_id": "anna", "positive": True}
    bodies["/v1/merge-rules/match"] = {"candidate": {"user_id": "anna"}}
    assert {path: caller.post(path, body).status for path, body in bodies.items()} == dict.fromkeys(bodies, 403)
    routes = [route for route in routes_of(GROUPS) if "{user_id}" in route.path]
    assert {one.template: asked(caller, one).status for one in routes} == {one.template: 403 for one in routes}


def test_routes_of_administrators_refuse_others(app: App) -> None:
    caller = Caller(Cloud(app, {"tenant": "acme", "scope": "openid"}))
    routes = [route for route in routes_of(GROUPS) if route.admin]
    assert {one.path.split("/")[2] for one in routes} == {"bus", "rules", "jobs", "signals", "snapshots", "usage"}
    assert {one.template: asked(caller, one).status for one in routes} == {one.template: 403 for one in routes}


@pytest.mark.parametrize("path", ["/v1/health", "/v1/ready", "/v1/openapi.json", "/docs"])
def test_four_routes_need_no_credentials(app: App, path: str) -> None:
    assert Caller(Cloud(app, None)).get(path).status == 200


def test_without_a_token_nothing_else_answers(app: App) -> None:
    caller = Caller(Cloud(app, None))
    for path in ("/v1/events", "/v1/analyze", "/v1/search", "/v1/context"):
        assert caller.post(path, b"not json").status == 401
    for path in ("/v1/bus", "/v1/users/anna/events", "/v1/users/anna/events/x", "/v1/users/anna/conversations"):
        assert caller.get(path).status == 401
    assert caller.get("/v1/users/anna/events", authorization="Bearer key-a").status == 401


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("", 401),
        ("Bearer", 401),
        ("Bearer ", 401),
        ("Bearer key-", 401),
        ("Bearer key-a2", 401),
        ("Basic key-a", 401),
        ("key-a", 401),
        ("Bearer key-a", 200),
        ("bearer  key-a", 200),
        ("Bearer schlüssel", 200),
    ],
)
def test_keys_of_the_laptop(tmp_path: Path, header: str | None, status: int) -> None:
    given = {} if header is None else {"authorization": header}
    with opened(tmp_path, RECOLLECT_API_KEYS=KEYS) as app, closing(Laptop(app)) as laptop:
        assert Caller(laptop).timeline().status == 401
        assert Caller(laptop).get("/v1/users/anna/events", **given).status == status


def test_a_key_has_its_tenant_and_its_rights(tmp_path: Path) -> None:
    with opened(tmp_path, RECOLLECT_API_KEYS=KEYS) as app, closing(Laptop(app)) as laptop:
        caller = Caller(laptop)
        assert caller.post("/v1/events", BODY, authorization="Bearer key-a").status == 201
        assert caller.get("/v1/users/anna/events", authorization="Bearer key-b").json["events"] == []
        assert caller.get("/v1/bus", authorization="Bearer key-a").status == 200
        assert caller.get("/v1/bus", authorization="Bearer key-b").status == 403
        assert caller.get("/v1/health", host="memory.example.com").status == 200


def test_without_the_setting_no_header_sets_the_clock(app: App) -> None:
    with_settings(app, test_clock=False)
    caller = Caller(Cloud(app))
    answer = caller.post("/v1/events", BODY, x_recollect_now="1999-01-01")
    stored = caller.get(f"/v1/users/anna/events/{answer.json['results'][0]['event_id']}").json
    assert stored["timestamp"] > "2025"
    assert caller.get("/v1/users/anna/events", x_recollect_now="nonsense").status == 200
