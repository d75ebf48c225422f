"""Reject a value: in its scope no write stores it and no recall returns it, however it is spelled (P-22)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from recollect.core.errors import NotFound, VersionMismatch
from recollect.core.event import Event
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSource
from recollect.core.items import ABSENT, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.forget_events import Forgotten, any_version
from recollect.deletion.rejected_values import (
    REJECTIONS,
    RejectedValue,
    ValueKey,
    count_pieces,
    hash_key,
    rejection_document,
    rejection_in,
    rejection_key,
    unkeyed_fingerprint,
    value_hash,
)
from recollect.deletion.storage import tombstone_outbox_write
from recollect.deletion.suppression import Rejections, SuppressionList
from recollect.deletion.tombstone_log import TombstoneLog, lifted_tombstone, rejection_tombstone
from recollect.memories.audit import Action, Actor, AuditEntry, audit_write
from recollect.ports import Items, Timeline

Redact = Callable[[Scope, Rejections, datetime], object]
Forget = Callable[[], Forgotten]


@dataclass(frozen=True, slots=True)
class RejectionPage:
    """Rejections, oldest first; `more` is the cursor of the next page."""

    values: tuple[RejectedValue, ...]
    more: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejecting:
    """Who rejects, when, via which route, and which objects the rejection is about."""

    now: datetime
    actor: Actor
    via: str
    target_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RejectValue:
    """The use case behind `?reject=true` and `…/rejections`. `redact` removes the value from summaries and goals."""

    _timeline: Timeline
    _items: Items
    _ids: IdSource
    _redact: Redact
    _suppressed: SuppressionList
    _log: TombstoneLog

    def reject(self, owner: Scope, text: str, order: Rejecting) -> str:
        """Rejects a value for a user, persona and household (absent: the default ones); answers the rejection's id.

        Durable on return; a value that is rejected already keeps its rejection's id. Raises Conflict.
        """
        keys = self._suppressed.made_keys(owner.tenant, order.now)
        rejection_id = retry_on_conflict(lambda: self._rejected_once(owner, text, keys[0], order), "the rejection")
        self._redact(owner, self._suppressed.load(owner), order.now)
        return rejection_id

    def _rejected_once(self, owner: Scope, text: str, key: ValueKey, order: Rejecting) -> str:
        known = self._suppressed.load(owner).known(owner, text)
        if known is not None:
            return known.id
        value = RejectedValue(
            id=self._ids.fresh(),
            at=order.now,
            persona_id=owner.persona_id,
            household_id=owner.household_id,
            key=key.id,
            hash=value_hash(key, owner, text),
            pieces=count_pieces(text),
        )
        # An append that began before the tenant had a key compares this fingerprint.
        self._timeline.reject(owner, unkeyed_fingerprint(owner, text), [], order.now)
        self._timeline.reject(owner, value.hash, self._writes(value, order), order.now)
        self._log.rejection(owner, value.id, rejection_document(value), order.now)
        return value.id

    def event(
        self,
        scope: Scope,
        event_id: str,
        order: Rejecting,
        forget: Forget,
        accepts: Callable[[int], bool] = any_version,
    ) -> Forgotten:
        """Rejects an event's content in the event's scope and deletes the event. Raises NotFound, VersionMismatch."""
        event = self._timeline.find(scope, event_id)
        if event is None or not scope.admits(event.persona_id, event.household_id):
            raise NotFound("no such event")
        if not accepts(event.version):
            raise VersionMismatch("the event changed since it was read")
        with self.rejected(owner_of(scope, event), event.content, order):
            return forget()

    @contextmanager
    def rejected(self, owner: Scope, text: str, order: Rejecting) -> Iterator[None]:
        """Rejects the value, then lets the body delete its object; lifts the rejection where that fails."""
        before = {value.id for value in self._suppressed.load(owner).values}
        rejection_id = self.reject(owner, text, order)
        try:
            yield
        except (NotFound, VersionMismatch):
            if rejection_id not in before:
                self.lift(owner, rejection_id, order)
            raise

    def page(self, scope: Scope, limit: int, after: str | None) -> RejectionPage:
        """At most `limit` ≥ 1 rejections. Raises InvalidInput for `after`."""
        page = self._items.page(scope.user, REJECTIONS, limit, after)
        values = (rejection_in(item.key.key, item.value) for item in page.items)
        return RejectionPage(tuple(v for v in values if scope.admits(v.persona_id, v.household_id)), page.more)

    def lift(self, scope: Scope, rejection_id: str, order: Rejecting) -> None:
        """Accepts the value again; what was deleted stays deleted. Raises NotFound."""
        key = rejection_key(rejection_id)
        item = self._items.get(scope.user, [key]).get(key)
        value = rejection_in(rejection_id, item.value) if item else None
        if item is None or value is None or not scope.admits(value.persona_id, value.household_id):
            raise NotFound("no such rejection")
        entry = self._entry(Action.REVERT, rejection_id, order)
        pending = tombstone_outbox_write(rejection_id, lifted_tombstone(rejection_id, value.hash))
        removed = [ItemWrite(key, None, item.version), ItemWrite(hash_key(value.hash), None)]
        writes = [*removed, audit_write(entry), pending]
        try:
            self._timeline.lift(scope.user, value.hash, writes, order.now)
        except VersionMismatch:
            raise NotFound("no such rejection") from None
        self._log.lifted(scope, rejection_id, value.hash, order.now)

    def _writes(self, value: RejectedValue, order: Rejecting) -> Sequence[ItemWrite]:
        entry = self._entry(Action.REJECT, value.id, order)
        named = ItemWrite(hash_key(value.hash), {"id": value.id}, ABSENT)
        document = rejection_document(value)
        pending = tombstone_outbox_write(value.id, rejection_tombstone(value.id, document))
        return [ItemWrite(rejection_key(value.id), document, ABSENT), named, audit_write(entry), pending]

    def _entry(self, action: Action, rejection_id: str, order: Rejecting) -> AuditEntry:
        return AuditEntry(
            id=self._ids.fresh(),
            at=order.now,
            actor=order.actor,
            action=action,
            target_ids=(*order.target_ids, rejection_id),
            via=order.via,
        )


def owner_of(scope: Scope, event: Event) -> Scope:
    return Scope(scope.tenant, scope.user_id, event.persona_id, event.household_id)
