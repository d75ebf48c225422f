"""Jobs in the background of a laptop: every second, whatever is due, and once a day what `retain` does by itself."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime

from recollect.app import App
from recollect.application.run_jobs import LEAST_SECONDS, JobRun
from recollect.domain.errors import RecollectError

_LOG = logging.getLogger(__name__)
_ROUND_SECONDS = 300.0
_LONGEST_PAUSE_SECONDS = 300.0
_DOUBLINGS = 8


class JobRounds:
    """Rounds until told to stop; the step under way is ended, and its job let go."""

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

    def round(self) -> JobRun | None:
        """One run over all jobs that are due; None where it failed as a whole, which is logged."""
        try:
            self._app.apply_tombstones(self._clock(), self._remaining_seconds)
            if not self._app.settings.test_clock:  # else requests live in a time of their own, and would lose all
                self._app.schedule_retention(self._clock())
            if self._app.settings.engines == "local":
                self._app.begin_reindex(self._clock())
            self._app.compact_due(self._clock(), self._remaining_seconds)
            report = self._app.run_jobs(self._clock, self._remaining_seconds)
        except RecollectError as error:
            _LOG.warning("jobs failed", extra={"error": type(error).__name__})
            return None
        except Exception as error:  # noqa: BLE001 - a defect must not end the thread; what is due stays due
            _LOG.error("jobs failed unexpectedly", extra={"error": type(error).__name__})
            return None
        if report.errors:
            _LOG.warning("jobs that could not be run", extra={"errors": dict(report.errors)})
        return report

    def _remaining_seconds(self) -> float:
        return 0.0 if self._stop.is_set() else LEAST_SECONDS + _ROUND_SECONDS
