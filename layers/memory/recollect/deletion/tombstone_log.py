"""Deletions as they are kept outside of the table too, so that a restored or a lost one cannot bring anything back.

| object of the deployment    | what it tells                                                                      |
|-----------------------------|------------------------------------------------------------------------------------|
| `tombstones/{n, 12 digits}` | one deletion: records by id, instant and the hash that was their identity, where   |
|                             | the same event may be sent again; a rejection as hash; an erasure; a tenant's keys |

What is to be told stands in the table first, in one step with the deletion (`domain.untold`); `tell` makes good what
a process left untold. They are numbered without a gap. The table keeps the numbers that it knows of; where the first
one that it does not know exists, the table is older than what was deleted: it is not ready until `apply_tombstones`
has gone on from there.

Applies again what was deleted after the state that a restored, or new, table is in (P-22).

Each tombstone may be applied twice. What is there goes as it went then; of a record that is not there, its id is
noted and its identity buried, so that no import and no restore brings it back, and nobody who sends it again.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.core.errors import NotFound, NotReady, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.items import ABSENT, MOST_WRITES, ItemKey, ItemPath, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.deletion.rejected_values import VALUE_KEYS, hash_key, keys_document, keys_in, rejection_in, rejection_key
from recollect.deletion.tombstones import QUEUE, deleted_write, tombstone_outbox_key
from recollect.jobs.job import RemainingSeconds
from recollect.ports import Items, SnapshotStore, Timeline
from recollect.search_index.health import PartState

DEPLOYMENT = ""
"""The owner of what is no tenant's; no tenant's name is empty."""

MARKER = ItemKey(ItemPath("tombstone_marker"), "last")
EVENTS, REJECTION, LIFTED, ERASURE, KEYS = "events", "rejection", "lifted", "erasure", "keys"
_IDS_IN_ONE = 5_000
_TRIES = 50
_PAGE = 100


def tombstone_name(number: int) -> str:
    """The object of that number, from 1."""
    return f"tombstones/{number:012d}"


@dataclass(frozen=True, slots=True)
class KnownTombstones:
    """All up to `last`, and those of `beyond`: of several at once the later one may be noted first."""

    last: int = 0
    beyond: frozenset[int] = frozenset()

    @property
    def next(self) -> int:
        """The first that is not among them."""
        return self.last + 1

    def with_one(self, number: int) -> "KnownTombstones":
        """With this one too."""
        last, beyond = self.last, self.beyond | {number}
        while last + 1 in beyond:
            last += 1
        return KnownTombstones(last, frozenset(one for one in beyond if one > last))


@dataclass(frozen=True, slots=True)
class DeletedRecord:
    """A record that is gone; `identity` is the dedupe key that it was stored under, None where none is known."""

    ref: EventRef
    identity: str | None = None


class TombstoneLog:
    """Each is durable when its call returns, after the deletion itself and before anybody is told of it.

    `store` gives the place for objects; where a deployment has none, nothing is kept outside.
    """

    def __init__(self, items: Items, store: Callable[[], SnapshotStore]) -> None:
        self._items = items
        self._store = store

    def events(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        """These records of a user were deleted, or have expired, or were pruned.

        Their identities stand in the table, where they are untold yet.
        """
        for start in range(0, len(refs), _IDS_IN_ONE):
            part = refs[start : start + _IDS_IN_ONE]
            self._note({**events_tombstone(self._records(scope, part)), **_whose(scope)}, now)
            self.told(scope.user, [ref.id for ref in part], now)

    def _records(self, scope: Scope, refs: Sequence[EventRef]) -> list[DeletedRecord]:
        untold = self._items.get(scope.user, [tombstone_outbox_key(ref.id) for ref in refs])
        told = {one.ref.id: one for item in untold.values() for one in deleted_records(item.value)}
        return [told.get(ref.id, DeletedRecord(ref)) for ref in refs]

    def rejection(self, scope: Scope, rejection_id: str, document: Mapping[str, Any], now: datetime) -> None:
        """A value of the user was rejected."""
        self._note({**rejection_tombstone(rejection_id, document), **_whose(scope)}, now)
        self.told(scope.user, [rejection_id], now)

    def lifted(self, scope: Scope, rejection_id: str, fingerprint: str, now: datetime) -> None:
        """A rejection was lifted."""
        self._note({**lifted_tombstone(rejection_id, fingerprint), **_whose(scope)}, now)
        self.told(scope.user, [rejection_id], now)

    def erasure(self, scope: Scope, erasure_id: str, now: datetime) -> None:
        """The user was erased."""
        self._note({**erasure_tombstone(scope, erasure_id), **_whose(scope)}, now)
        self.told(of_tenant(scope.tenant), [erasure_id], now)

    def keys(self, tenant: str, document: Mapping[str, Any], now: datetime) -> None:
        """The tenant's keys: without them no hash can be compared."""
        self._note({**keys_tombstone(document), "tenant": tenant}, now)
        self.told(of_tenant(tenant), [KEYS], now)

    def told(self, owner: Scope, names: Sequence[str], now: datetime) -> None:
        """These are kept outside."""
        writes = [ItemWrite(tombstone_outbox_key(name), None) for name in names]
        for start in range(0, len(writes), MOST_WRITES):
            self._items.write(owner, writes[start : start + MOST_WRITES], now)

    def tell(self, now: datetime) -> None:
        """Keeps outside what a process left untold; again is no harm. Raises as `Items.due` and the store."""
        after: str | None = None
        while True:
            page = self._items.due(QUEUE, now, _PAGE, after)
            for due in page.items:
                item = self._items.get(due.owner, [due.key]).get(due.key)
                if item is not None:
                    self._note({**_whose(due.owner), **item.value}, now)
                    self._items.write(due.owner, [ItemWrite(due.key, None, item.version)], now)
            after = page.more
            if after is None:
                return

    def waiting(self) -> bool:
        """Whether the table does not know of a deletion that is kept outside."""
        try:
            return self._store().get(DEPLOYMENT, tombstone_name(self.known().next)) is not None
        except NotReady:
            return False

    def known(self) -> KnownTombstones:
        """What the table knows of."""
        return self._marker()[0]

    def _marker(self) -> tuple[KnownTombstones, int]:
        item = self._items.get(of_tenant(DEPLOYMENT), [MARKER]).get(MARKER)
        if item is None:
            return KnownTombstones(), ABSENT
        return KnownTombstones(int(item.value["last"]), frozenset(item.value["beyond"])), item.version

    def read(self, number: int) -> Mapping[str, Any] | None:
        """A tombstone; None beyond the last one."""
        found = self._store().get(DEPLOYMENT, tombstone_name(number))
        if found is None:
            return None
        document: dict[str, Any] = json.loads(found[0])
        return document

    def passed(self, number: int, now: datetime) -> None:
        """The table knows of this one too."""
        for _ in range(_TRIES):
            known, version = self._marker()
            after = known.with_one(number)
            if after == known:
                return
            write = ItemWrite(MARKER, {"last": after.last, "beyond": sorted(after.beyond)}, version)
            try:
                self._items.write(of_tenant(DEPLOYMENT), [write], now)
            except VersionMismatch:
                continue
            return
        raise VersionMismatch("the marker of tombstones changes all the time")

    def _note(self, tombstone: Mapping[str, Any], now: datetime) -> None:
        try:
            store = self._store()
        except NotReady:
            return
        data = json.dumps({**tombstone, "at": iso(now)}, ensure_ascii=False).encode("utf-8", "surrogatepass")
        known = self.known()
        number = max((known.last, *known.beyond)) + 1
        for _ in range(_TRIES):
            try:
                store.put_if_absent(DEPLOYMENT, tombstone_name(number), data)
            except VersionMismatch:
                number += 1
                continue
            self.passed(number, now)
            return
        raise VersionMismatch("too many deletions at once")


