"""Promotion as a part of `project`: events become memories (A-58 to A-64, P-10, P-19).

It is idempotent, and may run late and concurrently: a memory has its event's id, and is created only where none exists,
atomically with its entry in the ledger. `BridgeGate` decides which events become memories now and which wait for a
reconciliation (A-60, A-67); `MemoryStep` is the projection step.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from recollect.contradictions.decisions import (
    BY_KEY,
    Decision,
    DecisionStatus,
    Outcome,
    Step,
    decision_in,
    decision_key,
    decision_write,
)
from recollect.core.errors import Conflict, VersionMismatch
from recollect.core.event import Event
from recollect.core.idempotency import TRIES, retry_on_conflict
from recollect.core.ids import IdSource
from recollect.core.items import ABSENT, MOST_WRITES, Due, Item, ItemKey, ItemWrite, in_parts, of_tenant
from recollect.core.scope import Scope
from recollect.deletion.forget_memories import ForgetMemories
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_write
from recollect.memories.memory import MOST_SOURCES, Memory, MemoryStatus, content_identity, embedding_id, promoted
from recollect.memories.promotion import (
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
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.representation import as_it_stands
from recollect.memories.storage import (
    SAME_AS,
    TO_PROJECT,
    changed_writes,
    content_key,
    fits,
    memory_document,
    memory_key,
    shown_write,
    trace,
    versions_path,
)
from recollect.memories.worth_keeping import WorthKeeping
from recollect.ports import Items
from recollect.rules.groups import Rules

PROJECT = Actor(ActorKind.JOB, "project")
BRIDGE = "bridge"
SUSPENDED = "suspended"
KnownMemories: TypeAlias = Mapping[str, StoredMemory | None]
"""Memories of events by the events' ids, None for events without one."""

NOTHING_READ: KnownMemories = MappingProxyType({})

_SURELY_FITS = 16 * 1024
_DEFERRALS_AT_ONCE = MOST_WRITES - 1  # one more write is their entry in the ledger
_PAGE = 25

Gate: TypeAlias = Callable[[Scope, Sequence[Event], Rules, datetime], Routing]
"""See `BridgeGate`."""


@dataclass(frozen=True, slots=True)
class PromotedBy:
    """Who makes events memories, by which way (`AuditEntry.via`) and rule.

    `late`: after their projection; the next reconciliation projects them again, which tells the bus.
    """

    via: str
    actor: Actor = PROJECT
    rule: str | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class _Promotion:
    """Whose event becomes a memory, when, and how."""

    scope: Scope
    event: Event
    now: datetime
    by: PromotedBy

    @property
    def due(self) -> Due | None:
        """When a reconciliation has to follow."""
        return Due(TO_PROJECT, self.now) if self.by.late else None

    @property
    def content_key(self) -> ItemKey:
        """The key of the record of the event's content."""
        return content_key(content_identity(self.event))


@dataclass(slots=True)
class PromotionReport:
    """The memories of the events, by the events' ids; `made` are the ids of those made now."""

    memories: dict[str, StoredMemory] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)


