"""Retention: which events a tenant's rules let go, and where it is kept when somebody must look (A-57, A-62 to A-65).

| collection  | owner  | key      | item                                                              |
|-------------|--------|----------|-------------------------------------------------------------------|
| `expiring`  | user   | event id | `{at}`: the event's instant; in the queue `expiry` at its expiry  |
| `schedules` | tenant | `retain` | in the queue `retention` when the tenant's next job is to begin   |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.archive.segments import user_hash
from recollect.core.event import Event, EventRef
from recollect.core.items import Due, Item, ItemKey, ItemPath, ItemWrite
from recollect.core.time import EARLIEST, from_iso, iso
from recollect.rules.groups import RetentionRule

EXPIRY_QUEUE = "expiry"
SCHEDULE_QUEUE = "retention"
SCHEDULE = ItemKey(ItemPath("schedules"), "retain")
EVERY = timedelta(days=1)
"""How often a tenant's retention runs by itself."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """An event is let go: by which of the rules (their position), and whether it is archived before."""

    rule: int
    archive: bool


def verdict(rules: Sequence[RetentionRule], event: Event, importance: float, now: datetime) -> Verdict | None:
    """What the rules say of an event: any of them suffices; None where all keep it.

    `importance` is the event's, or that of its memory where a person raised it. What was saved directly as a memory is
    never let go. It is archived where one of the rules that let it go says so.
    """
    if event.is_carrier:
        return None
    fitting = [number for number, rule in enumerate(rules) if _lets_go(rule, event, importance, now)]
    return Verdict(fitting[0], any(rules[number].archive for number in fitting)) if fitting else None


def bound(rules: Sequence[RetentionRule], now: datetime) -> datetime | None:
    """The instant before which an event may be let go; None without rules. No event at or after it is looked at."""
    return max((_oldest_kept(rule, now) for rule in rules), default=None)


def _lets_go(rule: RetentionRule, event: Event, importance: float, now: datetime) -> bool:
    return (
        event.timestamp < _oldest_kept(rule, now)
        and (rule.event_types is None or event.event_type in rule.event_types)
        and (rule.below_importance is None or importance < rule.below_importance)
        and not (rule.keep_keyed and event.key is not None)
    )


def _oldest_kept(rule: RetentionRule, now: datetime) -> datetime:
    """An event of just this age stays."""
    span = timedelta(days=rule.older_than_days)
    return now - span if now - EARLIEST > span else EARLIEST


def expiring_key(event_id: str) -> ItemKey:
    """Where it is told that an event expires."""
    return ItemKey(ItemPath("expiring"), event_id)


def expiring_write(ref: EventRef, expires_at: datetime, expected: int | None) -> ItemWrite:
    """The write that makes somebody look when it expires."""
    return ItemWrite(expiring_key(ref.id), {"at": iso(ref.timestamp)}, expected, Due(EXPIRY_QUEUE, expires_at))


def expiring_ref(item: Item) -> EventRef:
    """The event that an item of `expiring` tells of."""
    return EventRef(item.key.key, from_iso(str(item.value["at"])))


def archive_folder(user_id: str) -> str:
    """Where the archives of a user are: under a hash, since an object's name is no place for an id of a person."""
    return f"archive/{user_hash(user_id)}"
