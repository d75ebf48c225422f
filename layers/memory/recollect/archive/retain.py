"""Retention: events leave for their age or their expiry, archived before where a rule says so (A-57, A-62 to A-65).

| collection  | owner  | key      | item                                                              |
|-------------|--------|----------|-------------------------------------------------------------------|
| `expiring`  | user   | event id | `{at}`: the event's instant; in the queue `expiry` at its expiry  |
| `schedules` | tenant | `retain` | in the queue `retention` when the tenant's next job is to begin   |

Once a day each tenant has a job `retain`. Its cost follows what is due: expiry is a queue, and a rule's age is a bound
on the timeline, which is read from its oldest record up to that bound.
"""

import gzip
import json
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import groupby, takewhile
from typing import Any

from recollect.core.errors import RecollectError, Unavailable, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.ids import IdSource
from recollect.core.items import (
    ABSENT,
    Due,
    DueItem,
    Item,
    ItemKey,
    ItemPath,
    ItemWrite,
    of_tenant,
    pages,
    write_all,
)
from recollect.core.scope import Scope, user_hash
from recollect.core.time import EARLIEST, from_iso, iso
from recollect.deletion.forget_events import ForgetEvents
from recollect.deletion.forget_memories import Order
from recollect.jobs.job import JOB_ID, Job, JobProgress, Pace, RemainingSeconds, job_write, portion_of
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import MemoryStatus
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.ports import Items, SnapshotStore, Timeline
from recollect.rules.groups import RetentionRule, Rules
from recollect.timeline.bus import (
    EPISODIC_PRUNED,
    QUEUE,
    BusEvent,
    BusOutbox,
    episodic_pruned,
    outbox_write,
    pruned_ids,
)
from recollect.timeline.listing import KnownUsers
from recollect.timeline.record import to_record

EXPIRY_QUEUE = "expiry"
SCHEDULE_QUEUE = "retention"
SCHEDULE = ItemKey(ItemPath("schedules"), "retain")
EVERY = timedelta(days=1)
"""How often a tenant's retention runs by itself."""

RETAIN = Actor(ActorKind.JOB, "retain")
OUTCOME = "pruned"
EXPIRED = "expired"
_COUNTS = ("users", EXPIRED, "pruned", "archived")
_PUBLISHED_BY_RECONCILIATION_AFTER = timedelta(hours=1)
"""By then the job was tried again, and has published what an earlier try left."""

_PAGE = 100
_MOST_PAGES = 1_000
_RESERVE_SECONDS = 10.0
_MOST_COUNTED_PAGES = 20
_EXPIRED_SHARE = 0.1
"""Of a job, before it walks over the users."""

_REMEMBERED_TENANTS = 10_000
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rule that prunes an event (its position), and whether the event is archived before."""

    rule: int
    archive: bool


def verdict(rules: Sequence[RetentionRule], event: Event, importance: float, now: datetime) -> Verdict | None:
    """The verdict on an event: one matching rule suffices; None where all rules keep it.

    `importance` is the event's, or that of its memory where a person raised it. A directly saved memory is never
    pruned. It is archived where one of the matching rules says so.
    """
    if event.is_carrier:
        return None
    fitting = [number for number, rule in enumerate(rules) if _lets_go(rule, event, importance, now)]
    return Verdict(fitting[0], any(rules[number].archive for number in fitting)) if fitting else None


def bound(rules: Sequence[RetentionRule], now: datetime) -> datetime | None:
    """The instant before which an event may be pruned; None without rules."""
    return max((_oldest_kept(rule, now) for rule in rules), default=None)


def _lets_go(rule: RetentionRule, event: Event, importance: float, now: datetime) -> bool:
    return (
        event.timestamp < _oldest_kept(rule, now)
        and (rule.event_types is None or event.event_type in rule.event_types)
        and (rule.below_importance is None or importance < rule.below_importance)
        and not (rule.keep_keyed and event.key is not None)
    )


def _oldest_kept(rule: RetentionRule, now: datetime) -> datetime:
    """An event of exactly this age stays."""
    span = timedelta(days=rule.older_than_days)
    return now - span if now - EARLIEST > span else EARLIEST


def expiring_key(event_id: str) -> ItemKey:
    return ItemKey(ItemPath("expiring"), event_id)


def expiring_write(ref: EventRef, expires_at: datetime, expected: int | None) -> ItemWrite:
    """Enters the event in the expiry queue."""
    return ItemWrite(expiring_key(ref.id), {"at": iso(ref.timestamp)}, expected, Due(EXPIRY_QUEUE, expires_at))


def expiring_ref(item: Item) -> EventRef:
    return EventRef(item.key.key, from_iso(str(item.value["at"])))


def archive_folder(user_id: str) -> str:
    """The folder of a user's archives: under a hash, since an object's name must not contain a person's id."""
    return f"archive/{user_hash(user_id)}"


