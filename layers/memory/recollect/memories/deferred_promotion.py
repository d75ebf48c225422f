"""The bridge's part of a reconciliation: publishes the outbox and promotes deferred events (A-66 to A-68, P-10).

A warning signal suspends a tenant's automatic promotion, a healthy signal ends that. Only automatic promotion waits;
a memory that somebody saves directly is never deferred (A-68).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from math import inf
from typing import Protocol, TypeAlias

from recollect.core.errors import Unavailable, UpstreamFailed, VersionMismatch
from recollect.core.event import Event
from recollect.core.ids import IdSource
from recollect.core.items import MOST_WRITES, DueItem, Item, ItemKey, ItemWrite, of_tenant, pages
from recollect.core.scope import Scope
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_write
from recollect.memories.promotion import (
    QUEUE,
    STATE_KEY,
    BridgeState,
    Deferral,
    deferral_in,
    deferral_write,
    state_document,
    state_in,
)
from recollect.memories.reading import StoredMemory
from recollect.ports import Items, Publisher, Timeline
from recollect.timeline.bus import BusEvent, BusOutbox, OutboxRun, episodic_warning, outbox_write, semantic_saved

VIA = "reconcile"
RESERVE_SECONDS = 10.0
_RECONCILE = Actor(ActorKind.JOB, VIA)
_PAGE = MOST_WRITES - 2  # events of one owner leave the queue together, with two entries of the ledger
DEFAULT_SEVERITY = "medium"
RECONCILED = "reconciled"


class Promoted(Protocol):
    """What a promotion returns: the memory that each event is in now, by the event's id."""

    @property
    def memories(self) -> Mapping[str, StoredMemory]: ...


class Promote(Protocol):
    """Makes events memories, whatever the gate decides; idempotent."""

    def __call__(self, scope: Scope, events: Sequence[Event], now: datetime, via: str) -> Promoted: ...


@dataclass(slots=True)
class DeferredRun:
    """What a run did with deferred events: promoted them, found them deleted, left them, or failed (by class of error).

    `complete`: the run has read the whole queue.
    """

    promoted: int = 0
    gone: int = 0
    suspended: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    complete: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """For a log line and metrics."""
        failed = self.failed.total()
        return {"promoted": self.promoted, "gone": self.gone, "suspended": self.suspended, "failed": failed}


_Waiting: TypeAlias = Mapping[str, tuple[Item, Deferral]]
"""Deferred events with their items, by the events' ids."""


