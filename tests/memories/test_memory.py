"""What of a memory holds at an instant, and its JSON."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recollect.memories.memory import Lapse, Memory, MemoryStatus, holds_at, memory_at, text_at
from recollect.memories.storage import memory_document, memory_in, memory_json
from samples.events import event
from samples.memories import memory_of_anna

MAY = datetime(2026, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
TEXT = "I live in Paris, and my sister Anna bakes bread every Sunday morning."
PARIS = memory_of_anna(TEXT, MAY)


def lapse(start: int, end: int, since: datetime = MAY + DAY, until: datetime | None = None) -> Lapse:
    """One by record b."""
    return Lapse(by="b", start=start, end=end, since=since, until=until, rule="home")


def ended(status: MemoryStatus, valid_to: datetime | None) -> Memory:
    """The memory with an end."""
    return replace(PARIS, status=status, superseded_by="b", valid_to=valid_to)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("memory", "moment", "holds"),
    [
        (PARIS, MAY, True),
        (PARIS, MAY - DAY, False),
        (ended(MemoryStatus.SUPERSEDED, MAY + DAY), MAY, True),
        (ended(MemoryStatus.SUPERSEDED, MAY + DAY), MAY + DAY, False),
        (ended(MemoryStatus.MERGED, MAY + DAY), MAY + DAY / 2, True),
        (ended(MemoryStatus.SUPERSEDED, None), MAY + DAY, False),
        (ended(MemoryStatus.RETRACTED, MAY), MAY, False),
        (ended(MemoryStatus.RETRACTED, MAY), MAY + DAY, False),
        (ended(MemoryStatus.REJECTED, MAY + DAY), MAY, False),
        (ended(MemoryStatus.ACTIVE, MAY + DAY), MAY + DAY, False),
    ],
)
def test_a_memory_holds_from_its_start_until_its_end_and_a_retracted_one_never(
    memory: Memory, moment: datetime, holds: bool
) -> None:
    assert holds_at(memory, moment) is holds
    assert (memory_at(memory, moment) is not None) is holds


@pytest.mark.spec("P-24")
def test_what_was_superseded_only_later_is_current_then() -> None:
    assert memory_at(ended(MemoryStatus.SUPERSEDED, MAY + DAY), MAY) == PARIS


@pytest.mark.spec("P-24")
def test_a_part_that_ended_is_left_out_from_then_on() -> None:
    memory = replace(PARIS, lapses=(lapse(0, 15),))
    assert text_at(memory, MAY) == TEXT
    assert text_at(memory, MAY + DAY) == "my sister Anna bakes bread every Sunday morning."


@pytest.mark.spec("P-24")
def test_what_is_held_over_until_an_instant_is_back_after_it() -> None:
    memory = replace(PARIS, lapses=(lapse(0, len(TEXT), until=MAY + 3 * DAY),))
    assert memory_at(memory, MAY + 2 * DAY) is None
    assert memory_at(memory, MAY + 3 * DAY) == memory


def test_lapses_are_stored_and_read_back() -> None:
    memory = replace(PARIS, lapses=(lapse(0, 15), lapse(16, 20, until=MAY + DAY)), settled_by="home")
    assert memory_in(memory_document(memory)) == memory


def test_a_memory_of_the_format_before_is_read() -> None:
    assert memory_in(memory_document(PARIS) | {"format": 1}) == PARIS


@pytest.mark.spec("K-84")
def test_names_are_in_camel_case_and_metadata_is_left_alone() -> None:
    shown = memory_json(event(key="home", is_private=True, metadata={"source_id": "t_1"}))
    assert {"conversationId", "contentType", "recordedAt", "isPrivate", "userId"} <= set(shown)
    assert all(re.fullmatch("[a-z]+([A-Z][a-z]+)*", name) for name in shown)
    assert shown["metadata"] == {"source_id": "t_1"}
