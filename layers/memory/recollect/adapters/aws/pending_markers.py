"""The walk over the pending markers of all users.

Markers lie in 32 partitions, in each by user and arrival, so that a user's newest are read consistently and a busy
day throttles nobody; a global index by arrival would cost two units more for each event and lag behind. While each
partition holds few of them, all are read and handed out oldest first. A backlog is walked partition by partition
instead: each user's in the order of arrival, each marker read once.
"""

import heapq
from collections.abc import Iterable

from recollect.adapters.aws import keys
from recollect.adapters.aws.item_access import ItemAccess, Walk
from recollect.adapters.aws.item_format import Item, key_in, marked_event
from recollect.adapters.aws.keys import Key
from recollect.domain.errors import InvalidInput
from recollect.domain.timeline import PendingPage

FEW_PER_SHARD = 256

_BY_ARRIVAL = "arrival"
_BY_SHARD = "shard"


def page(access: ItemAccess, limit: int, after: str | None) -> PendingPage:
    """At most `limit` markers and where the next page goes on. Raises InvalidInput on an `after` we never gave."""
    order, _, place = (after or f"{_BY_ARRIVAL} ").partition(" ")
    if order == _BY_ARRIVAL:
        few = _all_of_few(access)
        return _oldest(few, limit, place) if few is not None else _of_shards(access, limit, 0, None)
    if order != _BY_SHARD or not place[:2].isdecimal():
        raise InvalidInput("a place in the pending markers that is none", ("after",))
    shard = int(place[:2])
    return _of_shards(access, limit, shard, Key(keys.pending_partition(shard), place[3:]))


def _all_of_few(access: ItemAccess) -> list[Item] | None:
    """Every marker there is; None where a partition holds more than a few."""
    walks = [Walk(keys.pending_partition(shard)) for shard in range(keys.PENDING_SHARDS)]
    pages = access.side_by_side(lambda walk: access.page(walk, FEW_PER_SHARD), walks)
    if any(more is not None for _, more in pages):
        return None
    return [item for items, _ in pages for item in items]


def _oldest(items: Iterable[Item], limit: int, after: str) -> PendingPage:
    left = [item for item in items if _arrival(item) > after]
    found = heapq.nsmallest(limit, left, key=_arrival)
    more = f"{_BY_ARRIVAL} {_arrival(found[-1])}" if len(left) > limit else None
    return PendingPage(tuple(marked_event(item) for item in found), more)


def _of_shards(access: ItemAccess, limit: int, shard: int, start: Key | None) -> PendingPage:
    found: list[Item] = []
    while shard < keys.PENDING_SHARDS:
        walk = Walk(keys.pending_partition(shard))
        items, more = access.page(walk, limit - len(found), start.attributes if start else None)
        found.extend(items)
        if len(found) == limit or more is not None:
            return PendingPage(tuple(marked_event(item) for item in found), _place(shard, found[-1]))
        shard, start = shard + 1, None
    return PendingPage(tuple(marked_event(item) for item in found), None)


def _place(shard: int, item: Item) -> str:
    return f"{_BY_SHARD} {shard:02d} {key_in(item).sk}"


def _arrival(item: Item) -> str:
    """The id, which sorts by arrival; then the user, since two users may have events of one id."""
    return f"{keys.pending_id(item['sk']['S'])} {item['u']['S']}"
