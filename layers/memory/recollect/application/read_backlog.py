"""What no summary covers yet, read from the timeline in pages; and the messages themselves, a step at a time."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from recollect.domain.event import Event, EventRef
from recollect.domain.filters import TimeWindow
from recollect.domain.scope import Scope
from recollect.domain.summary import place
from recollect.domain.summary_state import SummaryState
from recollect.domain.summary_trigger import Backlog
from recollect.domain.timeline import WindowQuery
from recollect.ports import Timeline

_PAGE = 500
_KEPT = 1_000
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Found:
    """The backlog, and the oldest 1,000 of its messages by id: so many need not be read twice."""

    backlog: Backlog
    events: Mapping[str, Event]


class ReadBacklog:
    """Reads messages of one persona over all conversations: private and expired ones are none (P-21)."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def __call__(self, scope: Scope, state: SummaryState, now: datetime) -> Found:
        """All that lies strictly after what is covered (H-08); in memory a place for each, and 1,000 messages."""
        refs: list[EventRef] = []
        oldest: deque[Event] = deque(maxlen=_KEPT)
        for event in self._uncovered(scope, state, now):
            refs.append(event.ref)
            oldest.append(event)
        refs.reverse()
        since = state.last.created_at if state.last else _first(refs)
        backlog = Backlog(tuple(refs), sum(1 for ref in refs if state.is_new(ref)), since)
        return Found(backlog, {event.id: event for event in oldest})

    def messages(self, scope: Scope, refs: Sequence[EventRef], known: Mapping[str, Event]) -> Iterator[Event]:
        """The messages at these places that may be quoted, in order.

        Not what is gone or superseded by now, and not what will expire: a summary would outlive it.
        """
        rest = iter(refs)
        while batch := list(islice(rest, _BATCH)):
            missing = [ref for ref in batch if ref.id not in known]
            read = self._timeline.read(scope, missing) if missing else {}
            found = (known.get(ref.id) or read.get(ref.id) for ref in batch)
            yield from (event for event in found if event is not None and _may_be_quoted(event))

    def gone(self, scope: Scope, event_ids: Iterable[str], known: Mapping[str, EventRef]) -> frozenset[str]:
        """Which of these events, as far as their places are known, are in the timeline no longer."""
        refs = [known[event_id] for event_id in event_ids if event_id in known]
        there = self._timeline.read(scope, refs) if refs else {}
        return frozenset(ref.id for ref in refs) - there.keys()

    def _uncovered(self, scope: Scope, state: SummaryState, now: datetime) -> Iterator[Event]:
        """Newest first."""
        start = state.covered.timestamp if state.covered else None
        after: EventRef | None = None
        while True:
            query = WindowQuery(now=now, window=TimeWindow(start), limit=_PAGE, after=after)
            page = self._timeline.window(scope, query)
            yield from (event for event in page.events if _counts(event, scope, state))
            after = page.more
            if after is None:
                return


def _may_be_quoted(event: Event) -> bool:
    return event.superseded_by is None and event.expires_at is None


def _counts(event: Event, scope: Scope, state: SummaryState) -> bool:
    if event.is_private or event.persona_id != scope.persona_id:
        return False
    return state.covered is None or place(event.ref) > place(state.covered)


def _first(refs: Sequence[EventRef]) -> datetime | None:
    return refs[0].timestamp if refs else None
