"""What a turn of 1 KB costs in DynamoDB, from its ingest to its projection: 16 write units at most.

Two counts. *rule*: AWS's published rule for transactions, two units for each started KB of each operation (the check
too), from the sizes of what is sent; for other calls what the SDK reports. *reported*: the SDK's report throughout.
DynamoDB Local reports transactions otherwise than AWS: four units a KB, and operations of equal cost only once.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from recollect.adapters.aws.clients import listen
from recollect.adapters.aws.item_format import item_bytes
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.publisher import AwsPublisher, BusLog
from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.timeline import DynamoDBTimeline
from recollect.contracts.examples import NOW, a_random_vector, a_seed, a_write, an_event
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.bus import episodic_saved
from recollect.timeline.timeline import Projection, WindowQuery

pytestmark = pytest.mark.engines

DIMENSION = 384
GENERATION = "multilingual-e5-small.int8.1"
SAID = (
    "I went to the lake with Caroline last Saturday and we talked about her new job at the museum for hours. She said "
    "the curator wants her to plan an exhibition on textiles, and that she may travel to Lisbon in October if the loan "
    "of two tapestries comes through. Afterwards we cooked at my place: a risotto with saffron, which burned a little, "
    "and a salad of oranges and fennel. My brother Daniel called twice; his daughter starts school in Lyon in autumn "
    "and he asked whether we still have the blue desk in the attic. I promised to look, and to measure the stairs. It "
    "rained when she left, so I lent her the green umbrella that belongs to the office. Remind me to ask for it back "
    "before the trip on the 14th, and to book the dentist: the last appointment was cancelled because Dr. Okafor moved "
    "to the clinic behind the station. One more thing, the landlord wrote that the heating will be off on Tuesday from "
    "nine to noon; somebody should be at home to let the plumber in. Perhaps you can write him a short, polite answer?"
)
TALK = (SAID * 2)[:1024]


@dataclass
class Bill:
    """What calls cost: by step, and by table or index."""

    step: str = ""
    reported: dict[tuple[str, str], float] = field(default_factory=dict)
    rule: dict[str, float] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    def hear(self, operation: str, answer: Mapping[str, Any]) -> None:
        self.calls[self.step] = self.calls.get(self.step, 0) + 1
        capacities = answer.get("ConsumedCapacity", [])
        for capacity in capacities if isinstance(capacities, list) else [capacities]:
            self._add("table", capacity.get("Table", {}), operation)
            for name, part in capacity.get("GlobalSecondaryIndexes", {}).items():
                self._add(name, part, operation)

    def see_transaction(self, params: dict[str, Any], **_: Any) -> None:
        for operation in params["TransactItems"]:
            (body,) = operation.values()
            item = body.get("Item", body.get("Key"))
            self.rule[self.step] = self.rule.get(self.step, 0) + 2 * math.ceil(item_bytes(item) / 1024)

    def _add(self, part: str, capacity: Mapping[str, float], operation: str) -> None:
        units = capacity.get("CapacityUnits", 0.0)
        self.reported[self.step, part] = self.reported.get((self.step, part), 0) + units
        if operation != "TransactWriteItems":
            self.rule[self.step] = self.rule.get(self.step, 0) + units

    def reported_of(self, step: str) -> float:
        return sum(units for (one, _), units in self.reported.items() if one == step)


@pytest.fixture
def bill(local_access: ItemAccess) -> Iterator[Bill]:
    bill = Bill()
    events = local_access.client.meta.events  # type: ignore[attr-defined]
    listen(local_access.client, lambda operation, answer: bill.hear(operation, answer))
    events.register("provide-client-params.dynamodb.TransactWriteItems", bill.see_transaction)
    yield bill
    events.unregister("provide-client-params.dynamodb.TransactWriteItems", bill.see_transaction)


WRITES = ("append", "save", "enter_conversation", "settle", "publish")


def project(access: ItemAccess, bill: Bill, scope: Scope, event: Event) -> None:
    timeline, projections = DynamoDBTimeline(access), DynamoDBProjections(access)
    bill.step = "append"
    timeline.append(scope, [a_write(scope, event)])
    bill.step = "read"
    timeline.read(scope, [event.ref])
    bill.step = "save"
    projections.save(scope, [Projection(event.ref, a_random_vector(1, DIMENSION), GENERATION)])
    bill.step = "enter_conversation"
    projections.enter_conversation(scope, event.conversation_id, event.recorded_at)
    bill.step = "settle"
    projections.settle(scope, [event.ref])
    bill.step = "publish"
    AwsPublisher(BusLog(access)).publish(scope.tenant, [episodic_saved(event, NOW)])


@pytest.fixture(params=["plain", "uuids"])
def scope(request: pytest.FixtureRequest) -> Scope:
    """Ids of the usual length, and the longest of the usual ones."""
    if request.param == "plain":
        return Scope("acme", f"user-{a_seed().nth(0)[:13]}")
    return Scope(a_seed().nth(0), a_seed().nth(0))


def a_turn(scope: Scope, **changes: Any) -> Event:
    return an_event(scope, content=TALK, conversation_id=a_seed().nth(0), tags=("question", "personal"), **changes)


@pytest.mark.parametrize(("importance", "most"), [(0.4, 11), (0.8, 12)])
def test_a_turn_of_one_kilobyte_costs_few_write_units(
    local_access: ItemAccess, bill: Bill, scope: Scope, importance: float, most: int
) -> None:
    assert len(TALK) == 1024
    project(local_access, bill, scope, a_turn(scope, importance=importance))
    rule = {step: bill.rule.get(step, 0) for step in WRITES}
    rule["save"] -= 1  # its read of the event
    rule["enter_conversation"] -= 1  # its read
    assert rule["append"] == 6
    assert sum(rule.values()) <= most
    assert sum(bill.reported_of(step) for step in WRITES) <= 16


def test_a_later_turn_of_a_conversation_does_not_write_it_again(local_access: ItemAccess, bill: Bill) -> None:
    scope = Scope("acme", a_seed().nth(0))
    first = a_turn(scope)
    project(local_access, bill, scope, first)
    bill.reported.clear()
    bill.rule.clear()
    project(local_access, bill, scope, replace(first, id=a_seed().nth(0), content=TALK[:-1] + "!"))
    assert bill.rule["enter_conversation"] == 1  # a read
    assert sum(bill.rule[step] for step in WRITES) == 12  # two of them reads


def test_what_reads_cost(local_access: ItemAccess, bill: Bill) -> None:
    scope = Scope("acme", a_seed().nth(0))
    timeline = DynamoDBTimeline(local_access)
    events = [a_turn(scope, timestamp=NOW.replace(microsecond=n)) for n in range(60)]
    writes = [a_write(scope, replace(event, content=f"{n} {TALK}"[:1024])) for n, event in enumerate(events)]
    timeline.append(scope, writes)
    bill.reported.clear()
    query = WindowQuery(now=NOW, window=TimeWindow(), limit=50)
    steps: dict[str, Callable[[], object]] = {
        "tail of 60": lambda: timeline.tail(scope),
        "newest 100": lambda: timeline.newest(scope, 100),
        "read 30": lambda: timeline.read(scope, [event.ref for event in events[:30]]),
        "find": lambda: timeline.find(scope, events[0].id),
        "window of 50": lambda: timeline.window(scope, query),
        "important 5": lambda: timeline.important(scope, 5),
        "of_conversation 10": lambda: timeline.of_conversation(scope, events[0].conversation_id, 10),
        "pending 100": lambda: DynamoDBProjections(local_access).pending(100, None),
    }
    for name, call in steps.items():
        bill.step = name
        call()
    assert bill.calls["read 30"] == bill.calls["tail of 60"] == bill.calls["newest 100"] == 1
    assert bill.rule["read 30"] == 30
    assert bill.rule["newest 100"] <= 20
    assert bill.rule["tail of 60"] <= 4
