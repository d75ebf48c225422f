"""A change that is announced for a day holds from that day, and is told beside what holds until then (P-24)."""

from datetime import timedelta
from pathlib import Path

import pytest

from embedded.deciding import now as stored
from embedded.deciding import revert
from embedded.setting import ANNA, Memory, open_memory, with_parts
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.decisions import pair_id
from recollect.contradictions.pairs import PairScores
from recollect.memories.memory import MemoryStatus

OLD, NEW = "The rent of my flat is 480 a month", "The rent of my flat is 520 from 1 June"
DAY = timedelta(days=1)
QUESTION = "What is the rent of my flat?"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = with_parts(open_memory(tmp_path), pair_model=TablePairModel({(NEW, OLD): PairScores(changed=0.9)}))
    made.add(OLD, NEW)
    made.project()
    return made


def recalled(memory: Memory) -> set[str]:
    return {one.event.content for one in memory.search(QUESTION).results}


def system(memory: Memory) -> str:
    return memory.context(QUESTION, conversation_id="another").messages.messages[0].content


def status(memory: Memory) -> tuple[MemoryStatus, str | None]:
    found = memory.app.memories.store.one(ANNA, memory.ids[0], memory.now)
    return found.status, found.superseded_by


@pytest.mark.spec("P-24", "P-23")
def test_until_the_day_both_are_recalled_and_the_older_says_until_when(memory: Memory) -> None:
    assert recalled(memory) == {OLD, NEW}
    assert f"(until Sat Jun 1; see Wed May 1.) {OLD}" in system(memory)
    assert status(memory) == (MemoryStatus.ACTIVE, None)


@pytest.mark.spec("P-24")
def test_from_the_day_on_the_newer_alone_is_recalled(memory: Memory) -> None:
    memory.now += 31 * DAY
    assert recalled(memory) == {NEW}
    assert OLD not in system(memory)
    assert status(memory) == (MemoryStatus.SUPERSEDED, memory.ids[1])


@pytest.mark.spec("P-24")
def test_said_again_after_that_day_it_is_a_memory_of_its_own(memory: Memory) -> None:
    memory.now += 40 * DAY
    memory.add(OLD)
    memory.project()
    assert OLD in recalled(memory)


@pytest.mark.spec("P-24")
def test_as_of_a_day_before_it_the_older_holds_and_after_it_does_not(memory: Memory) -> None:
    now = memory.now
    memory.now += 60 * DAY
    before, after = (
        {one.event.content for one in memory.search(QUESTION, as_of=now + days * DAY).results} for days in (20, 40)
    )
    assert OLD in before
    assert OLD not in after


@pytest.mark.spec("P-24")
def test_projecting_it_again_changes_nothing_and_a_revert_leaves_the_older_for_good(memory: Memory) -> None:
    before = stored(memory, memory.ids[0])
    memory.project()
    assert stored(memory, memory.ids[0]) == before
    revert(memory, pair_id(memory.ids[1], memory.ids[0]))
    memory.now += 31 * DAY
    assert recalled(memory) == {OLD, NEW}
