"""What search and context are asked in common: whose, when, windows and filters."""

from datetime import datetime, timedelta
from typing import Annotated, Protocol

from pydantic import Field

from recollect.core.errors import InvalidInput
from recollect.core.event import Source
from recollect.entrypoints.http.models import (
    CONTENT_BYTES,
    Identifier,
    Instant,
    Maybe,
    Metadata,
    OneOf,
    RequestModel,
    Shows,
    SpokenType,
    Text,
    words_as_keys,
)
from recollect.retrieval.filters import DropReason, SearchFilters, TimeWindow
from recollect.timeline.listing import GivenWindow

MOST_DAYS = 110_000
Days = Annotated[float, Field(ge=0, le=MOST_DAYS)]
History = Annotated[list[Annotated[str, Text(CONTENT_BYTES)]], Field(min_length=0, max_length=50)]
Dropped = Annotated[dict[str, int], Shows(words_as_keys(*DropReason))]


class GivenTimes(RequestModel):
    start: Maybe[Instant] = Field(None, alias="from", description="Inclusive.")
    end: Maybe[Instant] = Field(None, alias="to", description="Inclusive.")
    last_days: Maybe[Days] = Field(None, description="Days back from now, or from `as_of`.")


_NO_TIMES = GivenWindow()


class Filters(RequestModel):
    conversation_id: Maybe[Identifier] = None
    event_type: Maybe[SpokenType] = None
    key: Maybe[Identifier] = None
    tags: Maybe[Annotated[list[Annotated[str, Text(128)]], Field(min_length=0, max_length=50)]] = Field(
        None, description="All of them."
    )
    space_id: Maybe[Identifier] = None
    source: Maybe[Annotated[str, OneOf(*Source)]] = None
    metadata: Maybe[Metadata] = Field(None, description="Top-level pairs that must be equal.")


class Question(RequestModel):
    """Whose memory is asked, and as of when."""

    user_id: Identifier
    persona_id: Maybe[Identifier] = Field(None, description="Absent: every persona.")
    household_id: Maybe[Identifier] = Field(None, description="Absent: every household.")
    active_space_id: Maybe[Identifier] = None
    as_of: Maybe[Instant] = Field(
        None, description="Event time: what held then; windows, recency and relative times count from it."
    )
    recorded_as_of: Maybe[Instant] = Field(None, description="What the store knew then.")
    include_superseded: Maybe[bool] = None
    explain: Maybe[bool] = Field(None, description="Adds `why` to each result; to a search, the near misses.")


class _Window(Protocol):
    @property
    def start(self) -> datetime | None: ...
    @property
    def end(self) -> datetime | None: ...
    @property
    def last_days(self) -> float | None: ...


def filters_of(
    asked: Question, now: datetime, window: GivenTimes | None = None, filters: Filters | None = None
) -> SearchFilters:
    """The filters of a search or a context. Raises InvalidInput for a window that ends before it begins."""
    given = filters.given() if filters else {}
    bounds = window_of(window or _NO_TIMES, asked.as_of or now, ("body", "time_window"))
    return SearchFilters(
        now=now,
        window=bounds,
        as_of=asked.as_of,
        recorded_as_of=asked.recorded_as_of,
        include_superseded=bool(asked.include_superseded),
        **given | {"tags": tuple(given.get("tags", ()))},
    )


def window_of(given: _Window, now: datetime, loc: tuple[str, ...], default: timedelta | None = None) -> TimeWindow:
    """The window that is given, both ends inclusive. Raises InvalidInput where it ends before it begins."""
    if given.start is not None and given.end is not None and given.start > given.end:
        raise InvalidInput("ends before it begins: from lies after to", loc)
    return GivenWindow(given.start, given.end, given.last_days).resolve(now, default)
