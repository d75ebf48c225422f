"""infra/data.yaml: the data of template.yaml as a stack of their own, so that the stack of the code can be thrown away.

    python -m infra.tools.data_template --import    prints what imports a table and a bucket that are already there

Made of template.yaml, never by hand: all that stands under the conditions OwnsData and MakesDomain with what it refers
to, and an export for every name that template.yaml imports of its parameter DataStack. What differs: the domain lets in
the account instead of the roles, which are another stack's, so that the roles' own policies decide.
"""

import copy
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from infra.tools.cloudformation import template, walk

FILE = "infra/data.yaml"
OWNS, MAKES = "OwnsData", "MakesDomain"
IMPORTED = ("Table", "SnapshotBucket")
"""What an import takes into a new stack. The domain is made anew: all that is in it is derived."""
_IMPORT = "Fn::ImportValue"
_STACK_PREFIX = "${DataStack}-"
_ACCOUNT = {"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}
_HEADER = "# Generated from template.yaml by infra/tools/data_template.py (make docs).\n"


class _Dumper(yaml.SafeDumper):
    """Writes everything out."""

    def ignore_aliases(self, *_: Any) -> bool:
        return True


def data_template_file() -> str:
    """infra/data.yaml."""
    return _written(data_template(template()))


def import_template_file() -> str:
    """What `create-change-set --change-set-type IMPORT` makes the data stack of, from a table and a bucket."""
    return _written(import_template(template()))


def _written(made: Mapping[str, Any]) -> str:
    return _HEADER + yaml.dump(dict(made), Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)


def data_template(source: Mapping[str, Any]) -> dict[str, Any]:
    """The stack of the data."""
    exports = _exports(source)
    resources = _resources(source, set(_roots(source)) | set(_named(exports)))
    return _Part(source, resources, exports).document(
        "Recollect - table, bucket and search domain, apart from the code."
    )


def import_template(source: Mapping[str, Any]) -> dict[str, Any]:
    """The same with nothing but what exists: an import makes nothing new and adds no outputs.

    `Retain`, so that an import that fails is no creation whose resources go with it.
    """
    whole = data_template(source)["Resources"]
    resources = {name: {**whole[name], "DeletionPolicy": "Retain"} for name in IMPORTED}
    return _Part(source, resources, {}).document("Recollect - a table and a bucket that are already there.")


def _roots(source: Mapping[str, Any]) -> list[str]:
    return [name for name, one in source["Resources"].items() if one.get("Condition") in (OWNS, MAKES)]


def _exports(source: Mapping[str, Any]) -> dict[str, Any]:
    """An output for each name that the code's stack imports, as the SSM parameter that holds it describes it."""
    found = {}
    for one in source["Resources"].values():
        value = one.get("Properties", {}).get("Value")
        name = _import_of(value)
        if name:
            condition = {"Condition": one["Condition"]} if "Condition" in one else {}
            export = {"Name": {"Fn::Sub": f"${{AWS::StackName}}-{name}"}}
            found[name] = {
                "Description": one["Properties"]["Description"],
                **condition,
                "Value": _own(value),
                "Export": export,
            }
    return found


def _import_of(value: Any) -> str:
    """`NAME` where `!If [OwnsData, …, …]` imports it as `${DataStack}-NAME`, else nothing."""
    if not (isinstance(value, dict) and "Fn::If" in value and value["Fn::If"][0] == OWNS):
        return ""
    (name,) = [one[_IMPORT] for one in walk(value["Fn::If"][2]) if isinstance(one, dict) and _IMPORT in one]
    return str(name["Fn::Sub"]).removeprefix(_STACK_PREFIX)


def _resources(source: Mapping[str, Any], wanted: set[str]) -> dict[str, Any]:
    """Those and what they refer to, in the template's order."""
    kept: dict[str, Any] = {}
    while missing := (wanted & source["Resources"].keys()) - kept.keys():
        made = {name: _of_data(source, source["Resources"][name]) for name in missing}
        kept |= made
        wanted = wanted | set(_named(made))
    return {name: kept[name] for name in source["Resources"] if name in kept}


def _of_data(source: Mapping[str, Any], resource: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = _own(copy.deepcopy(dict(resource)))
    condition = _condition(source, made.pop("Condition", None))
    attributes = {"Type": made.pop("Type"), **({"Condition": condition} if condition else {}), **made}
    policies = attributes["Properties"].get("AccessPolicies")
    if policies:
        policies["Statement"] = _of_account(policies["Statement"])
    return attributes


def _of_account(statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same for whom the account's IAM lets in; what several roles had each stands once."""
    made: list[dict[str, Any]] = []
    for one in statements:
        given = {**one, "Principal": _ACCOUNT}
        if given not in made:
            made.append(given)
    return made


def _condition(source: Mapping[str, Any], name: str | None) -> str | None:
    """The condition without OwnsData, which always holds here."""
    if name is None or name == OWNS:
        return None
    given = source["Conditions"][name]
    if {"Condition": OWNS} not in given.get("Fn::And", []):
        return name
    (other,) = [one["Condition"] for one in given["Fn::And"] if one != {"Condition": OWNS}]
    return str(other)


def _own(value: Any) -> Any:
    """The same with every choice between own data and another stack's decided."""
    if isinstance(value, list):
        return [_own(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "Fn::If" in value and value["Fn::If"][0] == OWNS:
        return _own(value["Fn::If"][1])
    return {key: _own(one) for key, one in value.items()}


def _named(value: Any) -> Iterator[str]:
    """Names of resources and parameters that a part of a template refers to."""
    for one in walk(value):
        if not isinstance(one, dict) or len(one) != 1:
            continue
        ((function, given),) = one.items()
        if function == "Ref":
            yield given
        elif function == "Fn::GetAtt":
            yield given[0]
        elif function == "Fn::Sub":
            text = given[0] if isinstance(given, list) else given
            yield from (name.partition(".")[0] for name in re.findall(r"\$\{([^!}]+)\}", text))


def _conditions_in(value: Any) -> Iterator[str]:
    for one in walk(value):
        if isinstance(one, dict) and isinstance(one.get("Condition"), str):
            yield one["Condition"]
        if isinstance(one, dict) and "Fn::If" in one:
            yield one["Fn::If"][0]


@dataclass(frozen=True, slots=True)
class _Part:
    """Resources and outputs of a template, with those of its parameters, conditions and rules that they need."""

    source: Mapping[str, Any]
    resources: Mapping[str, Any]
    outputs: Mapping[str, Any] = field(default_factory=dict)

    def document(self, description: str) -> dict[str, Any]:
        parts = {
            "AWSTemplateFormatVersion": self.source["AWSTemplateFormatVersion"],
            "Description": description,
            "Metadata": self._metadata(),
            "Parameters": self._parameters(),
            "Rules": self._rules(),
            "Conditions": self._conditions(),
            "Resources": dict(self.resources),
            "Outputs": dict(self.outputs),
        }
        return {name: one for name, one in parts.items() if one}

    def _conditions(self) -> dict[str, Any]:
        wanted = set(_conditions_in([self.resources, self.outputs]))
        while more := set(_conditions_in([self.source["Conditions"][name] for name in wanted])) - wanted:
            wanted |= more
        return {name: one for name, one in self.source["Conditions"].items() if name in wanted}

    def _parameters(self) -> dict[str, Any]:
        wanted = set(_named([self.resources, self.outputs, self._conditions()]))
        return {name: one for name, one in self.source["Parameters"].items() if name in wanted}

    def _rules(self) -> dict[str, Any]:
        """Those that ask of nothing else."""
        return {
            name: one for name, one in self.source["Rules"].items() if set(_named(one)) <= self._parameters().keys()
        }

    def _metadata(self) -> dict[str, Any]:
        metadata = copy.deepcopy(dict(self.source["Metadata"]))
        groups = metadata["AWS::CloudFormation::Interface"]["ParameterGroups"]
        for one in groups:
            one["Parameters"] = [name for name in one["Parameters"] if name in self._parameters()]
        metadata["AWS::CloudFormation::Interface"]["ParameterGroups"] = [one for one in groups if one["Parameters"]]
        return metadata


def main(arguments: list[str]) -> int:
    """Prints the template of an import; the other is written by infra.tools.generate."""
    if arguments != ["--import"]:
        sys.stderr.write("python -m infra.tools.data_template --import\n")
        return 2
    sys.stdout.write(import_template_file())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
