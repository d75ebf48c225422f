"""Lists over the timeline: events newest first, filtered pages of items, the users of a tenant, the spaces of a user.

| collection | owner  | key      | value |
|------------|--------|----------|-------|
| `users`    | tenant | user id  | `{}`  |
| `spaces`   | user   | space id | `{}`  |

The projection adds a user with the first event, and a space with its first event that is not private (R-22). A space
stays listed after its last event's deletion; an erasure removes both.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from recollect.core.errors import NotFound, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.items import ABSENT, ALL_PAGES, Item, ItemKey, ItemPath, ItemWrite, in_parts, of_tenant, pages
from recollect.core.scope import Scope
from recollect.ports import Items, Timeline
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.failed_projections import Fault, fault_of
from recollect.timeline.timeline import ConversationPage, WindowPage, WindowQuery

T = TypeVar("T")

Chosen = Callable[[Sequence[Item]], list[T | None]]
"""Shows each item, None for one that the page leaves out."""

DEFAULT_WINDOW = timedelta(days=30)
USERS = ItemPath("users")
SPACES = ItemPath("spaces")

_CHUNK = 200
_MOST_CHUNKS = 10
_SPACES_PAGE = 1000
_USERS_PAGE = 1000
_MOST_COUNTED_PAGES = 100
_REMEMBERED = 10_000
_REMEMBERED_SECONDS = 300.0
_REMEMBERED_FOR = timedelta(seconds=_REMEMBERED_SECONDS)
"""After that a process reads again: another one may have erased the user."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GivenWindow:
    """A caller's window: ends, or days back from now; without any, the last 30 days (A-45)."""

    start: datetime | None = None
    end: datetime | None = None
    last_days: float | None = None

    def resolve(self, now: datetime, default: timedelta | None) -> TimeWindow:
        """Both ends inclusive; `from=0` is a bound (A-50). Given ends narrow `last_days`."""
        starts = [self.start, now - timedelta(days=self.last_days) if self.last_days is not None else None]
        if default is not None and all(bound is None for bound in (*starts, self.end)):
            starts.append(now - default)
        bounds = [start for start in starts if start is not None]
        return TimeWindow(max(bounds) if bounds else None, self.end)


class ListEvents:
    """Lists events without ranking, newest first."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def window(self, scope: Scope, query: WindowQuery) -> WindowPage:
        """A page of events; it reads on while filters drop its records, within the adapter's bound."""
        return self._timeline.window(scope, query)

    def one(self, scope: Scope, event_id: str, now: datetime) -> Event:
        """One event. Raises NotFound for a missing or expired one, another user's, and one out of scope."""
        event = self._timeline.find(scope, event_id)
        hidden = event is None or event.is_carrier or event.expired(now)
        if event is None or hidden or not scope.admits(event.persona_id, event.household_id):
            raise NotFound("no such event")
        return event

    def conversations(self, scope: Scope, limit: int, after: str | None) -> ConversationPage:
        return self._timeline.conversations(scope, limit, after)


