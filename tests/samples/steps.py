"""Work counted instead of timed: lines of the domain that run."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_DOMAIN = "/recollect/"


def steps(work: Callable[[], object]) -> int:
    """How many lines of the domain's modules run during the work; what C does within a line counts as nothing."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        if _DOMAIN not in frame.f_code.co_filename.replace("\\", "/"):
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Twice the size takes at most a good twice the steps; caches of a text serve both."""
    work(2 * size)
    assert 0 < steps(lambda: work(2 * size)) <= 2.3 * steps(lambda: work(size)) + 200
