"""Scenarios of what an operator runs, and of what a schedule does."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from crashes.derived import AFTER, counted
from crashes.evidence import with_removals
from crashes.remembering import healthy, remembered
from crashes.scenario import Act, scenario
from crashes.world import World
from embedded.setting import ANNA
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.jobs.run import JobOrder
from recollect.search_index.page import index_document
from recollect.timeline.record import EventDraft

_ROUNDS = 30
_ROUND = timedelta(minutes=6)


def run_job(world: World, kind: str, given: Mapping[str, Any] | None = None, *, hurried: bool = False) -> str:
    """Asks for a job, with a key, and runs what is due until it has ended; how it ended."""

    def work(seed: IdSeed, again: bool) -> dict[str, Any]:
        order = JobOrder(kind=kind, parameters=given or {}, now=world.now, real_now=world.now)
        return {"id": world.app.jobs.start("acme", order, seed).id}

    job_id = world.once(f"job {kind} {sorted(given or {})}", 1, work)["id"]
    world.known["job"] = job_id
    finished(world, job_id, hurried=hurried)
    return world.app.jobs.read("acme", job_id).status.value


def finished(world: World, job_id: str | None = None, *, hurried: bool = False) -> None:
    """Runs what is due, as time goes by, until that job has ended, or every job."""
    moment = world.now
    for _ in range(_ROUNDS):
        run_due(world, moment, hurried=hurried)
        jobs = [world.app.jobs.read("acme", job_id)] if job_id else world.app.jobs.newest("acme", 100)
        if all(job.finished for job in jobs):
            return
        moment += _ROUND
    raise AssertionError("the jobs come to no end")


def run_due(world: World, moment: datetime, *, hurried: bool = False) -> None:
    """One round over the jobs that are due at an instant; `hurried`: its time is nearly over with the first step."""
    left = iter(range(16 if hurried else 60_000, 0, -3))
    world.app.job_runs.run(lambda: moment, lambda: float(next(left, 0)))


def deferred_and_removed(world: World) -> None:
    """Removals that nobody has projected, and events that were deferred and may go on."""
    with_removals(world)
    healthy(world)


def aged(world: World) -> None:
    """Old events and memories that a rule lets go, after they were archived; what has expired; what stays."""
    remembered(world)
    old = world.now - timedelta(days=400)
    world.say(
        EventDraft(content="It rained long ago.", timestamp=old, importance=0.1),
        EventDraft(content="I lived in Ulm.", timestamp=old, importance=0.9),
        EventDraft(
            content="The ticket is valid today.", timestamp=world.now, expires_at=world.now + timedelta(hours=1)
        ),
    )
    rule = {"older_than_days": 30, "archive": True}
    world.app.rules.replace("acme", {"retention": [rule]}, world.now, None)
    world.reconcile()
    world.now += timedelta(hours=2)


def with_an_orphan(world: World) -> None:
    """A document whose record is gone: the table was restored to an instant before."""
    remembered(world)
    event = replace(world.app.parts.timeline.newest(ANNA, 1)[0], id="018f3400-0000-7000-8000-000000000000")
    assert world.app.parts.index.put([index_document(ANNA, event, None)]) == []


def without_vectors(world: World) -> None:
    """Everything was written when there was no embedder."""
    world.close()
    world.app = replace(world.plan, environment={**world.plan.environment, "RECOLLECT_EMBEDDER": "none"}).open(
        world.ticket
    )
    remembered(world)
    world.close()
    world.app = world.plan.open(world.ticket)


def _job(name: str, kind: str, prepare: Act, given: Mapping[str, Any] | None = None, **more: Any) -> None:
    hurried = more.pop("hurried", False)

    def act(world: World) -> str:
        return run_job(world, kind, given, hurried=hurried)

    act.__name__ = f"job_{name}"
    scenario(prepare=prepare, **more)(act)


_VECTORS, _EVENTS = {"from": "vectors"}, {"from": "events"}

_job("reconcile", "reconcile", deferred_and_removed)
_job("summarize", "summarize", counted, says=AFTER, degrades=True)
# What is tried again is archived and published again, without what went before.
_job("retain", "retain", aged, unlike=frozenset({"bus", "objects"}))
_job("reindex_from_vectors", "reindex", remembered, _VECTORS)
_job("reindex_from_events", "reindex", remembered, _EVENTS)
# Documents of records that are deleted are deleted.
_job("reindex_over_orphans", "reindex", with_an_orphan, _VECTORS, broken=True)
_job("rederive_over_orphans", "reindex", with_an_orphan, _EVENTS, broken=True)
# So little time at once that every page is a step of its own.
_job("rederive_in_steps", "reindex", remembered, _EVENTS, hurried=True)
# A new embedder: an index is made beside the old one, which is deleted then.
_job("reindex_another_generation", "reindex", without_vectors, _VECTORS, broken=True)
_job("snapshot", "snapshot", remembered)
_job("snapshot_in_steps", "snapshot", remembered, hurried=True)


@scenario(prepare=aged)
def schedule_retention(world: World) -> None:
    world.app.archive.retention_schedule.schedule(world.now)


@scenario(prepare=remembered, reads=True)
def begin_reindex(world: World) -> list[str]:
    world.app.jobs.newest("acme", 10)
    return world.app.reindexing.generations.begin(world.now)


@scenario(prepare=remembered)
def known_users(world: World) -> list[str]:
    """One who has nothing here is taken off the list."""
    ben = Scope("acme", "ben")
    world.app.timeline.known_users.note(ben, world.now)
    listed = list(world.app.timeline.known_users.page("acme", 10, None).user_ids)
    world.app.timeline.known_users.forget(ben, world.now)
    return listed


@scenario(prepare=remembered, reads=True)
def index(world: World) -> list[Any]:
    """What is asked of the index beside searches; of a tenant that has nothing there, nothing is dropped."""
    used = world.app.search_index.in_use
    listed = used.listed(ANNA, 100, None)
    world.app.search_index.states.lacking("acme", ())
    other = used.of("another.1")
    return [
        used.check(),
        used.create(),
        used.identity(),
        used.count(ANNA),
        len(listed.refs),
        other.generation,
        used.drop("nobody", 10),
    ]
