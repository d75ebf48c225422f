"""A session: one conversation, whose id everything said in it carries (K-59 to K-62, K-70)."""

from dataclasses import dataclass

from recollect.domain.errors import Conflict
from recollect.domain.event import Event


@dataclass(frozen=True, slots=True)
class Session:
    """`events` in the order in which they came. There is no service instance here: the caller brings the id back."""

    conversation_id: str
    events: tuple[Event, ...] = ()

    def joined_by(self, event: Event) -> "Session":
        """The session with one event more. Raises Conflict for an event of another conversation (K-70)."""
        if event.conversation_id != self.conversation_id:
            raise Conflict("the event is of another conversation")
        return Session(self.conversation_id, (*self.events, event))
