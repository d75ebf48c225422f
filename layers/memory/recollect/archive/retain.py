"""Prune: takes events away for their age or their expiry, archived before where a rule says so (A-57, A-62 to A-65).

The job `retain`: what has expired, and what the tenant's retention rules let go (A-57, A-62 to A-65).

Its cost follows what is due. Expiry is a queue. A rule's age is a bound on the timeline, which is read from its
oldest record up to that bound: so what a rule keeps, though it is old enough, is read again by every run.

Once a day each tenant has a job `retain`, of which nobody has to think.

What `project` notes for retention: that an event expires, and that a tenant has something to be looked after.
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

from recollect.archive.retention import (
    EVERY,
    EXPIRY_QUEUE,
    SCHEDULE,
    SCHEDULE_QUEUE,
    Verdict,
    archive_folder,
    bound,
    expiring_key,
    expiring_ref,
    expiring_write,
    verdict,
)
from recollect.archive.segments import user_hash
from recollect.core.errors import RecollectError, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.ids import IdSource
from recollect.core.items import ABSENT, MOST_WRITES, Due, DueItem, Item, ItemKey, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.deletion.forget_events import ForgetEvents
from recollect.deletion.forget_memories import Order
from recollect.jobs.job import JOB_ID, Job, JobProgress, RemainingSeconds, job_write
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

RETAIN = Actor(ActorKind.JOB, "retain")
OUTCOME = "pruned"
_UNTIL_SOMEBODY_ELSE_PUBLISHES = timedelta(hours=1)
"""By then the job was tried again, and has published it with what went meanwhile."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PruneOrder:
    """By which job, when, and why: `retention[n]` for a rule, or `expired`."""

    job_id: str
    now: datetime
    reason: str


class PruneEvents:
    """Everything may be done twice: what is gone is passed over, an archive has the name of its content.

    That they are pruned stands in the outbox before the first of them goes, so that it is published whatever happens,
    and once: what an earlier try has put there is not told again.
    """

    def __init__(
        self,
        items: Items,
        forget: ForgetEvents,
        outbox: BusOutbox,
        archives: Callable[[], SnapshotStore],
        announce: Callable[[Scope, Sequence[EventRef]], None],
    ) -> None:
        self._items = items
        self._forget = forget
        self._outbox = outbox
        self._archives = archives
        self._announce = announce

    def __call__(self, scope: Scope, events: Sequence[Event], order: PruneOrder) -> int:
        """Takes events of one user away, with the memories that nothing else speaks for; answers how many went.

        Each goes in one step with the tombstone of its identity and with its entry in the audit. Raises what the
        timeline and the items raise; then some may be gone, and the next call takes the rest.
        """
        if not events:
            return 0
        entries = self._told_before(scope, events, order)
        told = {event_id for entry in entries for event_id in pruned_ids(entry)}
        new = episodic_pruned(scope, [e for e in events if e.id not in told], order.reason, order.now)
        waiting = Due(QUEUE, order.now + _UNTIL_SOMEBODY_ELSE_PUBLISHES)
        writes = [replace(outbox_write(entry), due=waiting) for entry in new]
        for start in range(0, len(writes), MOST_WRITES):
            self._items.write(scope.user, writes[start : start + MOST_WRITES], order.now)
        asked = Order(now=order.now, actor=RETAIN, via=RETAIN.id, reason=order.reason, outcome=OUTCOME)
        gone = [event for event in events if self._forget.one(scope, event, asked)]
        with suppress(RecollectError):  # it stays in the outbox
            self._outbox.deliver(scope.user, [*entries, *new], order.now)
        self._announce(scope, [event.ref for event in gone])
        _log(scope, gone, order)
        return len(gone)

    def _told_before(self, scope: Scope, events: Sequence[Event], order: PruneOrder) -> list[BusEvent]:
        """What a try that ended half-way has left in the outbox of these events."""
        ids = {event.id for event in events}
        waiting = self._outbox.waiting(scope.user, EPISODIC_PRUNED, order.now)
        return [entry for entry in waiting if ids & pruned_ids(entry)]

    def archive(self, scope: Scope, events: Sequence[Event], order: PruneOrder) -> None:
        """Keeps them as gzipped NDJSON; durable on return. Raises what the store raises."""
        if not events:
            return
        data = gzip.compress("".join(_lines(events)).encode("utf-8", "surrogatepass"), mtime=0)
        name = f"{order.now:%Y-%m-%d}-{order.job_id}-{sha256(data).hexdigest()[:16]}.ndjson.gz"
        with suppress(VersionMismatch):  # the same content, by an earlier try
            self._archives().put_if_absent(scope.tenant, f"{archive_folder(scope.user_id)}/{name}", data)


def _lines(events: Iterable[Event]) -> Iterable[str]:
    return (json.dumps(to_record(event), ensure_ascii=False) + "\n" for event in events)


