"""Open conflicts, and those that somebody or something settled (api.md, *Arbitration*).

A conflict is open only while both of its records count. Where one of them was deleted, rejected, superseded, retracted
or has expired since, it is shown as settled: in favour of the one that still counts, or of none. Nothing is written for
that, so that a conflict is open again where such a change is taken back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.application.filtered_pages import FilteredPages
from recollect.application.standing_records import StandingRecord, StandingRecords
from recollect.domain.decisions import CONFLICTS, ConflictStatus, OpenConflict, conflict_in, conflict_key
from recollect.domain.errors import NotFound
from recollect.domain.items import Item
from recollect.domain.scope import Scope
from recollect.ports import Items

Standing = Mapping[str, StandingRecord]


@dataclass(frozen=True, slots=True)
class ConflictPage:
    """Conflicts, those of the newest records first; `more` where the next page goes on: one may be short or empty."""

    conflicts: tuple[OpenConflict, ...]
    more: str | None


class ListConflicts:
    """Where persona or household narrow, a conflict is shown while one of its records is there to tell."""

    def __init__(self, items: Items, standing: StandingRecords) -> None:
        self._items = items
        self._standing = standing
        self._pages = FilteredPages(items, CONFLICTS)

    def __call__(
        self, scope: Scope, limit: int, after: str | None, status: ConflictStatus | None, now: datetime
    ) -> ConflictPage:
        """A page of the user's conflicts, as they stand now."""

        def chosen(items: Sequence[Item]) -> list[OpenConflict | None]:
            conflicts = [conflict_in(item.value) for item in items]
            standing = self._standing(scope, [i for one in conflicts for i in (one.newer, one.older)], now)
            shown = [as_it_stands(one, standing) for one in conflicts]
            return [one if status in (None, one.status) and _admitted(scope, one, standing) else None for one in shown]

        found, more = self._pages(scope, limit, after, chosen, all_of_them=status is None and scope == scope.user)
        return ConflictPage(tuple(found), more)

    def one(self, scope: Scope, conflict_id: str, now: datetime) -> OpenConflict:
        """A conflict as it stands now. Raises NotFound."""
        item = self.item(scope, conflict_id)
        conflict = conflict_in(item.value)
        standing = self._standing(scope, (conflict.newer, conflict.older), now)
        if not _admitted(scope, conflict, standing):
            raise NotFound("no such conflict")
        return as_it_stands(conflict, standing)

    def item(self, scope: Scope, conflict_id: str) -> Item:
        """A conflict as it is kept. Raises NotFound."""
        key = conflict_key(conflict_id)
        item = self._items.get(scope.user, [key]).get(key)
        if item is None:
            raise NotFound("no such conflict")
        return item


def as_it_stands(conflict: OpenConflict, standing: Standing) -> OpenConflict:
    """The conflict, settled where not both of its records count, or both are one by now."""
    if conflict.status is ConflictStatus.SETTLED:
        return conflict
    left = [one for one in (conflict.newer, conflict.older) if one in standing]
    if len(left) == 2 and standing[left[0]].id != standing[left[1]].id:
        return conflict
    return replace(conflict, status=ConflictStatus.SETTLED, winner=left[0] if left else None)


def _admitted(scope: Scope, conflict: OpenConflict, standing: Standing) -> bool:
    return scope == scope.user or conflict.newer in standing or conflict.older in standing
