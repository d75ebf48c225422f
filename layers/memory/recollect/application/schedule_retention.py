"""Once a day each tenant has a job `retain`, of which nobody has to think."""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.errors import VersionMismatch
from recollect.domain.ids import IdSource
from recollect.domain.items import Due, DueItem, ItemWrite, of_tenant
from recollect.domain.job import JOB_ID, Job, job_write
from recollect.domain.retention import EVERY, SCHEDULE_QUEUE
from recollect.ports import Items

_PAGE = 100
_MOST_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class ScheduleRetention:
    """The job is asked for in the step that puts the tenant's next one a day ahead."""

    items: Items
    ids: IdSource

    def __call__(self, now: datetime) -> int:
        """Asks for the jobs that are due; how many. Raises as `Items.due`."""
        started, after = 0, None
        for _ in range(_MOST_PAGES):
            page = self.items.due(SCHEDULE_QUEUE, now, _PAGE, after)
            started += sum(self._started(due, now) for due in page.items)
            after = page.more
            if after is None:
                break
        return started

    def _started(self, due: DueItem, now: datetime) -> bool:
        """False where somebody else was faster."""
        owner = of_tenant(due.owner.tenant)
        item = self.items.get(owner, [due.key]).get(due.key)
        if item is None or item.due is None or item.due.at > now:
            return False
        job_id = self.ids.seed(int(now.timestamp() * 1000)).nth(0)
        job = Job(id=job_id, kind="retain", asked_at=now, started_at=now, state={JOB_ID: job_id})
        ahead = ItemWrite(item.key, item.value, item.version, Due(SCHEDULE_QUEUE, now + EVERY))
        try:
            self.items.write(owner, [job_write(job), ahead], now)
        except VersionMismatch:
            return False
        return True
