"""Records with all that belongs to them, as exports, segments and snapshots hold them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.domain.copies import ORIGINS, origin_in, origin_key
from recollect.domain.decisions import Decision, decision_in, decision_key, pair_id
from recollect.domain.event import Event
from recollect.domain.items import Item
from recollect.domain.memory import Memory
from recollect.domain.memory_items import SAME_AS, memory_in, memory_key, versions_path
from recollect.domain.record_line import Given, RecordLine, RecordOrigin, identities_of
from recollect.domain.record_line_check import MOST_DECISIONS, MOST_VERSIONS
from recollect.domain.scope import Scope
from recollect.ports import Items, Timeline


class RecordLines:
    """Reads in batches: identities, memories, origins; the earlier versions of those memories alone that have some."""

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._items = items

    def __call__(self, scope: Scope, events: Sequence[Event], now: datetime) -> list[RecordLine]:
        """One line for each event that is not expired, in order."""
        lasting = [event for event in events if not event.expired(now)]
        if not lasting:
            return []
        given = self._given(scope, lasting)
        origins = self._origins(scope, lasting)
        found = self._items.get(scope.user, [memory_key(event.id) for event in lasting])
        kept = {key.key: item for key, item in found.items()}
        return [self._line(scope, event, given[event.id], origins, kept.get(event.id)) for event in lasting]

    def _line(
        self, scope: Scope, event: Event, given: Given, origins: Mapping[str, RecordOrigin], item: Item | None
    ) -> RecordLine:
        origin = origins.get(event.id) or RecordOrigin(event.user_id, event.id)
        if item is None:
            return RecordLine(event=event, origin=origin, given=given)
        if SAME_AS in item.value:
            return RecordLine(event=event, origin=origin, given=given, same_as=str(item.value[SAME_AS]))
        memory = memory_in(item.value)
        versions = self._versions(scope, memory) if memory.version > 1 else ()
        decisions = self._decisions(scope, memory, versions)
        return RecordLine(
            event=event, origin=origin, given=given, memory=memory, versions=versions, decisions=decisions
        )

    def _given(self, scope: Scope, events: Sequence[Event]) -> dict[str, Given]:
        """Which of its possible identities is each event's own."""
        possible = {event.id: identities_of(scope, event) for event in events}
        known = self._timeline.identified(scope, [one for named in possible.values() for one in named.values()])
        return {
            event_id: next((given for given, one in named.items() if known.get(one, "") == event_id), Given.NOTHING)
            for event_id, named in possible.items()
        }

    def _origins(self, scope: Scope, events: Sequence[Event]) -> dict[str, RecordOrigin]:
        if not self._items.page(scope.user, ORIGINS, 1, None).items:
            return {}
        found = self._items.get(scope.user, [origin_key(event.id) for event in events])
        return {key.key: origin_in(item.value) for key, item in found.items()}

    def _versions(self, scope: Scope, memory: Memory) -> tuple[Memory, ...]:
        """The newest 20, oldest first."""
        page = self._items.page(scope.user, versions_path(memory.id), MOST_VERSIONS, None, descending=True)
        return tuple(memory_in(item.value) for item in reversed(page.items))

    def _decisions(self, scope: Scope, memory: Memory, versions: Sequence[Memory]) -> tuple[Decision, ...]:
        """The decisions by those that ended it, or a part of it, in one of these versions."""
        winners = {by for version in (*versions, memory) for by in _ended_by(version)} - {memory.id}
        keys = [decision_key(pair_id(by, memory.id)) for by in sorted(winners)[-MOST_DECISIONS:]]
        found = self._items.get(scope.user, keys) if keys else {}
        return tuple(decision_in(found[key].value) for key in keys if key in found)


def _ended_by(memory: Memory) -> set[str]:
    by = {lapse.by for lapse in memory.lapses}
    return by | {memory.superseded_by} if memory.superseded_by is not None else by
