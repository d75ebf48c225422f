"""Which words of a line `messages` mark as in doubt: those that an open conflict would end (P-23, P-24)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from embedded.deciding import forget, kept, leave_open, remember, supersede
from embedded.memory_items import patch, reject
from embedded.setting import ANNA, Memory
from recollect.contradictions.decisions import OpenConflict, Step, conflict_write
from recollect.memories.memory import Lapse

FLAT, DOG, FLOOR = "We live in a flat in Marchmont", "our dog is called Biscuit", "it has green stairs."
OLD = f"{FLAT}, {DOG}. I think {FLOOR}"
NEWER, OTHER, THIRD = "Boxes all over Leith", "The vet said goodbye to Biscuit", "They paint the stairs"

Change = Callable[[Memory, list[str]], object]


def doubted(words: str, newer: int = 1) -> Change:
    return lambda memory, ids: leave_open(memory, ids[0], ids[newer], words=words)


def ended(words: str) -> Change:
    return lambda memory, ids: supersede(memory, ids[0], ids[2], words=words)


def held_over(memory: Memory, ids: list[str]) -> None:
    """The dog's name does not hold for a while."""
    stored, start = kept(memory, ids[0]), OLD.index(DOG)
    until = memory.now + timedelta(days=9)
    lapse = Lapse(by=ids[2], start=start, end=start + len(DOG), since=memory.now, until=until, rule="bound")
    after = replace(stored.memory, lapses=(lapse,))
    memory.app.contradictions.ledger.write_bounds(ANNA, stored, after, memory.now)


LINES: dict[str, tuple[list[Change], str]] = {
    "a part": ([doubted(FLAT)], f"[in doubt since Wed May 1: {FLAT}], {DOG}. I think {FLOOR}"),
    "the middle": ([doubted(DOG)], f"{FLAT}, [in doubt since Wed May 1: {DOG}]. I think {FLOOR}"),
    "two parts": (
        [doubted(FLAT), doubted(DOG, 2)],
        f"[in doubt since Wed May 1: {FLAT}], [in doubt since Wed May 1: {DOG}]. I think {FLOOR}",
    ),
    "not told which": (
        [lambda memory, ids: leave_open(memory, ids[0], ids[1])],
        f"(until Wed May 1? See there.) {OLD}",
    ),
    "all": ([doubted(OLD)], f"(until Wed May 1? See there.) {OLD}"),
    "a part has ended": (
        [ended(DOG), doubted(FLAT)],
        f"[in doubt since Wed May 1: {FLAT}], [until Wed May 1: {DOG}]. I think {FLOOR}",
    ),
    "of them a part has ended": (
        [ended(DOG), doubted(f"{FLAT}, {DOG}")],
        f"[in doubt since Wed May 1: {FLAT},] [until Wed May 1: {DOG}]. I think {FLOOR}",
    ),
    "all that holds": (
        [ended(f"{DOG}. I think {FLOOR}"), doubted(FLAT)],
        f"(until Wed May 1? See there.) {FLAT}, [until Wed May 1: {DOG}. I think {FLOOR}]",
    ),
    "they have ended": ([doubted(DOG), ended(DOG)], f"{FLAT}, [until Wed May 1: {DOG}]. I think {FLOOR}"),
    "edited since": (
        [doubted(FLAT), lambda memory, ids: patch(memory, ids[0], content=f"So {OLD}")],
        f"(until Wed May 1? See there.) So {OLD}",
    ),
    "another part is held over": (
        [doubted(FLAT), held_over],
        f"(until Wed May 1? See there.) {FLAT}, I think {FLOOR}",
    ),
    "a sentence was rejected": (
        [doubted(FLAT), lambda memory, ids: reject(memory, f"I think {FLOOR}")],
        f"(until Wed May 1? See there.) {FLAT}, {DOG}.",
    ),
    "the newer is gone": ([doubted(FLAT), lambda memory, ids: forget(memory, ids[1])], OLD),
}


@pytest.mark.spec("P-23", "P-24")
@pytest.mark.parametrize("case", LINES)
def test_the_words_that_would_end_are_marked_at_their_places(memory: Memory, case: str) -> None:
    changes, line = LINES[case]
    ids = remember(memory, OLD, NEWER, OTHER, THIRD)
    for change in changes:
        change(memory, ids)
    assert lines(memory)[0] == line


@pytest.mark.spec("P-23", "P-24")
def test_a_record_without_a_memory_is_marked_too_and_the_newer_line_is_plain(memory: Memory) -> None:
    memory.add(OLD, NEWER)
    memory.project()
    old, new = memory.ids
    start = OLD.index(DOG)
    places = ((start, start + len(DOG)),)
    conflict = OpenConflict(newer=new, older=old, at=memory.now, step=Step.JUDGE, rule="r", ended=places)
    memory.app.parts.items.write(ANNA, [conflict_write(conflict)], memory.now)
    assert lines(memory) == [f"{FLAT}, [in doubt since Wed May 1: {DOG}]. I think {FLOOR}", NEWER]


def lines(memory: Memory) -> list[str]:
    """What a context says of the flat, without its day: the older line and, where it is shown, the newer one."""
    question = "Do we live in a flat in Marchmont, our dog called Biscuit, or in boxes all over Leith?"
    system = memory.context(question, conversation_id="another").messages.messages[0].content
    found = [line.partition("] ")[2] for line in system.splitlines() if line.startswith("- [")]
    return [line for line in found if FLAT in line or line == NEWER]
