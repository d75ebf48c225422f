"""A memory with rules of retention, whose jobs a test runs."""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from embedded.setting import ANNA, NOON, Memory
from recollect.core.scope import Scope
from recollect.jobs.job import Job, JobStatus
from recollect.jobs.run import JobOrder
from recollect.timeline.bus import EPISODIC_PRUNED
from recollect.timeline.record import EventDraft

BEN = Scope("acme", "ben")
STRANGER = Scope("other", "anna")
DAY = timedelta(days=1)
NOW = NOON + 100 * DAY


@dataclass
class Keeping:
    """A memory with rules of retention; a test runs its jobs."""

    memory: Memory
    home: Path
    ids: dict[str, str] = field(default_factory=dict)

    def rules(self, *rules: Mapping[str, Any], tenant: str = "acme") -> None:
        """The tenant's rules of retention."""
        self.memory.app.rules.replace(tenant, {"retention": list(rules)}, self.memory.now, None)

    def say(self, text: str, age_days: float, scope: Scope = ANNA, **more: Any) -> str:
        """An event of that age; its id."""
        draft = EventDraft(content=text, timestamp=NOW - age_days * DAY, **more)
        (result,) = self.memory.add(draft, scope=scope).results
        assert result.event_id is not None, result
        self.ids[text] = result.event_id
        return result.event_id

    def start(self, tenant: str = "acme") -> Job:
        """A job, asked for now."""
        app = self.memory.app
        order = JobOrder(kind="retain", now=NOW, real_now=NOW)
        return app.jobs.start(tenant, order, app.ids.seed(int(NOW.timestamp() * 1000)))

    def run(self, job: Job, tenant: str = "acme", left: Callable[[], float] = lambda: 900.0) -> Job:
        """Runs it as far as the time goes."""
        return self.memory.app.job_runs.one(tenant, job.id, lambda: self.memory.now, left)

    def retain(self, tenant: str = "acme") -> dict[str, int]:
        """A job, and all of it; then what was derived follows."""
        self.memory.project()
        self.memory.now = NOW
        ended = self.run(self.start(tenant), tenant)
        assert (ended.status, ended.errors) == (JobStatus.DONE, {})
        self.memory.project()
        return counted(ended)

    def left(self, scope: Scope = ANNA) -> list[str]:
        """The contents of all records, oldest first."""
        page = self.memory.app.parts.timeline.records(scope, 1000, None)
        return [event.content for event in page.events]

    def told(self, tenant: str = "acme") -> list[Mapping[str, Any]]:
        """The details of what was published as pruned."""
        events = self.memory.app.parts.publisher.published(tenant, EPISODIC_PRUNED, None)
        return [event.detail for event in events]

    def archived(self, tenant: str = "acme") -> list[dict[str, Any]]:
        """The records in the archives."""
        store = self.memory.app.parts.snapshots
        found = [store.get(tenant, name) for name in store.names(tenant, "archive/")]
        return [json.loads(line) for one in found if one for line in gzip.decompress(one[0]).decode().splitlines()]


def counted(job: Job) -> dict[str, int]:
    """The counts that are not zero."""
    return {name: count for name, count in job.counts.items() if count}
