"""What follows at once from memories that a person's decision changed: the index, and what quotes them."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from recollect.application.merge_parts import sources_of
from recollect.domain.event import EventRef
from recollect.domain.memory import Memory
from recollect.domain.scope import Scope
from recollect.ports import Projections


class TellChanged:
    """Where it is cut short, the next reconciliation finds the memories by their marker.

    `announce` tells who projects; `corrected` is told of events whose words no longer count.
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

    def __call__(self, scope: Scope, changed: Iterable[Memory], lost: Iterable[Memory], now: datetime) -> None:
        """`lost` are memories whose words summaries may no longer quote."""
        quoted = [EventRef(one, memory.timestamp) for memory in lost for one in sources_of(memory)]
        if quoted:
            self._corrected(scope, quoted, now)
        refs = list(dict.fromkeys(memory.ref for memory in changed))
        if refs:
            self._projections.mark(scope, refs)
            self._announce(scope, refs)
