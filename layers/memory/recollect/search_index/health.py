"""The health of the deployment and of its index: readiness, checks of a rebuilt index, and warnings (A-34, A-35, A-38,
A-56).
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from recollect.core.errors import RecollectError
from recollect.core.event import EventRef
from recollect.core.ids import IdSource
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, cosine
from recollect.ports import PartState, Publisher, SearchIndex, Timeline
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.nomination import NominationRequest
from recollect.rules.groups import Rules
from recollect.search_index.state import (
    INCOMPLETE,
    LOST,
    NOT_WARM,
    OTHER_ENGINE,
    OTHER_GENERATION,
    UNFINISHED,
    Engines,
    IndexStates,
    no_former,
)
from recollect.timeline.bus import semantic_warning
from recollect.timeline.listing import KnownUsers

MOST_TENANTS = 50
OVER_CAPACITY = "index_capacity_exceeded"
SLOW_WRITES = "slow_index_writes"
WARNING, CRITICAL = "warning", "critical"
_TENANTS_COUNTED = 5
_USERS = 5
_ALIKE = 0.99
_NEAREST = 5
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Readiness:
    """All parts by name; ready when every one is."""

    parts: Mapping[str, PartState]

    @property
    def ready(self) -> bool:
        """Whether queries and writes are fully served."""
        return all(part.ready for part in self.parts.values())


class CheckReadiness:
    """Checks each part; one that raises is not ready, with the error's sentence as its detail."""

    def __init__(self, checks: Mapping[str, Callable[[], PartState]]) -> None:
        self._checks = checks

    def check(self) -> Readiness:
        return Readiness({name: self._state(check) for name, check in self._checks.items()})

    @staticmethod
    def _state(check: Callable[[], PartState]) -> PartState:
        try:
            return check()
        except RecollectError as error:
            return PartState(False, str(error))


_REASONS = {
    OTHER_GENERATION: "with another embedder's, so by words alone",
    LOST: "lost",
    UNFINISHED: "unfinished",
    INCOMPLETE: "where vectors are missing",
    OTHER_ENGINE: "in the former search engine",
}


@dataclass(frozen=True, slots=True)
class CheckIndex:
    """Checks the pointers of the first 50 tenants, and the indexes of the first 5 of them (A-34, A-35)."""

    _check: Callable[[], PartState]
    _index: SearchIndex
    _states: IndexStates
    _users: KnownUsers
    _timeline: Timeline
    _former: Callable[[], SearchIndex | None] = no_former

    def check(self) -> PartState:
        """Not ready while a tenant's index is another embedder's, was lost, or is empty where records exist.

        `pending`: tenants whose index must be rebuilt. Raises NotReady and Unavailable.
        """
        part = self._check()
        lagging = self.lagging()
        if not lagging:
            return part
        reasons = Counter(lagging.values())
        listed = ", ".join(f"{count} {_REASONS[reason]}" for reason, count in sorted(reasons.items()))
        detail = f"{part.detail}; tenants whose index is to be made anew by the job reindex: {listed}"
        return PartState(part.ready and not reasons.keys() & NOT_WARM, detail, len(lagging))

    def lagging(self, most_tenants: int = MOST_TENANTS, counted: int = _TENANTS_COUNTED) -> dict[str, str]:
        """The tenants whose index must be rebuilt, of the first `most_tenants`, and the reason of `state`.

        Of the first `counted` an index that is empty though there are records counts as lost too.
        """
        identity, generation = self._index.identity(), self._index.generation
        engines = Engines(self._index, self._former)
        found = {}
        for place, (tenant, state) in enumerate(islice(self._states.all(), most_tenants)):
            moves = engines.left(state) is not None and state.generation == generation
            reason = OTHER_ENGINE if moves else state.lags(generation, identity)
            if reason is None and place < counted and self._is_empty(tenant):
                reason = LOST
            if reason is not None:
                found[tenant] = reason
        return found

    def _is_empty(self, tenant: str) -> bool:
        """Whether the index is empty though the tenant has records."""
        if self._index.count(of_tenant(tenant), most=1).documents:
            return False
        users = self._users.page(tenant, _USERS, None).user_ids
        return any(self._timeline.records(Scope(tenant, user_id), 1, None).events for user_id in users)


@dataclass(frozen=True, slots=True)
class Sample:
    """A record that was indexed, with its vector."""

    ref: EventRef
    vector: FloatArray


@dataclass(frozen=True, slots=True)
class Checked:
    """`whole`: nothing is missing. `too_many`: documents without a record, or of records written meanwhile."""

    whole: bool
    too_many: bool


class CheckRebuilt:
    """Checks the rebuilt index of one user, by count and by a search for a sample, after the last page is visible."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def check(self, scope: Scope, documents: int, sample: Sample | None, now: datetime) -> Checked:
        """`documents` is how many were put; the sample must be among the nearest to its own vector."""
        shown = self._index.count(scope).documents
        found = sample is None or self._is_found(scope, sample, now)
        return Checked(whole=shown >= documents and found, too_many=shown > documents)

    def _is_found(self, scope: Scope, sample: Sample, now: datetime) -> bool:
        """An equally near hit counts too: several records may have one text."""
        filters = SearchFilters(now=now, include_superseded=True)
        nominations = self._index.nominate(
            scope, NominationRequest(filters=filters, limit=_NEAREST, vector=sample.vector)
        )
        return any(
            hit.ref == sample.ref or (hit.vector is not None and cosine(hit.vector, sample.vector) >= _ALIKE)
            for hit in nominations.hits
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPolicy:
    """A write of `slow_seconds` or more is slow; above `critical_share` times the capacity is critical.

    A process publishes the same warning of a tenant once in `quiet_seconds`, and asks once in `known_seconds` whether a
    tenant that has no capacity has one by now.
    """

    slow_seconds: float = 5.0
    quiet_seconds: float = 300.0
    known_seconds: float = 60.0
    critical_share: float = 2.0


@dataclass(slots=True, eq=False)
class WatchIndex:
    """Called after each write to the index; publishes warnings (A-38). A failed warning never fails the write."""

    _index: SearchIndex
    _publisher: Publisher
    _rules: Callable[[str], Rules]
    _ids: IdSource
    _clock: Callable[[], datetime]
    _policy: WatchPolicy = field(default_factory=WatchPolicy)
    _warned: dict[tuple[str, str], float] = field(default_factory=dict, init=False)
    _unbounded: dict[str, float] = field(default_factory=dict, init=False)

    def watch(self, written: Mapping[str, int], seconds: float) -> None:
        """`written`: the number of documents by tenant, of a write that took `seconds`."""
        for tenant in written:
            try:
                if seconds >= self._policy.slow_seconds:
                    self._warn(tenant, WARNING, SLOW_WRITES)
                self._check_capacity(tenant)
            except RecollectError as error:
                _LOG.warning("the index could not be watched", extra={"error": type(error).__name__})

    def _check_capacity(self, tenant: str) -> None:
        since = self._unbounded.get(tenant)
        if since is not None and time.monotonic() - since < self._policy.known_seconds:
            return
        capacity = self._rules(tenant).limits.index_capacity
        if capacity is None:
            self._unbounded[tenant] = time.monotonic()
        if capacity is None or self._is_quiet(tenant, OVER_CAPACITY):
            return
        critical = int(capacity * self._policy.critical_share)
        documents = self._index.count(of_tenant(tenant), most=critical + 1).documents
        if documents > capacity:
            severity = CRITICAL if documents > critical else WARNING
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
