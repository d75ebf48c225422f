"""The outbox: what is to be published stands or falls with what it tells of (A-62, A-66).

An entry is an item in the same atomic write as the change itself. It is published after that, and again by every
reconciliation until the bus has taken it; a reader tells the repetition by the id.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf

from recollect.domain.bus import BusEvent
from recollect.domain.errors import RecollectError
from recollect.domain.items import MOST_WRITES, Due, Item, ItemKey, ItemPath, ItemWrite
from recollect.domain.scope import Scope
from recollect.ports import Items, Publisher

OUTBOX = ItemPath("bus_outbox")
QUEUE = "bus_outbox"
RESERVE_SECONDS = 10.0
_PAGE = 100
_MOST_PAGES = 10_000


@dataclass(slots=True)
class OutboxRun:
    """How many events a run published, how many the bus did not take, and whether it came to the end."""

    published: int = 0
    refused: int = 0
    complete: bool = False


def outbox_write(event: BusEvent) -> ItemWrite:
    """The write that puts an event into the outbox of the owner that is written to; over one that is there already."""
    value = {"type": event.type, "detail": dict(event.detail)}
    return ItemWrite(_key(event.id), value, due=Due(QUEUE, datetime.fromtimestamp(0, UTC)))


class BusOutbox:
    """Publishes what stands in outboxes."""

    def __init__(self, items: Items, publisher: Publisher) -> None:
        self._items = items
        self._publisher = publisher

    def deliver(self, owner: Scope, events: Sequence[BusEvent], now: datetime) -> list[str]:
        """Publishes what was just written; answers the ids of those that stay. Raises as publisher and items."""
        left = self._publisher.publish(owner.tenant, events)
        taken = [ItemWrite(_key(event.id), None) for event in events if event.id not in left]
        for start in range(0, len(taken), MOST_WRITES):
            self._items.write(owner, taken[start : start + MOST_WRITES], now)
        return left

    def of_user(self, owner: Scope, now: datetime) -> None:
        """Publishes what is due of one owner's outbox; what cannot be published now stays for the reconciliation."""
        with suppress(RecollectError):
            found = self._items.page(owner, OUTBOX, _PAGE, None).items
            due = [_event(item, now) for item in found if item.due is not None and item.due.at <= now]
            if due:
                self.deliver(owner, due, now)

    def waiting(self, owner: Scope, event_type: str, now: datetime) -> list[BusEvent]:
        """What one owner's outbox holds of that type, due or not. Raises as items."""
        found: list[Item] = []
        after: str | None = None
        while True:
            page = self._items.page(owner, OUTBOX, _PAGE, after)
            found += [item for item in page.items if item.value["type"] == event_type]
            after = page.more
            if after is None:
                return [_event(item, now) for item in found]

    def drain(
        self, now: datetime, tenant: str | None = None, remaining_seconds: Callable[[], float] = lambda: inf
    ) -> OutboxRun:
        """Publishes what every outbox holds, or the tenant's; what fails stays. Raises as publisher and items."""
        run = OutboxRun()
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = self._items.due(QUEUE, now, _PAGE, after)
            for due in page.items:
                if remaining_seconds() < RESERVE_SECONDS:
                    return run
                if tenant in (None, due.owner.tenant):
                    self._one(due.owner, due.key, now, run)
            after = page.more
            if after is None:
                run.complete = True
                break
        return run

    def _one(self, owner: Scope, key: ItemKey, now: datetime, run: OutboxRun) -> None:
        item = self._items.get(owner, [key]).get(key)
        if item is None:
            return
        left = self.deliver(owner, [_event(item, now)], now)
        run.refused += len(left)
        run.published += 1 - len(left)


def _key(event_id: str) -> ItemKey:
    return ItemKey(OUTBOX, event_id)


def _event(item: Item, now: datetime) -> BusEvent:
    """As of now: whoever reads the bus on from a place in it has passed the time when it was written."""
    return BusEvent(item.key.key, item.value["type"], now, item.value["detail"])
