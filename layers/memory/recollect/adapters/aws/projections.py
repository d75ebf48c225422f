"""The port `Projections` on DynamoDB, and the walk over the pending markers of all users.

Markers lie in 32 partitions, in each by user and arrival, so that a user's newest are read consistently and a busy
day throttles nobody; a global index by arrival would cost two units more for each event and lag behind. While each
partition holds few of them, one read gets all, oldest first. A backlog is walked partition by partition: each user's
in the order of arrival, each marker once.
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import translated
from recollect.adapters.aws.item_format import (
    Attributes,
    event_in,
    instant,
    key_in,
    marked_event,
    number,
    pending_item,
    placed_in,
    projection_in,
    projection_item,
    record_attributes,
    slot_item,
    text,
)
from recollect.adapters.aws.keys import Key
from recollect.adapters.aws.table import SERVICE, ItemAccess, Walk
from recollect.core.errors import InvalidInput
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.timeline.slots import place_of, slot_of
from recollect.timeline.timeline import PendingPage, PlacedEvent, Projection

FEW_PER_SHARD = 256

_BY_ARRIVAL = "arrival"
_BY_SHARD = "shard"
_OF_PROJECTION = ("c", "g", "h", "i", "o", "p", "x")
"""What a projection has but for its segment."""


@dataclass(frozen=True, slots=True)
class DynamoDBProjections:
    """`save` comes before `settle`: from then on the projection has the place of its event."""

    access: ItemAccess
    most_together: ClassVar[int] = 1_000
    others_wait: ClassVar[bool] = False

    def together(self) -> AbstractContextManager[None]:
        """Groups nothing: each write is its own, in the order of the calls."""
        return nullcontext()

    def pending(self, limit: int, after: str | None) -> PendingPage:
        """Markers of every tenant, oldest arrival first; user by user where there are thousands of them."""
        return _pending_page(self.access, limit, after)

    def save(self, scope: Scope, projections: Sequence[Projection], known: Mapping[str, Event] | None = None) -> None:
        """Writes the vectors, with the index entries of those events that still exist.

        Entries of a known event that was deleted since lead to nothing, and go with the projection. Those with a
        segment replace the item, 25 in a call; each of the others is a call of its own, which leaves the segment.
        """
        events = dict(known or {})
        unknown = [one.ref for one in projections if one.ref.id not in events]
        if unknown:
            found = self.access.get_many(keys.event_key(scope, ref) for ref in unknown)
            events |= {event.id: event for event in map(event_in, found.values())}
        items = [projection_item(scope, one, events.get(one.ref.id)) for one in projections]
        self.access.put_many(item for item in items if "n" in item)
        others = {key_in(item): item for item in items if "n" not in item}
        self.access.side_by_side(self._update, list(others.values()))

    def vectors(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, Projection]:
        found = self.access.get_many(keys.projection_key(scope, event_id) for event_id in event_ids)
        projections = [projection_in(item) for item in found.values()]
        return {one.ref.id: one for one in projections}

    def place(self, scope: Scope, event: Event, segment: int) -> None:
        """Beside what is stored. An event that is deleted meanwhile loses it again: its removal may be over."""
        item = projection_item(scope, Projection(event.ref, None, None, segment), event)
        place = key_in(item)
        self._set(place, {name: item[name] for name in item if name not in place.attributes}, keeps=True)
        if self.access.get(keys.event_key(scope, event.ref)) is None:
            self.access.delete_many([place])

    def places(self, scope: Scope, event_ids: Sequence[str], *, consistent: bool = True) -> dict[str, PlacedEvent]:
        wanted = [keys.projection_key(scope, event_id) for event_id in event_ids]
        found = self.access.get_many(wanted, consistent=consistent, attributes=("o", "n")).values()
        placed = [placed_in(item) for item in found if "n" in item]
        return {one.ref.id: one for one in placed}

    def fill_slot(self, scope: Scope, event: Event) -> None:
        """Enters a keyed event in its slot's history (P-19), unless it was removed.

        A bounded one is entered beside the history, where `of_slot` finds it.
        """
        place = place_of(event)
        if place is not None:
            self.access.put_if_absent(slot_item(scope, place, event))

    def keep_place(self, scope: Scope, event: Event, *, emptied: bool) -> None:
        """Enters an event that is not stored as a removed one (P-22), unless its slot has it."""
        slot = slot_of(event)
        if slot is not None:
            self.access.put_if_absent(slot_item(scope, slot, event, emptied))

    def store_bound(self, scope: Scope, event: Event) -> None:
        """Writes until when its value holds. Raises VersionMismatch where it changed since, or is deleted."""
        self._replace(scope, event, event)

    def supersede(self, scope: Scope, event: Event, by: EventRef | None) -> Event:
        """Writes which event supersedes this one; answers the new version. Raises VersionMismatch."""
        changed = event.superseded(by)
        self._replace(scope, event, changed)
        return changed

    def enter_conversation(self, scope: Scope, conversation_id: str, started_at: datetime) -> None:
        """Lists the conversation; the first entry wins. One read, and a write only for a new one."""
        key = keys.conversation_key(scope, conversation_id)
        if self.access.get(key) is None:
            item = {**key.attributes, "n": text(conversation_id), "t": instant(started_at)}
            self.access.put_if_absent(item)

    def leave_conversation(self, scope: Scope, conversation_id: str) -> None:
        self.access.delete_many([keys.conversation_key(scope, conversation_id)])

    def mark(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Marks them as pending; projection deletes a marker without an event."""
        self.access.put_many(pending_item(scope, ref) for ref in refs)

    def settle(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        self.access.delete_many(keys.pending_key(scope, ref.id) for ref in refs)

    def forget(self, scope: Scope, refs: Sequence[EventRef], *, keeps_segment: bool = False) -> None:
        """Removes the projections of deleted events, and then both of their markers (P-22)."""
        kept = self.places(scope, [ref.id for ref in refs]) if keeps_segment else {}
        left = [Projection(one.ref, None, None, one.segment) for one in kept.values()]
        self.access.put_many(projection_item(scope, one, None) for one in left)
        self.access.delete_many(keys.projection_key(scope, ref.id) for ref in refs if ref.id not in kept)
        marked = (keys.pending_key, keys.removal_key)
        self.access.delete_many(key(scope, ref.id) for ref in refs for key in marked)

    def _update(self, item: Attributes) -> None:
        """All but the segment is as in the item afterwards."""
        given = {name: item[name] for name in _OF_PROJECTION if name in item}
        self._set(key_in(item), given, [name for name in _OF_PROJECTION if name not in item])

    def _set(self, place: Key, given: Attributes, removed: Sequence[str] = (), *, keeps: bool = False) -> None:
        """`keeps`: attributes that are stored already stay."""
        told = [f"{name} = if_not_exists({name}, :{name})" if keeps else f"{name} = :{name}" for name in given]
        parts = [f"SET {', '.join(told)}", *([f"REMOVE {', '.join(removed)}"] if removed else [])]
        with translated(SERVICE):
            self.access.client.update_item(
                TableName=self.access.table,
                Key=place.attributes,
                UpdateExpression=" ".join(parts),
                ExpressionAttributeValues={f":{name}": value for name, value in given.items()},
            )

    def _replace(self, scope: Scope, event: Event, changed: Event) -> None:
        new = record_attributes(changed)
        with translated(SERVICE):
            self.access.client.update_item(
                TableName=self.access.table,
                Key=keys.event_key(scope, event.ref).attributes,
                UpdateExpression="SET z = :z, v = :v",
                ConditionExpression="v = :old",
                ExpressionAttributeValues={":z": new["z"], ":v": new["v"], ":old": number(event.version)},
            )


def _pending_page(access: ItemAccess, limit: int, after: str | None) -> PendingPage:
    """At most `limit` markers and the place of the next page. Raises InvalidInput for a place of no page."""
    order, _, place = (after or f"{_BY_ARRIVAL} ").partition(" ")
    if order == _BY_ARRIVAL:
        few = _all_of_few(access)
        return _oldest(few, limit, place) if few is not None else _of_shards(access, limit, 0, None)
    if order != _BY_SHARD or not place[:2].isdecimal():
        raise InvalidInput("a place in the pending markers that is none", ("after",))
    shard = int(place[:2])
    return _of_shards(access, limit, shard, Key(keys.pending_partition(shard), place[3:]))


def _all_of_few(access: ItemAccess) -> list[Attributes] | None:
    """Every marker; None where a partition holds more than a few."""
    walks = [Walk(keys.pending_partition(shard)) for shard in range(keys.PENDING_SHARDS)]
    pages = access.side_by_side(lambda walk: access.page(walk, FEW_PER_SHARD), walks)
    if any(more is not None for _, more in pages):
        return None
    return [item for items, _ in pages for item in items]


def _oldest(items: Iterable[Attributes], limit: int, after: str) -> PendingPage:
    left = [item for item in items if _arrival(item) > after]
    found = heapq.nsmallest(limit, left, key=_arrival)
    more = f"{_BY_ARRIVAL} {_arrival(found[-1])}" if len(left) > limit else None
    return PendingPage(tuple(marked_event(item) for item in found), more)


def _of_shards(access: ItemAccess, limit: int, shard: int, start: Key | None) -> PendingPage:
    found: list[Attributes] = []
    while shard < keys.PENDING_SHARDS:
        walk = Walk(keys.pending_partition(shard))
        items, more = access.page(walk, limit - len(found), start.attributes if start else None)
        found.extend(items)
        if len(found) == limit or more is not None:
            return PendingPage(tuple(map(marked_event, found)), f"{_BY_SHARD} {shard:02d} {key_in(found[-1]).sk}")
        shard, start = shard + 1, None
    return PendingPage(tuple(marked_event(item) for item in found), None)


def _arrival(item: Attributes) -> str:
    """The id, which sorts by arrival; then the user, since two users may have events of one id."""
    return f"{keys.pending_id(item['sk']['S'])} {item['u']['S']}"