class PromoteDeferred:
    """Pages through the queue of deferred events, of every tenant or of one; a failing user stops nobody else.

    An event leaves the queue atomically with its entry in the ledger, once its memory is durable and published; so the
    next run completes an interrupted one. Deleted and expired events leave it too.
    """

    def __init__(self, items: Items, timeline: Timeline, publisher: Publisher, promote: Promote, ids: IdSource) -> None:
        self._items = items
        self._timeline = timeline
        self._publisher = publisher
        self._promote = promote
        self._ids = ids

    def promote(
        self, now: datetime, tenant: str | None = None, remaining_seconds: Callable[[], float] = lambda: inf
    ) -> DeferredRun:
        """Begins nothing in the last 10 s. Raises as `Items.due` does, and counts other failures."""
        run, suspended = DeferredRun(), dict[str, bool]()
        for page in pages(lambda after: self._items.due(QUEUE, now, _PAGE, after)):
            for owner, keys in _by_owner(one for one in page.items if tenant in (None, one.owner.tenant)):
                if remaining_seconds() < RESERVE_SECONDS:
                    return run
                self._attempt(owner, keys, now, run, suspended)
            run.complete = page.more is None
        return run

    def _attempt(
        self, owner: Scope, keys: Sequence[ItemKey], now: datetime, run: DeferredRun, suspended: dict[str, bool]
    ) -> None:
        try:
            if owner.tenant not in suspended:
                suspended[owner.tenant] = self._suspended(owner.tenant)
            if suspended[owner.tenant]:
                run.suspended += len(keys)
                return
            items = self._items.get(owner, keys)
            self._promote_user(owner, items, now, run)
        except Exception as error:  # noqa: BLE001 - one user's failure must not stop the other users
            run.failed[type(error).__name__] += len(keys)

    def _suspended(self, tenant: str) -> bool:
        item = self._items.get(of_tenant(tenant), [STATE_KEY]).get(STATE_KEY)
        return item is not None and state_in(item.value).suspended

    def _promote_user(self, owner: Scope, items: Mapping[ItemKey, Item], now: datetime, run: DeferredRun) -> None:
        waiting = {key.key: (item, deferral_in(key, item.value)) for key, item in items.items()}
        refs = [deferral.ref for _, deferral in waiting.values()]
        events = self._timeline.read(owner, refs) if refs else {}
        there = [event for event in events.values() if not event.expired(now) and event.is_searchable]
        left = {event.id for event in there}
        self._dequeue(owner, {i: item for i, (item, _) in waiting.items() if i not in left}, {}, now, run)
        self._promote_all(owner, sorted(there, key=lambda one: one.id), waiting, now, run)

    def _promote_all(
        self, owner: Scope, events: Sequence[Event], waiting: _Waiting, now: datetime, run: DeferredRun
    ) -> None:
        """Tries events that fail together one by one, so that one of them does not hold up the others."""
        if not events:
            return
        try:
            memories = self._promoted(owner, events, now)
        except Exception as error:  # noqa: BLE001 - as above, for one event
            if len(events) > 1 and not isinstance(error, Unavailable):
                for event in events:
                    self._promote_all(owner, [event], waiting, now, run)
                return
            run.failed[type(error).__name__] += len(events)
            self._record_failure(owner, [waiting[event.id] for event in events], type(error).__name__, now)
        else:
            self._dequeue(owner, {event.id: waiting[event.id][0] for event in events}, memories, now, run)

    def _promoted(self, owner: Scope, events: Sequence[Event], now: datetime) -> dict[str, str]:
        """The memory's id by each event's id; durable, and published where it was made from the event."""
        memories = self._promote(owner, events, now, VIA).memories
        made = [memories[e.id].memory for e in events if e.id in memories and memories[e.id].memory.id == e.id]
        if made and self._publisher.publish(owner.tenant, [semantic_saved(memory, now) for memory in made]):
            raise UpstreamFailed("the bus did not take what was promoted")
        return {event_id: stored.memory.id for event_id, stored in memories.items()}

    def _dequeue(
        self, owner: Scope, items: Mapping[str, Item], memories: Mapping[str, str], now: datetime, run: DeferredRun
    ) -> None:
        if not items:
            return
        removals = [ItemWrite(item.key, None, item.version) for item in items.values()]
        outcome, reason = (RECONCILED, None) if memories else ("refused", "gone")
        targets = tuple(dict.fromkeys(memories.get(event_id, event_id) for event_id in items))
        entry = self._entry(outcome, tuple(items), targets, reason, now)
        self._items.write(owner, [*removals, audit_write(entry)], now)
        run.promoted += len(items) if memories else 0
        run.gone += 0 if memories else len(items)

    def _record_failure(
        self, owner: Scope, waiting: Sequence[tuple[Item, Deferral]], failure: str, now: datetime
    ) -> None:
        """Writes one entry of the ledger for each kind of failure in a row; the events stay in the queue."""
        new = [(item, deferral) for item, deferral in waiting if deferral.failure != failure]
        if not new:
            return
        ids = tuple(deferral.ref.id for _, deferral in new)
        writes = [deferral_write(replace(deferral, failure=failure), item.version) for item, deferral in new]
        entry = self._entry("failed", ids, ids, failure, now)
        with suppress(VersionMismatch):
            self._items.write(owner, [*writes, audit_write(entry)], now)

    def _entry(
        self, outcome: str, event_ids: tuple[str, ...], targets: tuple[str, ...], reason: str | None, now: datetime
    ) -> AuditEntry:
        return AuditEntry(
            id=self._ids.fresh(),
            at=now,
            actor=_RECONCILE,
            action=Action.RESTORE if outcome == RECONCILED else Action.REFUSE,
            target_ids=targets,
            via=VIA,
            reason=reason,
            event_ids=event_ids,
            outcome=outcome,
        )


