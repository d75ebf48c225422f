"""The bridge's part of a reconciliation: what is still to be published, and what waits to be promoted (P-10, A-66)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from math import inf

from recollect.application.bus_outbox import BusOutbox, OutboxRun
from recollect.application.promote_deferred import DeferredRun, PromoteDeferred


@dataclass(frozen=True, slots=True)
class BridgeRun:
    """What a run did."""

    outbox: OutboxRun
    deferred: DeferredRun

    @property
    def counts(self) -> dict[str, int]:
        """For a log line and metrics."""
        return {
            "published": self.outbox.published,
            "unpublished": self.outbox.refused,
            **{f"deferred_{name}": count for name, count in self.deferred.counts.items()},
        }


class ReconcileBridge:
    """Every tenant's, or one's; safe to run twice and beside itself."""

    def __init__(self, outbox: BusOutbox, promote_deferred: PromoteDeferred) -> None:
        self._outbox = outbox
        self._promote_deferred = promote_deferred

    def __call__(
        self, now: datetime, tenant: str | None = None, remaining_seconds: Callable[[], float] = lambda: inf
    ) -> BridgeRun:
        """Publishes, then promotes, as far as the time goes. Raises as `Items.due` and the publisher do."""
        published = self._outbox.drain(now, tenant, remaining_seconds)
        return BridgeRun(published, self._promote_deferred(now, tenant, remaining_seconds))
