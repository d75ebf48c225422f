"""Refusals stand in the audit, by ids and reason; nothing of what was said (api.md, *Operations*)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.audit import Action, Actor, ActorKind, AuditEntry, audit_once, audit_write, content_hash
from recollect.domain.errors import VersionMismatch
from recollect.domain.event import Event, Role, Source
from recollect.domain.ids import IdSeed, IdSource
from recollect.domain.scope import Scope
from recollect.ports import Items

VIA = "events"
REJECTED = "rejected"
DELETED = "deleted"


class NoteRefusals:
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


class NoteRefusedWrite:
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
