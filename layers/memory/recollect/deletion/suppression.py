"""The suppression list: rejected values, checked on every write and every recall (P-22)."""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from recollect.core.event import Event
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import ABSENT, ALL_PAGES, ItemWrite, of_tenant, pages
from recollect.core.scope import Scope
from recollect.deletion.rejected_values import (
    KEYS,
    LONGEST_RUN,
    REJECTIONS,
    VALUE_KEYS,
    RejectedValue,
    ValueKey,
    fingerprint_of,
    keys_document,
    keys_in,
    keys_tombstone,
    rejection_in,
    value_hash,
    without_rejected,
)
from recollect.deletion.storage import tombstone_outbox_write
from recollect.ports import Items

if TYPE_CHECKING:
    from recollect.memories.memory import Memory
    from recollect.summaries.goals import Goal
    from recollect.summaries.summary import Summary

_PAGE = 1000
_KEY_BYTES = 32
Judge: TypeAlias = Callable[[str], bool]
NoteKeys: TypeAlias = Callable[[str, Mapping[str, Any], datetime], None]


def no_note(_tenant: str, _keys: Mapping[str, Any], _now: datetime) -> None:
    """No log: the keys are stored in the table alone."""


@dataclass(frozen=True)
class Rejections:
    """The rejected values of a user, as read. False where there is none: then every text passes.

    A record is checked against the values of its own persona and household; what is made of all households of a persona
    (a summary, a goal) against the values of all of them.
    """

    user: Scope
    values: tuple[RejectedValue, ...] = ()
    keys: tuple[ValueKey, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return bool(self.values)

    def rejects(self, text: str, persona_id: str | None = None, household_id: str | None = None) -> bool:
        """Whether nothing of a text may be shown: it is rejected as a whole, or every sentence of it."""
        return self.redact(text, persona_id, household_id) is None

    def redact(self, text: str, persona_id: str | None = None, household_id: str | None = None) -> str | None:
        """The text without its rejected sentences; unchanged where there is none, None where nothing is left."""
        return self._redacted(text, [(persona_id, household_id)])

    def redact_for(self, text: str, persona_id: str | None) -> str | None:
        """The same for a text made of all households of a persona."""
        return self._redacted(text, [owner for owner in self._by_owner if owner[0] == persona_id])

    def shown(self, event: Event) -> Event | None:
        """The event as recall may show it; None where nothing of its content may be shown."""
        if (event.persona_id, event.household_id) not in self._by_owner:
            return event
        content = self.redact(event.content, event.persona_id, event.household_id)
        if content is None:
            return None
        return replace(
            event,
            content=content,
            title=self._part(event, event.title),
            category=self._part(event, event.category),
            notes=self._part(event, event.notes),
        )

    def shown_memory(self, memory: "Memory") -> "Memory | None":
        """The memory as recall may show it; None where nothing of its content may be shown."""
        content = self.redact(memory.content, memory.persona_id, memory.household_id)
        return None if content is None else replace(memory, content=content)

    def summary(self, summary: "Summary") -> "Summary":
        """The summary without rejected sentences and goals, over all households of its persona."""
        return summary.said_without(lambda text: self.redact_for(text, summary.persona_id)) if self else summary

    def admits_goal(self, goal: "Goal") -> bool:
        """Whether neither the goal nor a sentence of it is rejected."""
        return not self or self.redact_for(goal.goal, goal.persona_id) == goal.goal

    def shown_of(self, events: Iterable[Event]) -> list[Event]:
        """The events that may be shown, redacted, in order."""
        return [one for event in events if (one := self.shown(event)) is not None]

    def known(self, owner: Scope, text: str) -> RejectedValue | None:
        """The rejection of exactly this value in this scope."""
        values = self._by_owner.get((owner.persona_id, owner.household_id), ())
        hashes = {key.id: value_hash(key, owner, text) for key in self.keys}
        return next((value for value in values if hashes.get(value.key) == value.hash), None)

    @cached_property
    def _by_owner(self) -> dict[tuple[str | None, str | None], list[RejectedValue]]:
        found: dict[tuple[str | None, str | None], list[RejectedValue]] = {}
        for value in self.values:
            found.setdefault(value.owner, []).append(value)
        return found

    def _part(self, event: Event, text: str | None) -> str | None:
        return self.redact(text, event.persona_id, event.household_id) if text else text

    def _redacted(self, text: str, owners: Sequence[tuple[str | None, str | None]]) -> str | None:
        left: str | None = text
        for owner in owners:
            values = self._by_owner.get(owner, [])
            if left is not None and values:
                runs = sorted({value.pieces for value in values if value.pieces <= LONGEST_RUN})
                left = without_rejected(left, self._judge(owner, values), runs)
        return left

    def _judge(self, owner: tuple[str | None, str | None], values: Sequence[RejectedValue]) -> Judge:
        scope = Scope(self.user.tenant, self.user.user_id, *owner)
        rejected = {(value.key, value.hash) for value in values}
        used = [key for key in self.keys if any(key.id == value.key for value in values)]
        return lambda text: any((key.id, value_hash(key, scope, text)) in rejected for key in used)


@dataclass(frozen=True, slots=True)
class SuppressionCheck:
    """What a request that stores events compares: the tenant's keys, and rejections under older keys than the newest.

    The append itself compares the fingerprint under the newest key.
    """

    keys: tuple[ValueKey, ...]
    older: Rejections

    @classmethod
    def none(cls, scope: Scope) -> "SuppressionCheck":
        """The check of a tenant that has rejected nothing."""
        return cls((), Rejections(scope.user))

    def fingerprint(self, tenant: str, event: Event) -> str:
        return fingerprint_of(self.keys, _owner(tenant, event), event.content)

    def refuses(self, event: Event) -> bool:
        """Whether the content was rejected under an older key."""
        if not self.older:
            return False
        return self.older.known(_owner(self.older.user.tenant, event), event.content) is not None


class SuppressionList:
    """Reads a user's rejections and makes the tenant's keys; each read is one call, two where there are rejections."""

    def __init__(self, items: Items, note_keys: NoteKeys = no_note) -> None:
        self._items = items
        self._note_keys = note_keys

    def load(self, scope: Scope) -> Rejections:
        """The user's rejections, of every persona and household."""
        found = pages(lambda after: self._items.page(scope.user, REJECTIONS, _PAGE, after), ALL_PAGES)
        values = tuple(rejection_in(item.key.key, item.value) for page in found for item in page.items)
        return Rejections(scope.user, values, self.keys(scope.tenant) if values else ())

    def keys(self, tenant: str) -> tuple[ValueKey, ...]:
        """The tenant's keys, newest first; none before the first rejection."""
        item = self._items.get(of_tenant(tenant), [VALUE_KEYS]).get(VALUE_KEYS)
        return keys_in(item.value) if item else ()

    def marks(self, scope: Scope) -> SuppressionCheck:
        """What storing compares: one read, and those of `load` once a key was rotated."""
        keys = self.keys(scope.tenant)
        return SuppressionCheck(keys, self.load(scope) if len(keys) > 1 else Rejections(scope.user))

    def made_keys(self, tenant: str, now: datetime) -> tuple[ValueKey, ...]:
        """The tenant's keys; makes the first one where there is none."""
        return self.keys(tenant) or self._add_key(tenant, now, only_first=True)

    def rotate(self, tenant: str, now: datetime) -> tuple[ValueKey, ...]:
        """Adds a key for new rejections; the old ones stay for older rejections."""
        return self._add_key(tenant, now, only_first=False)

    def _add_key(self, tenant: str, now: datetime, *, only_first: bool) -> tuple[ValueKey, ...]:
        def add() -> tuple[ValueKey, ...]:
            item = self._items.get(of_tenant(tenant), [VALUE_KEYS]).get(VALUE_KEYS)
            known = keys_in(item.value) if item else ()
            if known and only_first:
                return known
            keys = (ValueKey(secrets.token_hex(8), secrets.token_bytes(_KEY_BYTES)), *known)
            write = ItemWrite(VALUE_KEYS, keys_document(keys), item.version if item else ABSENT)
            pending = tombstone_outbox_write(KEYS, keys_tombstone(keys_document(keys)))
            self._items.write(of_tenant(tenant), [write, pending], now)
            self._note_keys(tenant, keys_document(keys), now)
            return keys

        return retry_on_conflict(add, "the tenant's key ring")


def _owner(tenant: str, event: Event) -> Scope:
    return Scope(tenant, event.user_id, event.persona_id, event.household_id)
