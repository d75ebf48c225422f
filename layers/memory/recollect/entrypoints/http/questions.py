"""What search and context are asked in common: windows, filters, instants, and the fields that carry them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.event import SPOKEN_TYPES, Source
from recollect.entrypoints.http.fields import (
    Field,
    Shape,
    choice,
    flag,
    identifier,
    instant,
    list_of,
    nested,
    number,
    text,
)
from recollect.entrypoints.http.json_values import metadata
from recollect.retrieval.filters import SearchFilters, TimeWindow
from recollect.timeline.listing import GivenWindow

TEXT_BYTES = 64 * 1024
MOST_DAYS = 110_000

TIME_WINDOW = Shape(
    "TimeWindow",
    {
        "from": instant().described("Inclusive."),
        "to": instant().described("Inclusive."),
        "last_days": number(0, MOST_DAYS).described("Days back from now, or from `as_of`."),
    },
)
FILTERS = Shape(
    "Filters",
    {
        "conversation_id": identifier(),
        "event_type": choice(*SPOKEN_TYPES),
        "key": identifier(),
        "tags": list_of(text(max_bytes=128), 0, 50).described("All of them."),
        "space_id": identifier(),
        "source": choice(*Source),
        "metadata": metadata().described("Top-level pairs that must be equal."),
    },
)

WHOSE: Mapping[str, Field] = {
    "user_id": identifier().needed(),
    "persona_id": identifier().described("Absent: every persona."),
    "household_id": identifier().described("Absent: every household."),
}
WHEN: Mapping[str, Field] = {
    "as_of": instant().described("Event time: what held then; windows, recency and relative times count from it."),
    "recorded_as_of": instant().described("What the store knew then."),
    "include_superseded": flag(),
    "explain": flag().described("Adds `why` to each result; to a search, the near misses."),
}
TALK: Mapping[str, Field] = {
    "active_space_id": identifier(),
    "history": list_of(text(max_bytes=TEXT_BYTES), 0, 50).described("The conversation before it, oldest first."),
}


def search_window() -> Field:
    """The window of a search."""
    return nested(TIME_WINDOW)


def search_filters() -> Field:
    """The filters of a search."""
    return nested(FILTERS)


def filters_of(values: Mapping[str, Any], now: datetime) -> SearchFilters:
    """The filters of a search or a context. Raises InvalidInput for a window that ends before it begins."""
    asked = dict(values.get("filters", {}))
    asked["tags"] = tuple(asked.get("tags", ()))
    return SearchFilters(
        now=now,
        window=window_of(values.get("time_window", {}), values.get("as_of") or now, ("body", "time_window")),
        as_of=values.get("as_of"),
        recorded_as_of=values.get("recorded_as_of"),
        include_superseded=values.get("include_superseded", False),
        **asked,
    )


def window_of(given: Mapping[str, Any], now: datetime, loc: tuple[str, ...], default: Any = None) -> TimeWindow:
    """The window that is given, both ends inclusive. Raises InvalidInput where it ends before it begins."""
    start, end = given.get("from"), given.get("to")
    if start is not None and end is not None and start > end:
        raise InvalidInput("ends before it begins: from lies after to", loc)
    return GivenWindow(start, end, given.get("last_days")).resolve(now, default)
