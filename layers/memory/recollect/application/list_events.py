"""The timeline as it stands: `GET /v1/users/{user_id}/events` and its neighbours."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.domain.errors import NotFound
from recollect.domain.event import Event
from recollect.domain.filters import TimeWindow
from recollect.domain.scope import Scope
from recollect.domain.timeline import ConversationPage, WindowPage, WindowQuery
from recollect.ports import Timeline

DEFAULT_WINDOW = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class GivenWindow:
    """The window as a caller gives it: ends, or days back from now; nothing is the last 30 days (A-45)."""

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
    """Reads without ranking: what was said, newest first."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def window(self, scope: Scope, query: WindowQuery) -> WindowPage:
        """A page of events; the page goes on while its records are filtered away, within the adapter's bound."""
        return self._timeline.window(scope, query)

    def one(self, scope: Scope, event_id: str, now: datetime) -> Event:
        """One event. Raises NotFound for none, another user's, one out of scope, and an expired one."""
        event = self._timeline.find(scope, event_id)
        hidden = event is None or event.is_carrier or event.expired(now)
        if event is None or hidden or not scope.admits(event.persona_id, event.household_id):
            raise NotFound("no such event")
        return event

    def conversations(self, scope: Scope, limit: int, after: str | None) -> ConversationPage:
        """The user's conversations, the last begun first."""
        return self._timeline.conversations(scope, limit, after)
