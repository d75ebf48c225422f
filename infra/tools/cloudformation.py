"""template.yaml as tools read it, and what stands in it: tags in their long form."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "template.yaml"


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


def template(path: Path = TEMPLATE) -> dict[str, Any]:
    """A template of CloudFormation or SAM. Raises OSError where there is none, yaml.YAMLError where it is no YAML."""
    loaded: dict[str, Any] = yaml.load(path.read_text("utf-8"), _Loader)
    return loaded


def walk(value: Any) -> Iterator[Any]:
    """A part of a template and all that stands in it."""
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(inner)
