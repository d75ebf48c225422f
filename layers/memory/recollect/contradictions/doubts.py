"""Which records are in doubt: an open conflict stands between each and another one (P-24)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, islice

from recollect.contradictions.candidates import CurrentRecord, CurrentRecords
from recollect.contradictions.decisions import (
    CONFLICTS,
    ConflictStatus,
    OpenConflict,
    conflict_in,
    conflict_key,
    pair_id,
)
from recollect.core.errors import Unavailable
from recollect.core.items import Item
from recollect.core.scope import Scope
from recollect.memories.representation import seen
from recollect.ports import Items
from recollect.retrieval.filters import SearchFilters, drop_reason

_NEWEST = 100
_MOST_READ = 8


@dataclass(frozen=True, slots=True)
class OtherSide:
    """What an open conflict puts against a record: its id, when it was said, its words, whether it is the newer one.

    `holds_from` is the day from which it holds instead, where it is no conflict but a change that was announced.
    `confidence` is the judge's that the newer of the two changes the older; None where no judge read them.
    """

    id: str
    said_at: datetime
    words: str
    newer: bool = False
    holds_from: datetime | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class NewestConflicts:
    """`all_of_them`: there are no others."""

    items: Sequence[Item]
    all_of_them: bool


class FindDoubts:
    """Reads the newest hundred conflicts, and by key one for each pair: meant for a dozen records."""

    def __init__(self, items: Items, current: CurrentRecords) -> None:
        self._items = items
        self._current = current

    def about(self, scope: Scope, oldest_first: Sequence[str], newest: NewestConflicts) -> tuple[OpenConflict, ...]:
        """The open conflicts among these, and of the newest ones all others; of memories of records, by their ids.

        Where a page of them cannot be read, those among these alone. One settled a moment ago may be among them.
        """
        among = () if newest.all_of_them else self._among(scope, oldest_first)
        conflicts = {one.id: one for one in (conflict_in(item.value) for item in (*newest.items, *among))}
        return tuple(one for one in conflicts.values() if one.status is ConflictStatus.OPEN)

    def doubted(self, scope: Scope) -> frozenset[str]:
        """The older sides of the newest open conflicts, by their ids: what may no longer hold."""
        return older_sides(self.about(scope, (), self.newest(scope)))

    def newest(self, scope: Scope) -> NewestConflicts:
        """A page of them, none where it cannot be read. It waits for nothing that a search finds."""
        try:
            page = self._items.page(scope.user, CONFLICTS, _NEWEST, None, descending=True, consistent=False)
        except Unavailable:
            return NewestConflicts((), all_of_them=False)
        return NewestConflicts(page.items, page.more is None)

    def _among(self, scope: Scope, oldest_first: Sequence[str]) -> Sequence[Item]:
        keys = [conflict_key(pair_id(newer, older)) for older, newer in combinations(oldest_first, 2)]
        return tuple(self._items.get(scope.user, keys).values()) if keys else ()

    def sides(self, scope: Scope, ids: Sequence[str], filters: SearchFilters) -> Mapping[str, OtherSide]:
        """The first eight of these records, as far as these filters show them now; none where they ask of the past."""
        if filters.looks_back or not ids:
            return {}
        found = self._current.read(scope, list(islice(dict.fromkeys(ids), _MOST_READ)), filters.now)
        shown = (_side(scope, one, record, filters) for one, record in found.items())
        return {side.id: side for side in shown if side is not None}


def older_sides(conflicts: Iterable[OpenConflict]) -> frozenset[str]:
    """What these conflicts put in doubt: the newer side stands."""
    return frozenset(one.older for one in conflicts)


def _side(scope: Scope, record_id: str, record: CurrentRecord, filters: SearchFilters) -> OtherSide | None:
    memory = seen(record.stored.memory, filters) if record.stored is not None else None
    if drop_reason(scope, record.event, filters) is not None or (record.stored is not None and memory is None):
        return None
    return OtherSide(record_id, record.event.timestamp, memory.content if memory is not None else record.event.content)
