"""What a turn, a search and a context cost on AWS: calls, waves of calls in sequence, capacity units.

Counted on the real adapters against DynamoDB Local and OpenSearch: calls and units through the SDK's own events and
the `ConsumedCapacity` of its answers, requests to OpenSearch at its client's transport. Every call is held up for the
same moment, so that calls made side by side overlap and calls in sequence do not: the longest chain of calls that do
not overlap is the number of waves.

DynamoDB Local reports less than AWS charges: it adds up the sizes of a transaction's items of one partition before it
rounds, leaves out the condition check, and counts nothing for a key or a query that finds nothing. Where it reports
less than AWS's published rules give for the same items, the rules count; both figures are kept.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import ceil
from typing import Any

from recollect.adapters.aws.item_format import item_bytes

HELD_SECONDS = 0.08
SEARCH_ENGINE = "OpenSearch"
OBJECTS = "S3"
TABLE = "table"
_USER_ITEMS = {
    "E#": "event",
    "D#": "dedupe record",
    "R#": "rejected value",
    "V#": "projection",
    "K#": "slot entry",
    "C#": "conversation",
}
_OTHER_ITEMS = {"P#": "pending marker", "I#": "idempotency record", "B#": "bus log"}


@dataclass(slots=True)
class Call:
    """One call of a service: when it was under way, what was reported of it, what follows from its items.

    `reported` has the units by table and index; `unfound` those of reads that found nothing.
    """

    name: str
    began: float
    ended: float = 0.0
    reported: dict[str, float] = field(default_factory=dict)
    written: tuple[Written, ...] = ()
    unfound: float = 0.0

    @property
    def units(self) -> float:
        """What AWS charges: its rule for the table where that is more than was reported, and the indexes."""
        by_rule = sum(one.units for one in self.written)
        indexes = sum(units for where, units in self.reported.items() if where != TABLE)
        return max(by_rule, self.reported.get(TABLE, 0.0)) + indexes + self.unfound

    @property
    def reads(self) -> bool:
        """Whether its units are read units; of an object's store, whether its price is that of a read."""
        return self.name.split()[-1] in ("BatchGetItem", "GetItem", "Query", "Scan", "GetObject", "HeadObject")


@dataclass(frozen=True, slots=True)
class Written:
    """An item that a call writes, or whose absence it checks, and the units that follow from its size."""

    kind: str
    bytes: int
    units: int


