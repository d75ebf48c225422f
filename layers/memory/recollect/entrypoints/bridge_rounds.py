"""The bridge's reconciliation in the background of a laptop, as often as the cloud's schedule runs it (P-10)."""

import logging

from recollect.entrypoints.rounds import Rounds
from recollect.memories.deferred_promotion import RESERVE_SECONDS, BridgeRun

_LOG = logging.getLogger(__name__)


class BridgeRounds(Rounds):
    """Rounds until told to stop; the users under way are done with, and nobody else is begun."""

    reserve_seconds = RESERVE_SECONDS

    def round(self) -> BridgeRun | None:
        """One run over every tenant; None where it failed as a whole, which is logged."""
        try:
            report = self._app.memories.reconcile_bridge(self._clock(), remaining_seconds=self._remaining_seconds)
        except Exception as error:  # noqa: BLE001 - a defect must not end the thread; what waits goes on waiting
            _LOG.warning("the bridge was not reconciled", extra={"error": type(error).__name__})
            return None
        if any(report.counts.values()):
            _LOG.info("bridge reconciled", extra=report.counts)
        return report
