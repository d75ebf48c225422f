"""Scenarios of values that somebody rejected."""

from crashes.evidence import gone
from crashes.remembering import QUOTES, USER, quoted
from crashes.scenario import scenario
from crashes.world import World
from embedded.setting import ANNA
from recollect.core.errors import NotFound
from recollect.deletion.reject import Rejecting

VALUE = "I am allergic to nuts."


def rejected(world: World) -> None:
    """A value that was rejected once, and taken back by nobody."""
    quoted(world)
    world.known["rejection"] = world.app.deletion.reject(ANNA, "I live in Bern.", _order(world))


def _order(world: World) -> Rejecting:
    return Rejecting(now=world.now, actor=USER, via="test")


@scenario(prepare=quoted, says=QUOTES)
def reject_a_value(world: World) -> None:
    """It is taken out of what quotes it, and refused from now on."""
    world.app.deletion.reject(ANNA, VALUE, _order(world))


@scenario(prepare=quoted, says=QUOTES, after=gone("nuts"), done_already=(NotFound,))
def reject_an_event(world: World) -> None:
    event_id, order = world.known["promoted"], _order(world)
    world.app.deletion.reject.event(
        ANNA, event_id, order, lambda: world.app.deletion.forget(ANNA, event_id=event_id, now=world.now)
    )


@scenario(prepare=rejected, says=QUOTES, done_already=(NotFound,))
def lift_a_rejection(world: World) -> None:
    world.app.deletion.reject.lift(ANNA, world.known["rejection"], _order(world))


@scenario(prepare=rejected, says=QUOTES, unlike=frozenset({"items.value_keys"}))
def rotate_keys(world: World) -> None:
    """What was rejected under the old key stays so; a try that was not answered may leave a key more."""
    world.app.deletion.suppression.rotate("acme", world.now)
    assert world.app.deletion.suppression.load(ANNA).rejects("I live in Bern.")


@scenario(prepare=rejected, says=QUOTES, reads=True)
def rejections(world: World) -> int:
    return len(world.app.deletion.reject.page(ANNA, 10, None).values)
