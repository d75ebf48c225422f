"""What the tests of segments, snapshots and exports share."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from embedded.memory_items import USER as USER
from embedded.setting import ANNA, Memory
from recollect.app import App
from recollect.archive.record_line import RecordLine, read_line
from recollect.archive.segment_places import AssignSegments
from recollect.archive.segments import ROLL_EVENTS
from recollect.archive.transfer import ImportOrder, ImportReport
from recollect.core.event import Event
from recollect.core.items import in_parts
from recollect.core.scope import Scope
from recollect.jobs.job import JOB_ID, JobKind
from recollect.ports import Items, Projections
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import Projection


def remarks(memory: Memory, count: int, scope: Scope = ANNA, start: int = 0) -> list[str]:
    """Ids of that many new events a minute apart, said in a conversation, not yet projected.

    They claim nothing: of claims, each would be weighed against all others of its page when it is projected.
    """
    before = len(memory.ids)
    for first in range(start, start + count, 100):
        contents = [f"about the garden: number{n}?" for n in range(first, min(first + 100, start + count))]
        memory.add(*contents, scope=scope)
    return memory.ids[before:]


def all_events(memory: Memory, scope: Scope = ANNA) -> list[Event]:
    """All that the timeline holds of a user, oldest first."""
    events: list[Event] = []
    after = None
    while True:
        page = memory.app.parts.timeline.records(scope, 500, after)
        events += page.events
        after = page.more
        if after is None:
            return events


def assigned(
    app: App, events: Sequence[Event], now: datetime, items: Items | None = None, projections: Projections | None = None
) -> dict[str, str]:
    """Assigns a user's events to segments as the projection does; answers the names by the events' ids."""
    stored_in = projections or app.parts.projections
    segments = AssignSegments(items or app.parts.items, app.parts.timeline, stored_in)
    found: dict[str, str] = {}
    for part in in_parts(events, ROLL_EVENTS):
        counting = segments.counting(ANNA)
        stored = {i: one.segment for i, one in stored_in.vectors(ANNA, [event.id for event in part]).items()}
        made = segments.assign(ANNA, part, now, counting, stored)
        found |= {event.id: made.places[event.id].segment_id for event in part}
        new = [event for event in part if event.id in made.numbers and not stored.get(event.id)]
        if new:
            stored_in.save(ANNA, [Projection(event.ref, None, None, made.numbers[event.id]) for event in new])
    return found


def exported(memory: Memory, scope: Scope = ANNA) -> list[RecordLine]:
    """The user's export, all pages of it."""
    lines: list[RecordLine] = []
    after = None
    while True:
        page = memory.app.segments.exports.page(scope, after, memory.now)
        lines += map(read_line, page.text.splitlines())
        after = page.more
        if after is None:
            return lines


def imported(memory: Memory, lines: list[RecordLine], scope: Scope = ANNA) -> ImportReport:
    """What an import of these lines did."""
    return memory.app.archive.imports.import_lines(scope, lines, ImportOrder(actor=USER, via="import", now=memory.now))


def run_job(memory: Memory, kind: JobKind, tenant: str = "acme", **parameters: Any) -> dict[str, int]:
    """Runs a job to its end, a step of little time after the other; answers its counts."""
    counts: dict[str, int] = {}
    state: Mapping[str, Any] = {**parameters}
    if JOB_ID not in state:
        state = {**state, JOB_ID: memory.app.ids.seed(int(memory.now.timestamp() * 1000)).nth(0)}
    for _ in range(1000):
        seconds = iter((30.0, 30.0, 30.0))
        progress = kind.step(tenant, state, memory.now, lambda left=seconds: next(left, 0.0))  # type: ignore[misc]
        for name, count in progress.counts.items():
            counts[name] = counts.get(name, 0) + count
        if progress.done:
            return counts
        state = progress.state
    raise AssertionError("the job never ends")


def snapshot(memory: Memory, **parameters: Any) -> str:
    """The id of a new snapshot of the tenant `acme`, or of one user."""
    job_id = memory.app.ids.seed(int(memory.now.timestamp() * 1000)).nth(0)
    run_job(memory, memory.app.archive.take_snapshot, **{JOB_ID: job_id}, **parameters)
    return job_id


def keyed(memory: Memory, key: str, *values: str) -> None:
    """Values of a slot, a minute apart."""
    for value in values:
        memory.now += timedelta(minutes=1)
        memory.add(EventDraft(content=value, key=key, timestamp=memory.now))


def texts(events: list[Event]) -> list[str]:
    """Their contents, in order."""
    return [event.content for event in events]
