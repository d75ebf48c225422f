"""The stream delivering in order, out of order, twice, a day late, or never: the same is derived in the end."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from crashes.archiving import BEN
from crashes.evidence import city
from crashes.invariants import check
from crashes.picture import Picture, difference, picture_of
from crashes.remembering import weighty
from crashes.store import stored_in
from crashes.world import BEGIN, World, local_plan
from embedded.setting import ANNA
from recollect.adapters.aws import keys
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.entrypoints.projection_runs import project_records
from recollect.memories.memory import MemoryDraft
from recollect.timeline.record import EventDraft

BATCH = 4
# Which step told what, how often somebody looked, and in which words: that follows the order of delivery.
FOLLOWS_THE_ORDER = ("items.audit", "items.memories", "items.memory_versions", "bus")


@dataclass(slots=True)
class Stream:
    """The change records of the table, as they come: each names an event."""

    world: World
    records: list[dict[str, Any]] = field(default_factory=list)

    def changed(self, name: str, scope: Scope, ref: EventRef) -> None:
        place = keys.event_key(scope, ref).attributes
        number = str(1000 + len(self.records))
        self.records.append({"eventName": name, "dynamodb": {"Keys": place, "SequenceNumber": number}})

    def deliver(self, records: list[dict[str, Any]]) -> None:
        """To the projector, as Lambda does it; nothing may have to be sent again."""
        for start in range(0, len(records), BATCH):
            report = project_records(
                records[start : start + BATCH], self.world.app.projection.events.project, self.world.now
            )
            assert (report.retry, report.malformed) == ([], [])


def history(stream: Stream) -> Iterator[None]:
    """What two users say, change and delete; a step at a time, with its records."""
    world = stream.world
    for step, (scope, draft) in enumerate(_said()):
        (event_id,) = world.say(draft, scope=scope)
        stream.changed("INSERT", scope, EventRef(event_id, draft.timestamp or BEGIN))
        world.known[str(step)] = EventRef(event_id, draft.timestamp or BEGIN)
        yield
    for name in "035":
        world.forget(world.known[name].id)
        stream.changed("REMOVE", ANNA, world.known[name])
        yield
    saved = world.save(MemoryDraft(content="My dog is called Rex.", timestamp=BEGIN))
    stream.changed("INSERT", ANNA, saved.memory.ref)
    yield
    # Of the same attributes: an entry of words that were changed since stays, leads to nothing, and follows the order.
    world.patch(saved.memory.id, content="My dog is called Bruno.")
    stream.changed("MODIFY", ANNA, saved.memory.ref)
    yield


def _said() -> list[tuple[Scope, EventDraft]]:
    private = EventDraft(content="The pin is 1234.", is_private=True, timestamp=BEGIN)
    return [
        (ANNA, EventDraft(content="The cat sleeps.", timestamp=BEGIN)),
        (ANNA, weighty("I am allergic to nuts.", 1)),
        (ANNA, city("Rome", -9)),
        (ANNA, city("Oslo", -6)),
        (ANNA, city("Lyon", -3)),
        (ANNA, city("Kyiv", -1)),
        (ANNA, city("Ulm", -7)),
        (BEN, weighty("I play chess.", 2)),
        (BEN, private),
    ]


def in_order(stream: Stream, chance: random.Random) -> None:
    for _ in history(stream):
        stream.deliver(stream.records[-1:])


def out_of_order(stream: Stream, chance: random.Random) -> None:
    list(history(stream))
    stream.deliver(chance.sample(stream.records, len(stream.records)))


def twice(stream: Stream, chance: random.Random) -> None:
    """Each as it comes, then everything again, in any order."""
    in_order(stream, chance)
    stream.deliver(chance.sample(stream.records, len(stream.records)))
    stream.deliver(stream.records)


def late(stream: Stream, chance: random.Random) -> None:
    """A day later, when some were made good already by a reconciliation."""
    steps = history(stream)
    for _ in range(6):
        next(steps)
    stream.world.reconcile()
    list(steps)
    stream.world.now += timedelta(days=1)
    stream.deliver(stream.records)


def mixed(stream: Stream, chance: random.Random) -> None:
    """Any of them at any time, lost ones at the end."""
    waiting: list[dict[str, Any]] = []
    for _ in history(stream):
        waiting += [record for record in stream.records if record not in waiting][-1:]
        chance.shuffle(waiting)
        stream.deliver([waiting.pop() for _ in range(chance.randrange(len(waiting) + 1))])
    stream.deliver(stream.records)


def never(stream: Stream, chance: random.Random) -> None:
    list(history(stream))
    stream.world.reconcile()


Delivery = Callable[[Stream, random.Random], None]


Derived = tuple[Picture, list[tuple[str, str]], Counter[str]]


def derived(folder: Path, delivery: Delivery, seed: int = 0) -> Derived:
    """What is there in the end. The scheduled reconciliation does what no record of an event tells of: a memory's
    patch, the neighbour of a value that was removed.
    """
    world = World(local_plan(folder))
    stream = Stream(world)
    delivery(stream, random.Random(seed))
    world.reconcile()
    stored = stored_in(folder)
    world.close()
    check(stored)
    memories = sorted((row.value["content"], row.value["status"]) for row in stored.of("memories"))
    return picture_of(stored, FOLLOWS_THE_ORDER), memories, Counter(one.type for one in stored.bus)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> Derived:
    return derived(tmp_path_factory.mktemp("in-order"), in_order)


RANDOM = [(delivery, seed) for delivery in (out_of_order, twice, mixed) for seed in range(6)]


@pytest.mark.spec("P-25")
@pytest.mark.parametrize(("delivery", "seed"), [*RANDOM, (late, 0), (never, 0)])
def test_however_the_stream_delivers_the_same_is_derived(
    tmp_path: Path, wanted: Derived, delivery: Delivery, seed: int
) -> None:
    found, *told = derived(tmp_path, delivery, seed)
    assert difference(wanted[0], found) == {}
    assert told == list(wanted[1:])


def test_what_the_stream_told_needs_no_reconciliation(tmp_path: Path) -> None:
    world = World(local_plan(tmp_path))
    stream = Stream(world)
    for _ in islice(history(stream), len(_said())):
        stream.deliver(stream.records[-1:])
    stored = stored_in(tmp_path)
    check(stored)
    world.reconcile()
    world.close()
    assert difference(picture_of(stored), picture_of(stored_in(tmp_path))) == {}
