"""Summaries in the background of a laptop: every few seconds, whoever is due (H-05, H-06, H-10)."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime

from recollect.app import App
from recollect.application.run_summaries import RESERVE_SECONDS, SummaryRun
from recollect.domain.errors import RecollectError

_LOG = logging.getLogger(__name__)
_ROUND_SECONDS = 300.0
_LONGEST_PAUSE_SECONDS = 300.0
_DOUBLINGS = 8


class SummaryRounds:
    """Rounds until told to stop; a model at work is waited for, and nobody else is begun."""

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

    def round(self) -> SummaryRun | None:
        """One run over everybody who is due; None where it failed as a whole, which is logged."""
        try:
            report = self._app.run_summaries(self._clock, self._remaining_seconds)
        except RecollectError as error:
            _LOG.warning("summaries failed", extra={"error": type(error).__name__})
            return None
        except Exception as error:  # noqa: BLE001 - a defect must not end the thread; what is due stays due
            _LOG.error("summaries failed unexpectedly", extra={"error": type(error).__name__})
            return None
        if report.made or report.failed:
            _LOG.info("summarized", extra=report.counts)
        return report

    def _remaining_seconds(self) -> float:
        return 0.0 if self._stop.is_set() else RESERVE_SECONDS + _ROUND_SECONDS
