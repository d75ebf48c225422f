"""Work in the background of a laptop, round by round, until told to stop."""

import threading
from collections.abc import Callable
from datetime import datetime

from recollect.app import App

ROUND_SECONDS = 300.0
_LONGEST_PAUSE_SECONDS = 300.0
_DOUBLINGS = 8


class Rounds:
    """A subclass says what a round does: `round` answers None where it failed as a whole.

    `reserve_seconds` is the least time in which a round begins something; once told to stop there is none left.
    """

    reserve_seconds: float

    def __init__(self, app: App, clock: Callable[[], datetime], stop: threading.Event, pause_seconds: float) -> None:
        self._app = app
        self._clock = clock
        self._stop = stop
        self._pause_seconds = pause_seconds

    def run(self) -> None:
        """Until `stop` is set; after rounds that failed as a whole with longer and longer pauses."""
        failed = 0
        while not self._stop.wait(min(self._pause_seconds * 2**failed, _LONGEST_PAUSE_SECONDS)):
            failed = 0 if self.round() else min(failed + 1, _DOUBLINGS)

    def round(self) -> object | None:
        """One round."""
        raise NotImplementedError

    def _remaining_seconds(self) -> float:
        return 0.0 if self._stop.is_set() else self.reserve_seconds + ROUND_SECONDS