@dataclass(frozen=True, slots=True)
class PruneOrder:
    """The job, the time and the reason: `retention[n]` for a rule, or `expired`."""

    job_id: str
    now: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class PruneEvents:
    """Prunes events; idempotent: deleted events are skipped, an archive is named by a hash of its content.

    The bus event is in the outbox before the first deletion, so that it is published whatever happens, and only once.
    """

    _items: Items
    _forget: ForgetEvents
    _outbox: BusOutbox
    _archives: Callable[[], SnapshotStore]
    _announce: Callable[[Scope, Sequence[EventRef]], None]

    def prune(self, scope: Scope, events: Sequence[Event], order: PruneOrder) -> int:
        """Deletes events of one user, with the memories that no other event supports; answers how many.

        Each is deleted atomically with its tombstone and its audit entry. Raises what the timeline and the items raise;
        then a retry deletes the rest.
        """
        if not events:
            return 0
        entries = self._left_in_outbox(scope, events, order)
        noted = {event_id for entry in entries for event_id in pruned_ids(entry)}
        new = episodic_pruned(scope, [e for e in events if e.id not in noted], order.reason, order.now)
        waiting = Due(QUEUE, order.now + _PUBLISHED_BY_RECONCILIATION_AFTER)
        writes = [replace(outbox_write(entry), due=waiting) for entry in new]
        write_all(self._items.write, scope.user, writes, order.now)
        asked = Order(now=order.now, actor=RETAIN, via=RETAIN.id, reason=order.reason, outcome=OUTCOME)
        deleted = [event for event in events if self._forget.one(scope, event, asked)]
        with suppress(RecollectError):  # it stays in the outbox
            self._outbox.deliver(scope.user, [*entries, *new], order.now)
        self._announce(scope, [event.ref for event in deleted])
        _log(scope, deleted, order)
        return len(deleted)

    def _left_in_outbox(self, scope: Scope, events: Sequence[Event], order: PruneOrder) -> list[BusEvent]:
        """What a try that ended half-way has left in the outbox of these events."""
        ids = {event.id for event in events}
        waiting = self._outbox.waiting(scope.user, EPISODIC_PRUNED, order.now)
        return [entry for entry in waiting if ids & pruned_ids(entry)]

    def archive(self, scope: Scope, events: Sequence[Event], order: PruneOrder) -> None:
        """Stores them as gzipped NDJSON; durable on return. Raises what the store raises."""
        if not events:
            return
        data = gzip.compress("".join(_lines(events)).encode("utf-8", "surrogatepass"), mtime=0)
        name = f"{order.now:%Y-%m-%d}-{order.job_id}-{sha256(data).hexdigest()[:16]}.ndjson.gz"
        with suppress(VersionMismatch):  # the same content, by an earlier try
            self._archives().put_if_absent(scope.tenant, f"{archive_folder(scope.user_id)}/{name}", data)


def _lines(events: Iterable[Event]) -> Iterable[str]:
    return (json.dumps(to_record(replace(event, holds_until=None)), ensure_ascii=False) + "\n" for event in events)


