"""template.yaml as the tests read it: tags in their long form, and the questions that several tests ask."""

import json
from functools import cache
from typing import Any

from infra.tools.cloudformation import ROOT as ROOT
from infra.tools.cloudformation import template as read_template
from infra.tools.cloudformation import walk as walk

FUNCTIONS = (
    "ingest", "retrieval", "memories", "context", "converse", "knowledge", "arbitration", "mcp", "console",
    "authorizer", "mem0", "agentcore", "summarize", "project", "jobs", "retain",
)  # fmt: skip
WITH_DATA = tuple(name for name in FUNCTIONS if name not in ("console", "authorizer"))
"""What reads and writes the stack's data; the console asks the API, and the authorizer reads keys alone."""
OPTIONAL = {
    "console": {"Console": "true"},
    "authorizer": {"ApiKeys": "true"},
    "mem0": {"ApiKeys": "true"},
    "agentcore": {"SigningKeysParameter": "/recollect/signing-keys"},
}
"""What there is by a parameter alone."""
EMBEDDING = (
    "retrieval", "context", "converse", "knowledge", "arbitration", "mcp", "mem0", "agentcore", "project", "jobs",
)  # fmt: skip
ASKING = ("converse", "summarize", "jobs")
PUBLIC_ROUTES = {"GET /v1/health", "GET /v1/ready", "GET /v1/openapi.json", "GET /docs"}
SHELL_ROUTES = {"GET /console", "GET /console/{proxy+}"}
"""Without credentials too: what they answer holds no data."""
SIGNED_ROUTES = {"POST /memories/", *(f"{method} /memories/{{proxy+}}" for method in ("DELETE", "GET", "POST", "PUT"))}
"""Without an authorizer: the function itself wants a signature."""


@cache
def template() -> dict[str, Any]:
    return read_template()


def resources(kind: str) -> dict[str, dict[str, Any]]:
    return {name: one for name, one in template()["Resources"].items() if one["Type"] == kind}


def properties(logical_id: str) -> dict[str, Any]:
    found: dict[str, Any] = template()["Resources"][logical_id]["Properties"]
    return found


def function(name: str) -> dict[str, Any]:
    return properties(f"{name.capitalize()}Function")


def environment(name: str) -> dict[str, Any]:
    shared: dict[str, Any] = template()["Globals"]["Function"]["Environment"]["Variables"]
    return {**shared, **function(name).get("Environment", {"Variables": {}})["Variables"]}


def layers(name: str) -> list[str]:
    """Logical ids of a function's layers, in the order in which Lambda lays them over each other."""
    return [layer["Ref"] for layer in template()["Globals"]["Function"]["Layers"] + function(name).get("Layers", [])]


def routes(name: str) -> dict[str, dict[str, Any]]:
    """The operations of the API that a function answers, by route, such as `POST /v1/events`."""
    return {route: one for route, one in operations().items() if f"${{{name.capitalize()}Function." in _uri(one)}


def operations() -> dict[str, dict[str, Any]]:
    """Every operation of the API by route; what a path's operations share stands among them as `parameters`."""
    methods = [(path, method, one) for path, each in paths().items() for method, one in each.items()]
    return {f"{_method(method)} {path}": one for path, method, one in methods if method != "parameters"}


def paths() -> dict[str, dict[str, Any]]:
    """The API's paths, conditional ones included."""
    return {path: _unconditional(each) for path, each in properties("Api")["DefinitionBody"]["paths"].items()}


def _method(key: str) -> str:
    return "ANY" if key == "x-amazon-apigateway-any-method" else key.upper()


def _uri(operation: dict[str, Any]) -> str:
    return str(operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"])


def schedules(name: str) -> list[dict[str, Any]]:
    return [one["Properties"] for one in function(name).get("Events", {}).values() if one["Type"] == "ScheduleV2"]


def managed(name: str) -> list[str]:
    """Logical ids of the managed policies of a function's role, conditional ones included."""
    given = properties(f"{name.capitalize()}Role").get("ManagedPolicyArns", [])
    return [_unconditional(one)["Ref"] for one in given]


def statements(name: str) -> list[dict[str, Any]]:
    """What a function's role allows by policies of its own and by shared ones, conditional statements included."""
    role = f"{name.capitalize()}Role"
    own = [policy["PolicyDocument"] for policy in properties(role)["Policies"]]
    beside = [one["Properties"] for one in resources("AWS::IAM::RolePolicy").values()]
    own += [one["PolicyDocument"] for one in beside if one["RoleName"] == {"Ref": role}]
    shared = [properties(policy)["PolicyDocument"] for policy in managed(name)]
    return [_unconditional(one) for document in own + shared for one in document["Statement"]]


def _unconditional(one: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = one["Fn::If"][1] if "Fn::If" in one else one
    return given


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def sample_events(name: str) -> dict[str, dict[str, Any]]:
    """The events that `events/` holds for a function, by what follows its name in the file's."""
    found = sorted((ROOT / "events").glob(f"{name}.*.json"))
    return {path.name.split(".")[1]: json.loads(path.read_text("utf-8")) for path in found}
