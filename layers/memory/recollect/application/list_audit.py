"""The audit as it is read: pages of a user's entries, newest first; the ledger is those that tell an outcome."""

from dataclasses import dataclass

from recollect.domain.audit import AUDIT, Action, AuditEntry, audit_entry
from recollect.domain.items import ItemPage
from recollect.domain.scope import Scope
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
