"""A conversation deleted: each event as by itself, in calls that each go on where the last one ended."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import EARLIEST
from recollect.deletion.forget_events import ForgetEvents
from recollect.memories.audit import Actor
from recollect.ports import Projections, Timeline
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.timeline import WindowQuery

_A_PAGE = 25
_MOST_PAGES = 40


@dataclass(frozen=True, slots=True)
class WholeConversation:
    """At most `limit` events of it, from `after` on; no page is begun once no seconds are left."""

    conversation_id: str
    limit: int
    after: EventRef | None
    seconds_left: Callable[[], float]


@dataclass(frozen=True, slots=True)
class ForgottenPart:
    """How many events a call deleted; `more` is where the next call goes on, None at the end."""

    deleted: int
    more: EventRef | None


@dataclass(frozen=True, slots=True)
class ForgetConversation:
    """The use case behind `DELETE …/conversations/{conversation_id}`. `clear_log` clears the log of that id.

    The timeline is walked, not its index by conversation, which may lack what was just said. A call that is broken
    off may be made again: what is gone is not found again.
    """

    _timeline: Timeline
    _projections: Projections
    _events: ForgetEvents
    _clear_log: Callable[[Scope, str, datetime], None]

    def delete(self, scope: Scope, whole: WholeConversation, now: datetime, actor: Actor) -> ForgottenPart:
        """Deletes events that the scope admits, expired ones too, the newest first; one said meanwhile stays.

        At the end of a whole user's conversation its log is cleared, and it is listed no longer. Raises Conflict where
        others change the log all the time.
        """
        part = self._walk(scope, whole, now, actor)
        if part.more is None and scope == scope.user:
            self._clear_log(scope, whole.conversation_id, now)
            self._projections.leave_conversation(scope, whole.conversation_id)
        return part

    def _walk(self, scope: Scope, whole: WholeConversation, now: datetime, actor: Actor) -> ForgottenPart:
        deleted, after, asked = 0, whole.after, whole.conversation_id
        for _ in range(_MOST_PAGES):
            size = min(_A_PAGE, whole.limit - deleted)
            expired_too = WindowQuery(now=EARLIEST, window=TimeWindow(), limit=size, conversation_id=asked, after=after)
            page = self._timeline.window(scope, expired_too)
            deleted += len(self._events.these(scope, page.events, now=now, actor=actor).event_ids)
            after = page.more
            if after is None or deleted >= whole.limit or whole.seconds_left() <= 0:
                break
        return ForgottenPart(deleted, after)
