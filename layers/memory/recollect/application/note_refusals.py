"""Refusals of events stand in the audit, by ids and reason; nothing of what was said (api.md, *Operations*)."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from recollect.domain.audit import Action, Actor, ActorKind, AuditEntry, audit_write
from recollect.domain.errors import VersionMismatch
from recollect.domain.event import Event, Source
from recollect.domain.ids import IdSeed
from recollect.domain.scope import Scope
from recollect.ports import Items

VIA = "events"


class NoteRefusals:
    """One entry for each reason of a request; with the same seed again none more."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def __call__(
        self, scope: Scope, refused: Sequence[tuple[Event, str]], seed: IdSeed, first: int, now: datetime
    ) -> None:
        """`refused` are events with the reason; the entries' ids are those of the seed from `first` on."""
        for place, reason in enumerate(dict.fromkeys(reason for _, reason in refused)):
            events = [event for event, why in refused if why == reason]
            entry = AuditEntry(
                id=seed.nth(first + place),
                at=now,
                actor=_actor(scope, events),
                action=Action.REFUSE,
                target_ids=tuple(event.id for event in events),
                via=VIA,
                reason=reason,
            )
            with suppress(VersionMismatch):  # an earlier try noted it
                self._items.write(scope.user, [audit_write(entry)], now)


def _actor(scope: Scope, events: Sequence[Event]) -> Actor:
    """What only a model says was said by a model's call."""
    if all(event.source is Source.INFERRED for event in events):
        return Actor(ActorKind.MODEL, VIA)
    return Actor(ActorKind.USER, scope.user_id)