class Counter:
    """Listens to a DynamoDB client, and to OpenSearch's transport and to a client of S3 where there are any."""

    def __init__(self, dynamodb: Any, search: Any, objects: Any = None) -> None:
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        self._open: dict[int, tuple[Call, Mapping[str, Any]]] = {}
        self._params = threading.local()
        events = dynamodb.meta.events
        events.register("provide-client-params.dynamodb", self._see_params)
        events.register("before-call.dynamodb", self._begin)
        events.register("after-call.dynamodb", self._end)
        if search is not None:
            self._watch_search(search)
        if objects is not None:
            self._watch_objects(objects)

    def _see_params(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "INDEXES"
        self._params.written = tuple(_written(params))
        self._params.asked = params

    def _begin(self, model: Any, context: Mapping[str, Any], **_: Any) -> None:
        call = Call(f"DynamoDB {model.name}", time.perf_counter(), written=self._params.written)
        with self._lock:
            self._open[id(context)] = call, self._params.asked
        time.sleep(HELD_SECONDS)

    def _end(self, parsed: Mapping[str, Any], context: Mapping[str, Any], **_: Any) -> None:
        with self._lock:
            call, asked = self._open.pop(id(context))
            call.ended = time.perf_counter()
            _note_units(call, parsed)
            call.unfound = _unfound(call, asked, parsed)
            self.calls.append(call)

    def _watch_objects(self, objects: Any) -> None:
        def begin(model: Any, context: Mapping[str, Any], **_: Any) -> None:
            with self._lock:
                self._open[id(context)] = Call(f"{OBJECTS} {model.name}", time.perf_counter()), {}
            time.sleep(HELD_SECONDS)

        def end(context: Mapping[str, Any], **_: Any) -> None:
            with self._lock:
                call, _asked = self._open.pop(id(context))
                call.ended = time.perf_counter()
                self.calls.append(call)

        objects.meta.events.register("before-call.s3", begin)
        objects.meta.events.register("after-call.s3", end)

    def _watch_search(self, search: Any) -> None:
        transport = search.transport
        perform = transport.perform_request

        def watched(method: str, url: str, *args: Any, **kwargs: Any) -> Any:
            call = Call(f"{SEARCH_ENGINE} {url.rsplit('/', 1)[-1].removeprefix('_')}", time.perf_counter())
            time.sleep(HELD_SECONDS)
            try:
                return perform(method, url, *args, **kwargs)
            finally:
                call.ended = time.perf_counter()
                with self._lock:
                    self.calls.append(call)

        transport.perform_request = watched

    @contextmanager
    def counting(self) -> Iterator[list[Call]]:
        """The calls made inside; complete when it is left."""
        found: list[Call] = []
        self.calls = found
        yield found


def _written(params: Mapping[str, Any]) -> Iterator[Written]:
    """What a transaction, a batch or a single put writes; a transaction counts twice (AWS's rule)."""
    for operation in params.get("TransactItems", []):
        ((name, one),) = operation.items()
        yield _sized(one.get("Item") or one["Key"], 2, " (absence checked)" if name == "ConditionCheck" else "")
    for requests in params.get("RequestItems", {}).values():
        for request in requests if isinstance(requests, list) else []:
            ((name, one),) = request.items()
            yield _sized(one.get("Item") or one["Key"], 1, " (removed)" if name == "DeleteRequest" else "")
    if "Item" in params:
        yield _sized(params["Item"], 1, "")


def _sized(item: Mapping[str, Any], factor: int, done: str) -> Written:
    size = item_bytes(item)
    return Written(kind_of(item["pk"]["S"], item["sk"]["S"]) + done, size, factor * max(1, ceil(size / 1024)))


def kind_of(partition: str, sort_key: str) -> str:
    """What an item is, by its key (`adapters/aws/keys.py` has the table)."""
    if partition.startswith("U#"):
        return _USER_ITEMS.get(sort_key[:2], "other")
    return _OTHER_ITEMS.get(partition[:2], "other")


def _note_units(call: Call, parsed: Mapping[str, Any]) -> None:
    told = parsed.get("ConsumedCapacity") or []
    for one in told if isinstance(told, list) else [told]:
        _add(call.reported, TABLE, one.get("Table", {}).get("CapacityUnits", 0.0))
        for name, index in (one.get("GlobalSecondaryIndexes") or {}).items():
            _add(call.reported, f"index {name}", index["CapacityUnits"])


def _unfound(call: Call, asked: Mapping[str, Any], parsed: Mapping[str, Any]) -> float:
    """A consistent read of a key that is not there is one unit; a query that finds nothing one, or half of one."""
    if call.name.endswith("BatchGetItem"):
        keys = sum(len(one["Keys"]) for one in asked["RequestItems"].values())
        return float(keys - sum(len(items) for items in parsed["Responses"].values()))
    if call.name.endswith("Query") and not parsed["Count"]:
        return 1.0 if asked.get("ConsistentRead") else 0.5
    return 0.0


def _add(units: dict[str, float], where: str, count: float) -> None:
    if count:
        units[where] = units.get(where, 0.0) + count


def waves(calls: list[Call]) -> list[list[str]]:
    """The calls by wave: a call begins a new one where it began after all of an earlier one had ended."""
    found: list[list[str]] = []
    ends = 0.0
    for call in sorted(calls, key=lambda c: c.ended):
        if call.began >= ends:
            found.append([])
            ends = call.ended
        found[-1].append(call.name)
    return [sorted(names) for names in found]


def summary(calls: list[Call], turns: int = 1) -> dict[str, Any]:
    """Calls, waves and units of some work; units also for each turn of it."""
    by_call = [
        {
            "call": call.name,
            "units": call.units,
            "reported": call.reported,
            "unfound": call.unfound,
            "written": [asdict(one) for one in call.written],
        }
        for call in sorted(calls, key=lambda c: c.began)
    ]
    writes = [call for call in calls if not call.reads]
    return {
        "calls": by_call,
        "dynamodb_calls": sum(1 for call in calls if not call.name.startswith(SEARCH_ENGINE)),
        "opensearch_requests": sum(1 for call in calls if call.name.startswith(SEARCH_ENGINE)),
        "waves": waves(calls),
        "wcu": sum(call.units for call in writes) / turns,
        "rcu": sum(call.units for call in calls if call.reads) / turns,
        "reported_wcu": sum(sum(call.reported.values()) for call in writes) / turns,
        "reported_rcu": sum(sum(call.reported.values()) for call in calls if call.reads) / turns,
    }


def counted(counter: Counter, work: Callable[[], object], turns: int = 1) -> dict[str, Any]:
    """The summary of a piece of work."""
    with counter.counting() as calls:
        work()
    return summary(calls, turns)