class PromoteMemories:
    """Raises what the items raise; each write is atomic. `generation` is the embedder's, None without one."""

    def __init__(self, items: Items, gate: Gate, ids: IdSource, generation: str | None = None) -> None:
        self._items = items
        self._gate = gate
        self._ids = ids
        self._generation = generation
        self._read = ReadMemories(items)

    def promote_batch(
        self, scope: Scope, events: Sequence[Event], rules: Rules, now: datetime, read: KnownMemories = NOTHING_READ
    ) -> PromotionReport:
        """Makes missing memories, and applies to each memory what its event's key decides.

        Those in `read` are not read again, since each write names their versions.
        """
        unread = self._read.stored(scope, [event.id for event in events if event.id not in read])
        report = PromotionReport(unread | {i: stored for i, stored in read.items() if stored is not None})
        fresh = [e for e in events if e.id not in report.memories and is_promotable(e, now)]
        routing = self._gate(scope, fresh, rules, now) if fresh else None
        self.promote(scope, routing.promote if routing else (), now, BRIDGE, report)
        self._follow_keys(scope, events, report, now)
        return report

    def promote(
        self, scope: Scope, events: Iterable[Event], now: datetime, via: str, report: PromotionReport | None = None
    ) -> PromotionReport:
        """Makes these events memories without asking the gate; existing memories stay."""
        return self.promote_by(scope, events, now, PromotedBy(via), report)

    def promote_by(
        self,
        scope: Scope,
        events: Iterable[Event],
        now: datetime,
        by: PromotedBy,
        report: PromotionReport | None = None,
    ) -> PromotionReport:
        """The same for whoever chose them."""
        report = report or PromotionReport()
        for event in events:
            found = self._promoted(_Promotion(scope, event, now, by), report)
            newest = {stored.memory.id: stored for stored in found.values()}
            report.memories = {i: newest.get(stored.memory.id, stored) for i, stored in report.memories.items()} | found
        return report

    def _promoted(self, wanted: _Promotion, report: PromotionReport) -> dict[str, StoredMemory]:
        event_id = wanted.event.id
        for _ in range(TRIES):
            try:
                made = self._promote_once(wanted)
            except VersionMismatch:
                found = self._read.stored(wanted.scope, [event_id])
                if event_id in found:
                    return found
                continue
            report.made.append(made.memory.id)
            return {event_id: made}
        raise Conflict("a memory's content changes all the time")

    def _promote_once(self, wanted: _Promotion) -> StoredMemory:
        key = wanted.content_key
        record = self._items.get(wanted.scope.user, [key]).get(key)
        same = self._duplicate_of(wanted, record)
        return self._join(wanted, same) if same else self._create(wanted, record)

    def _duplicate_of(self, wanted: _Promotion, record: Item | None) -> StoredMemory | None:
        """The active memory without a key and with the same words, if it was made from another event (A-21)."""
        if record is None or wanted.event.key is not None or record.value["id"] == wanted.event.id:
            return None
        stored = self._read.stored(wanted.scope, [str(record.value["id"])]).get(str(record.value["id"]))
        return stored if stored is not None and _can_join(wanted.event, stored.memory, wanted.now) else None

    def _create(self, wanted: _Promotion, record: Item | None) -> StoredMemory:
        scope, event, now = wanted.scope, wanted.event, wanted.now
        first = replace(promoted(event, (), now), embedding_id=embedding_id(self._generation, event.id))
        memory = _under_key(first, event)
        writes = [
            ItemWrite(memory_key(memory.id), memory_document(memory), ABSENT, wanted.due),
            ItemWrite(wanted.content_key, {"id": memory.id}, record.version if record else ABSENT),
            audit_write(self._entry(wanted, Action.CREATE, None, memory, "promoted")),
            *self._decision_writes(scope, memory, now),
        ]
        return _stored(memory, self._items.write(scope.user, writes, now))

    def _join(self, wanted: _Promotion, same: StoredMemory) -> StoredMemory:
        before, event_id = same.memory, wanted.event.id
        sources = tuple(dict.fromkeys([*before.source_event_ids, event_id]))
        after = replace(before, source_event_ids=sources, version=before.version + 1)
        writes = [
            *changed_writes(same.item, before, after),
            ItemWrite(memory_key(event_id), {SAME_AS: before.id}, ABSENT),
            audit_write(self._entry(wanted, Action.MERGE, before, after, "duplicate")),
        ]
        return _stored(after, self._items.write(wanted.scope.user, writes, wanted.now))

    def _follow_keys(self, scope: Scope, events: Sequence[Event], report: PromotionReport, now: datetime) -> None:
        """A newer value of the key supersedes the memory; a late event that proves older reverts that."""
        for event in events:
            stored = report.memories.get(event.id)
            if stored is None or event.key is None or stored.memory.id != event.id:
                continue
            report.memories[event.id] = self._follow_key(scope, event, stored, now)

    def _follow_key(self, scope: Scope, event: Event, stored: StoredMemory, now: datetime) -> StoredMemory:
        for _ in range(TRIES):
            after = _under_key(stored.memory, event)
            if after == stored.memory:
                return stored
            after = replace(after, version=stored.memory.version + 1)
            by_key = _Promotion(scope, event, now, PromotedBy(BY_KEY))
            entry = self._entry(by_key, Action.SUPERSEDE, stored.memory, after)
            decided = [audit_write(replace(entry, rule=BY_KEY)), *self._decision_writes(scope, after, now)]
            try:
                writes = [*changed_writes(stored.item, stored.memory, after), *decided]
                return _stored(after, self._items.write(scope.user, writes, now))
            except VersionMismatch:
                stored = self._read.stored(scope, [event.id])[event.id]
        raise Conflict("a memory changes all the time")

    def _decision_writes(self, scope: Scope, memory: Memory, now: datetime) -> list[ItemWrite]:
        """The decision's entry in the ledger; a decision that a person reverted stays as it is."""
        decision = _key_decision(memory, now)
        if decision is None:
            return []
        key = decision_key(decision.id)
        there = self._items.get(scope.user, [key]).get(key)
        if there is not None and decision_in(there.value).status is DecisionStatus.REVERTED:
            return []
        return [decision_write(decision, there.version if there else ABSENT)]

    def _entry(
        self, wanted: _Promotion, action: Action, before: Memory | None, after: Memory, outcome: str | None = None
    ) -> AuditEntry:
        return AuditEntry(
            id=self._ids.fresh(),
            at=wanted.now,
            actor=wanted.by.actor,
            action=action,
            target_ids=(after.id,),
            via=wanted.by.via,
            rule=wanted.by.rule,
            event_ids=(wanted.event.id,),
            outcome=outcome,
            before=trace(wanted.scope, before) if before else None,
            after=trace(wanted.scope, after),
        )


