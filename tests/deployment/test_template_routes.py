"""The API of the template has the routes of the code, each with its throttle, its credentials and its time."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from deployment.requests import http_event
from deployment.resolving import Stack, translated
from deployment.template import (
    FUNCTIONS,
    PUBLIC_ROUTES,
    ROOT,
    SHELL_ROUTES,
    SIGNED_ROUTES,
    function,
    operations,
    paths,
    properties,
    routes,
    sample_events,
    schedules,
    statements,
    walk,
)
from recollect.adapters.aws.keys import user_partition
from recollect.api_keys import PREFIX, ApiKeys
from recollect.app import App
from recollect.core.scope import Scope
from recollect.entrypoints.console.visit import FETCHED
from recollect.entrypoints.http import aws
from recollect.entrypoints.http.aws import API_SECONDS, build_handler
from recollect.entrypoints.http.dispatch import Answer
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.entrypoints.mcp.server import PATH as MCP_PATH
from recollect.ports import Items
from recollect.settings import Settings

GROUPS_OF = {
    "ingest": ("ingest",),
    "retrieval": ("retrieval", "operations"),
    "memories": ("memories", "contradictions", "forgetting", "bridge", "snapshots", "jobs", "usage"),
    "context": ("context",),
    "converse": ("turns",),
    "knowledge": ("knowledge", "rules", "tools", "items", "logs"),
    "arbitration": ("arbitration", "merge_rules"),
    "summarize": ("summaries",),
    "mem0": ("mem0",),
}


@pytest.mark.parametrize(("name", "groups"), GROUPS_OF.items())
def test_the_api_has_the_routes_that_the_function_serves(name: str, groups: tuple[str, ...]) -> None:
    assert set(routes(name)) == {route.template for route in routes_of(groups)}
    wiring = [ROOT / "functions" / name / "app.py"]
    wiring += [ROOT / "layers/memory/recollect/entrypoints/lambda_handlers.py"] if name == "summarize" else []
    source = "".join(path.read_text("utf-8") for path in wiring)
    assert all(f'"{group}"' in source for group in groups)


def test_each_route_is_served_by_one_function() -> None:
    assert sorted(group for groups in GROUPS_OF.values() for group in groups) == sorted([*GROUPS, "mem0"])


def test_assistants_are_answered_at_one_path_whatever_the_method() -> None:
    assert set(routes("mcp")) == {f"ANY {MCP_PATH}"}


def test_routes_without_credentials_are_those_of_the_code() -> None:
    assert {route.template for route in routes_of(GROUPS) if not route.needs_credentials} == PUBLIC_ROUTES


def test_the_console_has_a_shell_for_everybody_and_pages_below_one_path() -> None:
    assert set(routes("console")) == SHELL_ROUTES | {f"{method} {FETCHED}/{{proxy+}}" for method in ("GET", "POST")}


def test_the_paths_of_agentcore_are_below_the_one_that_is_sent_to_its_function() -> None:
    assert set(routes("agentcore")) == SIGNED_ROUTES
    of_code = [route.template for route in routes_of(["agentcore"])]
    patterns = [one.replace("{proxy+}", ".+") for one in SIGNED_ROUTES]
    assert [one for one in of_code if not any(re.fullmatch(pattern, one) for pattern in patterns)] == []


def test_only_the_public_routes_the_shell_and_those_of_signed_requests_need_no_token() -> None:
    open_to_all = {route for route, one in operations().items() if one["security"] == [{"NONE": []}]}
    assert open_to_all == PUBLIC_ROUTES | SHELL_ROUTES | SIGNED_ROUTES


@pytest.mark.parametrize(("keys", "authorizer"), [("false", "Tokens"), ("true", "Credentials")])
def test_as_sam_translates_it_every_other_route_wants_a_token_or_a_key_too(keys: str, authorizer: str) -> None:
    """One authorizer at a time: what another one refuses would be let in by the first."""
    given = {"ApiKeys": keys, "Console": "true", "SigningKeysParameter": "/keys"}
    body = Stack(translated(), parameters=given).properties("Api")["Body"]
    assert set(body["components"]["securitySchemes"]) == {authorizer}
    for path, each in body["paths"].items():
        for method, one in each.items():
            public = f"{method.upper()} {path}" in PUBLIC_ROUTES | SHELL_ROUTES | SIGNED_ROUTES
            assert method == "parameters" or one["security"] == [{"NONE" if public else authorizer: []}]


def test_a_token_is_checked_by_the_api_itself_where_it_takes_no_keys() -> None:
    scheme = Stack(translated()).properties("Api")["Body"]["components"]["securitySchemes"]["Tokens"]
    checked = scheme["x-amazon-apigateway-authorizer"]
    assert (scheme["type"], checked["type"]) == ("oauth2", "jwt")
    assert set(checked["jwtConfiguration"]) == {"issuer", "audience"}
    assert checked["identitySource"] == "$request.header.Authorization"


def test_where_it_takes_keys_the_function_is_asked_each_time_and_checks_the_same_tokens() -> None:
    """An identity source would have to be in each request, and an answer that is kept would outlive its key."""
    by_default, named = {"ApiKeys": "true"}, {"ApiKeys": "true", "JwtIssuer": "https://i/", "JwtAudience": "a,b"}
    stack = Stack(translated(), parameters=named)
    scheme = stack.properties("Api")["Body"]["components"]["securitySchemes"]["Credentials"]
    asked = scheme["x-amazon-apigateway-authorizer"]
    assert (asked["type"], asked["authorizerPayloadFormatVersion"]) == ("request", "2.0")
    assert (asked["authorizerResultTtlInSeconds"], asked["enableSimpleResponses"]) == (0, True)
    assert "identitySource" not in asked
    assert "AuthorizerFunction" in asked["authorizerUri"]
    given = stack.properties("AuthorizerFunction")["Environment"]["Variables"]
    assert (given["RECOLLECT_JWT_ISSUER"], given["RECOLLECT_JWT_AUDIENCES"]) == ("https://i/", "a,b")
    pool = Stack(translated(), parameters=by_default).properties("AuthorizerFunction")["Environment"]["Variables"]
    assert "cognito-idp" in pool["RECOLLECT_JWT_ISSUER"]
    assert "UserPoolClient" in pool["RECOLLECT_JWT_AUDIENCES"]


def test_the_authorizer_reads_the_partition_of_the_keys_and_nothing_else_of_the_table() -> None:
    (reading,) = [one for one in statements("authorizer") if "dynamodb" in str(one["Action"])]
    (place,) = reading["Condition"]["ForAllValues:StringEquals"]["dynamodb:LeadingKeys"]
    asked: list[Scope] = []

    def get(owner: Scope, _keys: object) -> dict[object, object]:
        asked.append(owner)
        return {}

    assert ApiKeys(cast(Items, SimpleNamespace(get=get))).find(f"{PREFIX}x") is None
    assert [user_partition(owner) for owner in asked] == [place]


def test_every_operation_is_of_one_function() -> None:
    assert sorted(route for name in FUNCTIONS for route in routes(name)) == sorted(operations())


def test_a_path_declares_its_parameters_and_no_others() -> None:
    for path, each in paths().items():
        declared = [one["name"] for one in each.get("parameters", [])]
        assert declared == re.findall(r"{(\w+)\+?}", path)
        assert all((one["in"], one["required"]) == ("path", True) for one in each.get("parameters", []))


def test_each_function_of_the_api_lets_it_in_by_one_permission() -> None:
    """A function's policy holds 20 KB; a permission of each route was a half of one."""
    made = translated()["Resources"]
    given = [one["Properties"] for one in made.values() if one["Type"] == "AWS::Lambda::Permission"]
    every = [one for one in walk(made["Api"]) if isinstance(one, dict)]
    uris = [str(one.get("authorizerUri", one.get("uri"))) for one in every if {"uri", "authorizerUri"} & set(one)]
    invoked = {
        found for uri in uris for found in re.findall(r"functions/\${(\w+)Function\.Arn}(:live)?/invocations", uri)
    }
    assert sorted(one["FunctionName"]["Ref"] for one in given) == sorted(
        f"{name}{'Live' if alias else 'Function'}" for name, alias in invoked
    )
    for one in given:
        assert (one["Action"], one["Principal"]) == ("lambda:InvokeFunction", "apigateway.amazonaws.com")
        asked = "authorizers/*" if one["FunctionName"] == {"Ref": "AuthorizerFunction"} else "*/*"
        assert one["SourceArn"]["Fn::Sub"].endswith(f":${{AWS::AccountId}}:${{Api}}/{asked}")


