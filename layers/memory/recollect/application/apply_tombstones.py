"""Applies again what was deleted after the state that a restored, or new, table is in (P-22).

Each tombstone may be applied twice. What is there goes as it went then; of a record that is not there, its id is
noted and its identity buried, so that no import and no restore brings it back, and nobody who sends it again.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from recollect.application.check_readiness import PartState
from recollect.application.outside_tombstones import (
    ERASURE,
    EVENTS,
    KEYS,
    LIFTED,
    REJECTION,
    DeletedRecord,
    OutsideTombstones,
    deleted_records,
)
from recollect.domain.deleted_ids import deleted_write
from recollect.domain.errors import NotFound
from recollect.domain.event import EventRef
from recollect.domain.items import ABSENT, MOST_WRITES, ItemWrite, of_tenant
from recollect.domain.job import RemainingSeconds
from recollect.domain.scope import Scope
from recollect.domain.value_tombstones import VALUE_KEYS, hash_key, keys_document, keys_in, rejection_in, rejection_key
from recollect.ports import Items, Timeline

_RESERVE_SECONDS = 3.0
_MOMENT_SECONDS = 0.3
Forget = Callable[[Scope, EventRef, datetime], None]
Erase = Callable[[Scope, str, datetime], None]


class ApplyTombstones:
    """`forget` deletes a record without noting it outside again; `erase` begins an erasure of that id anew."""

    def __init__(
        self, outside: OutsideTombstones, timeline: Timeline, items: Items, forget: Forget, erase: Erase
    ) -> None:
        self._outside = outside
        self._timeline = timeline
        self._items = items
        self._forget = forget
        self._erase = erase

    def __call__(self, now: datetime, remaining_seconds: RemainingSeconds) -> Counter[str]:
        """Goes on from the last one that the table knows of; how many of each kind. Raises what the parts raise."""
        counts: Counter[str] = Counter()
        while remaining_seconds() > _RESERVE_SECONDS:
            number = self._outside.known().next
            tombstone = self._outside.read(number)
            if tombstone is None:
                break
            self._apply(tombstone, now)
            self._outside.passed(number, now)
            counts[str(tombstone["kind"])] += 1
        return counts

    def check(self) -> PartState:
        """The part `tombstones` of readiness: not ready while the table is older than what was deleted."""
        if self._outside.waiting() and self._still_waiting():
            return PartState(False, "the table is older than deletions that are kept outside of it; they are applied")
        return PartState(True, f"{self._outside.known().last} deletions are kept outside of the table")

    def _still_waiting(self) -> bool:
        """A deletion under way has written its object and not yet its number: that is over in a moment."""
        time.sleep(_MOMENT_SECONDS)
        return self._outside.waiting()

    def _apply(self, tombstone: Mapping[str, Any], now: datetime) -> None:
        kind = tombstone["kind"]
        if kind == KEYS:
            self._keys(tombstone["tenant"], tombstone["keys"], now)
            return
        scope = Scope(tombstone["tenant"], tombstone["user_id"])
        if kind == EVENTS:
            self._events(scope, deleted_records(tombstone), now)
        elif kind == REJECTION:
            self._rejection(scope, tombstone["id"], tombstone["rejection"], now)
        elif kind == LIFTED:
            writes = [ItemWrite(rejection_key(tombstone["id"]), None), ItemWrite(hash_key(tombstone["hash"]), None)]
            self._timeline.lift(scope, tombstone["hash"], writes, now)
        elif kind == ERASURE:
            self._erase(scope, tombstone["id"], now)
            self._outside.told(of_tenant(scope.tenant), [tombstone["id"]], now)

    def _events(self, scope: Scope, records: Sequence[DeletedRecord], now: datetime) -> None:
        there = self._timeline.read(scope, [one.ref for one in records])
        for ref in [one.ref for one in records if one.ref.id in there]:
            self._forgotten(scope, ref, now)
        lost = [one for one in records if one.ref.id not in there]
        writes = [deleted_write(one.ref.id) for one in lost]
        for start in range(0, len(writes), MOST_WRITES):
            self._items.write(scope, writes[start : start + MOST_WRITES], now)
        identities = [one.identity for one in lost if one.identity is not None]
        if identities:
            self._bury(scope, identities, now)

    def _bury(self, scope: Scope, identities: Sequence[str], now: datetime) -> None:
        """One that was sent again before this goes too; outside, the tombstone of its identity stands for it."""
        self._timeline.bury(scope, identities)
        again = [event_id for event_id in self._timeline.identified(scope, identities).values() if event_id is not None]
        found = [event for one in again if (event := self._timeline.find(scope, one)) is not None]
        for event in found:
            self._forgotten(scope, event.ref, now)

    def _forgotten(self, scope: Scope, ref: EventRef, now: datetime) -> None:
        with suppress(NotFound):
            self._forget(scope, ref, now)
        self._outside.told(scope.user, [ref.id], now)

    def _rejection(self, scope: Scope, rejection_id: str, document: Mapping[str, Any], now: datetime) -> None:
        value = rejection_in(rejection_id, document)
        writes = [
            ItemWrite(rejection_key(rejection_id), document),
            ItemWrite(hash_key(value.hash), {"id": rejection_id}),
        ]
        self._timeline.reject(scope, value.hash, writes, now)

    def _keys(self, tenant: str, document: Mapping[str, Any], now: datetime) -> None:
        """The keys that are there, with those that are not; the newest of the tombstone first."""
        item = self._items.get(of_tenant(tenant), [VALUE_KEYS]).get(VALUE_KEYS)
        known = keys_in(item.value) if item else ()
        told = keys_in(document)
        ids = {key.id for key in told}
        merged = (*told, *(key for key in known if key.id not in ids))
        if merged != known and not {key.id for key in told} <= {key.id for key in known}:
            write = ItemWrite(VALUE_KEYS, keys_document(merged), item.version if item else ABSENT)
            self._items.write(of_tenant(tenant), [write], now)


def seconds_from_now(seconds: float) -> RemainingSeconds:
    """A deadline that many seconds away."""
    over = time.monotonic() + seconds
    return lambda: over - time.monotonic()
