"""The date-based mode that intent-driven retrieval builds on and falls back to: "Stage 4" (R-01, R-02, R-69, R-109)."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from recollect.domain.date_phrases import TimeRange
from recollect.domain.filters import TimeWindow
from recollect.domain.instants import EARLIEST, LATEST
from recollect.domain.retrieval_record import RetrievalRecord

DATE_RANGES_DAYS = (7, 14, 30, 90)
"""The ranges that the document names; any other number of days is as good."""
DEFAULT_DAYS = 14
MOST_RECORDS = 20
DATE_BASED = "date_based"
"""What an answer says was used instead of intent."""

NEVER = datetime.min.replace(tzinfo=UTC)


class FallbackReason(StrEnum):
    """Why the newest records were answered, without scores."""

    DISABLED = "disabled"
    NO_KEYWORDS = "no_keywords"
    SHORT_QUERY = "short_query"
    STOP_WORDS_ONLY = "stop_words_only"
    NO_CONTENT_KEYWORD = "no_content_keyword"
    ERROR = "error"


def newest_records(records: Iterable[RetrievalRecord], limit: int = MOST_RECORDS) -> list[RetrievalRecord]:
    """The newest first, at most `limit`; of one instant the greater id first. One without an instant comes last."""
    return sorted(records, key=_age, reverse=True)[:limit]


def date_window(given: TimeWindow, named: Sequence[TimeRange], now: datetime) -> TimeWindow:
    """The window whose records are candidates at all (R-84, R-110, R-P16, P-15).

    The dates of the query, from the first to the last, take the place of the default, which is the last 14 days, and
    narrow a window that was given. It may be empty: then it ends before it begins.
    """
    first, last = _span(named)
    if given.start is None and given.end is None:
        return TimeWindow(first, last) if named else TimeWindow(now - timedelta(days=DEFAULT_DAYS), None)
    return TimeWindow(_later(given.start, first), _earlier(given.end, last))


def _span(named: Sequence[TimeRange]) -> tuple[datetime | None, datetime | None]:
    if not named:
        return None, None
    return _known(min(one.start for one in named)), _known(max(one.end for one in named))


def _known(moment: datetime) -> datetime:
    """Within the years that a timeline knows."""
    return min(max(moment, EARLIEST), LATEST)


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((bound for bound in (one, other) if bound is not None), default=None)


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((bound for bound in (one, other) if bound is not None), default=None)


def _age(record: RetrievalRecord) -> tuple[datetime, str]:
    return record.instant or NEVER, record.id
