"""The check by `project`: counts new messages of a user and persona, so that a summary becomes due (H-05, H-10, P-5).

The count is a hint. It may be too high, where an event is projected twice; it is never too low: events are noted
before their markers go. What is due is decided by reading the timeline.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from recollect.domain.errors import VersionMismatch
from recollect.domain.event import Event, EventRef
from recollect.domain.items import ABSENT, Item
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.summary_items import state_in, state_key, state_write
from recollect.ports import Items

_TRIES = 10


class NoteMessages:
    """One read and at most one small write per persona for a batch of one user's events."""

    def __init__(self, items: Items, rules_of: Callable[[str], Rules]) -> None:
        self._items = items
        self._rules_of = rules_of

    def __call__(self, scope: Scope, events: Iterable[Event], now: datetime) -> None:
        """Counts the messages among these events. Raises VersionMismatch where others change the state all the time."""
        by_persona = _messages(events, now)
        if not by_persona:
            return
        keys = [state_key(persona_id) for persona_id in by_persona]
        found = self._items.get(scope.user, keys)
        for persona_id, refs in by_persona.items():
            self._note(scope, persona_id, refs, found.get(state_key(persona_id)), now)

    def _note(
        self, scope: Scope, persona_id: str | None, refs: list[EventRef], item: Item | None, now: datetime
    ) -> None:
        for _ in range(_TRIES):
            if self._noted(scope, persona_id, refs, item, now):
                return
            key = state_key(persona_id)
            item = self._items.get(scope.user, [key]).get(key)
        raise VersionMismatch("the state of the summaries changes all the time")

    def _noted(
        self, scope: Scope, persona_id: str | None, refs: list[EventRef], item: Item | None, now: datetime
    ) -> bool:
        """Whether they are counted now; False where the state was changed since it was read."""
        state = state_in(item, persona_id)
        noted = state.noted(refs)
        if noted is state:
            return True
        write = state_write(noted, self._rules_of(scope.tenant).summary, now, item.version if item else ABSENT)
        try:
            self._items.write(scope.user, [write], now)
        except VersionMismatch:
            return False
        return True


def _messages(events: Iterable[Event], now: datetime) -> Mapping[str | None, list[EventRef]]:
    by_persona: dict[str | None, list[EventRef]] = {}
    for event in events:
        if not event.is_private and not event.is_carrier and not event.expired(now):
            by_persona.setdefault(event.persona_id, []).append(event.ref)
    return by_persona
