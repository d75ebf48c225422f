"""Scenarios of the archive: segments of the timeline, snapshots, restore, export and import."""

from pathlib import Path
from typing import Any

from crashes.evidence import city, gone
from crashes.remembering import USER, remembered
from crashes.running import run_job
from crashes.scenario import scenario
from crashes.world import World
from embedded.setting import ANNA
from recollect.archive.record_line import read_line
from recollect.archive.transfer import ImportOrder
from recollect.core.scope import Scope

BEN = Scope("acme", "ben")


def archived(world: World) -> None:
    """Closed segments that are written, and a snapshot; then something new, and something deleted."""
    remembered(world)
    world.app.segments.compaction.close(ANNA, world.now)
    world.app.segments.compaction.compact(ANNA, world.now)
    assert run_job(world, "snapshot") == "done"
    world.known["snapshot"] = world.known["job"]
    world.known["later"] = world.say("I bake bread.", city("Bonn", 2))
    world.app.deletion.events.forget(ANNA, event_id=world.known["ids"][0], now=world.now)
    world.reconcile()


def closed(world: World) -> None:
    """A closed segment that nobody has written, one event of which is gone."""
    remembered(world)
    world.app.segments.compaction.close(ANNA, world.now)
    world.app.deletion.events.forget(ANNA, event_id=world.known["ids"][0], now=world.now)
    world.reconcile()


def lost(world: World) -> None:
    """The table is lost; the archive is there."""
    archived(world)
    world.app.parts.close()
    for file in Path(world.plan.environment["RECOLLECT_HOME"]).glob("recollect.db*"):
        file.unlink()
    world.app = world.plan.open(world.ticket)
    world.say("I begin anew.")
    world.reconcile()


def twice(world: World) -> None:
    archived(world)
    world.known["first"] = world.known["snapshot"]
    assert run_job(world, "snapshot", {"user_id": "anna"}) == "done"
    world.known["snapshot"] = world.known["job"]


def _order(world: World, via: str) -> ImportOrder:
    return ImportOrder(actor=USER, via=via, now=world.now)


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
        world.app.deletion.events.forget(ANNA, event_id=gone.id, now=world.now)
        world.app.segments.rewriting.rewrite(ANNA, [gone.ref], world.now)
        world.app.search_index.forget(ANNA, [gone.ref])


@scenario(prepare=archived, after=gone("Bonn"))
def forget_what_superseded_an_archived_value(world: World) -> None:
    """The archive's value of the slot, which is the one before, says that it is superseded."""
    gone = world.app.parts.timeline.find(ANNA, world.known["later"][1])
    if gone is not None:
        world.app.deletion.events.forget(ANNA, event_id=gone.id, now=world.now)
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
    world.app.archive.imports.import_lines(BEN, _exported(world), _order(world, "import"))
    event = world.app.parts.timeline.find(ANNA, world.known["promoted"])
    assert event is not None
    world.known["ref"] = event.ref


@scenario(prepare=archived)
def import_a_copy(world: World) -> dict[str, int]:
    """Anna's records become Ben's too; her own are there already."""
    lines = world.known.setdefault("lines", _exported(world))
    own = world.app.archive.imports.import_lines(ANNA, lines, _order(world, "import"))
    world.app.archive.imports.import_lines(BEN, lines, _order(world, "import"))
    return {outcome.value: count for outcome, count in own.counts.items()}


@scenario(prepare=archived)
def erase_the_archive(world: World) -> None:
    world.app.segments.rewriting.erase(ANNA)


@scenario(prepare=twice, reads=True)
def archives(world: World) -> list[Any]:
    lines = [line.event.content for line in world.app.segments.contents.read(ANNA)]
    diff = world.app.segments.differences.diff("acme", world.known["first"], world.known["snapshot"])
    listed = [one.id for one in world.app.segments.snapshots.page("acme", 10, None).snapshots]
    page = world.app.segments.exports.page(ANNA, None, world.now)
    return [*lines, dict(diff.counts), world.app.segments.snapshots.ids("acme"), listed, page.lines]