def _stored(memory: Memory, written: Sequence[Item | None]) -> StoredMemory:
    item = written[0]
    if item is None:
        raise Conflict("a memory was not written")
    return StoredMemory(memory, item)


def is_promotable(event: Event, now: datetime) -> bool:
    """Searchable, not expired, small enough for an item, and no carrier, which has its memory from the start."""
    open_to_all = event.is_searchable and not event.expired(now) and not event.is_carrier
    return open_to_all and (len(event.content) < _SURELY_FITS or fits(promoted(event, (), now)))


def _can_join(event: Event, memory: Memory, now: datetime) -> bool:
    """Whether the memory has the same words, still holds, and lasts as long as the event."""
    same_text = memory.content.strip() == event.content.strip()
    lasts = memory.expires_at is None or (event.expires_at is not None and event.expires_at <= memory.expires_at)
    holds = memory.status is MemoryStatus.ACTIVE and not memory.expired(now)
    ended = any(lapse.announced and lapse.since <= event.timestamp for lapse in memory.lapses)
    return holds and same_text and lasts and not ended and len(memory.source_event_ids) < MOST_SOURCES


def _under_key(memory: Memory, event: Event) -> Memory:
    by_key = memory.status is MemoryStatus.SUPERSEDED and memory.settled_by in (None, BY_KEY)
    if event.superseded_by is not None:
        if by_key or _ended_before_judged(memory, event):
            ended = replace(memory, status=MemoryStatus.SUPERSEDED)
            named = replace(ended, superseded_by=event.superseded_by, settled_by=BY_KEY)
            return replace(named, valid_to=event.superseded_at)
        after = as_it_stands(memory, event)
        return after if after is memory else replace(after, settled_by=BY_KEY)
    back = by_key and memory.key is not None
    if not back:
        return memory
    return replace(memory, status=MemoryStatus.ACTIVE, superseded_by=None, valid_to=None, settled_by=None)


def _ended_before_judged(memory: Memory, event: Event) -> bool:
    """Whether a value of its key ended it earlier in event time than the judge did: the earlier end counts."""
    by_judge = memory.settled_by not in (None, BY_KEY, Step.ARBITER, Step.USER)
    ended = by_judge and memory.status in (MemoryStatus.SUPERSEDED, MemoryStatus.MERGED)
    if not ended or memory.valid_to is None or event.superseded_at is None:
        return False
    return event.superseded_at < memory.valid_to


def _key_decision(memory: Memory, now: datetime) -> Decision | None:
    if memory.settled_by != BY_KEY or memory.superseded_by is None:
        return None
    return Decision(
        winner=memory.superseded_by,
        loser=memory.id,
        at=now,
        step=Step.KEY,
        rule=BY_KEY,
        outcome=Outcome.SUPERSEDED,
        reason="a newer value of the same key",
        before=max(1, memory.version - 1),
        after=memory.version,
    )


_BY_THE_BRIDGE = PromotedBy(BRIDGE)


