"""Until when a keyed value holds is read once, when it is projected, and stored with its event (P-24)."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from embedded.archiving import exported
from embedded.setting import ANNA, Memory
from recollect.archive.record_line import line_text
from recollect.contradictions import binding as reader
from recollect.core.event import OPEN_ENDED, Event
from recollect.timeline.record import EventDraft

PARIS, BERLIN = "I live in Paris", "I'm in Berlin until Friday"
WEEK = timedelta(days=7)


@pytest.fixture(autouse=True)
def cities(memory: Memory) -> None:
    """Two values of a key, the newer one with an end."""
    for content in (PARIS, BERLIN):
        memory.now += timedelta(minutes=1)
        memory.add(EventDraft(content=content, key="city", timestamp=memory.now))


def no_words(text: str, at: datetime) -> datetime | None:
    raise AssertionError("words were read")


def stored(memory: Memory) -> list[Event]:
    return [one for i in memory.ids if (one := memory.app.parts.timeline.find(ANNA, i)) is not None]


def current(memory: Memory, later: timedelta = timedelta()) -> list[str]:
    """What a search for the city answers at that instant."""
    memory.now += later
    found = memory.found("city Paris Berlin")
    memory.now -= later
    return [one for one in (PARIS, BERLIN) if one in found]


@pytest.mark.spec("P-24")
def test_a_projected_value_is_searched_without_reading_its_words(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.project()
    paris, berlin = stored(memory)
    assert paris.holds_until == OPEN_ENDED
    assert berlin.holds_until is not None
    assert timedelta(0) < berlin.holds_until - memory.now <= WEEK
    monkeypatch.setattr(reader, "holds_until", no_words)
    assert current(memory) == [BERLIN]
    assert current(memory, WEEK) == [PARIS]


@pytest.mark.spec("P-24")
def test_before_it_is_projected_its_words_are_read(memory: Memory) -> None:
    assert current(memory) == [BERLIN]
    assert current(memory, WEEK) == [PARIS]


@pytest.mark.spec("P-24")
def test_a_value_stored_without_its_end_answers_the_same_and_gets_it_when_it_is_projected_again(
    memory: Memory,
) -> None:
    memory.project()
    for one in stored(memory):
        memory.app.parts.projections.store_bound(ANNA, replace(one, holds_until=None))
    assert [one.holds_until for one in stored(memory)] == [None, None]
    assert current(memory) == [BERLIN]
    assert current(memory, WEEK) == [PARIS]
    memory.app.parts.projections.mark(ANNA, [one.ref for one in stored(memory)])
    memory.project()
    assert None not in [one.holds_until for one in stored(memory)]


@pytest.mark.spec("P-24")
def test_an_export_has_no_end_that_is_derived_from_the_words(memory: Memory) -> None:
    memory.project()
    assert "holds_until" not in "".join(line_text(line) for line in exported(memory))
