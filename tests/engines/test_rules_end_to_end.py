"""A tenant's own rules on DynamoDB: one request sees what the one before it put."""

from dataclasses import replace
from typing import Any

import pytest

from engines.conftest import Deployment
from recollect.entrypoints.http.aws import http_handler
from recollect.rules.groups import Rules

pytestmark = pytest.mark.engines

SNOW = {"tags": {"zebra": ["snow"], "ant": ["snow"]}, "context": {"total": 2}}


@pytest.fixture
def rules(deployment: Deployment) -> Deployment:
    """The deployment, with a function that serves the rules."""
    return replace(deployment, handlers={**deployment.handlers, "rules": http_handler("rules", app=deployment.app)})


def tags_said(deployment: Deployment, content: str, tenant: str) -> list[str]:
    body: dict[str, Any] = {"user_id": "anna", "events": [{"content": content}]}
    answer = deployment.call("ingest", "POST", "/v1/events", body, tenant)
    tags: list[str] = answer.body["results"][0]["tags"]
    return tags


@pytest.mark.spec("K-53")
def test_a_put_is_seen_by_the_next_request_of_its_tenant_alone(rules: Deployment) -> None:
    assert tags_said(rules, "snow in May", "acme") == []
    put = rules.call("rules", "PUT", "/v1/rules", SNOW)
    assert (put.status, put.body["own"]) == (200, SNOW)
    assert tags_said(rules, "snow in June", "acme") == ["zebra", "ant"]
    assert tags_said(rules, "snow in July", "globex") == []
    asked = {"user_id": "anna", "input": "snow"}
    context = rules.call("context", "POST", "/v1/context", asked).body
    assert (len(context["items"]), context["diagnostics"]["rules_version"]) == (2, put.body["version"])
    search = rules.call("retrieval", "POST", "/v1/search", {"user_id": "anna", "query": "snow"}, "globex").body
    assert search["diagnostics"]["rules_version"] == Rules().version
    assert rules.call("rules", "GET", "/v1/rules").body == put.body
    assert rules.call("rules", "PUT", "/v1/rules", {}).body["version"] == Rules().version
    assert tags_said(rules, "snow in August", "acme") == []


def test_the_stream_reader_takes_a_change_of_rules_for_what_it_is(rules: Deployment) -> None:
    rules.call("rules", "PUT", "/v1/rules", SNOW)
    rules.call("ingest", "POST", "/v1/events", {"user_id": "anna", "events": [{"content": "snow"}]})
    rules.pump.drain()
    assert rules.pump.given_up == 0
    assert rules.call("retrieval", "GET", "/v1/ready").body["parts"]["timeline"]["pending"] == 0
