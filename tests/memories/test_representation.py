"""What a reader sees of a memory at an instant, and what the index is told of it."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import EventRef
from recollect.memories.memory import Lapse, Memory, MemoryStatus, memory_at
from recollect.memories.representation import as_said, memory_drop_reason, represented, seen, successor_of
from recollect.retrieval.filters import DropReason, SearchFilters
from samples.events import NOON, event
from samples.memories import memory_of_anna

HOUR = timedelta(hours=1)
TEXT = "I live in Paris, and my sister Anna bakes bread every Sunday morning."
REST = "my sister Anna bakes bread every Sunday morning."
HOME = TEXT.index(",")
PARIS = memory_of_anna(TEXT, NOON, recorded_at=NOON + HOUR)


def lapse(since: datetime, until: datetime | None = None, end: int = HOME, by: str = "b") -> Lapse:
    """The home, or the whole, by another record."""
    return Lapse(by=by, start=0, end=end, since=since, until=until, rule="home")


def asked(**changes: object) -> SearchFilters:
    """A reader five hours later."""
    return SearchFilters(**{"now": NOON + 5 * HOUR, **changes})  # type: ignore[arg-type]


def over(status: MemoryStatus = MemoryStatus.SUPERSEDED, hours: int = 2) -> Memory:
    """The memory, ended after some hours."""
    return replace(PARIS, status=status, superseded_by="b", valid_to=NOON + hours * HOUR)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("memory", "filters", "reason"),
    [
        (PARIS, {}, None),
        (over(), {}, DropReason.SUPERSEDED),
        (over(), {"include_superseded": True}, None),
        (over(), {"as_of": NOON + HOUR}, None),
        (over(), {"as_of": NOON + 2 * HOUR}, DropReason.SUPERSEDED),
        (over(hours=9), {}, DropReason.SUPERSEDED),
        (PARIS, {"as_of": NOON - HOUR}, DropReason.WINDOW),
        (PARIS, {"as_of": NOON - HOUR, "include_superseded": True}, DropReason.WINDOW),
        (over(MemoryStatus.RETRACTED, 0), {"as_of": NOON}, DropReason.SUPERSEDED),
        (over(MemoryStatus.RETRACTED, 0), {"include_superseded": True}, None),
        (over(MemoryStatus.REJECTED), {"include_superseded": True}, DropReason.DELETED),
        (over(MemoryStatus.EXPIRED), {"include_superseded": True}, DropReason.EXPIRED),
        (replace(PARIS, expires_at=NOON + HOUR), {"as_of": NOON}, DropReason.EXPIRED),
        (replace(PARIS, valid_to=NOON + HOUR), {}, DropReason.SUPERSEDED),
        (replace(PARIS, valid_to=NOON + HOUR), {"as_of": NOON}, None),
        (replace(PARIS, valid_to=NOON + HOUR), {"recorded_as_of": NOON}, None),
        (replace(PARIS, valid_from=NOON + 9 * HOUR), {}, None),
        (replace(PARIS, lapses=(lapse(NOON, end=len(TEXT)),)), {}, DropReason.SUPERSEDED),
        (replace(PARIS, lapses=(lapse(NOON, NOON + HOUR, len(TEXT)),)), {}, None),
        (replace(PARIS, lapses=(lapse(NOON, NOON + 9 * HOUR, len(TEXT)),)), {}, DropReason.SUPERSEDED),
    ],
)
def test_why_a_memory_is_not_shown(memory: Memory, filters: dict[str, object], reason: DropReason | None) -> None:
    assert memory_drop_reason(memory, asked(**filters)) is reason


@pytest.mark.spec("P-24")
def test_a_reader_sees_the_parts_that_hold_and_all_of_it_where_superseded_ones_are_asked_for() -> None:
    lapsed = replace(PARIS, lapses=(lapse(NOON + HOUR, NOON + 9 * HOUR),))
    readers = (asked(), asked(now=NOON + 9 * HOUR), asked(as_of=NOON), asked(include_superseded=True))
    found = [seen(lapsed, reader) for reader in readers]
    assert [one and one.content for one in found] == [REST, TEXT, TEXT, TEXT]


@pytest.mark.spec("P-24")
def test_what_was_superseded_only_later_is_current_at_the_instant() -> None:
    then = seen(over(), asked(as_of=NOON + HOUR))
    assert then is not None
    assert (then.status, then.superseded_by, then.valid_to) == (MemoryStatus.ACTIVE, None, None)
    both = seen(over(), asked(as_of=NOON + 3 * HOUR, include_superseded=True))
    assert both is not None
    assert (both.status, both.superseded_by) == (MemoryStatus.SUPERSEDED, "b")


@pytest.mark.spec("P-24")
def test_what_a_newer_record_of_a_later_time_ended_is_over_at_once() -> None:
    """The newest timestamp wins, whatever the clock says; a bound of its own words comes when it comes."""
    ended = replace(PARIS, lapses=(lapse(NOON + 9 * HOUR),))
    own = replace(PARIS, lapses=(lapse(NOON + 9 * HOUR, by="a"),))
    assert [one.content for one in (seen(ended, asked()), seen(own, asked())) if one] == [REST, TEXT]


@pytest.mark.spec("P-24")
def test_the_index_keeps_all_that_was_said_whatever_of_it_holds() -> None:
    back = replace(PARIS, lapses=(lapse(NOON, NOON + 9 * HOUR),))
    own = replace(PARIS, lapses=(lapse(NOON + HOUR, by="a"),))
    ended = replace(PARIS, lapses=(lapse(NOON + HOUR),))
    never = replace(PARIS, lapses=(lapse(NOON),))
    told = [represented(event(content=TEXT, embedding=b"v"), as_said(one)) for one in (back, own, ended, never, over())]
    assert [one.content for one in told] == [TEXT] * 5
    assert [one.embedding for one in told] == [b"v"] * 5
    assert [one.superseded_by for one in told] == [None, None, None, None, "b"]


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("memory", "successor"),
    [
        (PARIS, None),
        (over(), "b"),
        (over(MemoryStatus.MERGED), "b"),
        (over(MemoryStatus.RETRACTED, 0), "b"),
        (replace(PARIS, valid_to=NOON + HOUR), None),
        (replace(PARIS, lapses=(lapse(NOON + HOUR, end=len(TEXT), by="a"),)), None),
        (replace(PARIS, lapses=(lapse(NOON, NOON + 9 * HOUR, len(TEXT), "c"), lapse(NOON + HOUR, None, 9, "d"))), "d"),
    ],
)
def test_what_holds_in_the_place_of_a_memory(memory: Memory, successor: str | None) -> None:
    found = successor_of(memory, asked())
    assert (found.id if isinstance(found, EventRef) else found) == successor


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8) | st.none(), st.sampled_from("ab")), max_size=4),
    st.integers(-1, 9),
    st.sampled_from(list(MemoryStatus)),
    st.integers(0, 9) | st.none(),
)
def test_seeing_what_was_seen_changes_nothing_and_event_time_is_as_the_memory_says(
    parts: list[tuple[int, int | None, str]], hour: int, status: MemoryStatus, end: int | None
) -> None:
    lapses = tuple(
        Lapse(by=by, start=0, end=HOME, since=NOON + s * HOUR, until=None if u is None else NOON + u * HOUR, rule="r")
        for s, u, by in parts
    )
    memory = replace(PARIS, status=status, lapses=lapses, valid_to=None if end is None else NOON + end * HOUR)
    for filters in (asked(as_of=NOON + hour * HOUR), asked(), asked(include_superseded=True)):
        once = seen(memory, filters)
        assert once is None or seen(once, filters) == once
    at = memory_at(memory, NOON + hour * HOUR)
    then = seen(memory, asked(as_of=NOON + hour * HOUR))
    assert (at is None) == (then is None)
    assert at is None or (then is not None and at.content == then.content)
