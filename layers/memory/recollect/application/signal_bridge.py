"""Signals: a warning suspends a tenant's automatic promotion, a healthy signal takes that back (A-66 to A-68, P-10).

Only what would become a memory by itself waits; whoever saves one directly is never kept from it (A-68).
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.application.bus_outbox import BusOutbox, outbox_write
from recollect.domain.bridge import STATE_KEY, BridgeState, state_document, state_in
from recollect.domain.bus import BusEvent, episodic_warning
from recollect.domain.items import ItemWrite, of_tenant
from recollect.ports import Items

DEFAULT_SEVERITY = "medium"


class SignalType(StrEnum):
    """What is told about the episodic store."""

    WARNING = "warning"
    HEALTHY = "healthy"


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal: who sends it, how bad it is, and why. `id` is under which a warning is published."""

    id: str
    type: SignalType
    source: str
    severity: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SignalOutcome:
    """The state afterwards; a warning's id on the bus, and whether the bus took it at once."""

    suspended: bool
    event_id: str | None = None
    forwarded: bool = False


class SignalBridge:
    """Behind `POST /v1/signals`, and for every part of ours that has to warn of the episodic store."""

    def __init__(self, items: Items, outbox: BusOutbox) -> None:
        self._items = items
        self._outbox = outbox

    def __call__(self, tenant: str, signal: Signal, now: datetime) -> SignalOutcome:
        """Durable on return; a warning that the bus does not take now is published by the next reconciliation."""
        if signal.type is SignalType.HEALTHY:
            self._write(tenant, BridgeState(source=signal.source, since=now), None, now)
            return SignalOutcome(suspended=False)
        severity = signal.severity or DEFAULT_SEVERITY
        warning = episodic_warning(signal.id, severity, signal.reason, signal.source, now)
        self._write(tenant, BridgeState(True, signal.source, severity, signal.reason, now), warning, now)
        left = self._outbox.deliver(of_tenant(tenant), [warning], now)
        return SignalOutcome(suspended=True, event_id=warning.id, forwarded=not left)

    def state(self, tenant: str) -> BridgeState:
        """Whether promotion is suspended, and by whom."""
        item = self._items.get(of_tenant(tenant), [STATE_KEY]).get(STATE_KEY)
        return state_in(item.value) if item else BridgeState()

    def _write(self, tenant: str, state: BridgeState, warning: BusEvent | None, now: datetime) -> None:
        """The state whatever it was: of two signals the last one holds."""
        writes = [ItemWrite(STATE_KEY, state_document(state))]
        self._items.write(of_tenant(tenant), [*writes, *([outbox_write(warning)] if warning else [])], now)
