"""Deleting a source of a merged memory takes its part along, and no older value comes back by itself (P-22, P-24)."""

import pytest

from embedded.deciding import BOTH, PROMOTED, TITLE, follow, kept, merge, now, remember, saved
from embedded.memory_items import delete, kept_of, shown, states
from embedded.setting import ANNA, Memory
from recollect.core.errors import VersionMismatch
from recollect.core.items import ItemPath
from recollect.memories.memory import MemoryStatus, Origin
from recollect.memories.storage import CONTENTS, memory_in, versions_path
from recollect.timeline.record import EventDraft

MERGED = MemoryStatus.MERGED


def forget(memory: Memory, event_id: str) -> None:
    memory.app.deletion.events.forget(ANNA, event_id=event_id, now=memory.now)
    for _ in range(3):
        memory.project()


def said_anywhere(memory: Memory, text: str, memory_id: str) -> bool:
    """In the memory, in one of its versions, or in the index."""
    page = memory.app.parts.items.page(ANNA, versions_path(memory_id), 100, None)
    contents = [memory_in(item.value).content for item in page.items]
    contents += [one.content for one in kept_of(memory).values()] + shown(memory, text)
    return any(text in content for content in contents)


@pytest.mark.spec("P-22", "P-24")
def test_deleting_the_older_source_gives_the_newer_one_its_own_words_back(memory: Memory) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    merge(memory, old, new)
    forget(memory, old)
    left = now(memory, new)
    assert (left.content, left.source_event_ids, left.origin) == (PROMOTED, (new,), Origin.EVENT)
    assert shown(memory, "painter museum") == [PROMOTED]
    assert not said_anywhere(memory, "museum", new)
    records = memory.app.parts.items.page(ANNA, CONTENTS, 100, None).items
    assert {item.value["id"] for item in records} == {new}


@pytest.mark.spec("P-22", "P-24")
def test_deleting_the_newer_source_leaves_the_older_one_merged(memory: Memory) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    merge(memory, old, new)
    forget(memory, new)
    assert set(states(memory)) == {old}
    assert now(memory, old).status is MERGED
    assert shown(memory, "painter museum") == []


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("direct", [False, True])
def test_deleting_the_memory_deletes_all_its_sources(memory: Memory, direct: bool) -> None:
    old, new = (saved(memory, TITLE), saved(memory, PROMOTED)) if direct else remember(memory, TITLE, PROMOTED)
    merge(memory, old, new)
    assert sorted(delete(memory, new)) == sorted([old, new])
    memory.project()
    assert states(memory) == {}
    assert shown(memory, "painter museum") == []


@pytest.mark.spec("P-22")
def test_a_deletion_names_the_version_of_the_memory_itself(memory: Memory) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    merge(memory, old, new)
    whole = now(memory, new)
    with pytest.raises(VersionMismatch):
        memory.app.deletion.events.memory(
            ANNA, whole, now=memory.now, accepts=lambda version: version == whole.version - 1
        )
    assert kept(memory, old).memory.status is MERGED
    memory.app.deletion.events.memory(ANNA, whole, now=memory.now, accepts=lambda version: version == whole.version)
    assert states(memory) == {}


@pytest.mark.spec("P-22", "P-24")
def test_where_others_say_the_same_the_part_stays(memory: Memory) -> None:
    (old,) = remember(memory, TITLE)
    (twin,) = remember(memory, TITLE)
    (new,) = remember(memory, PROMOTED)
    merge(memory, old, new)
    assert now(memory, new).source_event_ids == (old, twin, new)
    forget(memory, old)
    assert (now(memory, new).content, now(memory, new).source_event_ids) == (BOTH, (twin, new))
    forget(memory, twin)
    assert (now(memory, new).content, now(memory, new).source_event_ids) == (PROMOTED, (new,))
    assert not said_anywhere(memory, "museum", new)


@pytest.mark.spec("P-22", "P-24")
def test_a_twin_goes_first_and_the_part_stays(memory: Memory) -> None:
    (old,) = remember(memory, TITLE)
    (twin,) = remember(memory, TITLE)
    (new,) = remember(memory, PROMOTED)
    merge(memory, old, new)
    forget(memory, twin)
    assert (now(memory, new).content, now(memory, new).source_event_ids) == (BOTH, (old, new))


@pytest.mark.spec("P-22", "P-24")
def test_another_event_of_the_newer_words_carries_them_alone(memory: Memory) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    (twin,) = remember(memory, PROMOTED)
    merge(memory, old, new)
    forget(memory, new)
    left = now(memory, twin)
    assert (left.content, left.source_event_ids, left.origin) == (PROMOTED, (twin,), Origin.EVENT)
    assert now(memory, old).status is MERGED
    assert shown(memory, "painter") == [PROMOTED]


@pytest.mark.spec("P-22", "P-24")
def test_a_part_that_was_handed_on_goes_from_there_too(memory: Memory) -> None:
    chief = "Anna paints as the chief painter, all else stays"
    old, new, newest = remember(memory, TITLE, PROMOTED, chief)
    merge(memory, old, new)
    merge(memory, new, newest, "Anna paints as the chief painter for the city museum")
    assert now(memory, newest).source_event_ids == (old, new, newest)
    forget(memory, old)
    assert (now(memory, newest).content, now(memory, newest).source_event_ids) == (chief, (newest,))
    assert not any(said_anywhere(memory, "museum", one) for one in (new, newest))


@pytest.mark.spec("P-22", "P-24")
def test_of_two_sources_the_words_of_the_one_that_went_first_stay_away(memory: Memory) -> None:
    mondays = "Anna paints on Mondays as a junior painter"
    first, second, new = remember(memory, TITLE, mondays, PROMOTED)
    merge(memory, first, new)
    merge(memory, second, new, "Anna paints on Mondays as a senior painter")
    forget(memory, first)
    assert now(memory, new).content == "Anna paints on Mondays as a senior painter"
    forget(memory, second)
    assert (now(memory, new).content, now(memory, new).source_event_ids) == (PROMOTED, (new,))
    assert not said_anywhere(memory, "museum", new)
    assert not said_anywhere(memory, "Mondays", new)


@pytest.mark.spec("P-24")
def test_the_history_of_what_is_left_has_no_gap(memory: Memory) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    merge(memory, old, new)
    forget(memory, old)
    page = memory.app.parts.items.page(ANNA, versions_path(new), 100, None)
    versions = [memory_in(item.value).version for item in page.items]
    assert versions == list(range(1, now(memory, new).version))
    assert memory.app.parts.items.page(ANNA, ItemPath("memory_versions", (old,)), 10, None).items == ()


def test_a_deleted_part_is_not_merged_anew(memory: Memory) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    merge(memory, old, new)
    forget(memory, old)
    memory.add(EventDraft(content="the cat sleeps", timestamp=memory.now))
    follow(memory, new)
    assert now(memory, new).content == PROMOTED
