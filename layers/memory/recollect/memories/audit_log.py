"""The audit read and written: pages of a user's entries, newest first, and the entries of refusals.

The ledger is the entries with an outcome. A refusal has ids and a reason, never content (`docs/memories.md`).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from recollect.core.errors import VersionMismatch
from recollect.core.event import Event, Role, Source
from recollect.core.ids import IdSeed, IdSource
from recollect.core.items import Item
from recollect.core.scope import Scope
from recollect.memories.audit import (
    AUDIT,
    Action,
    Actor,
    ActorKind,
    AuditEntry,
    audit_entry,
    audit_once,
    audit_write,
    content_hash,
)
from recollect.ports import Items
from recollect.timeline.listing import FilteredPages

VIA = "events"
REJECTED = "rejected"
DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which entries; None is any. `decisions`: only entries of the ledger, which have an outcome."""

    target_id: str | None = None
    action: Action | None = None
    event_id: str | None = None
    outcome: str | None = None
    decisions: bool = False

    def admits(self, entry: AuditEntry) -> bool:
        return (
            (self.target_id is None or self.target_id in entry.target_ids)
            and self.action in (None, entry.action)
            and (self.event_id is None or self.event_id in entry.event_ids)
            and self.outcome in (None, entry.outcome)
            and not (self.decisions and entry.outcome is None)
        )


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries, newest first; `more` is where the next page begins. A page may be short, even empty, before the end."""

    entries: tuple[AuditEntry, ...]
    more: str | None


class ListAudit:
    """A page reads at most 2,000 entries: a rare filter costs several short answers, not a long one."""

    def __init__(self, items: Items) -> None:
        self._pages = FilteredPages(items, AUDIT)

    def page(self, scope: Scope, limit: int, after: str | None, wanted: AuditFilter) -> AuditPage:
        """A page of the user's entries. Raises InvalidInput for an `after` that no page has given."""

        def admitted(items: Sequence[Item]) -> list[AuditEntry | None]:
            entries = [audit_entry(item.key.key, item.value) for item in items]
            return [entry if wanted.admits(entry) else None for entry in entries]

        found, more = self._pages.page(scope, limit, after, admitted, all_of_them=wanted == AuditFilter())
        return AuditPage(tuple(found), more)


class AuditRefusals:
    """Appends one entry for each reason and actor of a request; idempotent for the same seed."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def record(
        self, scope: Scope, refused: Sequence[tuple[Event, str]], seed: IdSeed, first: int, now: datetime
    ) -> None:
        """`refused` are events with the reason; the entries' ids are those of the seed from `first` on."""
        for place, ((reason, actor), ids) in enumerate(_by_reason_and_actor(scope, refused).items()):
            entry = AuditEntry(
                id=seed.nth(first + place),
                at=now,
                actor=actor,
                action=Action.REFUSE,
                target_ids=tuple(ids),
                via=VIA,
                reason=reason,
            )
            with suppress(VersionMismatch):  # an earlier try appended it
                self._items.write(scope.user, audit_once(entry), now)


def _by_reason_and_actor(
    scope: Scope, refused: Sequence[tuple[Event, str]]
) -> Mapping[tuple[str, Actor], Sequence[str]]:
    found: dict[tuple[str, Actor], list[str]] = {}
    for event, reason in refused:
        found.setdefault((reason, actor_of(scope, event)), []).append(event.id)
    return found


def actor_of(scope: Scope, event: Event) -> Actor:
    """Who said the event: a model for source `inferred`, whatever its role."""
    if event.source is Source.INFERRED:
        return Actor(ActorKind.MODEL, VIA)
    return Actor(ActorKind.BOT, VIA) if event.role is Role.BOT else Actor(ActorKind.USER, scope.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedWrite:
    """A refused write: its actor, its route (`AuditEntry.via`), its instant, its objects.

    `content` is what was to be written; the audit stores only its keyed hash.
    """

    actor: Actor
    via: str
    now: datetime
    target_ids: Sequence[str] = ()
    content: str | None = None
    reason: str = REJECTED


class AuditRefusedWrite:
    """Appends one entry for each refusal; a repeated request is refused and audited again."""

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids

    def record(self, scope: Scope, refused: RefusedWrite) -> None:
        hashed = None if refused.content is None else content_hash(scope.tenant, scope.user_id, refused.content)
        entry = AuditEntry(
            id=self._ids.fresh(),
            at=refused.now,
            actor=refused.actor,
            action=Action.REFUSE,
            target_ids=tuple(refused.target_ids),
            via=refused.via,
            reason=refused.reason,
            after={"hash": hashed} if hashed else None,
        )
        self._items.write(scope.user, [audit_write(entry)], refused.now)
