"""The bridge's reconciliation in the background of a laptop, as often as the cloud's schedule runs it (P-10)."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime

from recollect.app import App
from recollect.application.promote_deferred import RESERVE_SECONDS
from recollect.application.reconcile_bridge import BridgeRun

_LOG = logging.getLogger(__name__)
_ROUND_SECONDS = 300.0


class BridgeRounds:
    """Rounds until told to stop; the users under way are done with, and nobody else is begun."""

    def __init__(self, app: App, clock: Callable[[], datetime], stop: threading.Event, pause_seconds: float) -> None:
        self._app = app
        self._clock = clock
        self._stop = stop
        self._pause_seconds = pause_seconds

    def run(self) -> None:
        """Until `stop` is set; the first round comes after a pause too."""
        while not self._stop.wait(self._pause_seconds):
            self.round()

    def round(self) -> BridgeRun | None:
        """One run over every tenant; None where it failed as a whole, which is logged."""
        try:
            report = self._app.reconcile_bridge(self._clock(), remaining_seconds=self._remaining_seconds)
        except Exception as error:  # noqa: BLE001 - a defect must not end the thread; what waits goes on waiting
            _LOG.warning("the bridge was not reconciled", extra={"error": type(error).__name__})
            return None
        if any(report.counts.values()):
            _LOG.info("bridge reconciled", extra=report.counts)
        return report

    def _remaining_seconds(self) -> float:
        return 0.0 if self._stop.is_set() else RESERVE_SECONDS + _ROUND_SECONDS