class BridgeGate:
    """Routes events of one user by the tenant's policies and by the state of its bridge.

    It writes a deferral with its entry in the ledger (outcome `deferred`) for each event that waits, and the end of a
    suspension where one of them arrived in time (its lag is at most `healthy_lag_ms`). Idempotent.

    Callers pass every new event that may become a memory (not private, not expired, no memory yet), also those that the
    policies refuse: they can end a suspension. Events in neither list of the answer are not promoted.
    """

    def __init__(self, items: Items, ids: IdSource, worth: WorthKeeping | None = None) -> None:
        self._items = items
        self._ids = ids
        self._worth = worth or WorthKeeping(None)

    def decide(self, scope: Scope, events: Sequence[Event], rules: Rules, now: datetime) -> Routing:
        """The routing; a deferral is durable on return. Raises what the items raise, and Conflict."""
        passing = self._worth.passing_only(events, rules)
        if not needs_state(events, rules.bridge):
            return route(events, rules.bridge, suspended=False, passing=passing)
        return retry_on_conflict(lambda: self._route(scope, events, passing, rules, now), "the bridge's state")

    def _route(
        self, scope: Scope, events: Sequence[Event], passing: Collection[str], rules: Rules, now: datetime
    ) -> Routing:
        item = self._items.get(of_tenant(scope.tenant), [STATE_KEY]).get(STATE_KEY)
        suspended = item is not None and state_in(item.value).suspended
        routing = route(events, rules.bridge, suspended=suspended, passing=passing)
        for start in range(0, len(routing.deferred), _DEFERRALS_AT_ONCE):
            self._defer(scope, routing.deferred[start : start + _DEFERRALS_AT_ONCE], now)
        if routing.recovered and item is not None:
            self._resume(scope.tenant, item, now)
        return routing

    def chosen(self, scope: Scope, events: Sequence[Event], now: datetime, by: PromotedBy) -> Routing:
        """The routing of events that somebody chose: while the bridge is suspended all of them wait.

        They end no suspension: what was said a while ago says nothing of the store's health now.
        """
        item = self._items.get(of_tenant(scope.tenant), [STATE_KEY]).get(STATE_KEY)
        if item is None or not state_in(item.value).suspended:
            return Routing(promote=list(events))
        for part in in_parts(events, _DEFERRALS_AT_ONCE):
            self._defer(scope, part, now, by)
        return Routing(deferred=list(events))

    def _defer(self, scope: Scope, events: Sequence[Event], now: datetime, by: PromotedBy = _BY_THE_BRIDGE) -> None:
        there = self._items.get(scope.user, [deferred_key(event.id) for event in events])
        new = [event for event in events if deferred_key(event.id) not in there]
        if not new:
            return
        writes = [deferral_write(Deferral(event.ref, now), ABSENT) for event in new]
        event_ids = tuple(event.id for event in new)
        entry = AuditEntry(
            id=self._ids.fresh(),
            at=now,
            actor=by.actor,
            action=Action.REFUSE,
            target_ids=event_ids,
            via=by.via,
            rule=by.rule,
            reason=SUSPENDED,
            event_ids=event_ids,
            outcome="deferred",
        )
        self._items.write(scope.user, [*writes, audit_write(entry)], now)

    def _resume(self, tenant: str, item: Item, now: datetime) -> None:
        healthy = BridgeState(suspended=False, source="saved event", since=now)
        self._items.write(of_tenant(tenant), [ItemWrite(STATE_KEY, state_document(healthy), item.version)], now)


class MemoryStep:
    """The projection step of memories."""

    def __init__(self, items: Items, promote: PromoteMemories, forget: ForgetMemories) -> None:
        self._items = items
        self._promote = promote
        self._forget = forget
        self._read = ReadMemories(items)

    def follow(
        self, scope: Scope, events: Sequence[Event], rules: Rules, now: datetime, read: KnownMemories
    ) -> dict[str, StoredMemory]:
        """Promotes; returns the memories of the events, those of `read` as read or as written now."""
        return self._promote.promote_batch(scope, events, rules, now, read).memories

    def read(self, scope: Scope, record_ids: Sequence[str]) -> dict[str, StoredMemory]:
        """The memories of the records that have one."""
        return self._read.stored(scope, record_ids)

    def changed(self, scope: Scope, known: KnownMemories) -> set[str]:
        """The ids of those whose memory has another version now than in `known`."""
        current = self._read.stored(scope, known)
        return {i for i, before in known.items() if _version(current.get(i)) != _version(before)}

    def shown(self, scope: Scope, stored: Sequence[StoredMemory], now: datetime) -> None:
        """The index shows these memories: they are no longer due, unless somebody changed them since."""
        for one in stored:
            if one.item.due is not None:
                with suppress(VersionMismatch):
                    self._items.write(scope.user, [shown_write(one.item)], now)

    def forget(self, scope: Scope, record_ids: Sequence[str], now: datetime) -> None:
        """Removes what was made of deleted records, also by a promotion that came after the deletion."""
        for record_id in record_ids:
            retry_on_conflict(partial(self._clear, scope, record_id, now), "a memory")
            while page := self._items.page(scope.user, versions_path(record_id), _PAGE, None).items:
                self._items.write(scope.user, [ItemWrite(item.key, None) for item in page], now)

    def _clear(self, scope: Scope, record_id: str, now: datetime) -> None:
        if writes := self._forget.hanging(scope, record_id, now):
            self._items.write(scope.user, writes, now)


def _version(stored: StoredMemory | None) -> int:
    return stored.item.version if stored else 0
