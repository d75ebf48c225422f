"""Messages that arrive late: their place in the timeline lies in what was summed up already (P-5).

A summary covers what was there when it was made. Beside each stands which messages those were, 12 characters for each,
written with it: so a message at a covered place is summed up once, whenever it arrives and however often it is noted.
The state has where to look for such messages; it may name too much, never too little. Where it names nothing, nothing
is read.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.core.event import EventRef
from recollect.core.items import ABSENT, ItemKey, ItemPath, ItemWrite, pages
from recollect.core.scope import Scope
from recollect.core.time import EARLIEST
from recollect.ports import Items

MOST_COVERED = 20_000
"""Messages that one summary covers at most: their marks, 240 KB, are one item."""

NOTED_WITHIN = timedelta(days=7)
"""So long after it was recorded a message that is noted may be one of which no summary knows."""

_BYTES = 9
_LENGTH = 12
_PAGE = 50


@dataclass(frozen=True, slots=True)
class LateSpan:
    """From when to when messages were said that may have come late, both ends inclusive."""

    since: datetime
    until: datetime

    @classmethod
    def until_place(cls, covered: EventRef) -> "LateSpan":
        """All that is covered."""
        return cls(EARLIEST, covered.timestamp)


def widened(span: LateSpan | None, refs: Iterable[EventRef]) -> LateSpan | None:
    """The span with these places in it."""
    moments = [ref.timestamp for ref in refs]
    if span is not None:
        moments += [span.since, span.until]
    return LateSpan(min(moments), max(moments)) if moments else None


def covered_write(path: ItemPath, key: str, refs: Iterable[EventRef]) -> ItemWrite:
    """Which messages the summary of that key covers."""
    return ItemWrite(ItemKey(path, key), {"messages": "".join(mark_of(ref.id) for ref in refs)}, ABSENT)


def covered_marks(items: Items, scope: Scope, path: ItemPath) -> frozenset[str]:
    """The marks of all messages that the summaries of a persona cover."""
    found: set[str] = set()
    for page in pages(lambda after: items.page(scope.user, path, _PAGE, after)):
        for item in page.items:
            text = item.value["messages"]
            found.update(text[start : start + _LENGTH] for start in range(0, len(text), _LENGTH))
    return frozenset(found)


def mark_of(event_id: str) -> str:
    """12 characters that stand for an id: 72 bits of its hash."""
    return b64encode(hashlib.sha256(event_id.encode()).digest()[:_BYTES]).decode()
