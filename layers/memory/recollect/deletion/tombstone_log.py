"""The tombstone log: deletions as objects outside of the table, so that a restored or lost table brings nothing back.

| object                      | content                                                                               |
|-----------------------------|---------------------------------------------------------------------------------------|
| `tombstones/{n, 12 digits}` | one deletion: records by id, instant and, where they may be sent again, the hash of   |
|                             | their identity; a rejection as a hash; an erasure; a tenant's keys; items by a hash   |

A deletion writes its tombstone into the table's outbox, atomically with the deletion; then the log writes the object.
Objects are numbered without a gap and the table stores the numbers it has applied: where the next number exists, the
table is older than the log and not ready until `ApplyTombstones` has applied the rest (P-22). Applying is idempotent.
"""

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.core.errors import Conflict, NotFound, NotReady, Unavailable, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import (
    ABSENT,
    ALL_PAGES,
    DueItem,
    ItemKey,
    ItemPath,
    ItemWrite,
    in_parts,
    of_tenant,
    pages,
    write_all,
)
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.deletion.rejected_values import (
    KEYS,
    VALUE_KEYS,
    hash_key,
    keys_document,
    keys_in,
    keys_tombstone,
    rejection_in,
    rejection_key,
)
from recollect.deletion.storage import QUEUE, deleted_write, tombstone_outbox_key
from recollect.jobs.job import RemainingSeconds
from recollect.ports import Items, PartState, SnapshotStore, Timeline

DEPLOYMENT = ""
"""The owner of objects that belong to no tenant; no tenant's name is empty."""

MARKER = ItemKey(ItemPath("tombstone_marker"), "last")
EVENTS, REJECTION, LIFTED, ERASURE, ITEMS = "events", "rejection", "lifted", "erasure", "items"
_IDS_IN_ONE = 5_000
_TRIES = 50
_PAGE = 100
_RESERVE_SECONDS = 3.0
_MOMENT_SECONDS = 0.3
_LOG = logging.getLogger(__name__)

Forget = Callable[[Scope, EventRef, datetime], None]
Erase = Callable[[Scope, str, datetime], None]
ForgetItemsAgain = Callable[[Scope, Mapping[str, Any], datetime], None]


def tombstone_name(number: int) -> str:
    """The object of that number, from 1."""
    return f"tombstones/{number:012d}"


@dataclass(frozen=True, slots=True)
class AppliedTombstones:
    """The applied numbers: all up to `last`, and those of `beyond`, since concurrent ones may be noted out of order."""

    last: int = 0
    beyond: frozenset[int] = frozenset()

    @property
    def next(self) -> int:
        return self.last + 1

    def with_one(self, number: int) -> "AppliedTombstones":
        last, beyond = self.last, self.beyond | {number}
        while last + 1 in beyond:
            last += 1
        return AppliedTombstones(last, frozenset(one for one in beyond if one > last))


@dataclass(frozen=True, slots=True)
class DeletedRecord:
    """A deleted record; `identity` is the dedupe key that it was stored under, None where unknown."""

    ref: EventRef
    identity: str | None = None


