"""Summaries in the background of a laptop: every few seconds, whoever is due (H-05, H-06, H-10)."""

import logging

from recollect.core.errors import RecollectError
from recollect.entrypoints.rounds import Rounds
from recollect.summaries.run import RESERVE_SECONDS, SummaryRun

_LOG = logging.getLogger(__name__)


class SummaryRounds(Rounds):
    """Rounds until told to stop; a model at work is waited for, and nobody else is begun."""

    reserve_seconds = RESERVE_SECONDS

    def round(self) -> SummaryRun | None:
        """One run over everybody who is due; None where it failed as a whole, which is logged."""
        try:
            report = self._app.summaries.run(self._clock, self._remaining_seconds)
        except RecollectError as error:
            _LOG.warning("summaries failed", extra={"error": type(error).__name__})
            return None
        except Exception as error:  # noqa: BLE001 - a defect must not end the thread; what is due stays due
            _LOG.error("summaries failed unexpectedly", extra={"error": type(error).__name__})
            return None
        if report.made or report.failed:
            _LOG.info("summarized", extra=report.counts)
        return report
