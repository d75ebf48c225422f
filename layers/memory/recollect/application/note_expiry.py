"""What `project` notes for retention: that an event expires, and that a tenant has something to be looked after."""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime

from recollect.domain.errors import VersionMismatch
from recollect.domain.event import Event, EventRef
from recollect.domain.items import ABSENT, MOST_WRITES, Due, ItemWrite, of_tenant
from recollect.domain.retention import SCHEDULE, SCHEDULE_QUEUE, expiring_key, expiring_write
from recollect.domain.scope import Scope
from recollect.ports import Items

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
