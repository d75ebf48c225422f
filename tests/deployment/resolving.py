"""A template as CloudFormation reads it for one stack: parameters, conditions and functions worked out."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import pytest

from deployment.template import ROOT, listed, template, walk

SAM_PYTHON = ROOT / "build/sam-venv/bin/python"
NEEDS_SAM = "needs SAM's translator: make build"
# SAM puts sources into a bucket before it translates, and the translator takes no others.
_TRANSLATE = """
import json, sys
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
template = json.load(sys.stdin)
for one in template["Resources"].values():
    for uri in {"CodeUri", "ContentUri"} & set(one["Properties"]):
        if not one["Properties"][uri].startswith("s3://"):
            one["Properties"][uri] = "s3://bucket/key"
json.dump(Translator({}, Parser()).translate(template, {}), sys.stdout)
"""
_NAMES = ("DomainName", "Name", "LogGroupName", "DashboardName", "FunctionName", "TableName", "BucketName", "QueueName")
# Of these kinds such a property names another resource.
_WITHOUT_NAME = (
    "AWS::ApiGatewayV2::ApiMapping",
    "AWS::Lambda::Alias",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Version",
)
_NO_VALUE = object()


class NotExported(Exception):
    """No stack of the account exports a value of this name."""


@cache
def translated() -> dict[str, Any]:
    return translation(template())


def translation(source: Mapping[str, Any]) -> dict[str, Any]:
    """What SAM makes of a template; sources may be where it has uploaded them, `s3://…`."""
    made: dict[str, Any] = json.loads(in_sam(_TRANSLATE, json.dumps(source)))
    return made


def in_sam(script: str, given: str) -> str:
    """What a script prints that runs where SAM is installed, with this on its standard input.

    Without SAM the test is left out; with RECOLLECT_REQUIRE_BUILT=1 it fails.
    """
    if not SAM_PYTHON.exists():
        if os.environ.get("RECOLLECT_REQUIRE_BUILT") == "1":
            pytest.fail("SAM's translator is required here; make build installs it", pytrace=False)
        pytest.skip(NEEDS_SAM)
    region = {"AWS_DEFAULT_REGION": "us-east-1", "PATH": "/usr/bin:/bin"}
    command = [str(SAM_PYTHON), "-c", script]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=region)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class Stack:
    """One deployment of a template; `parameters` are those that it gives, `imports` what other stacks export."""

    source: Mapping[str, Any]
    name: str = "recollect"
    uuid: str = "51af3dc0-da77-11e4-872e-1234567b3ccd"
    parameters: Mapping[str, str] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)

    def resource(self, logical_id: str) -> dict[str, Any]:
        """A resource with all of its attributes worked out."""
        resolved: dict[str, Any] = self._resolved(self.source["Resources"][logical_id])
        return resolved

    def properties(self, logical_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.resource(logical_id)["Properties"]
        return found

    def value(self, given: Any) -> Any:
        """What stands for a part of the template in this stack."""
        return self._resolved(given)

    def holds(self, condition: str) -> bool:
        return bool(self._conditions[condition])

    def refusals(self) -> list[str]:
        """What the template's rules say against the parameters, before anything is made."""
        rules = self.source["Rules"].values()
        applying = [one for one in rules if self._resolved(one.get("RuleCondition", {"Fn::Equals": ["", ""]}))]
        asserted = [each for one in applying for each in one["Assertions"]]
        return [each["AssertDescription"] for each in asserted if not self._resolved(each["Assert"])]

    def outputs(self) -> dict[str, str]:
        """The outputs of this stack, by their names."""
        made = {name: one for name, one in self.source["Outputs"].items() if self._is_made(one)}
        return {name: self._resolved(one["Value"]) for name, one in made.items()}

    def exports(self) -> dict[str, str]:
        """What other stacks may import, by its name."""
        made = [one for one in self.source["Outputs"].values() if self._is_made(one) and "Export" in one]
        return {self._resolved(one["Export"]["Name"]): self._resolved(one["Value"]) for one in made}

    def imported(self) -> set[str]:
        """Names of what this stack imports."""
        chosen = [self._chosen(one) for one in self.source["Resources"].values() if self._is_made(one)]
        found = [one for one in walk(chosen) if isinstance(one, dict) and "Fn::ImportValue" in one]
        return {self._resolved(one["Fn::ImportValue"]) for one in found}

    def made(self) -> dict[str, dict[str, Any]]:
        """The resources of this stack, worked out; without those whose condition does not hold."""
        return {name: self.resource(name) for name, one in self.source["Resources"].items() if self._is_made(one)}

    def names(self) -> set[tuple[str, str]]:
        """Types and names of the resources that the template names itself; CloudFormation makes the other names."""
        return set(self.names_by_id().values())

    def names_by_id(self) -> dict[str, tuple[str, str]]:
        """The same, by logical id."""
        resources = {key: one for key, one in self.source["Resources"].items() if self._is_made(one)}
        found = {key: (one["Type"], self._own_name(one)) for key, one in resources.items()}
        return {key: (kind, name) for key, (kind, name) in found.items() if name is not None}

    def references(self, logical_id: str) -> set[str]:
        """The resources that one names in this stack: what stands under conditions that do not hold is left out."""
        return set(_named(self._chosen(self.source["Resources"][logical_id]))) & set(self.source["Resources"])

    def _chosen(self, value: Any) -> Any:
        """The same with every `Fn::If` decided."""
        if isinstance(value, list):
            return [self._chosen(one) for one in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"Fn::If"}:
            condition, then, otherwise = value["Fn::If"]
            return self._chosen(then if self._conditions[condition] else otherwise)
        return {key: self._chosen(one) for key, one in value.items()}

    def whole(self) -> dict[str, Any]:
        """Resources and outputs of this stack, worked out. Raises KeyError for a reference to one that it lacks."""
        own = {name: one for name, one in self.source["Resources"].items() if self._is_made(one)}
        stack = Stack({**self.source, "Resources": own}, self.name, self.uuid, self.parameters, self.imports)
        return stack.made() | stack.outputs()

    def _is_made(self, resource: Mapping[str, Any]) -> bool:
        return "Condition" not in resource or bool(self._conditions[resource["Condition"]])

    def _own_name(self, resource: Mapping[str, Any]) -> Any:
        properties = {} if resource["Type"] in _WITHOUT_NAME else resource.get("Properties", {})
        given = [self._resolved(properties[name]) for name in _NAMES if name in properties]
        return given[0] if given and isinstance(given[0], str) else None

    @cached_property
    def _values(self) -> dict[str, Any]:
        declared = self.source["Parameters"]
        given = {name: self.parameters.get(name, one.get("Default", name)) for name, one in declared.items()}
        split = {name: str(given[name]).split(",") for name in given if "List" in declared[name]["Type"]}
        return {
            **given,
            **split,
            "AWS::AccountId": "123456789012",
            "AWS::NoValue": _NO_VALUE,
            "AWS::Partition": "aws",
            "AWS::Region": "eu-west-1",
            "AWS::StackId": f"arn:aws:cloudformation:eu-west-1:123456789012:stack/{self.name}/{self.uuid}",
            "AWS::StackName": self.name,
            "AWS::URLSuffix": "amazonaws.com",
        }

    @cached_property
    def _conditions(self) -> dict[str, Any]:
        return {name: self._resolved(one) for name, one in self.source["Conditions"].items()}

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, list):
            return [one for one in map(self._resolved, value) if one is not _NO_VALUE]
        if not isinstance(value, dict):
            return value
        (name, given), *more = value.items() or [("", None)]
        if not more and (name == "Ref" or name.startswith("Fn::") or _names_condition(name, given)):
            return getattr(self, f"_{name.removeprefix('Fn::').lower()}")(given)
        resolved = {key: self._resolved(one) for key, one in value.items()}
        return {key: one for key, one in resolved.items() if one is not _NO_VALUE}

    def _ref(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        return self._own_name(self.source["Resources"][name]) or f"{self.name}-{name}-1MADE2UP3"

    def _getatt(self, given: Any) -> Any:
        name, attribute = given if isinstance(given, list) else given.split(".", 1)
        resource = self.source["Resources"][name]
        if (resource["Type"], attribute) == ("AWS::SSM::Parameter", "Value"):
            return self._resolved(resource["Properties"]["Value"])
        return f"{attribute} of {self._ref(name)}"

    def _sub(self, given: Any) -> str:
        text, own = given if isinstance(given, list) else (given, {})
        return re.sub(r"\$\{([^!}]+)\}", lambda found: str(self._substituted(found[1], own)), text)

    def _substituted(self, name: str, own: Mapping[str, Any]) -> Any:
        if name in own:
            return self._resolved(own[name])
        return self._getatt(name) if "." in name else self._ref(name)

    def _importvalue(self, given: Any) -> str:
        name = self._resolved(given)
        if name not in self.imports:
            raise NotExported(name)
        return self.imports[name]

    def _if(self, given: list[Any]) -> Any:
        condition, then, otherwise = given
        return self._resolved(then if self._conditions[condition] else otherwise)

    def _equals(self, given: list[Any]) -> bool:
        left, right = map(str, self._resolved(given))
        return left == right

    def _not(self, given: list[Any]) -> bool:
        return not self._resolved(given[0])

    def _and(self, given: list[Any]) -> bool:
        return all(self._resolved(given))

    def _or(self, given: list[Any]) -> bool:
        return any(self._resolved(given))

    def _condition(self, name: str) -> bool:
        return bool(self._resolved(self.source["Conditions"][name]))

    def _contains(self, given: list[Any]) -> bool:
        values, wanted = self._resolved(given)
        return str(wanted) in map(str, values)

    def _eachmemberequals(self, given: list[Any]) -> bool:
        values, wanted = self._resolved(given)
        return all(str(one) == str(wanted) for one in values)

    def _join(self, given: list[Any]) -> str:
        delimiter, parts = given
        return str(delimiter).join(map(str, self._resolved(parts)))

    def _select(self, given: list[Any]) -> Any:
        place, values = given
        return self._resolved(values)[int(place)]

    def _split(self, given: list[Any]) -> list[str]:
        delimiter, text = given
        return str(self._resolved(text)).split(delimiter)


def _names_condition(name: str, given: Any) -> bool:
    """Whether this is a condition within a condition; a policy's `Condition` is no text."""
    return name == "Condition" and isinstance(given, str)


def dependencies(source: Mapping[str, Any]) -> dict[str, set[str]]:
    """For each resource those that must be there before it."""
    return {name: set(_named(one)) & set(source["Resources"]) for name, one in source["Resources"].items()}


def _named(resource: Mapping[str, Any]) -> Iterator[str]:
    yield from listed(resource.get("DependsOn", []))
    for one in walk(resource):
        if isinstance(one, dict) and len(one) == 1:
            ((function, given),) = one.items()
            if function == "Ref":
                yield given
            elif function == "Fn::GetAtt":
                yield (given[0] if isinstance(given, list) else given.partition(".")[0])
            elif function == "Fn::Sub":
                text = given[0] if isinstance(given, list) else given
                yield from (name.partition(".")[0] for name in re.findall(r"\$\{([^!}]+)\}", text))
