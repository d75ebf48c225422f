"""Scenarios of the archive: segments of the timeline, snapshots, restore, export and import."""

from collections.abc import Mapping
from typing import Any

from crashes.evidence import city, gone
from crashes.remembering import remembered
from crashes.running import run_job
from crashes.scenario import scenario
from crashes.world import USER, World
from embedded.setting import ANNA
from recollect.archive.record_line import read_line
from recollect.archive.transfer import ImportOrder, LineOutcome
from recollect.core.scope import Scope

BEN = Scope("acme", "ben")


def archived(world: World) -> None:
    """Closed segments that are written, and a snapshot; then something new, and something deleted."""
    remembered(world)
    world.app.segments.compaction.close(ANNA, world.now)
    world.app.segments.compaction.compact(ANNA, world.now)
    world.known["snapshot"] = snapshot(world)
    world.known["later"] = world.say("I bake bread.", city("Bonn", 2))
    world.forget(world.known["ids"][0])
    world.reconcile()


def snapshot(world: World, **of: str) -> str:
    """The id of a new one."""
    assert run_job(world, "snapshot", of) == "done"
    return str(world.known["job"])


def closed(world: World) -> None:
    """A closed segment that nobody has written, one event of which is gone."""
    remembered(world)
    world.app.segments.compaction.close(ANNA, world.now)
    world.forget(world.known["ids"][0])
    world.reconcile()


def lost(world: World) -> None:
    """The table is lost; the archive is there."""
    archived(world)
    world.app.parts.close()
    for file in world.home.glob("recollect.db*"):
        file.unlink()
    world.app = world.plan.open(world.ticket)
    world.say("I begin anew.")
    world.reconcile()


def twice(world: World) -> None:
    archived(world)
    world.known["second"] = snapshot(world, user_id="anna")


def _import(world: World, scope: Scope, lines: list[Any]) -> Mapping[LineOutcome, int]:
    order = ImportOrder(actor=USER, via="import", now=world.now)
    return world.app.archive.imports.import_lines(scope, lines, order).counts


def _exported(world: World) -> list[Any]:
    page = world.app.segments.exports.page(ANNA, None, world.now)
    return [read_line(text) for text in page.text.splitlines()]


@scenario(prepare=closed)
def compact(world: World) -> None:
    """A closed segment, then the open one, as the schedule does it."""
    world.app.segments.compaction.compact(ANNA, world.now)
    world.app.segments.compaction.close(ANNA, world.now)
    world.app.segments.compaction.run(world.now, lambda: 600.0)


@scenario(prepare=archived, after=gone("nuts"))
def forget_what_is_archived(world: World) -> None:
    """A deletion reaches segments and snapshots."""
    gone = world.app.parts.timeline.find(ANNA, world.known["promoted"])
    if gone is not None:
        world.forget(gone.id)
        world.app.segments.rewriting.rewrite(ANNA, [gone.ref], world.now)
        world.app.search_index.forget(ANNA, [gone.ref])


@scenario(prepare=archived, after=gone("Bonn"))
def forget_what_superseded_an_archived_value(world: World) -> None:
    """The archive's value of the slot, which is the one before, says that it is superseded."""
    gone = world.app.parts.timeline.find(ANNA, world.known["later"][1])
    if gone is not None:
        world.forget(gone.id)
        world.app.segments.archived_slots.empty(ANNA, [gone.ref], world.now)


@scenario(prepare=lost, lost=True)
def job_restore(world: World) -> str:
    """The job `restore` into a new table: what was deleted before the snapshot's rewriting stays away."""
    return run_job(world, "restore", {"snapshot_id": world.known["snapshot"]})


@scenario(prepare=archived)
def job_restore_over(world: World) -> str:
    """Into the table that it was taken of: nothing is there twice, and nothing deleted is back."""
    return run_job(world, "restore", {"snapshot_id": world.known["snapshot"]})


@scenario(prepare=lost, lost=True)
def job_restore_timeline(world: World) -> str:
    """From the segments of the timeline."""
    return run_job(world, "restore", {"snapshot_id": "timeline"})


def copied(world: World) -> None:
    """Ben has what Anna exported."""
    _import(world, BEN, _exported(world))
    event = world.app.parts.timeline.find(ANNA, world.known["promoted"])
    assert event is not None
    world.known["ref"] = event.ref


@scenario(prepare=archived)
def import_a_copy(world: World) -> dict[str, int]:
    """Anna's records become Ben's too; her own are there already."""
    lines = world.known.setdefault("lines", _exported(world))
    own = _import(world, ANNA, lines)
    _import(world, BEN, lines)
    return {outcome.value: count for outcome, count in own.items()}


@scenario(prepare=archived)
def erase_the_archive(world: World) -> None:
    world.app.segments.rewriting.erase(ANNA)


@scenario(prepare=twice, reads=True)
def archives(world: World) -> list[Any]:
    archive = world.app.segments
    lines = [line.event.content for line in archive.contents.read(ANNA)]
    diff = archive.differences.diff("acme", world.known["snapshot"], world.known["second"])
    listed = [one.id for one in archive.snapshots.page("acme", 10, None).snapshots]
    page = archive.exports.page(ANNA, None, world.now)
    return [*lines, dict(diff.counts), archive.snapshots.ids("acme"), listed, page.lines]
