"""What was decided of contradictions stays: projected again, restarted, indexed anew, exported, restored (P-24)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from embedded.archiving import exported, imported, run_job, snapshot
from embedded.contradicting import DAY, MONDAY, on, say, settle
from embedded.deciding import ledger, revert
from embedded.reindexing import run_job as run_index_job
from embedded.setting import ANNA, Memory, open_memory
from recollect.archive.record_line import line_fault, line_text, read_line
from recollect.contradictions.decisions import CONFLICTS
from recollect.memories.memory import Memory as Remembered
from recollect.memories.memory import MemoryStatus
from recollect.memories.reading import ReadMemories

REMAINS = "My grandmother Zelda bakes lemon cakes on Sundays with cardamom."
TOLD = (
    on(0, "I live in Paris."),
    on(1, "I have a sister."),
    on(2, "I eat meat every day."),
    on(3, "The meeting is on Tuesday at 3pm"),
    on(4, f"My dentist is Dr Woods. {REMAINS}"),
    on(5, "I moved to Lyon."),
    on(6, "I misspoke, I have no sister."),
    on(7, "I no longer eat meat."),
    on(8, "The meeting is still Tuesday but at 4pm now"),
    on(9, "My dentist is Dr Stone now."),
    on(10, "I live in Nice until Friday."),
)


@pytest.fixture
def story(memory: Memory) -> Memory:
    """All shapes, of which one decision was taken back."""
    say(memory, *TOLD)
    say(memory, on(11, "My favourite colour is blue."), on(12, "My favourite colour is green."))
    blue, green = memory.ids[-2:]
    revert(memory, f"{green}.{blue}")
    settle(memory)
    return memory


def kept(memory: Memory) -> dict[str, Remembered]:
    found = ReadMemories(memory.app.parts.items).stored(ANNA, memory.ids)
    return {record_id: one.memory for record_id, one in found.items()}


def stands(memory: Memory) -> tuple[object, ...]:
    """What became of each, what was decided, what is open, and what searches show on two days."""
    found = kept(memory).items()
    memories = [(i, one.status, one.superseded_by, one.valid_to, one.lapses, one.content) for i, one in found]
    shown, asked = [], ("where do I live", "dentist", "meeting", "meat", "colour")
    for day in (10.5, 20):
        memory.now = MONDAY + day * DAY
        shown.append([sorted(memory.found(text)) for text in asked])
    memory.now = MONDAY + 30 * DAY
    opened = [item.key.key for item in memory.app.parts.items.page(ANNA.user, CONFLICTS, 100, None).items]
    return memories, ledger(memory), opened, shown


def projected_again(memory: Memory, _: Path) -> Memory:
    events = [memory.app.parts.timeline.find(ANNA, one) for one in memory.ids]
    for event in reversed(events):
        assert event is not None
        memory.app.parts.projections.mark(ANNA, [event.ref])
        settle(memory)
    return memory


def restarted(memory: Memory, home: Path) -> Memory:
    memory.app.parts.close()
    again = open_memory(home)
    again.ids, again.now = memory.ids, memory.now
    return projected_again(again, home)


def indexed_of_vectors(memory: Memory, home: Path) -> Memory:
    run_index_job(memory, "reindex", **{"from": "vectors"})
    return projected_again(memory, home)


def indexed_of_events(memory: Memory, home: Path) -> Memory:
    run_index_job(memory, "reindex", **{"from": "events"})
    settle(memory)
    return memory


@pytest.mark.spec("P-24", "P-25")
@pytest.mark.parametrize("way", [projected_again, restarted, indexed_of_vectors, indexed_of_events])
def test_what_was_decided_stays(story: Memory, tmp_path: Path, way: Callable[[Memory, Path], Memory]) -> None:
    before = stands(story)
    again = way(story, tmp_path)
    try:
        assert stands(again) == before
    finally:
        again.app.parts.close()


@pytest.mark.spec("P-24")
def test_the_story_has_every_shape(story: Memory) -> None:
    found = kept(story)
    statuses = [found[i].status for i in story.ids[:5]]
    ended, back, merged = MemoryStatus.SUPERSEDED, MemoryStatus.RETRACTED, MemoryStatus.MERGED
    assert statuses == [ended, back, ended, merged, MemoryStatus.ACTIVE]
    assert [lapse.until is None for lapse in found[story.ids[4]].lapses] == [True]
    assert [lapse.until is None for lapse in found[story.ids[5]].lapses] == [False]
    assert [one.status.value for one in ledger(story).values()].count("reverted") == 1


@pytest.mark.spec("P-24")
def test_a_store_made_of_an_export_has_the_same(story: Memory, tmp_path: Path) -> None:
    before = stands(story)
    lines = [read_line(line_text(line)) for line in exported(story)]
    assert {line_fault(line, None) for line in lines} == {None}
    other = open_memory(tmp_path / "other")
    other.ids, other.now = story.ids, story.now
    for _ in range(2):
        imported(other, lines)
        settle(other)
        projected_again(other, tmp_path)
        memories, decided, _, shown = stands(other)
        assert (memories, decided, shown) == (before[0], before[1], before[3])
    other.app.parts.close()


@pytest.mark.spec("P-24")
def test_a_snapshot_that_is_restored_has_the_same(story: Memory, tmp_path: Path) -> None:
    """The table is lost, the archive is there."""
    before = stands(story)
    name = snapshot(story)
    story.app.parts.close()
    for file in tmp_path.glob("recollect.db*"):
        file.unlink()
    other = open_memory(tmp_path)
    other.ids, other.now = story.ids, story.now
    run_job(other, other.app.archive.restore, snapshot_id=name)
    memories, _, _, shown = stands(projected_again(other, tmp_path))
    assert (memories, shown) == (before[0], before[3])
    other.app.parts.close()
