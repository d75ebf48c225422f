"""Where other writers wait for a projection's commit, the judge is asked before it; what changed since counts in it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from embedded.setting import ANNA, Memory, with_parts
from embedded.standing import Before
from recollect.adapters.local.projections import SqliteProjections
from recollect.contradictions.ledger import DecisionFilter
from recollect.contradictions.pairs import PairScores, StatementPair
from recollect.core.errors import Unavailable

OLD, NEW, NEWER = "I live in Paris.", "I moved to Lyon.", "I moved to Rome."


class Held(Before):
    """A file whose writers wait: `inside` while one commits; `between` is done by another one before that."""

    others_wait = True
    most_together = 1

    def __init__(self, part: Any, between: Callable[[], object] = lambda: None) -> None:
        super().__init__(part)
        self.inside, self._between = False, between

    @contextmanager
    def together(self) -> Iterator[None]:
        between, self._between = self._between, lambda: None
        between()
        with self.part.together():
            self.inside = True
            yield
        self.inside = False


class Asked(Before):
    """A judge that keeps whether each pair was asked inside of a commit."""

    def __init__(self, part: Any, held: Held) -> None:
        super().__init__(part)
        self.pairs: list[tuple[StatementPair, bool]] = []
        self._held = held

    def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
        self.pairs += [(pair, self._held.inside) for pair in pairs]
        found: list[PairScores] = self.part.relate(pairs)
        return found


def waited(memory: Memory, between: Callable[[], object] = lambda: None) -> tuple[Memory, Asked]:
    parts = memory.app.parts
    held = Held(parts.projections, between)
    asked = Asked(parts.pair_model, held)
    return with_parts(memory, projections=held, pair_model=asked), asked


def decided(memory: Memory) -> set[tuple[str, str]]:
    """Loser and winner of each decision."""
    found = memory.app.contradictions.decisions.page(ANNA, 10, None, DecisionFilter()).decisions
    return {(one.loser, one.winner) for one in found}


def test_pairs_are_asked_before_the_commit_and_not_again_in_it(memory: Memory) -> None:
    memory.add(OLD)
    memory.project()
    memory.add(NEW)
    held, asked = waited(memory)
    assert held.project() == 1
    assert asked.pairs == [(StatementPair(NEW, OLD), False)]
    assert decided(memory) == {(memory.ids[0], memory.ids[1])}


def test_what_was_deleted_meanwhile_is_not_decided_about(memory: Memory) -> None:
    memory.add(OLD)
    memory.project()
    memory.add(NEW)
    old = memory.ids[0]
    held, _ = waited(memory, lambda: memory.app.deletion.events.forget(ANNA, event_id=old, now=memory.now))
    held.app.projection.reconciliation.run(memory.now)
    memory.project()
    assert decided(memory) == set()
    assert [event.content for event in memory.app.parts.timeline.newest(ANNA, 10)] == [NEW]


def test_what_came_meanwhile_is_judged_too(memory: Memory) -> None:
    memory.add(OLD)
    memory.project()
    memory.add(NEW)
    held, asked = waited(memory, lambda: memory.add(NEWER))
    held.app.projection.reconciliation.run(memory.now)
    held.project()
    assert (memory.ids[1], memory.ids[2]) in decided(memory)
    assert StatementPair(NEWER, NEW) in [pair for pair, _ in asked.pairs]


def test_a_rehearsal_that_fails_changes_nothing(memory: Memory) -> None:
    memory.add(OLD)
    memory.project()
    memory.add(NEW)

    class Once(Asked):
        def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
            if not self._held.inside:
                raise Unavailable("not now")
            return super().relate(pairs)

    held = Held(memory.app.parts.projections)
    once = Once(memory.app.parts.pair_model, held)
    assert with_parts(memory, projections=held, pair_model=once).project() == 1
    assert [inside for _, inside in once.pairs] == [True]


@pytest.mark.parametrize("is_judged", [True, False])
def test_a_file_says_whether_others_wait(memory: Memory, is_judged: bool) -> None:
    projections = SqliteProjections(memory.app.parts.projections._database, lambda: is_judged)  # type: ignore[attr-defined]
    assert (projections.others_wait, projections.most_together > 1) == (is_judged, not is_judged)
