"""The clock: the time of a request (api.md, *When*), the real one, and how much of a call's time is left."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime

from recollect.core.errors import InvalidInput
from recollect.core.time import parse_instant, utc_now
from recollect.settings import Settings

HEADER = "X-Recollect-Now"


def now_of(headers: Mapping[str, str], settings: Settings) -> datetime:
    """The real time; the header's, where the test clock is on. Raises InvalidInput for one that is no time."""
    given = headers.get(HEADER.lower()) if settings.test_clock else None
    if given is None:
        return utc_now()
    try:
        return parse_instant(given)
    except InvalidInput as error:
        raise InvalidInput(str(error), ("header", HEADER)) from None


def countdown(seconds: float) -> Callable[[], float]:
    """A function that says how many of so many seconds, from now on, are left; below 0 when they are over."""
    over = time.monotonic() + seconds
    return lambda: over - time.monotonic()
