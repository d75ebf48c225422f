"""The outbox of the event bus: what is still to be published."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf

from recollect.core.errors import RecollectError
from recollect.core.items import MOST_WRITES, Due, Item, ItemKey, ItemWrite, pages
from recollect.core.scope import Scope
from recollect.ports import Items, Publisher
from recollect.timeline.bus import OUTBOX, QUEUE, RESERVE_SECONDS, BusEvent

_PAGE = 100


@dataclass(slots=True)
class OutboxRun:
    """How many events a run published, how many the bus refused, and whether the run reached the end."""

    published: int = 0
    refused: int = 0
    complete: bool = False


def outbox_write(event: BusEvent) -> ItemWrite:
    """The write that puts an event into the outbox of the written owner, or replaces it there."""
    value = {"type": event.type, "detail": dict(event.detail)}
    return ItemWrite(_key(event.id), value, due=Due(QUEUE, datetime.fromtimestamp(0, UTC)))


class BusOutbox:
    """Publishes what outboxes hold."""

    def __init__(self, items: Items, publisher: Publisher) -> None:
        self._items = items
        self._publisher = publisher

    def deliver(self, owner: Scope, events: Sequence[BusEvent], now: datetime) -> list[str]:
        """Publishes events just written; returns the ids that the bus refused. Raises as publisher and items."""
        left = self._publisher.publish(owner.tenant, events)
        taken = [ItemWrite(_key(event.id), None) for event in events if event.id not in left]
        for start in range(0, len(taken), MOST_WRITES):
            self._items.write(owner, taken[start : start + MOST_WRITES], now)
        return left

    def of_user(self, owner: Scope, now: datetime) -> None:
        """Publishes what is due in one owner's outbox; leaves failures to the reconciliation."""
        with suppress(RecollectError):
            found = self._items.page(owner, OUTBOX, _PAGE, None).items
            due = [_event(item, now) for item in found if item.due is not None and item.due.at <= now]
            if due:
                self.deliver(owner, due, now)

    def waiting(self, owner: Scope, event_type: str, now: datetime) -> list[BusEvent]:
        """Events of that type in one owner's outbox, due or not. Raises as items."""
        read = pages(lambda after: self._items.page(owner, OUTBOX, _PAGE, after))
        found = (item for page in read for item in page.items)
        return [_event(item, now) for item in found if item.value["type"] == event_type]

    def drain(
        self, now: datetime, tenant: str | None = None, remaining_seconds: Callable[[], float] = lambda: inf
    ) -> OutboxRun:
        """Publishes what all outboxes hold, or the tenant's; failures stay. Raises as publisher and items."""
        run = OutboxRun()
        for page in pages(lambda after: self._items.due(QUEUE, now, _PAGE, after)):
            for due in page.items:
                if remaining_seconds() < RESERVE_SECONDS:
                    return run
                if tenant in (None, due.owner.tenant):
                    self._one(due.owner, due.key, now, run)
            run.complete = page.more is None
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
    """With the time of publication: a reader that follows the bus has passed the time of writing."""
    return BusEvent(item.key.key, item.value["type"], now, item.value["detail"])