def _by_owner(found: Iterable[DueItem]) -> list[tuple[Scope, list[ItemKey]]]:
    ordered = sorted(found, key=lambda one: (one.owner.tenant, one.owner.user_id))
    return [(owner, [one.key for one in ones]) for owner, ones in groupby(ordered, key=lambda one: one.owner)]


class SignalType(StrEnum):
    """The state of the episodic store."""

    WARNING = "warning"
    HEALTHY = "healthy"


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal: its sender, its severity and its reason. `id` is the published id of a warning."""

    id: str
    type: SignalType
    source: str
    severity: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SignalOutcome:
    """The state afterwards; the published id of a warning, and whether the bus accepted it at once."""

    suspended: bool
    event_id: str | None = None
    forwarded: bool = False


class SignalBridge:
    """Behind `POST /v1/signals`, and for our own parts that must warn of the episodic store."""

    def __init__(self, items: Items, outbox: BusOutbox) -> None:
        self._items = items
        self._outbox = outbox

    def receive(self, tenant: str, signal: Signal, now: datetime) -> SignalOutcome:
        """Durable on return; the next reconciliation publishes a warning that the bus does not accept now."""
        if signal.type is SignalType.HEALTHY:
            self._write(tenant, BridgeState(source=signal.source, since=now), None, now)
            return SignalOutcome(suspended=False)
        severity = signal.severity or DEFAULT_SEVERITY
        warning = episodic_warning(signal.id, severity, signal.reason, signal.source, now)
        self._write(tenant, BridgeState(True, signal.source, severity, signal.reason, now), warning, now)
        left = self._outbox.deliver(of_tenant(tenant), [warning], now)
        return SignalOutcome(suspended=True, event_id=warning.id, forwarded=not left)

    def state(self, tenant: str) -> BridgeState:
        """Whether promotion is suspended, and by whom."""
        item = self._items.get(of_tenant(tenant), [STATE_KEY]).get(STATE_KEY)
        return state_in(item.value) if item else BridgeState()

    def _write(self, tenant: str, state: BridgeState, warning: BusEvent | None, now: datetime) -> None:
        """Writes without an expected version: of two signals the last one counts."""
        writes = [ItemWrite(STATE_KEY, state_document(state))]
        self._items.write(of_tenant(tenant), [*writes, *([outbox_write(warning)] if warning else [])], now)


@dataclass(frozen=True, slots=True)
class BridgeRun:
    outbox: OutboxRun
    deferred: DeferredRun

    @property
    def counts(self) -> dict[str, int]:
        """For a log line and metrics."""
        return {
            "published": self.outbox.published,
            "unpublished": self.outbox.refused + self.outbox.failed,
            **{f"deferred_{name}": count for name, count in self.deferred.counts.items()},
        }


class ReconcileBridge:
    """For every tenant or one; idempotent, and safe to run concurrently."""

    def __init__(self, outbox: BusOutbox, promote_deferred: PromoteDeferred) -> None:
        self._outbox = outbox
        self._promote_deferred = promote_deferred

    def reconcile(
        self, now: datetime, tenant: str | None = None, remaining_seconds: Callable[[], float] = lambda: inf
    ) -> BridgeRun:
        """Publishes, then promotes, as far as the time goes. Raises as `Items.due` and the publisher do."""
        published = self._outbox.drain(now, tenant, remaining_seconds)
        return BridgeRun(published, self._promote_deferred.promote(now, tenant, remaining_seconds))
