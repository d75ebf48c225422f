"""The job `retain`: what has expired, and what the tenant's retention rules let go (A-57, A-62 to A-65).

Its cost follows what is due. Expiry is a queue. A rule's age is a bound on the timeline, which is read from its
oldest record up to that bound: so what a rule keeps, though it is old enough, is read again by every run.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, takewhile
from typing import Any

from recollect.application.known_users import KnownUsers
from recollect.application.prune_events import PruneEvents, PruneOrder
from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.domain.event import Event, EventRef
from recollect.domain.instants import from_iso, iso
from recollect.domain.items import MOST_WRITES, DueItem, Item, ItemKey, ItemWrite
from recollect.domain.job import JOB_ID, JobProgress, RemainingSeconds
from recollect.domain.memory import MemoryStatus
from recollect.domain.retention import (
    EXPIRY_QUEUE,
    Verdict,
    bound,
    expiring_ref,
    expiring_write,
    verdict,
)
from recollect.domain.rule_groups import RetentionRule
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.ports import Items, Timeline

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

    def _over(self, owner: Scope, event: Event, kept: KeptMemory | None, run: _Run) -> list[Event]:
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


def _importance(event: Event, kept: KeptMemory | None) -> float:
    if kept is None or kept.memory.status is not MemoryStatus.ACTIVE:
        return event.importance
    return max(event.importance, kept.memory.importance)


def _noted(item: Item, event: Event | None, kept: KeptMemory | None) -> ItemWrite:
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
