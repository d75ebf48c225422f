"""template.yaml as the tests read it: tags in their long form, and the questions that several tests ask."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = (
    "ingest", "retrieval", "context", "converse", "knowledge", "arbitration", "mcp", "summarize", "project", "jobs",
    "retain",
)  # fmt: skip
EMBEDDING = ("retrieval", "context", "converse", "knowledge", "arbitration", "mcp", "project", "jobs")
ASKING = ("converse", "summarize", "jobs")
PUBLIC_ROUTES = {"GET /v1/health", "GET /v1/ready", "GET /v1/openapi.json", "GET /docs"}


class _Loader(yaml.SafeLoader):
    """Reads `!Sub x` as `{"Fn::Sub": "x"}`."""


def _tagged(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        text = loader.construct_scalar(node)
        return {name: text.split(".", 1) if suffix == "GetAtt" else text}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    assert isinstance(node, yaml.MappingNode)
    return {name: loader.construct_mapping(node, deep=True)}


_Loader.add_multi_constructor("!", _tagged)


@cache
def template() -> dict[str, Any]:
    """The whole template."""
    loaded: dict[str, Any] = yaml.load((ROOT / "template.yaml").read_text("utf-8"), _Loader)
    return loaded


def resources(kind: str) -> dict[str, dict[str, Any]]:
    """Resources of a type, by logical id."""
    return {name: one for name, one in template()["Resources"].items() if one["Type"] == kind}


def properties(logical_id: str) -> dict[str, Any]:
    """A resource's properties."""
    found: dict[str, Any] = template()["Resources"][logical_id]["Properties"]
    return found


def function(name: str) -> dict[str, Any]:
    """The properties of `functions/<name>`."""
    return properties(f"{name.capitalize()}Function")


def environment(name: str) -> dict[str, Any]:
    """What a function finds in its environment, unresolved."""
    shared: dict[str, Any] = template()["Globals"]["Function"]["Environment"]["Variables"]
    return {**shared, **function(name)["Environment"]["Variables"]}


IN_PROCESS = {"e5-small": "MultilingualLayer", "minilm": "EmbedderLayer"}
"""The layer of each EmbedderKind that runs in the function; for the others it is MiniLM's."""


def default_embedder() -> str:
    """The EmbedderKind of a deployment that names none."""
    found: str = template()["Parameters"]["EmbedderKind"]["Default"]
    return found


def layers(name: str, embedder: str | None = None) -> list[str]:
    """Logical ids of a function's layers, in the order in which Lambda lays them over each other."""
    multilingual = (embedder or default_embedder()) == "e5-small"
    chosen = [_chosen(layer, multilingual) for layer in function(name)["Layers"]]
    return [layer["Ref"] for layer in chosen]


def _chosen(layer: dict[str, Any], multilingual: bool) -> dict[str, Any]:
    """A layer, or the one of two that the condition leaves; there is one condition."""
    if "Fn::If" not in layer:
        return layer
    condition, then, otherwise = layer["Fn::If"]
    assert condition == "IsMultilingual"
    taken: dict[str, Any] = then if multilingual else otherwise
    return taken


def routes(name: str) -> dict[str, dict[str, Any]]:
    """The HTTP events of a function by route, such as `POST /v1/events`."""
    events = [one["Properties"] for one in function(name)["Events"].values() if one["Type"] == "HttpApi"]
    return {f"{event['Method']} {event['Path']}": event for event in events}


def schedules(name: str) -> list[dict[str, Any]]:
    """The schedules that invoke a function."""
    return [one["Properties"] for one in function(name)["Events"].values() if one["Type"] == "ScheduleV2"]


def statements(name: str) -> list[dict[str, Any]]:
    """What a function's role allows, conditional statements included."""
    policies = properties(f"{name.capitalize()}Role")["Policies"]
    found = [one for policy in policies for one in policy["PolicyDocument"]["Statement"]]
    return [one["Fn::If"][1] if "Fn::If" in one else one for one in found]


def listed(value: Any) -> list[Any]:
    """A value that stands alone or in a list, as a list."""
    return value if isinstance(value, list) else [value]


def walk(value: Any) -> Iterator[Any]:
    """A value and everything in it."""
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(inner)


def sample_events(name: str) -> dict[str, dict[str, Any]]:
    """The events that `events/` holds for a function, by what follows its name in the file's."""
    found = sorted((ROOT / "events").glob(f"{name}.*.json"))
    return {path.name.split(".")[1]: json.loads(path.read_text("utf-8")) for path in found}