def _log(scope: Scope, events: Sequence[Event], order: PruneOrder) -> None:
    """The security log (A-65): user, reason, ids; no content. User and persona as hashes."""
    whose = {"user": user_hash(scope.user_id), "reason": order.reason, "job_id": order.job_id}
    for persona_id, count in Counter(event.persona_id for event in events).items():
        ids = [event.id for event in events if event.persona_id == persona_id]
        persona = None if persona_id is None else user_hash(persona_id)
        _LOG.info("pruned", extra=whose | {"persona": persona, "events": count, "event_ids": ids})


@dataclass(slots=True)
class _Run:
    tenant: str
    job_id: str
    now: datetime
    rules: Sequence[RetentionRule]
    pace: Pace
    seen: int = 0
    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(_COUNTS, 0)))

    @property
    def over(self) -> bool:
        return self.pace.over

    def order(self, reason: str) -> PruneOrder:
        return PruneOrder(self.job_id, self.now, reason)


@dataclass(frozen=True, slots=True)
class Retain:
    """The job `retain`; its state is a place in the queue, or a user and a record of theirs.

    The instant at which the job began decides what is due, however long it takes. A repeated step may count too few
    deletions after a crash; the audit has all of them.
    """

    _timeline: Timeline
    _items: Items
    _users: KnownUsers
    _prune: PruneEvents
    _rules_of: Callable[[str], Rules]

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`: as many pages as the time allows, at least one."""
        begun = from_iso(str(state["now"])) if "now" in state else now
        own = {JOB_ID: state[JOB_ID], "now": iso(begun)}
        rules, pace = self._rules_of(tenant).retention, Pace(deadline, _RESERVE_SECONDS)
        run = _Run(tenant, str(state[JOB_ID]), begun, rules, pace, int(state.get("seen", 0)))
        if "users" not in state:
            return self._expired(run, own, state)
        total = int(state["total"]) if "total" in state else self._users.counted(tenant)
        place = self._user_pages(run, state)
        portion = portion_of(run.seen, total, "users")
        within = (1 - _EXPIRED_SHARE) * (run.seen + _within(place, run)) / total if total else None
        share = None if within is None else min(1.0, _EXPIRED_SHARE + within)
        going = own | (place | {"total": total, "seen": run.seen} if place else {})
        return JobProgress(state=going, counts=run.counts, portion=portion, share=share, done=not place)

    def _expired(self, run: _Run, own: Mapping[str, Any], state: Mapping[str, Any]) -> JobProgress:
        """The first part: what has expired."""
        total = int(state["total"]) if "total" in state else self._due_now(run)
        queued = self._expire_pages(run, state.get("queue"))
        portion = portion_of(run.seen, total, "expired messages")
        share = _EXPIRED_SHARE * (portion.share if portion and queued else 1.0)
        further = {"users": None} if queued is None else {"queue": queued, "total": total, "seen": run.seen}
        is_done = queued is None and not run.rules
        return JobProgress(state={**own, **further}, counts=run.counts, portion=portion, share=share, done=is_done)

    def _due_now(self, run: _Run) -> int:
        found = pages(lambda after: self._items.due(EXPIRY_QUEUE, run.now, _PAGE, after), _MOST_COUNTED_PAGES)
        return sum(due.owner.tenant == run.tenant for page in found for due in page.items)

    def _expire_pages(self, run: _Run, after: str | None) -> str | None:
        """The queue's next cursor; None at its end."""
        while True:
            page = self._items.due(EXPIRY_QUEUE, run.now, _PAGE, after)
            own = [due for due in page.items if due.owner.tenant == run.tenant]
            run.seen += len(own)
            for owner, dues in groupby(sorted(own, key=_whose), key=lambda due: due.owner):
                self._expire(run, owner, [due.key for due in dues])
            after = page.more
            if after is None or run.over:
                return after

    def _expire(self, run: _Run, owner: Scope, keys: Sequence[ItemKey]) -> None:
        """Prunes one user's expired events, and enters the others again at their new expiry."""
        items = self._items.get(owner, keys)
        events = self._timeline.read(owner, [expiring_ref(item) for item in items.values()])
        stored = ReadMemories(self._items).stored(owner, events)
        gone = {one.id: one for event in events.values() for one in self._over(owner, event, stored.get(event.id), run)}
        run.counts[EXPIRED] += self._prune.prune(owner, list(gone.values()), run.order(EXPIRED))
        left = {event_id: event for event_id, event in events.items() if event_id not in gone}
        writes = [_noted(item, left.get(item.key.key), stored.get(item.key.key)) for item in items.values()]
        write_all(self._items.write, owner, writes, run.now)

    def _over(self, owner: Scope, event: Event, stored: StoredMemory | None, run: _Run) -> list[Event]:
        """The event, where expired; all events of the memory that it carries, where that has expired."""
        own = stored.memory if stored is not None and stored.memory.id == event.id else None
        if own is not None and own.expired(run.now):
            others = [self._timeline.find(owner, one) for one in own.source_event_ids if one != event.id]
            return [*(one for one in others if one is not None), event]
        return [event] if event.expired(run.now) else []

    def _user_pages(self, run: _Run, state: Mapping[str, Any]) -> dict[str, Any] | None:
        """The next place: page of users, user, record; None at the end."""
        cursor, first = state["users"], str(state.get("user", ""))
        while True:
            page = self._users.page(run.tenant, _PAGE, cursor)
            for user_id in (one for one in page.user_ids if one.encode() >= first.encode()):
                if run.over and run.counts["users"]:
                    return {"users": cursor, "user": user_id}
                before = _ref_of(user_id, state)
                more = self._record_pages(run, Scope(run.tenant, user_id), before)
                if more is not None:
                    at = iso(more.timestamp)
                    place = {"id": more.id, "at": at, "from": state["place"].get("from", at) if before else at}
                    return {"users": cursor, "user": user_id, "place": place}
                run.counts["users"] += 1
                run.seen += 1
            if page.more is None:
                return None
            cursor = page.more

    def _record_pages(self, run: _Run, scope: Scope, after: EventRef | None) -> EventRef | None:
        """Prunes from `after` on; None where no further record is old enough."""
        until = bound(run.rules, run.now)
        while until is not None:
            page = self._timeline.records(scope, _PAGE, after)
            old = list(takewhile(lambda event: event.timestamp < until, page.events))
            self._prune_due(run, scope, old)
            after = page.more
            if after is None or len(old) < len(page.events):
                return None
            if run.over:
                return after
        return None

    def _prune_due(self, run: _Run, scope: Scope, events: Sequence[Event]) -> None:
        due = self._due(run, scope, events)
        archived = [event for event, found in due if found.archive]
        self._prune.archive(scope, archived, run.order("retention"))
        run.counts["archived"] += len(archived)
        for rule, group in groupby(sorted(due, key=lambda pair: pair[1].rule), key=lambda pair: pair[1].rule):
            pruned = self._prune.prune(scope, [event for event, _ in group], run.order(f"retention[{rule}]"))
            run.counts["pruned"] += pruned

    def _due(self, run: _Run, scope: Scope, events: Sequence[Event]) -> list[tuple[Event, Verdict]]:
        """An event counts as important as its memory where somebody raised that."""
        maybe = [event for event in events if verdict(run.rules, event, 0.0, run.now) is not None]
        stored = ReadMemories(self._items).stored(scope, [event.id for event in maybe]) if maybe else {}
        judged = ((e, verdict(run.rules, e, _importance(e, stored.get(e.id)), run.now)) for e in maybe)
        return [(event, found) for event, found in judged if found is not None]


def _importance(event: Event, stored: StoredMemory | None) -> float:
    if stored is None or stored.memory.status is not MemoryStatus.ACTIVE:
        return event.importance
    return max(event.importance, stored.memory.importance)


def _noted(item: Item, event: Event | None, stored: StoredMemory | None) -> ItemWrite:
    """The new queue entry of an event that has not expired after all: it, or its memory, may do so later."""
    if event is None:
        return ItemWrite(item.key, None)
    own = stored.memory.expires_at if stored is not None and stored.memory.id == event.id else None
    times = [moment for moment in (event.expires_at, own) if moment is not None]
    return expiring_write(event.ref, min(times), None) if times else ItemWrite(item.key, None)


def _whose(due: DueItem) -> tuple[str, str]:
    return due.owner.user_id, due.key.key


def _within(place: Mapping[str, Any] | None, run: _Run) -> float:
    """How far the user under way has come: by time, from where the first step stopped to the newest that may go."""
    at, until = (place or {}).get("place"), bound(run.rules, run.now)
    if at is None or until is None or "from" not in at:
        return 0.0
    first = from_iso(at["from"])
    return (from_iso(at["at"]) - first) / (until - first) if until > first else 0.0


def _ref_of(user_id: str, state: Mapping[str, Any]) -> EventRef | None:
    """The record at which a step stopped; None for another user, such as one who was added in between."""
    place = state.get("place")
    return EventRef(place["id"], from_iso(place["at"])) if place and state.get("user") == user_id else None


@dataclass(frozen=True, slots=True)
class ScheduleRetention:
    """Starts due jobs, each atomically with the tenant's next date, a day ahead."""

    items: Items
    ids: IdSource

    def schedule(self, now: datetime) -> int:
        """Starts the jobs that are due; answers how many. Raises as `Items.due`, and Unavailable without the items."""
        found = pages(lambda after: self.items.due(SCHEDULE_QUEUE, now, _PAGE, after), _MOST_PAGES)
        return sum(self._attempt(due, now) for page in found for due in page.items)

    def _attempt(self, due: DueItem, now: datetime) -> bool:
        try:
            return self._started(due, now)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one tenant's failure must not hold up the others: it stays due
            _LOG.error("a tenant's retention was not begun", extra={"error": type(error).__name__})
            return False

    def _started(self, due: DueItem, now: datetime) -> bool:
        """False where another process started it."""
        owner = of_tenant(due.owner.tenant)
        item = self.items.get(owner, [due.key]).get(due.key)
        if item is None or item.due is None or item.due.at > now:
            return False
        job_id = self.ids.seed(int(now.timestamp() * 1000)).nth(0)
        job = Job(id=job_id, kind="retain", asked_at=now, started_at=now, state={JOB_ID: job_id})
        ahead = ItemWrite(item.key, item.value, item.version, Due(SCHEDULE_QUEUE, now + EVERY))
        try:
            self.items.write(owner, [job_write(job), ahead], now)
        except VersionMismatch:
            return False
        return True


class NoteExpiry:
    """The projection step that notes expiring events, and each tenant's schedule; one read per tenant and process."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._tenants: OrderedDict[str, None] = OrderedDict()

    def note(self, scope: Scope, events: Sequence[Event], _gone: Sequence[EventRef], now: datetime) -> None:
        """Notes new expiries; idempotent. Raises what the items raise."""
        self._note_tenant(scope.tenant, now)
        expiring = {event.id: event for event in events if event.expires_at is not None}
        there = self._items.get(scope.user, [expiring_key(event_id) for event_id in expiring]) if expiring else {}
        noted = {key.key: item.due.at for key, item in there.items() if item.due is not None}
        writes = [
            expiring_write(event.ref, event.expires_at, None)
            for event in expiring.values()
            if event.expires_at is not None and noted.get(event.id) != event.expires_at
        ]
        write_all(self._items.write, scope.user, writes, now)

    def _note_tenant(self, tenant: str, now: datetime) -> None:
        if tenant in self._tenants:
            return
        if not self._items.get(of_tenant(tenant), [SCHEDULE]):
            with suppress(VersionMismatch):  # another process has scheduled it
                first = ItemWrite(SCHEDULE, {}, ABSENT, Due(SCHEDULE_QUEUE, now))
                self._items.write(of_tenant(tenant), [first], now)
        self._tenants[tenant] = None
        if len(self._tenants) > _REMEMBERED_TENANTS:
            self._tenants.popitem(last=False)
