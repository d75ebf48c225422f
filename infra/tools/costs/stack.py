"""What template.yaml deploys, as far as it costs something: sizes, schedules, alarms, the domain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TEMPLATE = Path(__file__).resolve().parents[3] / "template.yaml"
OF_DOMAIN = frozenset({"HasDomain", "HasBurstableEngine"})
"""Conditions that a stack without a domain does not meet."""
OFF_BY_DEFAULT = frozenset({"HasAgentcore", "HasApiKeys"})
"""Conditions that no stack meets whose parameters are at their defaults."""
_HOURS = {"minute": 1 / 60, "minutes": 1 / 60, "hour": 1.0, "hours": 1.0, "day": 24.0, "days": 24.0}


class _Loader(yaml.SafeLoader):
    """Reads the tags of CloudFormation as the plain values behind them."""


def _untagged(loader: yaml.SafeLoader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


_Loader.add_multi_constructor("!", _untagged)


@cache
def template() -> dict[str, Any]:
    """The template, tags left out."""
    loaded: dict[str, Any] = yaml.load(TEMPLATE.read_text("utf-8"), _Loader)
    return loaded


def default_of(parameter: str) -> str:
    """A parameter's default."""
    return str(template()["Parameters"][parameter]["Default"])


def memory_mb(function: str) -> int:
    """The memory of a function, such as `project`; where a parameter gives it, by its default."""
    given = str(template()["Resources"][f"{function.capitalize()}Function"]["Properties"]["MemorySize"])
    return int(given if given.isdigit() else default_of(given))


@dataclass(frozen=True, slots=True)
class Schedule:
    """A scheduled run: the function, its task, how often a month."""

    function: str
    task: str
    runs_a_month: float


def schedules(month_hours: float) -> list[Schedule]:
    """Every scheduled run of the template."""
    found: list[Schedule] = []
    for name, one in template()["Resources"].items():
        for event in one.get("Properties", {}).get("Events", {}).values() if name.endswith("Function") else ():
            if event["Type"].startswith("Schedule"):
                asked = event["Properties"]
                task = re.search(r'"task": "(\w+)"', asked["Input"])
                assert task is not None
                runs = month_hours / _hours_between(asked["ScheduleExpression"])
                found.append(Schedule(name.removesuffix("Function").lower(), task[1], runs))
    return found


def _hours_between(expression: str) -> float:
    rate = re.fullmatch(r"rate\((\d+) (\w+)\)", expression)
    assert rate is not None, expression
    return int(rate[1]) * _HOURS[rate[2]]


def alarm_metrics(*, domain: bool) -> int:
    """Metrics that the alarms read; an alarm of several is billed for each. `domain`: those of the domain too."""
    alarms = [one for one in template()["Resources"].values() if one["Type"] == _ALARM]
    left_out = OFF_BY_DEFAULT if domain else OFF_BY_DEFAULT | OF_DOMAIN
    made = [one for one in alarms if one.get("Condition") not in left_out]
    return sum(_metrics_of(one["Properties"]) for one in made)


_ALARM = "AWS::CloudWatch::Alarm"


def _metrics_of(alarm: dict[str, Any]) -> int:
    return sum("MetricStat" in one for one in alarm["Metrics"] if isinstance(one, dict)) if "Metrics" in alarm else 1


def dashboards() -> int:
    """How many there are."""
    return sum(one["Type"] == "AWS::CloudWatch::Dashboard" for one in template()["Resources"].values())
