"""Scenarios of events that fail by their own fault: noted, tried again, replayed, deleted."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from crashes.evidence import talked
from crashes.running import run_job
from crashes.scenario import scenario
from crashes.world import World
from embedded.setting import ANNA, Memory, with_parts
from recollect.app import App
from recollect.timeline.failed_projections import RETRY_POLICY
from samples.wrapped import Wrapped

LATER = timedelta(hours=2)


class Refusing(Wrapped):
    """An embedder that cannot read what is about zebras."""

    def encode(self, texts: Sequence[str], *given: Any, **named: Any) -> Any:
        if any("zebra" in text for text in texts):
            raise ValueError("not to be read")
        return self.part.encode(texts, *given, **named)


def refusing(world: World) -> App:
    return with_parts(Memory(world.app, world.now), embedder=Refusing(world.app.parts.embedder)).app


def with_zebras(world: World) -> None:
    """Some that nobody has projected yet, one of them about a zebra."""
    talked(world)
    world.known["new"] = world.say("The bakery opens.", "The zebra sings.", "The owl hoots.")


def noted(world: World) -> None:
    """The same, projected; what failed is noted."""
    with_zebras(world)
    assert len(refusing(world).projection.reconciliation.run(world.now).noted) == 1


def quarantined(world: World) -> None:
    """The same, and it has failed as often as it may."""
    noted(world)
    app = refusing(world)
    for _ in range(RETRY_POLICY.most_tries):
        world.now += LATER
        app.projection.reconciliation.run(world.now)
    assert world.app.projection.failed_events.standing().quarantined == 1


def tried_again(world: World) -> None:
    """What was noted, when the fault is gone and its time has come; whoever is quarantined is replayed."""
    world.app.projection.retries.replay("acme", "again", None, world.now + LATER)
    assert world.app.projection.retries.retry(world.now + 2 * LATER).failed == {}


@scenario(prepare=with_zebras, settle=tried_again)
def project_past_a_failure(world: World) -> None:
    """All but the one are projected, and that is noted; its second try fails, too."""
    app = refusing(world)
    app.projection.reconciliation.run(world.now)
    app.projection.reconciliation.run(world.now + LATER)
    app.projection.reconciliation.standing()


@scenario(prepare=noted)
def retry_what_failed(world: World) -> None:
    world.app.projection.reconciliation.run(world.now + LATER)


@scenario(prepare=quarantined, settle=tried_again)
def replay_what_is_quarantined(world: World) -> str:
    """The job `reconcile` with `replay`."""
    return run_job(world, "reconcile", {"replay": True})


@scenario(prepare=quarantined, settle=tried_again)
def forget_what_is_quarantined(world: World) -> None:
    for ref in [one.failed.ref for one in world.app.projection.failed_events.listed("acme", 10)]:
        world.forget(ref.id)
    world.project()


@scenario(prepare=talked, reads=True)  # fmt: skip
def failures(world: World) -> list[Any]:
    failed = world.app.projection.failed_events
    return [failed.check().detail, failed.listed("acme", 10), failed.of_user(ANNA), failed.standing("acme")]