def _log(scope: Scope, events: Sequence[Event], order: PruneOrder) -> None:
    """The security log (A-65): whose, which, why; no content. Names of people and of personas as hashes."""
    whose = {"user": user_hash(scope.user_id), "reason": order.reason, "job_id": order.job_id}
    for persona_id, count in Counter(event.persona_id for event in events).items():
        ids = [event.id for event in events if event.persona_id == persona_id]
        persona = None if persona_id is None else user_hash(persona_id)
        _LOG.info("pruned", extra=whose | {"persona": persona, "events": count, "event_ids": ids})


EXPIRED = "expired"
_COUNTS = ("users", EXPIRED, "pruned", "archived")
_DUE = 100
_RECORDS = 100
_USERS = 100
_RESERVE_SECONDS = 10.0


@dataclass(slots=True)
class _Run:
    """One step: for whom, since when everything is looked at, by which rules, and what came of it."""

    tenant: str
    job_id: str
    now: datetime
    rules: Sequence[RetentionRule]
    deadline: RemainingSeconds
    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(_COUNTS, 0)))

    @property
    def over(self) -> bool:
        """Whether no further page may be begun."""
        return self.deadline() < _RESERVE_SECONDS

    def order(self, reason: str) -> PruneOrder:
        return PruneOrder(self.job_id, self.now, reason)


