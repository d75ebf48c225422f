"""Jobs as an operator sees them: asked for, and looked at. `run_jobs` does the work."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.domain.errors import NotFound, VersionMismatch
from recollect.domain.ids import IdSeed
from recollect.domain.items import of_tenant
from recollect.domain.job import JOB_ID, JOBS, KINDS, Job, job_in, job_key, job_write
from recollect.ports import Items


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder:
    """What is asked for; `now` is the asker's clock, `real_now` the real one."""

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    now: datetime
    real_now: datetime


class Jobs:
    """Every asking makes a job of its own; those of one kind and tenant then take turns.

    So a job that was asked for while another one ran sees what came after that one's beginning.
    """

    def __init__(self, items: Items) -> None:
        self._items = items

    def start(self, tenant: str, order: JobOrder, seed: IdSeed) -> Job:
        """Makes a job, durable when this returns; `seed` gives its id, so that a retry finds it.

        Raises NotFound where there is no such kind.
        """
        if order.kind not in KINDS:
            raise NotFound("no such kind of job")
        job_id = seed.nth(0)
        state = {**order.parameters, JOB_ID: job_id}
        job = Job(id=job_id, kind=order.kind, asked_at=order.now, started_at=order.real_now, state=state)
        with suppress(VersionMismatch):
            self._items.write(of_tenant(tenant), [job_write(job)], order.real_now)
        return self.read(tenant, job_id)

    def read(self, tenant: str, job_id: str) -> Job:
        """A job of this tenant, as it stands. Raises NotFound."""
        key = job_key(job_id)
        item = self._items.get(of_tenant(tenant), [key]).get(key)
        if item is None:
            raise NotFound("no such job")
        return job_in(item)

    def newest(self, tenant: str, limit: int) -> list[Job]:
        """The tenant's jobs, the last asked for first."""
        page = self._items.page(of_tenant(tenant), JOBS, limit, None, descending=True)
        return [job_in(item) for item in page.items]
