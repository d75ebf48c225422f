"""The clock of one request (api.md, *When*)."""

from collections.abc import Mapping
from datetime import UTC, datetime

from recollect.core.errors import InvalidInput
from recollect.core.time import parse_instant
from recollect.settings import Settings

HEADER = "X-Recollect-Now"


def now_of(headers: Mapping[str, str], settings: Settings) -> datetime:
    """The real time; the header's, where the test clock is on. Raises InvalidInput for one that is no time."""
    given = headers.get(HEADER.lower()) if settings.test_clock else None
    if given is None:
        return datetime.now(UTC)
    try:
        return parse_instant(given)
    except InvalidInput as error:
        raise InvalidInput(str(error), ("header", HEADER)) from None
