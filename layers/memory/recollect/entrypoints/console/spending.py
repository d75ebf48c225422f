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
_MONTH_DAYS: Final = 365 / 12


@cache
def prices() -> Mapping[str, Any]:
    """Dollars of a million of each kind of call and of a month idle, by search engine, with region and days.

    Made by `infra.tools.generate` from the dated prices of `infra/tools/costs`.
    """
    loaded: Mapping[str, Any] = json.loads(_COSTS.read_text("utf-8"))
    return loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """One kind of call, or `idle`: how many calls or days there were, and dollars of them all, by search engine."""

    kind: str
    count: int
    dollars: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What was asked for in a time and what the stack costs by being there, by engine; and of which language models."""

    name: str
    spent: list[Spent]
    models: list[Mapping[str, Any]]

    def total(self, engine: str) -> float:
        """Dollars in all."""
        return sum(one.dollars[engine] for one in self.spent)


def spans_of(usage: Mapping[str, Any], today: date) -> list[Span]:
    """This month, and since the first day that has a count where that is longer; of a stack its own engine alone."""
    month, counted = date.fromisoformat(f"{usage['month']}-01"), usage.get("since")
    since = date.fromisoformat(counted) if counted else today
    engines = [usage["search_engine"]] if "search_engine" in usage else list(prices()["idle_month"])
    first = f", counted since {since.day} {since:%B}" if since > month and counted else ""
    spans = [_span(f"This month, {month:%B %Y}{first}", usage["this_month"], engines, max(month, since), today)]
    if since < month:
        name = f"Since the beginning, {since.day} {since:%B %Y}"
        spans.append(_span(name, usage["whole"], engines, since, today))
    return spans


def _span(name: str, used: Mapping[str, Any], engines: list[str], since: date, today: date) -> Span:
    million, days = prices()["million"], max(1, (today - since).days + 1)
    spent = [
        Spent(
            kind=kind, count=used[kind], dollars={one: million[one][priced] * used[kind] / MILLION for one in engines}
        )
        for kind, priced in _KINDS.items()
    ]
    idle = {one: prices()["idle_month"][one] * days / _MONTH_DAYS for one in engines}
    return Span(name=name, spent=[*spent, Spent(kind="idle", count=days, dollars=idle)], models=used["models"])
