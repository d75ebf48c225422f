"""Whatever superseded what, in whatever order it was written and read: one answer for an instant (P-24)."""

import tempfile
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embedded.setting import NOON, Memory, open_memory
from embedded.timing import DAY, found, items, kept, lapse, supersede
from recollect.memories.memory import Memory as Kept
from recollect.memories.memory import MemoryStatus

COUNT = 5
Ended = tuple[int, MemoryStatus, int | None]

ENDINGS = st.lists(
    st.tuples(
        st.integers(0, COUNT - 1),
        st.sampled_from([MemoryStatus.SUPERSEDED, MemoryStatus.MERGED, MemoryStatus.RETRACTED, MemoryStatus.ACTIVE]),
        st.integers(0, 2 * COUNT) | st.none(),
    ),
    max_size=COUNT,
    unique_by=lambda one: one[0],
)


def life(memory: Memory, endings: list[Ended]) -> list[Kept]:
    """Memories a day apart; each ending is by the next one, for good or until a day."""
    made = [kept(memory, f"walrus tale alpha{n} beta{n}", n) for n in range(COUNT)]
    memory.project()
    memory.now = NOON + COUNT * DAY
    for place, status, until in endings:
        if place + 1 == COUNT:
            continue
        old, new = made[place], made[place + 1]
        if status is MemoryStatus.ACTIVE:
            end = None if until is None else NOON + until * DAY
            made[place] = lapse(memory, old, new, end)
        else:
            made[place] = supersede(memory, old, new, status)
    return made


def holds(one: Kept, moment: datetime, *, now: bool) -> bool:
    """The rule, written down once more."""
    if one.status is MemoryStatus.RETRACTED or (now and one.status is not MemoryStatus.ACTIVE):
        return False
    lapsed = any(lapse.since <= moment and (lapse.until is None or moment < lapse.until) for lapse in one.lapses)
    return one.valid_from <= moment and (one.valid_to is None or moment < one.valid_to) and not lapsed


@pytest.mark.spec("P-24")
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(ENDINGS, st.booleans(), st.integers(0, COUNT))
def test_what_is_found_is_what_holds_and_what_ended_leads_to_it(
    endings: list[Ended], projected: bool, days: int
) -> None:
    with tempfile.TemporaryDirectory() as home:
        memory = open_memory(Path(home))
        made = life(memory, endings)
        if projected:
            memory.project()
        now = {one.content for one in made if holds(one, memory.now, now=True)}
        then = {one.content for one in made if holds(one, NOON + days * DAY, now=False)}
        known = {one.content for one in made if one.recorded_at <= NOON + days * DAY}
        assert set(found(memory, "walrus tale")) == now
        assert set(items(memory, "walrus tale")) <= now
        assert set(found(memory, "walrus tale", as_of=NOON + days * DAY)) == then
        assert set(items(memory, "walrus tale", as_of=NOON + days * DAY)) <= then
        told = found(memory, "walrus tale", recorded_as_of=NOON + days * DAY)
        assert set(told) == (now if days == COUNT else known)
        for one in made:
            assert set(found(memory, one.content.split()[2])) <= now
        memory.app.parts.close()
