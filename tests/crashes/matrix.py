"""The matrix: each scenario once without a fault, then once for each call, on both sides of it, in each way."""

from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from crashes.invariants import check
from crashes.picture import Picture, difference, picture_of
from crashes.scenario import Scenario
from crashes.store import Stored, states_of, stored_in
from crashes.world import Prepared, World, local_plan
from crashes.wrapping import Crash, Fault, Kind, Side, Ticket
from recollect.core.errors import RecollectError

_AWAY = ((Side.BEFORE, Kind.AWAY), (Side.AFTER, Kind.AWAY), (Side.BEFORE, Kind.STAYS_AWAY))


@dataclass(frozen=True, slots=True)
class Whole:
    """Runs in which nothing went wrong: the calls, what was answered, and what was left; `idle` calls changed nothing.

    One of them acted at once, the other after a reconciliation: so the first try of a crashed run may have come to
    nothing, and what was pending was projected before the second one.
    """

    calls: tuple[tuple[str, int], ...]
    answer: Any
    pictures: tuple[Picture, ...]
    idle: frozenset[tuple[str, int]]


@dataclass(slots=True)
class Matrix:
    """One scenario, prepared once in a folder that every run gets a copy of."""

    scenario: Scenario
    folder: Path
    prepared: Prepared = field(init=False)
    whole: Whole = field(init=False)

    def __post_init__(self) -> None:
        plan = partial(local_plan, says=self.scenario.says, apart=self.scenario.apart)
        self.prepared = Prepared(self.folder, self.scenario.prepare, plan)
        self.whole = self._without_a_fault()

    def points(self) -> list[Fault]:
        """Every call, before and after it, in each way; what stays away does so from before a call on."""
        return [
            Fault(call, nth, side, kind)
            for call, nth in self.whole.calls
            for side, kind in product(Side, Kind)
            if (side, kind) != (Side.AFTER, Kind.STAYS_AWAY)
        ]

    def runs(self, *, every: bool) -> list[Fault]:
        """The points to be run: a kill after a call leaves what a kill before the next one leaves, so it is run once.

        And a kill after a call that left the store as it was leaves what the kill before that call left.
        Unless `every` one is asked for, each third call meets one of the three ways in which a part is away, in turn.
        """
        if every:
            return self.points()
        calls, last = self.whole.calls, self.whole.calls[-1:]
        news = (place == 0 or calls[place - 1] not in self.whole.idle for place in range(len(calls)))
        killed = [Fault(*call, Side.BEFORE, Kind.KILLED) for call, new in zip(calls, news, strict=True) if new]
        killed += [Fault(call, nth, Side.AFTER, Kind.KILLED) for call, nth in last]
        return killed + [Fault(*call, *_AWAY[place % len(_AWAY)]) for place, call in enumerate(calls[::3])]

    def run(self, fault: Fault) -> None:
        """The fault; then restart, reconciliation, the same again as its client does it, and reconciliation."""
        with self.prepared.opened(Ticket(fault)) as world:
            answered = self._struck(world)
            world = world.restarted(timedelta(0) if self.scenario.reads else self.scenario.later)
            try:
                self._settle(world)
                if not self.scenario.broken:
                    check(stored_in(world.home), lost=self.scenario.lost)
                answer = self._again(world)
                self._settle(world)
            finally:
                world.close()
            stored = self._checked(world)
            if not (answered and self.scenario.degrades):
                self._compare(stored, answer)

    def _settle(self, world: World) -> None:
        world.reconcile()
        if self.scenario.settle is not None:
            self.scenario.settle(world)
            world.reconcile()

    def _checked(self, world: World) -> Stored:
        stored = stored_in(world.home)
        check(stored, lost=self.scenario.lost)
        if self.scenario.after is not None:
            self.scenario.after(world, stored)
        return stored

    def _struck(self, world: World) -> bool:
        """Whether the scenario answered all the same."""
        world.ticket.armed = True
        try:
            self.scenario.act(world)
        except (Crash, RecollectError):
            answered = False
        else:
            answered = True
        world.ticket.armed = False
        assert world.ticket.fired, f"call {world.ticket.fault} was never made"
        return answered

    def _again(self, world: World) -> Any:
        try:
            return self.scenario.act(world)
        except self.scenario.done_already:
            return None

    def _compare(self, stored: Stored, answer: Any) -> None:
        found = picture_of(stored, self.scenario.unlike, in_steps=self.scenario.in_steps)
        if found not in self.whole.pictures:
            assert difference(self.whole.pictures[0], found) == {}
        if not self.scenario.done_already:
            assert answer == self.whole.answer

    def _without_a_fault(self) -> Whole:
        ticket = Ticket()
        answer, at_once = self._acted(ticket, reconciled=False)
        _, later = self._acted(Ticket(), reconciled=True)
        return Whole(tuple(ticket.made_so_far), answer, (at_once, later), frozenset(ticket.idle))

    def _acted(self, ticket: Ticket, *, reconciled: bool) -> tuple[Any, Picture]:
        with self.prepared.opened(ticket) as world, states_of(world.home) as ticket.store:
            if reconciled:
                self._settle(world)
            world.ticket.armed = True
            answer = self.scenario.act(world)
            world.ticket.armed = False
            self._settle(world)
            stored = self._checked(world)
            return answer, picture_of(stored, self.scenario.unlike, in_steps=self.scenario.in_steps)
