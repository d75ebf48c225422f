"""What `project` tells the summaries of a batch of one user's events: new messages, and what is gone."""

from collections.abc import Sequence
from datetime import datetime

from recollect.application.note_messages import NoteMessages
from recollect.application.redact_summaries import RedactSummaries
from recollect.domain.event import Event, EventRef
from recollect.domain.scope import Scope


class KeepSummariesUp:
    """Called before the markers go, so that nothing is lost where it fails; calling it again is no harm."""

    def __init__(self, note: NoteMessages, redact: RedactSummaries) -> None:
        self._note = note
        self._redact = redact

    def __call__(self, scope: Scope, events: Sequence[Event], gone: Sequence[EventRef], now: datetime) -> None:
        """Counts the events towards the next summary; takes what is gone out of those that there are."""
        self._note(scope, events, now)
        if gone:
            self._redact(scope, gone, now)
