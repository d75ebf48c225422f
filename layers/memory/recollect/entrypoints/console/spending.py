"""What the counted calls of this process would cost on AWS: list prices of a day, and work that was counted before."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

from recollect.entrypoints.http.dispatch import RequestLog
from recollect.entrypoints.http.headers import REPLAYED
from recollect.entrypoints.http.messages import Call, Reply
from recollect.entrypoints.http.routing import Route
from recollect.settings import Principal

_COSTS: Final = Path(__file__).with_name("costs.json")
_KINDS: Final = {
    "addEvents": "message",
    "saveMemory": "message",
    "search": "search",
    "buildContext": "context",
    "takeTurn": "turn",
}
MILLION: Final = 1_000_000


@cache
def prices() -> Mapping[str, Any]:
    """Dollars of a million of each kind of call and of a month idle, by search engine, with region and days.

    Made by `infra.tools.generate` from the dated prices of `infra/tools/costs`.
    """
    loaded: Mapping[str, Any] = json.loads(_COSTS.read_text("utf-8"))
    return loaded


class CountedRequests:
    """A log that counts, by tenant, the calls that cost something on AWS; kept until the process ends."""

    def __init__(self, log: RequestLog) -> None:
        self._log = log
        self._lock = Lock()
        self._counts: dict[str, Counter[str]] = {}

    def request(
        self,
        call: Call,
        route: Route | None,
        principal: Principal | None,
        reply: Reply,
        seconds: float,
        error: Exception | None,
    ) -> None:
        """The line of one request. What is replayed, or refused, is not counted."""
        self._log.request(call, route, principal, reply, seconds, error)
        kind = _KINDS.get(route.operation) if route is not None else None
        if kind is None or principal is None or reply.status >= 400 or REPLAYED.items() <= dict(reply.headers).items():
            return
        count = int(reply.log.get("created", 0)) if kind == "message" else 1
        with self._lock:
            self._counts.setdefault(principal.tenant, Counter())[kind] += count

    def of(self, tenant: str) -> Mapping[str, int]:
        """How many of each kind a tenant had, since the process began."""
        with self._lock:
            return dict(self._counts.get(tenant, {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """One kind of call: how many there were, None where nobody counts; dollars of a thousand, and of them all."""

    kind: str
    count: int | None
    thousand: Mapping[str, float]
    dollars: Mapping[str, float]


def spent(counts: Mapping[str, int] | None) -> list[Spent]:
    """Each kind of call by engine, as it would be on AWS."""
    million: Mapping[str, Mapping[str, float]] = prices()["million"]
    return [
        Spent(
            kind=kind,
            count=None if counts is None else counts.get(kind, 0),
            thousand={name: one[kind] / 1000 for name, one in million.items()},
            dollars={name: one[kind] * (counts or {}).get(kind, 0) / MILLION for name, one in million.items()},
        )
        for kind in dict.fromkeys(_KINDS.values())
    ]
