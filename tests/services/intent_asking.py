"""Asks a service by intent at a fixed instant, and what tests read of the answers."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.core.time import iso
from services.serving import USER, Service, good

NOON = datetime(2024, 5, 15, 12, tzinfo=UTC)
"""A Wednesday. Everything is asked as of then, so that scores and ranges are known to the last digit."""
BP = "What was my blood pressure?"


def draft(content: str, days: float = 0, **more: Any) -> dict[str, Any]:
    """An event of so many days before noon."""
    return {"content": content, "timestamp": iso(NOON - timedelta(days=days)), **more}


def told(service: Service, *drafts: Mapping[str, Any], user: str = USER) -> list[str]:
    """Their ids, in order."""
    ids: list[str] = []
    for start in range(0, len(drafts), 100):
        ids += [str(one["event_id"]) for one in service.told(*drafts[start : start + 100], user=user)]
    return ids


def asked(service: Service, query: str, **more: Any) -> dict[str, Any]:
    return service.search(**{"query": query, "mode": "intent", "as_of": iso(NOON), **more})


def found(service: Service, query: str, **more: Any) -> list[str]:
    return contents(asked(service, query, **more))


def contents(answer: Mapping[str, Any]) -> list[str]:
    return [str(one["content"]) for one in answer["results"]]


def keyword_shares(answer: Mapping[str, Any]) -> dict[str, float]:
    """The share of the query's keywords that each result holds, by its content."""
    return {str(one["content"]): float(one["scores"]["keyword_match"]) for one in answer["results"]}


def analysed(service: Service, text: str, **more: Any) -> dict[str, Any]:
    return dict(good(service.caller.post("/v1/analyze", {"text": text, **more})))


def the_line(lines: list[dict[str, Any]], event: str) -> dict[str, Any]:
    (line,) = [one for one in lines if one["event"] == event]
    return line