def events_tombstone(records: Sequence[DeletedRecord]) -> dict[str, Any]:
    """Of records: id, instant and, where it is known, identity."""
    return {"kind": EVENTS, "events": [_told(one) for one in records]}


def _told(one: DeletedRecord) -> list[str]:
    return [one.ref.id, iso(one.ref.timestamp), *([one.identity] if one.identity else [])]


def deleted_records(tombstone: Mapping[str, Any]) -> list[DeletedRecord]:
    """What `events_tombstone` told, without identities in what was written before those were told."""
    told = tombstone.get("events", ())
    return [DeletedRecord(EventRef(one, from_iso(at)), *identity) for one, at, *identity in told]


def rejection_tombstone(rejection_id: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Of a value, as hash."""
    return {"kind": REJECTION, "id": rejection_id, "rejection": dict(document)}


def lifted_tombstone(rejection_id: str, fingerprint: str) -> dict[str, Any]:
    """Of a rejection that holds no longer."""
    return {"kind": LIFTED, "id": rejection_id, "hash": fingerprint}


def erasure_tombstone(scope: Scope, erasure_id: str) -> dict[str, Any]:
    """Of a user."""
    return {"kind": ERASURE, "user_id": scope.user_id, "id": erasure_id}


def keys_tombstone(document: Mapping[str, Any]) -> dict[str, Any]:
    """Of a tenant's keys, to which nothing is done."""
    return {"kind": KEYS, "keys": dict(document)}


def _whose(scope: Scope) -> dict[str, str]:
    return {"tenant": scope.tenant, "user_id": scope.user_id}


_RESERVE_SECONDS = 3.0
_MOMENT_SECONDS = 0.3
Forget = Callable[[Scope, EventRef, datetime], None]
Erase = Callable[[Scope, str, datetime], None]


class ApplyTombstones:
    """`forget` deletes a record without noting it outside again; `erase` begins an erasure of that id anew."""

    def __init__(self, outside: TombstoneLog, timeline: Timeline, items: Items, forget: Forget, erase: Erase) -> None:
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
