"""An event with which the process ends, without an exception: all others are projected, and it is put aside."""

from datetime import timedelta
from functools import partial
from itertools import chain, repeat
from pathlib import Path

import pytest

from embedded.failing import ids_of
from embedded.reindexing import OtherEmbedder, with_embedder
from embedded.setting import ANNA, NOON, Memory, away, open_memory, with_parts
from entrypoints.cli.running import Home
from projection.test_failed_events import BEN, EVE, notes, projected, run_job
from recollect.core.scope import Scope
from recollect.entrypoints.worker import drain
from recollect.jobs.job import JobStatus
from recollect.jobs.run import JobOrder
from recollect.projection.under_way import LONGEST
from recollect.retrieval.nomination import IndexCount
from recollect.timeline.failed_projections import PROCESS_ENDED
from samples.ending import ENDED, EndsWith, exit_code

LATER = timedelta(hours=1)
LOCAL = Scope("local", "ana")


def deadly(memory: Memory) -> Memory:
    return with_parts(memory, embedder=EndsWith(memory.app.parts.embedder, "poison"))


def reconcile(home: Path, at: timedelta) -> None:
    deadly(open_memory(home)).app.projection.reconciliation.run(NOON + at)


@pytest.fixture
def told(tmp_path: Path) -> Memory:
    """A poisoned event before others, also of other users; its process has ended."""
    memory = open_memory(tmp_path)
    memory.add("a sparrow, the first", "poison", "a sparrow, the last")
    memory.add("a sparrow of Ben", scope=BEN)
    memory.add("a sparrow of Eve", scope=EVE)
    memory.app.parts.close()
    return memory


@pytest.mark.spec("P-25")
def test_it_is_met_three_times_and_stops_nobody(told: Memory, tmp_path: Path) -> None:
    assert [exit_code(partial(reconcile, tmp_path, n * LATER)) for n in (1, 2, 3, 4, 5)] == [ENDED, ENDED, ENDED, 0, 0]
    memory = open_memory(tmp_path)
    memory.now = NOON + 6 * LATER
    assert all(projected(memory, ANNA, told.ids[place]) for place in (0, 2))
    assert projected(memory, BEN, told.ids[3])
    assert projected(memory, EVE, told.ids[4])
    (note,) = notes(memory).values()
    assert (note.ref.id, note.error, note.tries, note.quarantined) == (told.ids[1], PROCESS_ENDED, 3, True)
    assert ids_of(memory, [ANNA, BEN, EVE]) == set()
    assert run_job(memory, "acme", replay=True).counts["projected"] == 1
    assert notes(memory) == {}
    memory.app.parts.close()


def test_others_are_projected_before_it_is_tried_again(told: Memory, tmp_path: Path) -> None:
    assert exit_code(partial(reconcile, tmp_path, LATER)) == ENDED
    memory = open_memory(tmp_path)
    memory.now = NOON + LATER
    memory.add("a sparrow that came later", scope=BEN)
    memory.app.parts.close()
    assert exit_code(partial(reconcile, tmp_path, 2 * LATER)) == ENDED
    memory = open_memory(tmp_path)
    memory.now = NOON + 2 * LATER
    (later,) = [event for event in memory.app.parts.timeline.newest(BEN, 10) if "later" in event.content]
    assert projected(memory, BEN, later.id)
    memory.app.parts.close()


def test_what_it_stood_beside_is_no_suspect_any_more(told: Memory, tmp_path: Path) -> None:
    assert exit_code(partial(reconcile, tmp_path, LATER)) == ENDED
    memory = open_memory(tmp_path)
    memory.now = NOON + 2 * LATER
    assert memory.project() == 5
    assert (notes(memory), notes(memory, "other")) == ({}, {})
    memory.app.parts.close()


def test_an_exception_of_one_set_apart_counts_as_one(told: Memory, tmp_path: Path) -> None:
    assert exit_code(partial(reconcile, tmp_path, LATER)) == ENDED
    memory = open_memory(tmp_path)

    class Refuses(EndsWith):
        def encode(self, texts: object, *given: object, **named: object) -> object:
            if "poison" in str(texts):
                raise ValueError
            return self.part.encode(texts, *given, **named)

    refusing = with_parts(memory, embedder=Refuses(memory.app.parts.embedder, ""))
    refusing.app.projection.reconciliation.run(NOON + 2 * LATER)
    (note,) = notes(memory).values()
    assert (note.error, note.tries, note.quarantined) == ("ValueError", 1, False)
    memory.app.parts.close()


def test_an_engine_that_is_away_counts_for_none_set_apart(told: Memory, tmp_path: Path) -> None:
    assert exit_code(partial(reconcile, tmp_path, LATER)) == ENDED
    memory = open_memory(tmp_path)
    with away(memory, "index", "put") as broken:
        for hours in range(2, 8):
            broken.app.projection.reconciliation.run(NOON + hours * LATER)
    assert {note.tries for note in notes(memory).values()} == {1}
    memory.now = NOON + 8 * LATER
    assert memory.project() == 5
    memory.app.parts.close()


