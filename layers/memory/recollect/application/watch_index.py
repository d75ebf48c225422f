"""Watches the index: a warning is published where it is too full or takes writes slowly (A-38)."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.bus import semantic_warning
from recollect.domain.errors import RecollectError
from recollect.domain.ids import IdSource
from recollect.domain.items import of_tenant
from recollect.domain.rules import Rules
from recollect.ports import Publisher, SearchIndex

OVER_CAPACITY = "index_capacity_exceeded"
SLOW_WRITES = "slow_index_writes"
WARNING, CRITICAL = "warning", "critical"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPolicy:
    """A call that takes `slow_seconds` and more is slow; twice the capacity is critical.

    The same warning of a tenant is published once in `quiet_seconds` by a process.
    """

    slow_seconds: float = 5.0
    quiet_seconds: float = 300.0
    critical_share: float = 2.0


class WatchIndex:
    """Called after each write to the index. A warning that cannot be published never fails the write."""

    def __init__(
        self,
        index: SearchIndex,
        publisher: Publisher,
        rules: Callable[[str], Rules],
        ids: IdSource,
        clock: Callable[[], datetime],
        policy: WatchPolicy | None = None,
    ) -> None:
        self._index = index
        self._publisher = publisher
        self._rules = rules
        self._ids = ids
        self._clock = clock
        self._policy = policy or WatchPolicy()
        self._warned: dict[tuple[str, str], float] = {}

    def __call__(self, written: Mapping[str, int], seconds: float) -> None:
        """`written`: documents by tenant, of a call that took so long."""
        for tenant in written:
            try:
                if seconds >= self._policy.slow_seconds:
                    self._warn(tenant, WARNING, SLOW_WRITES)
                self._check_capacity(tenant)
            except RecollectError as error:
                _LOG.warning("the index could not be watched", extra={"error": type(error).__name__})

    def _check_capacity(self, tenant: str) -> None:
        capacity = self._rules(tenant).limits.index_capacity
        if capacity is None or self._is_quiet(tenant, OVER_CAPACITY):
            return
        documents = self._index.count(of_tenant(tenant)).documents
        if documents > capacity:
            severity = CRITICAL if documents > capacity * self._policy.critical_share else WARNING
            self._warn(tenant, severity, OVER_CAPACITY)

    def _is_quiet(self, tenant: str, reason: str) -> bool:
        warned_at = self._warned.get((tenant, reason))
        return warned_at is not None and time.monotonic() - warned_at < self._policy.quiet_seconds

    def _warn(self, tenant: str, severity: str, reason: str) -> None:
        if self._is_quiet(tenant, reason):
            return
        now = self._clock()
        warning_id = self._ids.seed(int(now.timestamp() * 1000)).nth(0)
        _LOG.warning("the index needs attention", extra={"severity": severity, "reason": reason})
        if not self._publisher.publish(tenant, [semantic_warning(warning_id, severity, reason, now)]):
            self._warned[tenant, reason] = time.monotonic()
