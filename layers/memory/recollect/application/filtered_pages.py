"""Pages of what is kept, the last key first, less what a reader does not want to see."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from recollect.domain.items import Item, ItemPath
from recollect.domain.scope import Scope
from recollect.ports import Items

T = TypeVar("T")

Chosen = Callable[[Sequence[Item]], list[T | None]]
"""What each of them is shown as, None for what is left out."""

_CHUNK = 200
_MOST_CHUNKS = 10


class FilteredPages:
    """Looks through at most 2,000 items for a page: a rare filter costs several short answers, not a long one."""

    def __init__(self, items: Items, path: ItemPath) -> None:
        self._items = items
        self._path = path

    def __call__(
        self, scope: Scope, limit: int, after: str | None, chosen: Chosen[T], *, all_of_them: bool
    ) -> tuple[list[T], str | None]:
        """At most `limit`, and where the next page goes on: one may be short, or empty, before the end.

        `all_of_them`: nothing is left out, so that no more is read than is shown.
        """
        found: list[T] = []
        for _ in range(_MOST_CHUNKS):
            room = limit - len(found)
            shown, after = self._chunk(scope, room, after, chosen, room if all_of_them else max(room, _CHUNK))
            found += shown
            if after is None or len(found) == limit:
                break
        return found, after

    def _chunk(
        self, scope: Scope, room: int, after: str | None, chosen: Chosen[T], count: int
    ) -> tuple[list[T], str | None]:
        """What there is room for; a chunk that has more of it is read again, just so far."""
        while True:
            page = self._items.page(scope.user, self._path, count, after, descending=True)
            shown = chosen(page.items)
            places = [place for place, one in enumerate(shown) if one is not None]
            if len(places) <= room:
                return [one for one in shown if one is not None], page.more
            count = places[room - 1] + 1
