"""What holds no longer is found by its words for good, and shown as current no more.

The index is told of all that was said, less what was rejected or deleted: no clock decides it (P-22, P-24).
"""

import pytest

from embedded.memory_items import reject
from embedded.reindexing import reindexed, run_job
from embedded.setting import ANNA, NOON, Memory
from embedded.timing import DAY, by_words, change, found, items, kept
from recollect.jobs.job import JobStatus
from recollect.memories.memory import Lapse
from recollect.memories.memory import Memory as Kept
from recollect.search_index.page import words_hash

BREAD = "my sister Anna bakes rye bread every Sunday morning."
TEXT = f"The walrus choir sings at the regatta this month, and {BREAD}"
OTHER = "A ginger biscuit is dunked for four seconds"


def lapsed(memory: Memory, by: Kept | None = None, days: float = 1) -> Kept:
    """A memory whose first clause does not hold from then on: by its own bound, or by another record."""
    old = kept(memory, TEXT)
    lapse = Lapse(by=(by or old).id, start=0, end=TEXT.index(","), since=NOON + days * DAY, rule="until")
    return change(memory, old.id, lapses=(lapse,))


@pytest.mark.spec("P-24")
def test_a_record_is_found_by_a_clause_whose_bound_is_over_and_shown_without_it(memory: Memory, followed: bool) -> None:
    lapsed(memory)
    kept(memory, OTHER, 1)
    for days, shown in ((0, TEXT), (400, BREAD)):
        memory.now = NOON + days * DAY
        if followed:
            memory.project()
        assert by_words(memory, "regatta") == [shown]
        assert found(memory, "Who sings at the regatta?")[0] == shown
        assert shown in items(memory, "Who sings at the regatta?")
        assert ("regatta" in memory.context("the choir").prompt.text) is (shown == TEXT)
    assert found(memory, "regatta", as_of=NOON)[0] == TEXT


@pytest.mark.spec("P-24")
def test_and_by_one_that_something_newer_ended(memory: Memory, followed: bool) -> None:
    new = kept(memory, "The walrus choir stays at home and sings to nobody", 1)
    lapsed(memory, new)
    memory.now = NOON + 2 * DAY
    if followed:
        memory.project()
    assert by_words(memory, "regatta") == [BREAD]
    assert "regatta" not in memory.context("the choir").prompt.text


@pytest.mark.spec("P-24")
def test_a_part_that_was_taken_back_is_found_by_and_never_shown(memory: Memory, followed: bool) -> None:
    new = kept(memory, "A walrus never sang there, and that is all there is to say", 1)
    kept(memory, TEXT)
    memory.project()
    lapsed(memory, new, days=0)
    memory.now = NOON + 2 * DAY
    if followed:
        memory.project()
    assert by_words(memory, "regatta choir") == by_words(memory, "rye bread") == [BREAD]
    assert "regatta" not in memory.context("the choir").prompt.text


@pytest.mark.spec("P-24", "A-37")
@pytest.mark.parametrize("source", ["vectors", "events"])
def test_an_index_that_is_made_anew_is_told_the_same(memory: Memory, source: str) -> None:
    lapsed(memory)
    memory.now = NOON + 400 * DAY
    reindexed(memory, **{"from": source})
    assert by_words(memory, "regatta") == [BREAD]
    assert found(memory, TEXT[: TEXT.index(",")])[0] == BREAD


@pytest.mark.spec("P-24", "A-36")
def test_a_snapshot_of_the_index_holds_the_vector_of_these_words(memory: Memory) -> None:
    old = lapsed(memory)
    memory.now = NOON + 400 * DAY
    memory.project()
    job = run_job(memory, "snapshot")
    assert (job.status, job.counts["indexed"]) == (JobStatus.DONE, 1)
    snapshots = memory.app.search_index.snapshots
    assert snapshots is not None
    (event,) = memory.app.parts.timeline.read(ANNA, [old.ref]).values()
    assert words_hash(event.passage) == words_hash(TEXT)
    assert list(snapshots.vectors(ANNA, [event])) == [old.id]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("rejected", [False, True])
def test_what_is_deleted_or_rejected_leaves_the_index_with_all_its_words(memory: Memory, rejected: bool) -> None:
    old = lapsed(memory)
    memory.now = NOON + 400 * DAY
    memory.project()
    if rejected:
        reject(memory, TEXT)
    memory.app.deletion.events.memory(ANNA, old, now=memory.now)
    memory.project()
    assert by_words(memory, "regatta") == by_words(memory, "rye bread") == []
    assert found(memory, "regatta", include_superseded=True) == []
    assert memory.app.parts.index.count(ANNA.user).documents == 0
