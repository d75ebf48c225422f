"""Exports a user's records in pages of NDJSON: private ones and memories too, superseded ones as what they are."""

from dataclasses import dataclass
from datetime import datetime

from recollect.application.record_lines import RecordLines
from recollect.domain.event import EventRef
from recollect.domain.record_line import line_text
from recollect.domain.scope import Scope
from recollect.ports import Timeline

PAGE_BYTES = 4_000_000
PAGE_LINES = 2_000
_AT_ONCE = 250


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Lines, oldest record first, each with its end; `more` where the next page goes on."""

    text: str
    lines: int
    more: EventRef | None


class ExportMemories:
    """The use case behind `GET …/export`. A walk gives what is there from its start to its end exactly once."""

    def __init__(self, timeline: Timeline, lines: RecordLines) -> None:
        self._timeline = timeline
        self._lines = lines

    def page(self, scope: Scope, after: EventRef | None, now: datetime) -> ExportPage:
        """At most 2,000 records and 4 MB, but for a first record that is larger by itself."""
        texts: list[str] = []
        size = 0
        while True:
            page = self._timeline.records(scope, _AT_ONCE, after)
            for line in self._lines(scope, page.events, now):
                text = line_text(line) + "\n"
                size += len(text.encode())
                if texts and size > PAGE_BYTES:
                    return ExportPage("".join(texts), len(texts), after)
                texts.append(text)
                after = line.event.ref
            after = page.more
            if after is None or len(texts) + _AT_ONCE > PAGE_LINES:
                return ExportPage("".join(texts), len(texts), after)