class Retain:
    """Goes on from where its state says: in the queue, or at a user and a record of theirs.

    The instant at which it was begun decides what is due, however long it takes. A step that was broken off is done
    again; what went already is counted by the step that took it, so that a crash may leave the count too low, never
    the audit.
    """

    def __init__(
        self,
        timeline: Timeline,
        items: Items,
        users: KnownUsers,
        prune: PruneEvents,
        rules_of: Callable[[str], Rules],
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._users = users
        self._prune = prune
        self._rules_of = rules_of
        self._memories = ReadMemories(items)

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`: as many pages as the time allows, one at least."""
        begun = from_iso(str(state["now"])) if "now" in state else now
        own = {JOB_ID: state[JOB_ID], "now": iso(begun)}
        run = _Run(tenant, str(state[JOB_ID]), begun, self._rules_of(tenant).retention, deadline)
        if "users" not in state:
            queued = self._expire_pages(run, state.get("queue"))
            after = own | ({"users": None} if queued is None else {"queue": queued})
            return JobProgress(state=after, counts=run.counts, share=0.1, done=queued is None and not run.rules)
        place = self._user_pages(run, state)
        return JobProgress(state=own | (place or {}), counts=run.counts, share=0.5 if place else 1.0, done=not place)

    def _expire_pages(self, run: _Run, after: str | None) -> str | None:
        """Where the queue goes on; None at its end."""
        while True:
            page = self._items.due(EXPIRY_QUEUE, run.now, _DUE, after)
            own = [due for due in page.items if due.owner.tenant == run.tenant]
            for owner, dues in groupby(sorted(own, key=_whose), key=lambda due: due.owner):
                self._expire(run, owner, [due.key for due in dues])
            after = page.more
            if after is None or run.over:
                return after

    def _expire(self, run: _Run, owner: Scope, keys: Sequence[ItemKey]) -> None:
        """Prunes those of one user that are over by now, and says of the others when to look again."""
        items = self._items.get(owner, keys)
        events = self._timeline.read(owner, [expiring_ref(item) for item in items.values()])
        kept = self._memories.kept(owner, events)
        gone = {one.id: one for event in events.values() for one in self._over(owner, event, kept.get(event.id), run)}
        run.counts[EXPIRED] += self._prune(owner, list(gone.values()), run.order(EXPIRED))
        left = {event_id: event for event_id, event in events.items() if event_id not in gone}
        writes = [_noted(item, left.get(item.key.key), kept.get(item.key.key)) for item in items.values()]
        for start in range(0, len(writes), MOST_WRITES):
            self._items.write(owner, writes[start : start + MOST_WRITES], run.now)

    def _over(self, owner: Scope, event: Event, kept: StoredMemory | None, run: _Run) -> list[Event]:
        """The event where it has expired; where the memory that it carries has, all that this was made from."""
        own = kept.memory if kept is not None and kept.memory.id == event.id else None
        if own is not None and own.expired(run.now):
            others = [self._timeline.find(owner, one) for one in own.source_event_ids if one != event.id]
            return [*(one for one in others if one is not None), event]
        return [event] if event.expired(run.now) else []

    def _user_pages(self, run: _Run, state: Mapping[str, Any]) -> dict[str, Any] | None:
        """Where to go on: a page of users, one of them, and a record of theirs; None at the end."""
        cursor, first = state["users"], str(state.get("user", ""))
        while True:
            page = self._users.page(run.tenant, _USERS, cursor)
            for user_id in (one for one in page.user_ids if one.encode() >= first.encode()):
                if run.over and run.counts["users"]:
                    return {"users": cursor, "user": user_id}
                more = self._record_pages(run, Scope(run.tenant, user_id), _ref_of(user_id, state))
                if more is not None:
                    place = {"id": more.id, "at": iso(more.timestamp)}
                    return {"users": cursor, "user": user_id, "place": place}
                run.counts["users"] += 1
            if page.more is None:
                return None
            cursor = page.more

    def _record_pages(self, run: _Run, scope: Scope, after: EventRef | None) -> EventRef | None:
        """From the oldest on, or from there; None where no more is old enough."""
        until = bound(run.rules, run.now)
        while until is not None:
            page = self._timeline.records(scope, _RECORDS, after)
            old = list(takewhile(lambda event: event.timestamp < until, page.events))
            self._let_go(run, scope, old)
            after = page.more
            if after is None or len(old) < len(page.events):
                return None
            if run.over:
                return after
        return None

    def _let_go(self, run: _Run, scope: Scope, events: Sequence[Event]) -> None:
        """Archives and prunes those that a rule lets go."""
        due = self._due(run, scope, events)
        archived = [event for event, found in due if found.archive]
        self._prune.archive(scope, archived, run.order("retention"))
        run.counts["archived"] += len(archived)
        for rule, group in groupby(sorted(due, key=lambda pair: pair[1].rule), key=lambda pair: pair[1].rule):
            pruned = self._prune(scope, [event for event, _ in group], run.order(f"retention[{rule}]"))
            run.counts["pruned"] += pruned

    def _due(self, run: _Run, scope: Scope, events: Sequence[Event]) -> list[tuple[Event, Verdict]]:
        """An event whose memory somebody made more important is as important as that."""
        maybe = [event for event in events if verdict(run.rules, event, 0.0, run.now) is not None]
        kept = self._memories.kept(scope, [event.id for event in maybe]) if maybe else {}
        judged = ((e, verdict(run.rules, e, _importance(e, kept.get(e.id)), run.now)) for e in maybe)
        return [(event, found) for event, found in judged if found is not None]


def _importance(event: Event, kept: StoredMemory | None) -> float:
    if kept is None or kept.memory.status is not MemoryStatus.ACTIVE:
        return event.importance
    return max(event.importance, kept.memory.importance)


def _noted(item: Item, event: Event | None, kept: StoredMemory | None) -> ItemWrite:
    """When to look at what has not expired after all: it, or its memory, may do so later."""
    if event is None:
        return ItemWrite(item.key, None)
    own = kept.memory.expires_at if kept is not None and kept.memory.id == event.id else None
    times = [moment for moment in (event.expires_at, own) if moment is not None]
    return expiring_write(event.ref, min(times), None) if times else ItemWrite(item.key, None)


def _whose(due: DueItem) -> tuple[str, str]:
    return due.owner.user_id, due.key.key


def _ref_of(user_id: str, state: Mapping[str, Any]) -> EventRef | None:
    """The record at which a step stopped; none for another user, such as one who came in between."""
    place = state.get("place")
    return EventRef(place["id"], from_iso(place["at"])) if place and state.get("user") == user_id else None


_PAGE = 100
_MOST_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class ScheduleRetention:
    """The job is asked for in the step that puts the tenant's next one a day ahead."""

    items: Items
    ids: IdSource

    def __call__(self, now: datetime) -> int:
        """Asks for the jobs that are due; how many. Raises as `Items.due`."""
        started, after = 0, None
        for _ in range(_MOST_PAGES):
            page = self.items.due(SCHEDULE_QUEUE, now, _PAGE, after)
            started += sum(self._started(due, now) for due in page.items)
            after = page.more
            if after is None:
                break
        return started

    def _started(self, due: DueItem, now: datetime) -> bool:
        """False where somebody else was faster."""
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


_REMEMBERED = 10_000


class NoteExpiry:
    """Costs nothing where nothing expires, but for one read per tenant and process."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._tenants: OrderedDict[str, None] = OrderedDict()

    def __call__(self, scope: Scope, events: Sequence[Event], _gone: Sequence[EventRef], now: datetime) -> None:
        """Notes what is new; called again it changes nothing. Raises what the items raise."""
        self._note_tenant(scope.tenant, now)
        expiring = {event.id: event for event in events if event.expires_at is not None}
        there = self._items.get(scope.user, [expiring_key(event_id) for event_id in expiring]) if expiring else {}
        noted = {key.key: item.due.at for key, item in there.items() if item.due is not None}
        writes = [
            expiring_write(event.ref, event.expires_at, None)
            for event in expiring.values()
            if event.expires_at is not None and noted.get(event.id) != event.expires_at
        ]
        for start in range(0, len(writes), MOST_WRITES):
            self._items.write(scope.user, writes[start : start + MOST_WRITES], now)

    def _note_tenant(self, tenant: str, now: datetime) -> None:
        """From now on the tenant's retention runs by itself."""
        if tenant in self._tenants:
            return
        if not self._items.get(of_tenant(tenant), [SCHEDULE]):
            try:
                first = ItemWrite(SCHEDULE, {}, ABSENT, Due(SCHEDULE_QUEUE, now))
                self._items.write(of_tenant(tenant), [first], now)
            except VersionMismatch:
                pass  # somebody else was faster
        self._tenants[tenant] = None
        if len(self._tenants) > _REMEMBERED:
            self._tenants.popitem(last=False)
