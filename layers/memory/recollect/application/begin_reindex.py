"""Begins the job `reindex` by itself where an index is another embedder's, lost or incomplete (A-34): on a laptop.

In the cloud an operator decides when, for it may take hours and cost money; readiness tells that it is needed.
"""

import time
from collections.abc import Callable
from datetime import datetime

from recollect.application.check_index import CheckIndex
from recollect.application.jobs import JobOrder, Jobs
from recollect.domain.errors import RecollectError
from recollect.domain.ids import IdSource

KIND = "reindex"
_LOOKED_AT = 50
_MOST_TENANTS = 10_000


class BeginReindex:
    """Looks every `pause_seconds`, and begins at most one job of a tenant in `again_seconds`."""

    def __init__(
        self,
        check: CheckIndex,
        jobs: Jobs,
        ids: IdSource,
        ready: Callable[[], None],
        pause_seconds: float = 5.0,
        again_seconds: float = 60.0,
    ) -> None:
        self._check = check
        self._jobs = jobs
        self._ids = ids
        self._ready = ready
        self._pause_seconds = pause_seconds
        self._again_seconds = again_seconds
        self._looked_at: float | None = None
        self._begun: dict[str, float] = {}

    def __call__(self, now: datetime) -> list[str]:
        """The tenants whose index is being made anew from now on. Raises what the parts raise.

        Nothing is begun while the embedder that is set is missing: words alone must not take its vectors' place.
        """
        if self._looked_at is not None and time.monotonic() - self._looked_at < self._pause_seconds:
            return []
        self._looked_at = time.monotonic()
        lagging = [tenant for tenant in self._check.lagging(_MOST_TENANTS) if self._is_due(tenant)]
        if not lagging or not self._is_ready():
            return []
        for tenant in lagging:
            self._begin(tenant, now)
        return lagging

    def _is_ready(self) -> bool:
        try:
            self._ready()
        except RecollectError:
            return False
        return True

    def _is_due(self, tenant: str) -> bool:
        begun = self._begun.get(tenant)
        if begun is not None and time.monotonic() - begun < self._again_seconds:
            return False
        jobs = [job for job in self._jobs.newest(tenant, _LOOKED_AT) if job.kind == KIND]
        return all(job.finished for job in jobs)

    def _begin(self, tenant: str, now: datetime) -> None:
        self._begun[tenant] = time.monotonic()
        order = JobOrder(kind=KIND, parameters={"from": "vectors"}, now=now, real_now=now)
        self._jobs.start(tenant, order, self._ids.seed(int(now.timestamp() * 1000)))
