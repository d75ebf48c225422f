"""Retrieval by intent over SQLite: what is answered, what is logged, and what happens where something fails."""

from dataclasses import replace

import pytest

from embedded.asking import Asking, contents, draft
from embedded.setting import Memory, away
from recollect.core.errors import Unavailable

BP = "What was my blood pressure?"


@pytest.fixture
def health(memory: Memory) -> Asking:
    """Twenty-five days of a health diary: three things a day."""
    told = []
    for day in range(25):
        told += [
            draft(f"blood pressure {110 + day}/80", day, space_id="Health", category="blood pressure"),
            draft(f"walked the dog for {day + 20} minutes", day + 0.1, space_id="Health"),
            draft(f"ran {day} miles along the river", day + 0.2, space_id="Fitness"),
        ]
    return Asking.of(memory, *told)


@pytest.mark.spec("R-44")
def test_the_candidates_are_not_cut_to_twenty(memory: Memory) -> None:
    asking = Asking.of(memory, *(draft(f"walked {n}", n / 40) for n in range(99)), draft("blood pressure", 9))
    found = asking(BP)
    assert contents(found) == ["blood pressure"]
    assert (found.stats.records_considered, found.diagnostics.exact) == (100, True)


@pytest.mark.spec("R-44")
def test_what_is_read_is_bounded_and_says_so(health: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    health.memory.project()
    monkeypatch.setattr("recollect.intent.candidates.MOST_CANDIDATES", 10)
    found = health(BP, last_days=90)
    assert (found.stats.records_considered, found.diagnostics.exact) == (10, False)


def test_nobody_sees_anothers_records(memory: Memory, health: Asking) -> None:
    assert Asking.of(memory)(BP).stats.records_considered == 0
    other = replace(health, scope=replace(health.scope, tenant="other"))
    assert other(BP).stats.records_considered == 0
    coach = replace(health, scope=replace(health.scope, persona_id="coach"))
    assert coach(BP).stats.records_considered == 0


def test_filters_narrow_the_candidates(health: Asking) -> None:
    assert health(BP, space_id="Fitness").results == ()
    assert len(health(BP, space_id="Health").results) == 15
    assert health(BP, conversation_id="elsewhere").stats.records_considered == 0


def test_without_records_there_is_no_answer(health: Asking) -> None:
    with away(health.memory, "timeline", "window") as memory, pytest.raises(Unavailable):
        replace(health, memory=memory)(BP)