class FilteredPages:
    """A page reads at most 2,000 items: a rare filter costs several short answers, not a long one."""

    def __init__(self, items: Items, path: ItemPath) -> None:
        self._items = items
        self._path = path

    def page(
        self, scope: Scope, limit: int, after: str | None, chosen: Chosen[T], *, all_of_them: bool
    ) -> tuple[list[T], str | None]:
        """At most `limit`, and where the next page begins; a page may be short, even empty, before the end.

        `all_of_them`: nothing is left out, so that it reads no more than it shows.
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
        """Fills the room; a chunk with more is read again, to its last shown item."""
        while True:
            page = self._items.page(scope.user, self._path, count, after, descending=True)
            shown = chosen(page.items)
            places = [place for place, one in enumerate(shown) if one is not None]
            if len(places) <= room:
                return [one for one in shown if one is not None], page.more
            count = places[room - 1] + 1


@dataclass(frozen=True, slots=True)
class UserPage:
    """Users in the order of their ids; `more` is where the next page begins."""

    user_ids: tuple[str, ...]
    more: str | None


class KnownUsers:
    """The users of a tenant that have a memory: snapshots, jobs and operators walk them."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._noted: OrderedDict[tuple[str, str], float] = OrderedDict()

    def note(self, scope: Scope, now: datetime) -> None:
        """Lists the user: one read in five minutes of a process, one write the first time."""
        known = (scope.tenant, scope.user_id)
        if time.monotonic() - self._noted.get(known, -_REMEMBERED_SECONDS) < _REMEMBERED_SECONDS:
            return
        owner, key = of_tenant(scope.tenant), ItemKey(USERS, scope.user_id)
        if not self._items.get(owner, [key]):
            with suppress(VersionMismatch):  # another process was faster
                self._items.write(owner, [ItemWrite(key, {}, ABSENT)], now)
        self._noted[known] = time.monotonic()
        if len(self._noted) > _REMEMBERED:
            self._noted.popitem(last=False)

    def page(self, tenant: str, limit: int, after: str | None) -> UserPage:
        page = self._items.page(of_tenant(tenant), USERS, limit, after)
        return UserPage(tuple(item.key.key for item in page.items), page.more)

    def all(self, tenant: str) -> Iterator[str]:
        """The ids of all of them."""
        for found in pages(lambda after: self.page(tenant, _USERS_PAGE, after), ALL_PAGES):
            yield from found.user_ids

    def counted(self, tenant: str) -> int:
        """How many there are, of the first 100,000."""
        found = pages(lambda after: self.page(tenant, _USERS_PAGE, after), _MOST_COUNTED_PAGES)
        return sum(len(page.user_ids) for page in found)

    def forget(self, scope: Scope, now: datetime) -> None:
        """Removes the user; a later event lists them again."""
        self._noted.pop((scope.tenant, scope.user_id), None)
        self._items.write(of_tenant(scope.tenant), [ItemWrite(ItemKey(USERS, scope.user_id), None)], now)


class KnownSpaces:
    """The spaces of a user, which a query may name.

    One read in five minutes of a process for each, one write the first time.
    """

    def __init__(self, items: Items) -> None:
        self._items = items
        self._noted: OrderedDict[tuple[str, str, str], datetime] = OrderedDict()

    def note(self, scope: Scope, events: Iterable[Event], now: datetime) -> None:
        named = dict.fromkeys(e.space_id for e in events if e.space_id is not None and e.is_searchable)
        unknown = [space for space in named if not self._is_noted(scope, space, now)]
        for part in in_parts(unknown):
            self._write(scope, part, now)

    def of(self, scope: Scope) -> frozenset[str]:
        """The first 1,000 spaces of the user, in the order of their ids."""
        page = self._items.page(scope.user, SPACES, _SPACES_PAGE, None)
        return frozenset(item.key.key for item in page.items)

    def _is_noted(self, scope: Scope, space: str, now: datetime) -> bool:
        at = self._noted.get((scope.tenant, scope.user_id, space))
        return at is not None and now - at < _REMEMBERED_FOR

    def _write(self, scope: Scope, spaces: Sequence[str], now: datetime) -> None:
        keys = [ItemKey(SPACES, space) for space in spaces]
        there = self._items.get(scope.user, keys)
        missing = [ItemWrite(key, {}) for key in keys if key not in there]
        if missing:
            self._items.write(scope.user, missing, now)
        for space in spaces:
            self._noted[scope.tenant, scope.user_id, space] = now
        while len(self._noted) > _REMEMBERED:
            self._noted.popitem(last=False)


def readable_events(timeline: Timeline, scope: Scope, refs: Sequence[EventRef]) -> dict[str, Event]:
    """As `Timeline.read`, without unreadable events, which must not stop work on others.

    Raises where an engine is away.
    """
    try:
        return timeline.read(scope, refs) if refs else {}
    except Exception as error:
        if fault_of(error) is not Fault.OWN:
            raise
        if len(refs) > 1:
            return {i: event for ref in refs for i, event in readable_events(timeline, scope, [ref]).items()}
        _LOG.warning("an event cannot be read", extra={"event_id": refs[0].id, "error": type(error).__name__})
        return {}
