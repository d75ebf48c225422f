"""Jobs in the background of a laptop: every second, whatever is due, and once a day what `retain` does by itself."""

import logging

from recollect.core.errors import RecollectError
from recollect.entrypoints.rounds import Rounds
from recollect.jobs.run import LEAST_SECONDS, JobRun

_LOG = logging.getLogger(__name__)


class JobRounds(Rounds):
    """Rounds until told to stop; the step under way is ended, and its job let go."""

    reserve_seconds = LEAST_SECONDS

    def round(self) -> JobRun | None:
        """One run over all jobs that are due; None where it failed as a whole, which is logged."""
        try:
            self._app.deletion.apply_tombstones(self._clock(), self._remaining_seconds)
            if not self._app.settings.test_clock:  # else requests live in a time of their own, and would lose all
                self._app.archive.schedule_retention(self._clock())
            if self._app.settings.engines == "local":
                self._app.reindexing.begin(self._clock())
            self._app.segments.compact_due(self._clock(), self._remaining_seconds)
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