def test_what_is_under_way_elsewhere_is_left_to_it(told: Memory, tmp_path: Path) -> None:
    assert exit_code(partial(reconcile, tmp_path, LATER)) == ENDED
    memory = open_memory(tmp_path)
    report = memory.app.projection.reconciliation.run(NOON + LATER + LONGEST / 2)
    assert (report.projected, report.elsewhere, notes(memory)) == (0, 5, {})
    assert memory.app.projection.reconciliation.run(NOON + LATER + 2 * LONGEST).projected == 5
    memory.app.parts.close()


def test_a_deleted_one_leaves_no_note(told: Memory, tmp_path: Path) -> None:
    assert exit_code(partial(reconcile, tmp_path, LATER)) == ENDED
    memory = open_memory(tmp_path)
    memory.now = NOON + 2 * LATER
    memory.app.deletion.events.forget(ANNA, event_id=told.ids[1], now=memory.now)
    assert deadly(memory).app.projection.reconciliation.run(memory.now).projected == 4
    assert (notes(memory), ids_of(memory, [ANNA])) == ({}, set())
    memory.app.parts.close()


def test_a_job_is_not_held_up(told: Memory, tmp_path: Path) -> None:
    assert exit_code(partial(reconcile, tmp_path, LATER)) == ENDED
    assert exit_code(partial(reconcile, tmp_path, 2 * LATER)) == ENDED
    memory = open_memory(tmp_path)
    memory.now = NOON + 2 * LATER
    job = run_job(memory, "acme")
    assert (job.status, job.counts["failed"]) == (JobStatus.DONE, 1)
    memory.app.parts.close()


def test_a_drain_waits_for_what_is_under_way_elsewhere(told: Memory, tmp_path: Path) -> None:
    memory, rounds = open_memory(tmp_path), chain([LATER, LATER], repeat(LATER + 2 * LONGEST))
    assert exit_code(partial(reconcile, tmp_path, LATER)) == ENDED
    assert drain(memory.app, lambda _: None, lambda: NOON + next(rounds)).projected == 5
    memory.app.parts.close()


def test_it_is_listed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    memory = open_memory(tmp_path)
    memory.add("poison", "a sparrow", scope=LOCAL)
    memory.app.parts.close()
    for n in (1, 2, 3):
        assert exit_code(partial(reconcile, tmp_path, n * LATER)) == ENDED
    (line,) = home.run("jobs", "failed").stdout.splitlines()
    assert line.startswith(f"{memory.ids[0]}  quarantined    3 tries  ")
    assert line.endswith(f"  {PROCESS_ENDED}")


@pytest.mark.spec("A-33")
@pytest.mark.parametrize("source", ["vectors", "events"])
def test_a_reindex_goes_on_without_it(tmp_path: Path, source: str) -> None:
    """One message makes the new model end the process; the job has no end of its own eight times in a row."""
    memory = open_memory(tmp_path)
    memory.add("a sparrow, the first", "poison", "a sparrow, the last")
    memory.add("a sparrow of Ben", scope=BEN)
    memory.project()
    order = JobOrder(kind="reindex", parameters={"from": source}, now=memory.now, real_now=memory.now)
    job = memory.app.jobs.start("acme", order, memory.app.ids.seed(int(memory.now.timestamp() * 1000)))
    memory.app.parts.close()

    def other(*, ends: bool) -> Memory:
        model = OtherEmbedder()
        found = with_embedder(open_memory(tmp_path), model)
        return with_parts(found, embedder=EndsWith(model, "poison")) if ends else found

    def reindex(hours: int) -> None:
        other(ends=True).app.job_runs.run(lambda: NOON + hours * LATER, lambda: 100.0)

    def again(hours: int) -> None:
        other(ends=True).app.projection.reconciliation.run(NOON + hours * LATER)

    assert [exit_code(partial(reindex, hours)) for hours in (1, 2)] == [ENDED, 0]
    assert [exit_code(partial(again, hours)) for hours in (3, 4, 5)] == [ENDED, ENDED, 0]
    found = other(ends=False)
    found.now = NOON + 6 * LATER
    ended = found.app.jobs.read("acme", job.id)
    assert (ended.status, dict(ended.errors), ended.counts["postponed"]) == (JobStatus.DONE, {}, 3)
    assert found.app.search_index.health.lagging() == {}
    assert found.app.search_index.in_use.count(ANNA).vectors == 2
    assert found.app.search_index.in_use.count(BEN) == IndexCount(1, 1)
    (note,) = notes(found).values()
    assert (note.ref.id, note.error, note.tries, note.quarantined) == (memory.ids[1], PROCESS_ENDED, 3, True)
    assert run_job(found, "acme", replay=True).counts["projected"] == 1
    assert found.app.search_index.in_use.count(ANNA) == IndexCount(3, 3)
    found.app.parts.close()
