"""What was counted would cost on AWS: list prices of a day, and work that was counted before."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

_COSTS: Final = Path(__file__).with_name("costs.json")
_KINDS: Final = {"messages": "message", "searches": "search", "contexts": "context", "turns": "turn"}
"""What the API counts, and what has a price."""

MILLION: Final = 1_000_000


@cache
def prices() -> Mapping[str, Any]:
    """Dollars of a million of each kind of call and of a month idle, by search engine, with region and days.

    Made by `infra.tools.generate` from the dated prices of `infra/tools/costs`.
    """
    loaded: Mapping[str, Any] = json.loads(_COSTS.read_text("utf-8"))
    return loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """One kind of call: how many there were, and dollars of them all, by search engine."""

    kind: str
    count: int
    dollars: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What was asked for in a time, and of which language models."""

    name: str
    spent: list[Spent]
    models: list[Mapping[str, Any]]


def spans_of(usage: Mapping[str, Any]) -> list[Span]:
    """This month, and since the first day that has a count."""
    month = date.fromisoformat(f"{usage['month']}-01")
    spans = [_span(f"This month, {month:%B %Y}", usage["this_month"])]
    if "since" in usage:
        since = date.fromisoformat(usage["since"])
        spans.append(_span(f"Since the beginning, {since.day} {since:%B %Y}", usage["whole"]))
    return spans


def _span(name: str, used: Mapping[str, Any]) -> Span:
    million: Mapping[str, Mapping[str, float]] = prices()["million"]
    spent = [
        Spent(
            kind=kind,
            count=used[counted],
            dollars={engine: one[kind] * used[counted] / MILLION for engine, one in million.items()},
        )
        for counted, kind in _KINDS.items()
    ]
    return Span(name=name, spent=spent, models=used["models"])
