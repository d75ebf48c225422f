"""The built template for this machine: the functions' environments over local engines instead of the stack's resources.

`sam local --env-vars` sets only what a template declares, and this project's declares no endpoint.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from infra.local.function_process import BUILD

NAME = "recollect-local"
"""Of table and bucket, and of the metrics."""
INDEX_PREFIX = "recollectlocal"
_FILE = "local-template.yaml"


class NotBuilt(Exception):
    """There is nothing to run."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the engines answer to a function."""

    opensearch: str
    dynamodb: str
    s3: str


def built_template() -> dict[str, Any]:
    """What `sam build` made of the template. Raises NotBuilt."""
    try:
        loaded: dict[str, Any] = yaml.safe_load((BUILD / "template.yaml").read_text("utf-8"))
    except FileNotFoundError:
        raise NotBuilt("nothing is built: make build") from None
    return loaded


def function_id(template: Mapping[str, Any], name: str) -> str:
    """The logical id of the function of this name, such as `ingest`. Raises NotBuilt."""
    logical_id = f"{name.capitalize()}Function"
    if logical_id not in template["Resources"]:
        raise NotBuilt(f"the template has no function {name}")
    return logical_id


def environment(template: Mapping[str, Any], logical_id: str, endpoints: Endpoints) -> dict[str, str]:
    """A function's variables: the template's, with parameters at their defaults, over these engines.

    What refers to a resource of the stack is left out where nothing local takes its place: there is no bus.
    """
    shared = template["Globals"]["Function"]["Environment"]["Variables"]
    own = template["Resources"][logical_id]["Properties"].get("Environment", {}).get("Variables", {})
    found = {name: _resolved(template, value) for name, value in {**shared, **own}.items()}
    return {name: value for name, value in found.items() if value is not None} | _local(endpoints)


def _resolved(template: Mapping[str, Any], value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return str(value)
    default = template["Parameters"].get(value.get("Ref"), {}).get("Default")
    return None if default is None else str(default)


def _local(endpoints: Endpoints) -> dict[str, str]:
    return {
        "POWERTOOLS_SERVICE_NAME": NAME,
        "RECOLLECT_LOCAL_API": "1",
        "RECOLLECT_TABLE": NAME,
        "RECOLLECT_SNAPSHOT_BUCKET": NAME,
        "RECOLLECT_INDEX_PREFIX": INDEX_PREFIX,
        "RECOLLECT_OPENSEARCH_URL": endpoints.opensearch,
        # Engines on a laptop answer late.
        "RECOLLECT_CALL_TIMEOUT_SECONDS": "8",
        "AWS_ENDPOINT_URL_DYNAMODB": endpoints.dynamodb,
        "AWS_ENDPOINT_URL_S3": endpoints.s3,
    }


def layers_of(template: Mapping[str, Any], logical_id: str) -> list[str]:
    """Logical ids of a function's own layers; one that asks another function for its models has that one's here."""
    properties = template["Resources"][logical_id]["Properties"]
    asked = properties.get("Environment", {}).get("Variables", {}).get("RECOLLECT_MODEL_FUNCTION")
    own = [one["Ref"] for one in properties.get("Layers", [])]
    return own + (layers_of(template, _function_of(template, asked["Ref"])) if asked else [])


def _function_of(template: Mapping[str, Any], alias: str) -> str:
    """Logical id of the function that an alias is of."""
    return str(template["Resources"][alias]["Properties"]["FunctionName"]["Ref"])


def local_template(template: Mapping[str, Any], endpoints: Endpoints) -> dict[str, Any]:
    """The template with these environments, and without authorizers, of which the emulator knows no JWT's."""
    made = copy.deepcopy(dict(template))
    del made["Resources"]["Api"]["Properties"]["DefinitionBody"]["components"]
    made["Globals"]["Function"]["Environment"] = {"Variables": {}}
    for logical_id, resource in made["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function":
            variables = environment(template, logical_id, endpoints)
            resource["Properties"]["Environment"] = {"Variables": variables}
            resource["Properties"]["Layers"] = [{"Ref": layer} for layer in layers_of(template, logical_id)]
    return made


def write_local_template(endpoints: Endpoints) -> Path:
    """Puts it beside the built one, since its paths are relative. Raises NotBuilt."""
    path = BUILD / _FILE
    path.write_text(yaml.safe_dump(local_template(built_template(), endpoints), sort_keys=False), encoding="utf-8")
    return path
