"""The bridge's gate: which events become memories now, and which wait for a reconciliation (A-60, A-67, P-10)."""

from collections.abc import Sequence
from datetime import datetime

from recollect.domain.audit import Action, Actor, ActorKind, AuditEntry, audit_write
from recollect.domain.bridge import (
    STATE_KEY,
    BridgeState,
    Deferral,
    Routing,
    deferral_write,
    deferred_key,
    needs_state,
    route,
    state_document,
    state_in,
)
from recollect.domain.errors import Conflict, VersionMismatch
from recollect.domain.event import Event
from recollect.domain.ids import IdSource
from recollect.domain.items import ABSENT, MOST_WRITES, Item, ItemWrite, of_tenant
from recollect.domain.recognition import recognised
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.ports import Items

VIA = "bridge"
SUSPENDED = "suspended"
_PROJECT = Actor(ActorKind.JOB, "project")
_TRIES = 8
_DEFERRALS_AT_ONCE = MOST_WRITES - 1  # one more write is their entry in the ledger


class BridgeGate:
    """Routes events of one user by the tenant's policies and by the state that its bridge is in.

    It writes two things: a deferral with its entry in the ledger (outcome `deferred`) for each event that waits, and
    the end of a suspension where an event of them came in time (its lag is at most `healthy_lag_ms`). Called again
    with the same events it defers none twice.

    Give it every fresh event that may become a memory (not private, not expired, no memory yet), those that the
    policies refuse too: they can end a suspension. What is in neither list of the answer is not promoted.
    """

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids

    def __call__(self, scope: Scope, events: Sequence[Event], rules: Rules, now: datetime) -> Routing:
        """The routing; a deferral is durable on return. Raises what the items raise, and Conflict."""
        if not needs_state(events, rules.bridge):
            return route(events, rules.bridge, suspended=False, always=_recognised(events, rules))
        for _ in range(_TRIES):
            try:
                return self._route(scope, events, rules, now)
            except VersionMismatch:
                continue
        raise Conflict("the bridge's state changes all the time")

    def _route(self, scope: Scope, events: Sequence[Event], rules: Rules, now: datetime) -> Routing:
        item = self._items.get(of_tenant(scope.tenant), [STATE_KEY]).get(STATE_KEY)
        suspended = item is not None and state_in(item.value).suspended
        routing = route(events, rules.bridge, suspended=suspended, always=_recognised(events, rules))
        self._defer(scope, routing.deferred, now)
        if routing.recovered and item is not None:
            self._resume(scope.tenant, item, now)
        return routing

    def _defer(self, scope: Scope, events: Sequence[Event], now: datetime) -> None:
        for start in range(0, len(events), _DEFERRALS_AT_ONCE):
            self._defer_new(scope, events[start : start + _DEFERRALS_AT_ONCE], now)

    def _defer_new(self, scope: Scope, events: Sequence[Event], now: datetime) -> None:
        there = self._items.get(scope.user, [deferred_key(event.id) for event in events])
        new = [event for event in events if deferred_key(event.id) not in there]
        if not new:
            return
        writes = [deferral_write(Deferral(event.ref, now), ABSENT) for event in new]
        entry = self._entry([event.id for event in new], now)
        self._items.write(scope.user, [*writes, audit_write(entry)], now)

    def _entry(self, event_ids: Sequence[str], now: datetime) -> AuditEntry:
        return AuditEntry(
            id=self._ids.fresh(),
            at=now,
            actor=_PROJECT,
            action=Action.REFUSE,
            target_ids=tuple(event_ids),
            via=VIA,
            reason=SUSPENDED,
            event_ids=tuple(event_ids),
            outcome="deferred",
        )

    def _resume(self, tenant: str, item: Item, now: datetime) -> None:
        healthy = BridgeState(suspended=False, source="saved event", since=now)
        self._items.write(of_tenant(tenant), [ItemWrite(STATE_KEY, state_document(healthy), item.version)], now)


def _recognised(events: Sequence[Event], rules: Rules) -> set[str]:
    """Those in which a cue rule recognises the value of an attribute or its end: memories, whatever the policies."""
    return {event.id for event in events if recognised(event, rules)}
