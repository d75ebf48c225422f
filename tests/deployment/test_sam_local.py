"""Built functions run on this machine: by Lambda's own client over the engines, and as the SAM CLI would run them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import Engines
from deployment.resolving import in_sam
from deployment.template import FUNCTIONS, ROOT, template
from entrypoints.http.calling import Cloud
from entrypoints.http.conftest import opened
from infra.local import __main__ as local
from infra.local.template import NAME, Endpoints, NotBuilt, environment, local_template
from recollect.bootstrap.local_engines import require_local
from recollect.settings import Settings

_AS_THE_CLI_READS_IT = """
import json, sys
from flask import Flask, request
from samcli.lib.providers.api_provider import ApiProvider
from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider
from samcli.local.apigw.event_constructor import construct_v2_event_http
stacks, _ = SamLocalStackProvider.get_stacks(sys.stdin.read())
environments = {one.name: one.environment["Variables"] for one in SamFunctionProvider(stacks).get_all()}
routes = [[one.function_name, method, one.path] for one in ApiProvider(stacks).api.routes for method in one.methods]
body = {"user_id": "anna", "events": [{"content": "I moved to Lyon"}]}
headers = {"Host": "127.0.0.1:3000", "X-Recollect-Tenant": "acme"}
sender = {"REMOTE_ADDR": "127.0.0.1"}
with Flask("api").test_request_context("/v1/events", method="POST", json=body, headers=headers, environ_base=sender):
    event = construct_v2_event_http(request, 3000, [], "$default", None, "POST /v1/events")
print(json.dumps({"environments": environments, "routes": routes, "event": event}))
"""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The local template as `sam local` reads it, and the event that its API makes of a request."""
    path = tmp_path_factory.mktemp("sam") / "template.yaml"
    path.write_text(yaml.safe_dump(local_template(template(), local.IN_COMPOSE)), encoding="utf-8")
    found: dict[str, Any] = json.loads(in_sam(_AS_THE_CLI_READS_IT, str(path)))
    return found


def test_functions_get_the_engines_and_nothing_of_a_stack(read: dict[str, Any]) -> None:
    assert {name.removesuffix("Function").lower() for name in read["environments"]} == set(FUNCTIONS)
    for given in read["environments"].values():
        assert given["RECOLLECT_TABLE"] == NAME
        assert given["RECOLLECT_LOCAL_API"] == "1"
        settings = Settings.from_environment(given)
        require_local([settings.opensearch_url, given["AWS_ENDPOINT_URL_DYNAMODB"], given["AWS_ENDPOINT_URL_S3"]])
        assert settings.event_bus == settings.rules_parameter == ""


def test_the_local_api_has_the_routes(read: dict[str, Any]) -> None:
    assert ["IngestFunction", "POST", "/v1/events"] in read["routes"]
    assert {function for function, _, _ in read["routes"]} >= {"RetrievalFunction", "MemoriesFunction", "McpFunction"}


def test_a_request_that_the_emulator_hands_over_is_answered(read: dict[str, Any], tmp_path: Path) -> None:
    """It has no claims; the header names the tenant."""
    assert "authorizer" not in read["event"]["requestContext"]
    with opened(tmp_path, RECOLLECT_LOCAL_API="1") as app:
        assert Cloud(app, claims=None).handle(read["event"]).status == 201
    with opened(tmp_path) as app:
        assert Cloud(app, claims=None).handle(read["event"]).status == 401


def test_the_cli_is_told_the_local_template_and_the_engines_network() -> None:
    command = local.sam_local(Path("/t.yaml"), "invoke", "IngestFunction", "--event", "/e.json")
    assert command[1:] == [
        *("local", "invoke", "IngestFunction", "--event", "/e.json"),
        *("--template", "/t.yaml", "--docker-network", local.COMPOSE_NETWORK),
    ]
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    assert f"{compose['name']}_default" == local.COMPOSE_NETWORK
    assert {"opensearch", "dynamodb", "s3"} <= set(compose["services"])


def test_what_refers_to_a_resource_is_left_out_where_nothing_is_in_its_place() -> None:
    given = environment(template(), "JobsFunction", Endpoints("http://a", "http://b", "http://c"))
    assert "RECOLLECT_EVENT_BUS" not in given
    assert given["RECOLLECT_OPENSEARCH_URL"] == "http://a"
    assert all(isinstance(value, str) for value in given.values())


def test_what_asks_another_function_for_its_models_has_them_itself() -> None:
    made = local_template(template(), local.IN_COMPOSE)["Resources"]
    turns = made["ConverseFunction"]["Properties"]
    assert {"Ref": "EmbedderLayer"} in turns["Layers"]
    assert "RECOLLECT_MODEL_FUNCTION" not in turns["Environment"]["Variables"]
    assert made["IngestFunction"]["Properties"]["Layers"] == []


@pytest.mark.built
@pytest.mark.engines
def test_built_functions_answer_the_events_of_the_guide_without_docker(
    built: Path, engines: Engines, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local, "has_docker", lambda: False)
    answers, told = [], ""
    for event in re.findall(r"make local-invoke EVENT=(\S+)", (ROOT / "docs/guide/3-on-aws.md").read_text("utf-8")):
        assert local.main(["invoke", event]) == 0, event
        said = capfd.readouterr()
        answers.append(json.loads(said.out))
        told += said.err
    stored, projected, found = answers
    assert (stored["statusCode"], projected["failed"], found["statusCode"]) == (201, 0, 200)
    assert json.loads(found["body"])["results"]
    assert '"route":"POST /v1/events"' in told
    assert "Traceback" not in told


@pytest.mark.parametrize("event", ["nope", "../events/ingest.http-events.json"])
def test_an_event_that_is_not_there_is_told_with_those_that_are(event: str) -> None:
    with pytest.raises(NotBuilt, match=r"project\.stream-insert"):
        local.invoke(event)


def test_the_api_needs_docker(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(local, "has_docker", lambda: False)
    assert local.main(["api"]) == 3
    assert "recollect serve" in capsys.readouterr().err
