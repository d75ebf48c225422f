"""Scenarios of deletions that last: an erased user, copies elsewhere, a restored table, rejected values."""

import shutil
from typing import Any

from crashes.archiving import BEN, archived, copied, snapshot
from crashes.evidence import gone
from crashes.remembering import QUOTES, quoted, weighty
from crashes.running import finished, run_due
from crashes.scenario import scenario
from crashes.store import Stored
from crashes.world import USER, World
from embedded.setting import ANNA
from recollect.core.errors import NotFound
from recollect.core.scope import user_hash
from recollect.deletion.reject import Rejecting
from recollect.memories.memory import MemoryDraft

TRIES = frozenset({"items.erasures", "items.erased_users", "items.jobs", "items.audit", "told outside"})
"""Who asks again erases again: what tells of it is there for each of them."""


def shared(world: World) -> None:
    """Anna's records are in the archive, and Ben has copies of them."""
    archived(world)
    copied(world)
    world.reconcile()


def _little(world: World) -> None:
    world.known["promoted"] = world.say(weighty("I am allergic to nuts.", 1))[0]
    world.save(MemoryDraft(content="My dog is called Rex.", timestamp=world.now))
    world.reconcile()


def few(world: World) -> None:
    """The same as `shared`, of an event and a memory."""
    _little(world)
    snapshot(world)
    copied(world)
    world.reconcile()


def restored(world: World) -> None:
    """The table as it was before a deletion, a rejection, what was lifted again, and the erasure of a user."""
    _little(world)
    copied(world)
    world.reconcile()
    home = world.home
    world.app.parts.close()
    shutil.copytree(home, home.with_name("aside"), ignore=shutil.ignore_patterns("archive"))
    world.app = world.plan.open(world.ticket)
    world.forget(world.known["promoted"])
    values, order = world.app.deletion.values, _rejecting(world)
    values.reject(ANNA, "I live in Bern.", order)
    values.lift(ANNA, values.reject(ANNA, "I live in Bonn.", order), order)
    world.app.deletion.users.erase(BEN, world.now, world.now, USER, lambda: 600.0)
    world.app.parts.close()
    for file in home.with_name("aside").iterdir():
        shutil.copy(file, home)
    for file in home.glob("recollect.db-*"):
        file.unlink()
    shutil.rmtree(home.with_name("aside"))
    world.app = world.plan.open(world.ticket)


def nothing_of_anna(world: World, stored: Stored) -> None:
    """But that she was erased, and hashes of what must not come again."""
    assert [place for place in (*stored.events, *stored.documents, *stored.vectors) if place[1] == "anna"] == []
    assert {row.collection for row in stored.items if row.owner[1] == "anna"} <= {"audit"}
    assert [row for row in stored.slots if row.owner[1] == "anna"] == []
    assert [name for name in stored.objects if user_hash("anna") in name] == []
    gone("nuts", "Bern", "Rex", "sleeps")(world, stored)


@scenario(prepare=few, settle=finished, after=nothing_of_anna, unlike=TRIES)
def erase_a_user(world: World) -> bool:
    erasure = world.app.deletion.users.erase(ANNA, world.now, world.now, USER, lambda: 600.0)
    finished(world)
    return world.app.deletion.users.report("acme", erasure.id).verified


@scenario(prepare=shared, after=gone("nuts"), done_already=(NotFound,))
def forget_with_copies(world: World) -> None:
    """The deletion of a record deletes what was imported from it."""
    world.forget(world.known["promoted"])
    run_due(world, world.now)
    world.app.deletion.copies.forget(ANNA, [world.known["ref"]], world.now)


@scenario(prepare=restored, broken=True, settle=finished, after=gone("nuts"), unlike=frozenset({"items.jobs"}))
def apply_tombstones(world: World) -> Any:
    """A table that is older than what was deleted forgets again."""
    world.app.deletion.tombstones.apply(world.now, lambda: 600.0)
    finished(world)
    return world.app.deletion.tombstones.check().ready


@scenario(prepare=archived)
def index_snapshots(world: World) -> list[int]:
    """Read for a rebuild; those of a tenant that has none, dropped."""
    snapshots = world.app.search_index.snapshots
    assert snapshots is not None
    events = world.app.parts.timeline.newest(ANNA, 10)
    found = [len(snapshots.vectors(ANNA, events)), len(snapshots.of("another.1").vectors(ANNA, events))]
    snapshots.drop("nobody")
    world.app.outbox.of_user(ANNA, world.now)
    return found


def _rejecting(world: World) -> Rejecting:
    return Rejecting(now=world.now, actor=USER, via="test")


def rejected(world: World) -> None:
    """A value that was rejected once, and taken back by nobody."""
    quoted(world)
    world.known["rejection"] = world.app.deletion.values.reject(ANNA, "I live in Bern.", _rejecting(world))


@scenario(prepare=quoted, says=QUOTES)
def reject_a_value(world: World) -> None:
    """It is taken out of what quotes it, and refused from now on."""
    world.app.deletion.values.reject(ANNA, "I am allergic to nuts.", _rejecting(world))


@scenario(prepare=quoted, says=QUOTES, after=gone("nuts"), done_already=(NotFound,))
def reject_an_event(world: World) -> None:
    event_id, order = world.known["promoted"], _rejecting(world)
    world.app.deletion.values.event(ANNA, event_id, order, lambda: world.forget(event_id))


@scenario(prepare=rejected, says=QUOTES, done_already=(NotFound,))
def lift_a_rejection(world: World) -> None:
    world.app.deletion.values.lift(ANNA, world.known["rejection"], _rejecting(world))


@scenario(prepare=rejected, says=QUOTES, unlike=frozenset({"items.value_keys"}))
def rotate_keys(world: World) -> None:
    """What was rejected under the old key stays so; a try that was not answered may leave a key more."""
    world.app.deletion.suppression.rotate("acme", world.now)
    assert world.app.deletion.suppression.load(ANNA).rejects("I live in Bern.")


@scenario(prepare=rejected, says=QUOTES, reads=True)
def rejections(world: World) -> int:
    return len(world.app.deletion.values.page(ANNA, 10, None).values)
