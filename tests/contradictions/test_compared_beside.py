"""What a newer record does to an older one depends on the others that it is compared with, on nothing else (P-24)."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count, permutations
from typing import TypeAlias

import pytest

from embedded.contradicting import Telling, on
from embedded.setting import open_memory, with_parts
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.decisions import CONFLICTS, conflict_in
from recollect.contradictions.pairs import PairScores
from recollect.core.scope import Scope
from recollect.memories.reading import ReadMemories

pytestmark = pytest.mark.spec("P-24")

PARIS, WEEKENDS, LYON = "I live in Paris.", "I am in Paris at weekends.", "I moved to Lyon, far away from Paris."
STORY = (on(0, PARIS), on(1, WEEKENDS), on(2, "I like tea."), on(3, LYON))
ROWS = {(LYON, PARIS): PairScores(0.9), (LYON, WEEKENDS): PairScores(0.85)}


class OnlyTheBest(TablePairModel):
    """Of several candidates the surest one alone is changed."""

    def beside(self, changed: Sequence[float]) -> list[float]:
        return [one if one == max(changed) else one / 5 for one in changed]


class Told(Telling):
    """With what no longer holds, and what is in doubt."""

    def ended(self) -> dict[int, datetime | None]:
        """The places of the statements that no longer hold, and since when."""
        stored = ReadMemories(self.memory.app.parts.items).stored(self.scope, self.ids.values())
        return {
            self.places[i]: one.memory.valid_to for i, one in stored.items() if one.memory.superseded_by is not None
        }

    def doubted(self) -> list[tuple[int, int]]:
        """The pairs that a conflict is open about."""
        page = self.memory.app.parts.items.page(self.scope, CONFLICTS, 10, None)
        return [
            (self.places[one.newer], self.places[one.older]) for one in (conflict_in(item.value) for item in page.items)
        ]


Tell: TypeAlias = Callable[[], Told]
ENDED = {0: STORY[3].timestamp}


@pytest.fixture(scope="module")
def tell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tell]:
    memory = with_parts(open_memory(tmp_path_factory.mktemp("beside")), pair_model=OnlyTheBest(ROWS))
    users = count()
    yield lambda: Told(memory, Scope("acme", f"user{next(users)}"), STORY)
    memory.app.parts.close()


@pytest.mark.parametrize("order", list(permutations(range(len(STORY)))))
def test_in_whatever_order_they_are_projected(order: Sequence[int], tell: Tell) -> None:
    told = tell()
    told.arrive(*range(len(STORY)))
    for place in order:
        told.project([place])
    assert (told.ended(), told.doubted()) == (ENDED, [])


@pytest.mark.parametrize("late", [0, 1])
def test_what_comes_late_is_judged_beside_what_was_there(late: int, tell: Tell) -> None:
    told = tell()
    told.arrive(*(place for place in range(len(STORY)) if place != late))
    told.drain()
    told.arrive(late)
    told.drain()
    assert 0 in told.ended()
    assert (1 in told.ended()) is (late == 0)


def test_projected_again_alone_and_together_nothing_changes(tell: Tell) -> None:
    told = tell()
    told.arrive(*range(len(STORY)))
    told.drain()
    for places in ((0,), (1,), (0, 1), (1, 2, 3)):
        told.project(places)
        told.drain()
    assert (told.ended(), told.doubted()) == (ENDED, [])


def test_what_waits_changes_something_when_it_is_projected_itself(tell: Tell) -> None:
    told = tell()
    told.arrive(0, 3)
    told.project([0])
    assert told.ended() == {}
    told.project([3])
    assert told.ended() == ENDED


def test_what_waits_and_came_before_changes_what_comes_late(tell: Tell) -> None:
    """It may have read what it is compared with before the late one came."""
    told = tell()
    told.arrive(3)
    told.memory.now += timedelta(minutes=1)
    told.arrive(0)
    told.project([0])
    assert told.ended() == ENDED
