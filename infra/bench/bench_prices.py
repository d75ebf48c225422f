"""From calls and units to dollars: a formula with list prices as inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

CHECKED_ON = "2026-11-22"
TEMPLATE = Path(__file__).parents[2] / "template.yaml"
LAMBDA_GB_SECOND = {"x86_64": 0.0000166667, "arm64": 0.0000133334}
"""By architecture, in the first tier."""


def deployed_architecture() -> str:
    """What the template's functions run on unless a deployment says otherwise."""
    found = re.search(r"^  Architecture:\n(?:    .*\n)*?    Default: (\w+)$", TEMPLATE.read_text("utf-8"), re.MULTILINE)
    assert found is not None, "template.yaml names no default Architecture"
    return found[1]


def _lambda_gb_second() -> float:
    return LAMBDA_GB_SECOND[deployed_architecture()]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPrices:
    """US dollars, us-east-1, without free tier; as public pages quote AWS's price list (docs/benchmarks.md, *Cost*).

    Lambda's duration costs what it costs on the architecture that is deployed.
    """

    write_units_million: float = 0.625
    read_units_million: float = 0.125
    lambda_requests_million: float = 0.20
    lambda_gb_second: float = field(default_factory=_lambda_gb_second)
    http_api_requests_million: float = 1.00
    bus_events_million: float = 1.00


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What one unit of work takes of each."""

    write_units: float = 0.0
    read_units: float = 0.0
    lambda_requests: float = 0.0
    lambda_gb_seconds: float = 0.0
    http_api_requests: float = 0.0
    bus_events: float = 0.0

    def dollars_per_thousand(self, prices: ListPrices) -> dict[str, float]:
        """By service, and in all."""
        parts = {
            "DynamoDB writes": self.write_units * prices.write_units_million,
            "DynamoDB reads": self.read_units * prices.read_units_million,
            "Lambda requests": self.lambda_requests * prices.lambda_requests_million,
            "Lambda duration": self.lambda_gb_seconds * prices.lambda_gb_second * 1e6,
            "HTTP API": self.http_api_requests * prices.http_api_requests_million,
            "EventBridge": self.bus_events * prices.bus_events_million,
        }
        thousand = {name: dollars / 1000 for name, dollars in parts.items()}
        return thousand | {"in all": sum(thousand.values())}


def priced(shapes: Mapping[str, Shape], prices: ListPrices) -> dict[str, Any]:
    """Inputs and dollars per thousand by kind of work."""
    return {
        "checked_on": CHECKED_ON,
        "architecture": deployed_architecture(),
        "prices": asdict(prices),
        "work": {
            name: {"takes": asdict(shape), "dollars_per_thousand": shape.dollars_per_thousand(prices)}
            for name, shape in shapes.items()
        },
    }
