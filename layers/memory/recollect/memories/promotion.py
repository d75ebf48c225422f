"""The bridge from episodic to semantic memory: the rules by which events become memories, or wait (P-10).

After a warning a tenant's bridge promotes only keyed events, until a healthy
signal, or an event that arrives in time. The next reconciliation promotes what was deferred meanwhile.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.core.event import Event, EventRef
from recollect.core.items import Due, ItemKey, ItemPath, ItemWrite
from recollect.core.time import from_iso, iso
from recollect.rules.groups import BridgeRules
from recollect.text.sentences import only_asks

STATE_KEY = ItemKey(ItemPath("bridge"), "state")
DEFERRED = ItemPath("deferred")
QUEUE = "deferred"


@dataclass(frozen=True, slots=True)
class BridgeState:
    """Whether a tenant's automatic promotion is suspended, since when, and by whom (A-67)."""

    suspended: bool = False
    source: str | None = None
    severity: str | None = None
    reason: str | None = None
    since: datetime | None = None


@dataclass(slots=True)
class Routing:
    """Which events become memories now, and which at the next reconciliation; the others become none.

    `recovered`: one of them arrived in time, which ends a suspension.
    """

    promote: list[Event] = field(default_factory=list)
    deferred: list[Event] = field(default_factory=list)
    recovered: bool = False


@dataclass(frozen=True, slots=True)
class Deferral:
    """An event that waits for reconciliation. `failure` is the class of the last try's error."""

    ref: EventRef
    since: datetime
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class KeptChoice:
    """What became of chosen messages: how many are in memories made or enlarged now, and how many wait for the bridge.

    `left` are the others: remembered before, or by now deleted, rejected, or not to be remembered.
    """

    remembered: int = 0
    waiting: int = 0
    left: int = 0

    def __add__(self, other: "KeptChoice") -> "KeptChoice":
        remembered, waiting = self.remembered + other.remembered, self.waiting + other.waiting
        return KeptChoice(remembered, waiting, self.left + other.left)


def lag_ms(event: Event) -> int:
    """How long after its time an event was saved, in ms, at least 0 (A-61, A-67).

    Its arrival counts, not its projection, so that a replay routes as the first run did.
    """
    return max(0, (event.recorded_at - event.timestamp) // timedelta(milliseconds=1))


def passes(event: Event, rules: BridgeRules) -> bool:
    """Whether an event may become a memory by itself (A-60, P-10).

    A keyed event always may (P-19). A question states nothing to remember.
    """
    if event.key is not None:
        return True
    if only_asks(event.content):
        return False
    return rules.enabled and event.importance >= rules.min_importance and event.event_type in rules.event_types


def may_be_chosen(event: Event, rules: BridgeRules) -> bool:
    """Whether somebody may choose it to become a memory, whatever its importance: a person's own statement.

    The other rules are those of `passes`. A keyed event is a memory anyway.
    """
    stated = event.is_own_words and event.key is None and not only_asks(event.content)
    return stated and rules.enabled and event.event_type in rules.event_types


def route(
    events: Iterable[Event], rules: BridgeRules, *, suspended: bool, passing: Collection[str] = frozenset()
) -> Routing:
    """Routes events in the order of their arrival; `passing` are the ids of those that state nothing lasting.

    One that arrived in time ends a suspension for itself and those after it.
    """
    routing = Routing()
    for event in sorted(events, key=lambda one: one.id):
        if suspended and lag_ms(event) <= rules.healthy_lag_ms:
            suspended, routing.recovered = False, True
        if passes(event, rules) and event.id not in passing:
            waits = suspended and event.key is None
            (routing.deferred if waits else routing.promote).append(event)
    return routing


def needs_state(events: Iterable[Event], rules: BridgeRules) -> bool:
    """Whether the bridge's state affects one of the events, or one of them may change it."""
    return any(
        lag_ms(event) <= rules.healthy_lag_ms or (event.key is None and passes(event, rules)) for event in events
    )


def state_document(state: BridgeState) -> dict[str, Any]:
    """The stored form, without None values."""
    values = asdict(state) | {"since": iso(state.since) if state.since else None}
    return {name: value for name, value in values.items() if value is not None}


def state_in(document: Mapping[str, Any]) -> BridgeState:
    """Reads the stored form."""
    since = document.get("since")
    return BridgeState(
        suspended=bool(document["suspended"]),
        source=document.get("source"),
        severity=document.get("severity"),
        reason=document.get("reason"),
        since=from_iso(since) if since else None,
    )


def deferred_key(event_id: str) -> ItemKey:
    return ItemKey(DEFERRED, event_id)


def deferral_write(deferral: Deferral, expected: int) -> ItemWrite:
    """The write that stores a deferral; due at once, so that every reconciliation finds it."""
    value = {"timestamp": iso(deferral.ref.timestamp), "since": iso(deferral.since)}
    if deferral.failure is not None:
        value["failure"] = deferral.failure
    return ItemWrite(deferred_key(deferral.ref.id), value, expected, Due(QUEUE, datetime.fromtimestamp(0, UTC)))


def deferral_in(key: ItemKey, document: Mapping[str, Any]) -> Deferral:
    """Reads what `deferral_write` wrote."""
    ref = EventRef(key.key, from_iso(document["timestamp"]))
    return Deferral(ref, from_iso(document["since"]), document.get("failure"))
