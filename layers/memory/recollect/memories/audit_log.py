"""The audit as it is read: pages of a user's entries, newest first; the ledger is those that tell an outcome.

Refusals stand in the audit, by ids and reason; nothing of what was said (api.md, *Operations*).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from recollect.core.errors import VersionMismatch
from recollect.core.event import Event, Role, Source
from recollect.core.ids import IdSeed, IdSource
from recollect.core.items import ItemPage
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

_CHUNK = 200
_MOST_CHUNKS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which entries; None is any. `decisions`: only those with an outcome, which are the ledger."""

    target_id: str | None = None
    action: Action | None = None
    event_id: str | None = None
    outcome: str | None = None
    decisions: bool = False

    def admits(self, entry: AuditEntry) -> bool:
        """Whether the entry is one of them."""
        return (
            (self.target_id is None or self.target_id in entry.target_ids)
            and self.action in (None, entry.action)
            and (self.event_id is None or self.event_id in entry.event_ids)
            and self.outcome in (None, entry.outcome)
            and not (self.decisions and entry.outcome is None)
        )


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries, the newest first; `more` where the next page goes on: a page may be short, or empty, before the end."""

    entries: tuple[AuditEntry, ...]
    more: str | None


class ListAudit:
    """Looks through at most 2,000 entries for a page: a rare filter costs several short answers, not a long one."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def __call__(self, scope: Scope, limit: int, after: str | None, wanted: AuditFilter) -> AuditPage:
        """A page of the user's entries. Raises InvalidInput for an `after` that is none of ours."""
        found: list[AuditEntry] = []
        for _ in range(_MOST_CHUNKS):
            page, entries = self._chunk(scope, limit - len(found), after, wanted)
            found += entries
            after = page.more
            if after is None or len(found) == limit:
                break
        return AuditPage(tuple(found), after)

    def _chunk(
        self, scope: Scope, room: int, after: str | None, wanted: AuditFilter
    ) -> tuple[ItemPage, list[AuditEntry]]:
        """The next entries that there is room for; a chunk that has more of them is read again, just so far."""
        count = room if wanted == AuditFilter() else max(room, _CHUNK)
        while True:
            page = self._items.page(scope.user, AUDIT, count, after, descending=True)
            entries = [audit_entry(item.key.key, item.value) for item in page.items]
            places = [place for place, entry in enumerate(entries) if wanted.admits(entry)]
            if len(places) <= room:
                return page, [entries[place] for place in places]
            count = places[room - 1] + 1


VIA = "events"
REJECTED = "rejected"
DELETED = "deleted"


class AuditRefusals:
    """One entry for each reason and actor of a request; with the same seed again none more."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def __call__(
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
            with suppress(VersionMismatch):  # an earlier try noted it
                self._items.write(scope.user, audit_once(entry), now)


def _by_reason_and_actor(
    scope: Scope, refused: Sequence[tuple[Event, str]]
) -> Mapping[tuple[str, Actor], Sequence[str]]:
    found: dict[tuple[str, Actor], list[str]] = {}
    for event, reason in refused:
        found.setdefault((reason, actor_of(scope, event)), []).append(event.id)
    return found


def actor_of(scope: Scope, event: Event) -> Actor:
    """Who said it: what has source `inferred` was said by a model's call, whatever its role."""
    if event.source is Source.INFERRED:
        return Actor(ActorKind.MODEL, VIA)
    return Actor(ActorKind.BOT, VIA) if event.role is Role.BOT else Actor(ActorKind.USER, scope.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedWrite:
    """A write that was refused: who asked for it, by which way (`AuditEntry.via`), when, and of which objects.

    `content` is what was to be written; the audit gets its keyed hash alone.
    """

    actor: Actor
    via: str
    now: datetime
    target_ids: Sequence[str] = ()
    content: str | None = None
    reason: str = REJECTED


class AuditRefusedWrite:
    """One entry for each refusal: who asks again is refused, and noted, again."""

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids

    def __call__(self, scope: Scope, refused: RefusedWrite) -> None:
        """Appends the entry to the user's audit."""
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
