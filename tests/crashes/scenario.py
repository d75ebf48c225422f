"""What a scenario is: something prepared, then a use case that is called as a client calls it, and called again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from crashes.store import Stored
from crashes.world import World
from recollect.core.errors import RecollectError

Act: TypeAlias = Callable[[World], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A use case at work, by its name.

    `act` is what a client or the schedule does, and does again after the restart, `later`. `done_already`: what is
    heard then by somebody whose first try did it. `reads`: nothing is written. `degrades`: a part that is away is
    left out, and the answer says so. `unlike` names tables whose rows count tries, so that they are not compared.
    `lost`: the table was lost before, so that the archive holds records that the store does not. `broken`: what is
    prepared is not whole, and `act` is what mends it. `after` raises where something must not be there in the end.
    `apart`: each write is committed by itself. `in_steps`: what is made at once without a fault is made event by event
    after one, so that its versions are not compared. `settle` is what is done beside a reconciliation, by whom nobody
    asked.
    """

    name: str
    act: Act
    prepare: Act
    says: str | None = None
    done_already: tuple[type[RecollectError], ...] = ()
    reads: bool = False
    degrades: bool = False
    unlike: frozenset[str] = frozenset()
    lost: bool = False
    broken: bool = False
    settle: Act | None = None
    after: Callable[[World, Stored], None] | None = None
    later: timedelta = timedelta(hours=1)
    apart: bool = False
    in_steps: bool = False


SCENARIOS: dict[str, Scenario] = {}


def scenario(*, prepare: Act, **more: Any) -> Callable[[Act], Act]:
    def enter(act: Act) -> Act:
        name: str = act.__name__
        assert name not in SCENARIOS
        SCENARIOS[name] = Scenario(name=name, act=act, prepare=prepare, **more)
        return act

    return enter