class TombstoneLog:
    """Each method is durable on return; callers log after the deletion itself and before they answer.

    `store` gives the object store; it raises NotReady where a deployment has none: then nothing is logged.
    """

    def __init__(self, items: Items, store: Callable[[], SnapshotStore]) -> None:
        self._items = items
        self._store = store

    def events(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        """Logs records that were deleted, expired or pruned. Their identities are read from the outbox."""
        for part in in_parts(refs, _IDS_IN_ONE):
            self._append({**events_tombstone(self._records(scope, part)), **_whose(scope)}, now)
            self.clear_outbox(scope.user, [ref.id for ref in part], now)

    def _records(self, scope: Scope, refs: Sequence[EventRef]) -> list[DeletedRecord]:
        pending = self._items.get(scope.user, [tombstone_outbox_key(ref.id) for ref in refs])
        known = {one.ref.id: one for item in pending.values() for one in deleted_records(item.value)}
        return [known.get(ref.id, DeletedRecord(ref)) for ref in refs]

    def rejection(self, scope: Scope, rejection_id: str, document: Mapping[str, Any], now: datetime) -> None:
        self._append({**rejection_tombstone(rejection_id, document), **_whose(scope)}, now)
        self.clear_outbox(scope.user, [rejection_id], now)

    def lifted(self, scope: Scope, rejection_id: str, fingerprint: str, now: datetime) -> None:
        self._append({**lifted_tombstone(rejection_id, fingerprint), **_whose(scope)}, now)
        self.clear_outbox(scope.user, [rejection_id], now)

    def erasure(self, scope: Scope, erasure_id: str, now: datetime) -> None:
        self._append({**erasure_tombstone(scope, erasure_id), **_whose(scope)}, now)
        self.clear_outbox(of_tenant(scope.tenant), [erasure_id], now)

    def items(self, scope: Scope, hashes: Sequence[str], revision: str, now: datetime) -> None:
        """Logs items of applications that were deleted, by the hashes of their places."""
        self._append({**items_tombstone(hashes, revision), **_whose(scope)}, now)
        self.clear_outbox(scope.user, [revision], now)

    def keys(self, tenant: str, document: Mapping[str, Any], now: datetime) -> None:
        """Logs the tenant's keys: without them no hash can be compared."""
        self._append({**keys_tombstone(document), "tenant": tenant}, now)
        self.clear_outbox(of_tenant(tenant), [KEYS], now)

    def clear_outbox(self, owner: Scope, names: Sequence[str], now: datetime) -> None:
        write_all(self._items.write, owner, [ItemWrite(tombstone_outbox_key(name), None) for name in names], now)

    def flush_outbox(self, now: datetime) -> None:
        """Logs what a process left in the outbox; idempotent. One that fails stays there, and stops no other.

        Raises as `Items.due`, and Unavailable.
        """
        for page in pages(lambda after: self._items.due(QUEUE, now, _PAGE, after), ALL_PAGES):
            for due in page.items:
                try:
                    self._flush(due, now)
                except Unavailable:
                    raise
                except Exception as error:  # noqa: BLE001 - one deletion's failure must not hold up the others
                    _LOG.error("a deletion was not kept outside of the table", extra={"error": type(error).__name__})

    def _flush(self, due: DueItem, now: datetime) -> None:
        item = self._items.get(due.owner, [due.key]).get(due.key)
        if item is not None:
            self._append({**_whose(due.owner), **item.value}, now)
            self._items.write(due.owner, [ItemWrite(due.key, None, item.version)], now)

    def behind(self) -> bool:
        """Whether the log has a tombstone that the table has not applied."""
        try:
            return self._store().get(DEPLOYMENT, tombstone_name(self.applied().next)) is not None
        except NotReady:
            return False

    def applied(self) -> AppliedTombstones:
        return self._marker()[0]

    def _marker(self) -> tuple[AppliedTombstones, int]:
        item = self._items.get(of_tenant(DEPLOYMENT), [MARKER]).get(MARKER)
        if item is None:
            return AppliedTombstones(), ABSENT
        return AppliedTombstones(int(item.value["last"]), frozenset(item.value["beyond"])), item.version

    def read(self, number: int) -> Mapping[str, Any] | None:
        """A tombstone; None beyond the last one."""
        found = self._store().get(DEPLOYMENT, tombstone_name(number))
        if found is None:
            return None
        document: dict[str, Any] = json.loads(found[0])
        return document

    def mark_applied(self, number: int, now: datetime) -> None:
        """Marks this number as applied. Raises Conflict."""

        def mark() -> None:
            known, version = self._marker()
            after = known.with_one(number)
            if after != known:
                write = ItemWrite(MARKER, {"last": after.last, "beyond": sorted(after.beyond)}, version)
                self._items.write(of_tenant(DEPLOYMENT), [write], now)

        retry_on_conflict(mark, "the marker of tombstones", _TRIES)

    def _append(self, tombstone: Mapping[str, Any], now: datetime) -> None:
        try:
            store = self._store()
        except NotReady:
            return
        data = json.dumps({**tombstone, "at": iso(now)}, ensure_ascii=False).encode("utf-8", "surrogatepass")
        known = self.applied()
        number = max((known.last, *known.beyond)) + 1
        for _ in range(_TRIES):
            try:
                store.put_if_absent(DEPLOYMENT, tombstone_name(number), data)
            except VersionMismatch:
                number += 1
                continue
            self.mark_applied(number, now)
            return
        raise Conflict("too many deletions at once")


def events_tombstone(records: Sequence[DeletedRecord]) -> dict[str, Any]:
    """Of records: id, instant and, where known, identity."""
    return {"kind": EVENTS, "events": [_record_entry(one) for one in records]}


def _record_entry(one: DeletedRecord) -> list[str]:
    return [one.ref.id, iso(one.ref.timestamp), *([one.identity] if one.identity else [])]


def deleted_records(tombstone: Mapping[str, Any]) -> list[DeletedRecord]:
    """The records of an `events_tombstone`; older tombstones have no identities."""
    entries = tombstone.get("events", ())
    return [DeletedRecord(EventRef(one, from_iso(at)), *identity) for one, at, *identity in entries]


def rejection_tombstone(rejection_id: str, document: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": REJECTION, "id": rejection_id, "rejection": dict(document)}


def lifted_tombstone(rejection_id: str, fingerprint: str) -> dict[str, Any]:
    return {"kind": LIFTED, "id": rejection_id, "hash": fingerprint}


def erasure_tombstone(scope: Scope, erasure_id: str) -> dict[str, Any]:
    return {"kind": ERASURE, "user_id": scope.user_id, "id": erasure_id}


def items_tombstone(hashes: Sequence[str], revision: str) -> dict[str, Any]:
    """Of items of applications that are older than the revision."""
    return {"kind": ITEMS, "hashes": list(hashes), "before": revision}


def _whose(scope: Scope) -> dict[str, str]:
    return {"tenant": scope.tenant, "user_id": scope.user_id}


class ApplyTombstones:
    """Applies the log to a restored or new table. Each tombstone may be applied twice.

    A record that exists is deleted as it was then. Of a record that does not exist the id is noted and the identity
    buried, so that no import, restore or repeated request stores it again. `forget` deletes a record without logging
    it; `erase` starts an erasure of that id; `forget_items` applies a tombstone of items.
    """

    def __init__(
        self,
        log: TombstoneLog,
        timeline: Timeline,
        items: Items,
        forget: Forget,
        erase: Erase,
        forget_items: ForgetItemsAgain,
    ) -> None:
        self._log = log
        self._timeline = timeline
        self._items = items
        self._forget = forget
        self._erase = erase
        self._forget_items = forget_items

    def apply(self, now: datetime, remaining_seconds: RemainingSeconds) -> Counter[str]:
        """Applies from the table's next number on while there is time; the counts by kind."""
        counts: Counter[str] = Counter()
        while remaining_seconds() > _RESERVE_SECONDS:
            number = self._log.applied().next
            tombstone = self._log.read(number)
            if tombstone is None:
                break
            self._apply(tombstone, now)
            self._log.mark_applied(number, now)
            counts[str(tombstone["kind"])] += 1
        return counts

    def check(self) -> PartState:
        """The part `tombstones` of readiness: not ready while the table is older than the log."""
        if self._log.behind() and self._still_behind():
            return PartState(False, "the store is older than its log of deletions; the missing ones are being applied")
        return PartState(True, f"deletions in the log: {self._log.applied().last}, all applied to the store")

    def _still_behind(self) -> bool:
        """A deletion in flight has written its object and not yet its number: that takes a moment."""
        time.sleep(_MOMENT_SECONDS)
        return self._log.behind()

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
        elif kind == ITEMS:
            self._forget_items(scope, tombstone, now)
            self._log.clear_outbox(scope.user, [tombstone["before"]], now)
        elif kind == ERASURE:
            self._erase(scope, tombstone["id"], now)
            self._log.clear_outbox(of_tenant(scope.tenant), [tombstone["id"]], now)

    def _events(self, scope: Scope, records: Sequence[DeletedRecord], now: datetime) -> None:
        there = self._timeline.read(scope, [one.ref for one in records])
        for ref in [one.ref for one in records if one.ref.id in there]:
            self._forgotten(scope, ref, now)
        lost = [one for one in records if one.ref.id not in there]
        write_all(self._items.write, scope, [deleted_write(one.ref.id) for one in lost], now)
        identities = [one.identity for one in lost if one.identity is not None]
        if identities:
            self._bury(scope, identities, now)

    def _bury(self, scope: Scope, identities: Sequence[str], now: datetime) -> None:
        """Also deletes a record that was sent again meanwhile; the log has the tombstone of its identity."""
        self._timeline.bury(scope, identities)
        again = [event_id for event_id in self._timeline.identified(scope, identities).values() if event_id is not None]
        found = [event for one in again if (event := self._timeline.find(scope, one)) is not None]
        for event in found:
            self._forgotten(scope, event.ref, now)

    def _forgotten(self, scope: Scope, ref: EventRef, now: datetime) -> None:
        with suppress(NotFound):
            self._forget(scope, ref, now)
        self._log.clear_outbox(scope.user, [ref.id], now)

    def _rejection(self, scope: Scope, rejection_id: str, document: Mapping[str, Any], now: datetime) -> None:
        value = rejection_in(rejection_id, document)
        writes = [
            ItemWrite(rejection_key(rejection_id), document),
            ItemWrite(hash_key(value.hash), {"id": rejection_id}),
        ]
        self._timeline.reject(scope, value.hash, writes, now)

    def _keys(self, tenant: str, document: Mapping[str, Any], now: datetime) -> None:
        """The union of the stored and the logged keys, the newest of the tombstone first."""
        item = self._items.get(of_tenant(tenant), [VALUE_KEYS]).get(VALUE_KEYS)
        known = keys_in(item.value) if item else ()
        logged = keys_in(document)
        ids = {key.id for key in logged}
        merged = (*logged, *(key for key in known if key.id not in ids))
        if merged != known and not ids <= {key.id for key in known}:
            write = ItemWrite(VALUE_KEYS, keys_document(merged), item.version if item else ABSENT)
            self._items.write(of_tenant(tenant), [write], now)


def seconds_from_now(seconds: float) -> RemainingSeconds:
    over = time.monotonic() + seconds
    return lambda: over - time.monotonic()
