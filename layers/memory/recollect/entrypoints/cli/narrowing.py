"""What a search and a context may be narrowed to on the command line: a filter, a window of time, a similarity."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, TypeAlias

import typer

from recollect.core.errors import InvalidInput
from recollect.core.filter import EVERYTHING, Filter, filter_of
from recollect.core.time import parse_instant
from recollect.entrypoints.cli.console import json_of
from recollect.entrypoints.http.representations import MOST_DAYS
from recollect.retrieval.attributes import EVENT_FIELDS, of_fields
from recollect.retrieval.filters import SearchFilters
from recollect.timeline.listing import GivenWindow

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WHOLE_DAY = timedelta(days=1) - timedelta(microseconds=1)

Filtered: TypeAlias = Annotated[
    str | None, typer.Option("--filter", help="A JSON object in the grammar of docs/filters.md.")
]
Since: TypeAlias = Annotated[str | None, typer.Option(help="Only what was said then or later: a day, or a time.")]
Until: TypeAlias = Annotated[str | None, typer.Option(help="Only what was said until then: a day, or a time.")]
MinSimilarity: TypeAlias = Annotated[
    float | None, typer.Option(min=-1, max=1, help="Least similarity; 0.7 is related. Absent: none.")
]
LastDays: TypeAlias = Annotated[float | None, typer.Option(min=0, max=MOST_DAYS, help="Days back from now.")]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The options of a window and a filter, as they were typed; None where one was not given."""

    wanted: str | None = None
    since: str | None = None
    until: str | None = None
    last_days: float | None = None

    def filters(self, now: datetime, conversation_id: str | None = None) -> SearchFilters:
        """What is searched. Raises InvalidInput, which names the option."""
        start = _instant(self.since, "--since")
        end = _instant(self.until, "--until")
        if end is not None and _DAY.fullmatch((self.until or "").strip()):
            end += _WHOLE_DAY
        if start is not None and end is not None and start > end:
            raise InvalidInput("--until lies before --since")
        window = GivenWindow(start, end, self.last_days).resolve(now, None)
        return SearchFilters(now=now, window=window, conversation_id=conversation_id, where=_where(self.wanted))


def _instant(given: str | None, option: str) -> datetime | None:
    try:
        return None if given is None else parse_instant(given)
    except InvalidInput as error:
        raise InvalidInput(f"{option}: {error}") from None


def _where(wanted: str | None) -> Filter:
    if wanted is None:
        return EVERYTHING
    try:
        return of_fields(filter_of(json_of(wanted, "is no JSON")), EVENT_FIELDS)
    except InvalidInput as error:
        raise InvalidInput(f"--filter: {error}") from None
