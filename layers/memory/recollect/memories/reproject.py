"""Reprojection of memories that a person's decision changed, at once."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from recollect.contradictions.merged import sources_of
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.memories.memory import Memory
from recollect.ports import Projections


class ReprojectChanged:
    """Marks memories that a decision changed, and redacts what quotes them.

    After an interruption the next reconciliation finds the memories by their due items. `announce` notifies the
    projector, `corrected` the summaries of events whose words no longer count.
    """

    def __init__(
        self,
        projections: Projections,
        announce: Callable[[Scope, Sequence[EventRef]], None],
        corrected: Callable[[Scope, Sequence[EventRef], datetime], None],
    ) -> None:
        self._projections = projections
        self._announce = announce
        self._corrected = corrected

    def reproject(self, scope: Scope, changed: Iterable[Memory], lost: Iterable[Memory], now: datetime) -> None:
        """`lost` are memories whose words summaries may no longer quote."""
        quoted = [EventRef(one, memory.timestamp) for memory in lost for one in sources_of(memory)]
        if quoted:
            self._corrected(scope, quoted, now)
        refs = list(dict.fromkeys(memory.ref for memory in changed))
        if refs:
            self._projections.mark(scope, refs)
            self._announce(scope, refs)