def test_where_a_function_has_an_alias_the_api_calls_that() -> None:
    made = translated()["Resources"]
    aliased = {one["Properties"]["FunctionName"]["Ref"] for one in made.values() if one["Type"] == "AWS::Lambda::Alias"}
    called = set(re.findall(r"functions/\${(\w+)\.Arn}/invocations", str(made["Api"])))
    assert called == {f"{name}Function" for name in ("Summarize", "Console", "Agentcore", "Authorizer", "Mem0")}
    assert called & aliased == set()


def test_every_route_is_throttled() -> None:
    throttles = properties("Api")["DefaultRouteSettings"]
    assert throttles["ThrottlingRateLimit"] == {"Ref": "RateLimit"}
    assert throttles["ThrottlingBurstLimit"] == {"Ref": "BurstLimit"}


def test_routes_that_ask_a_model_have_a_throttle_of_their_own() -> None:
    settings = properties("Api")["RouteSettings"]
    assert set(settings) <= {route for name in FUNCTIONS for route in routes(name)}
    limits = {"ThrottlingBurstLimit": {"Ref": "ModelBurstLimit"}, "ThrottlingRateLimit": {"Ref": "ModelRateLimit"}}
    answered = {route.template for route in routes_of(GROUPS) if 502 in route.statuses}
    assert {route for route, limit in settings.items() if limit == limits} == answered


def test_answers_come_before_the_api_gives_up() -> None:
    """One that runs on schedule too may run longer: its requests are told how long the API waits."""
    assert API_SECONDS < 30
    assert all(function(name)["Timeout"] < 30 for name in FUNCTIONS if routes(name) and not schedules(name))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sample_event_is_of_a_route_of_its_function(name: str) -> None:
    assert {event["routeKey"] for event in sample_events(name).values() if "routeKey" in event} <= set(routes(name))


def test_a_request_is_told_how_long_the_api_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []

    def dispatch(call: Call) -> Answer:
        told.append(call.remaining_seconds)
        return Answer(200, {}, "{}")

    monkeypatch.setattr(aws, "Dispatcher", lambda *_: SimpleNamespace(dispatch=dispatch))
    handler = build_handler(cast(App, SimpleNamespace(settings=Settings.from_environment({}))), ["summaries"])
    for seconds in (function("summarize")["Timeout"], 3):
        context: Any = SimpleNamespace(get_remaining_time_in_millis=lambda given=seconds: given * 1000)
        handler(http_event("GET /v1/users/{user_id}/summaries"), context)
    assert told == [API_SECONDS - 0.5, 2.5]
