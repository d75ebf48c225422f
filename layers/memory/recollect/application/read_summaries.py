"""Summaries as they are kept: the newest of a persona, and the list (H-14)."""

from dataclasses import dataclass

from recollect.domain.items import ItemKey
from recollect.domain.scope import Scope
from recollect.domain.summary import Summary, summary_from
from recollect.domain.summary_items import SUMMARY_LIST, summaries_path, summary_key
from recollect.ports import Items


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Summaries, newest first; `more` where the next page goes on."""

    summaries: tuple[Summary, ...]
    more: str | None


class ReadSummaries:
    """Reads; makes nothing."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def latest(self, scope: Scope) -> Summary | None:
        """The newest summary of the persona, without one of the default persona; one read."""
        page = self._items.page(scope.user, summaries_path(scope.persona_id), 1, None, descending=True)
        return summary_from(page.items[0].value) if page.items else None

    def page(self, scope: Scope, limit: int, after: str | None) -> SummaryPage:
        """A page of at most `limit` ≥ 1; without a persona those of every persona. Raises InvalidInput for `after`."""
        if scope.persona_id is None:
            return self._of_all(scope, limit, after)
        page = self._items.page(scope.user, summaries_path(scope.persona_id), limit, after, descending=True)
        return SummaryPage(tuple(summary_from(item.value) for item in page.items), page.more)

    def one(self, scope: Scope, key: str) -> Summary | None:
        """The summary of that key, of the persona, without one of the default persona."""
        where = summary_key(scope.persona_id, key)
        item = self._items.get(scope.user, [where]).get(where)
        return summary_from(item.value) if item else None

    def _of_all(self, scope: Scope, limit: int, after: str | None) -> SummaryPage:
        listed = self._items.page(scope.user, SUMMARY_LIST, limit, after, descending=True)
        keys: list[ItemKey] = [summary_key(item.value.get("persona_id"), item.key.key) for item in listed.items]
        found = self._items.get(scope.user, keys) if keys else {}
        return SummaryPage(tuple(summary_from(found[key].value) for key in keys if key in found), listed.more)
