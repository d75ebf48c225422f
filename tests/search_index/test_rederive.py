"""All that is derived, dropped and made again from the evidence; what is evidence stays as it is (A-27, A-33, A-34)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from embedded.reindexing import OtherEmbedder, reindexed, with_embedder
from embedded.setting import ANNA, Memory
from recollect.core.items import ItemWrite
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory as Record
from recollect.memories.memory import MemoryDraft
from recollect.memories.reading import MemoryQuery
from recollect.memories.save import MemoryChange
from recollect.memories.storage import memory_document, memory_key
from recollect.retrieval.nomination import IndexCount
from recollect.timeline.failed_projections import failed_key
from recollect.timeline.record import EventDraft

USER = Actor(ActorKind.USER, "anna")
TASK = "Please remember to water the plants, it is important"


@pytest.fixture
def lived(memory: Memory) -> Memory:
    """Events, a slot of three values, a promoted, an edited and a directly saved memory, a deletion."""
    memory.add("My sister paints sunrises", "The bakery opens at seven")
    memory.add(*(_draft(memory, f"I live in {city}", key="city") for city in ("Rome", "Paris", "Lyon")))
    memory.add("this will be deleted", conversation="c2")
    seed = memory.app.ids.seed(1_700_000_000_000)
    memory.app.memories.store.save(
        ANNA, MemoryDraft(content="Anna plays chess"), seed, memory.now, USER, _rules(memory)
    )
    memory.project()
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=memory.ids[-1])
    memory.project()
    edited = next(one for one in _memories(memory) if "Lyon" in one.content)
    memory.app.memories.store.patch(
        ANNA, edited.id, MemoryChange({"content": "Anna lives in Lyon"}, USER, lambda _version: True), memory.now
    )
    memory.project()
    return memory


def _draft(memory: Memory, text: str, key: str) -> EventDraft:
    return replace(memory._draft(text), key=key)


def _rules(memory: Memory):  # type: ignore[no-untyped-def]
    return memory.app.rules.resolved("acme")


def _memories(memory: Memory) -> Sequence[Record]:
    return memory.app.memories.listing.page(ANNA, MemoryQuery(), 50, None, memory.now).memories


def _told(memory: Memory) -> tuple[object, ...]:
    """All that a reader can see, but for the events' versions and the conversation of what was deleted."""
    texts = ("sister paints", "bakery", "where do I live", "Anna plays chess", "deleted")
    timeline = memory.app.parts.timeline
    return (
        [memory.found(text) for text in texts],
        [sorted(memory.found(text, include_superseded=True)) for text in texts],
        sorted(_memories(memory), key=lambda one: one.id),
        [replace(event, version=0) for event in timeline.records(ANNA, 100, None).events],
        [one for one in timeline.conversations(ANNA, 10, None).conversations if one.id != "c2"],
        timeline.slot_history(ANNA, ("", "", "city")),
        memory.app.search_index.in_use.count(ANNA),
    )


def _versions(memory: Memory) -> dict[str, int]:
    return {event.id: event.version for event in memory.app.parts.timeline.records(ANNA, 100, None).events}


@pytest.mark.spec("A-33")
def test_nobody_can_tell_that_it_happened(lived: Memory) -> None:
    before, versions = _told(lived), _versions(lived)
    counts = reindexed(lived, **{"from": "events"})
    assert _told(lived) == before
    assert (counts["dropped"], counts["rebuilt"]) == (6, 6)
    assert _versions(lived) == versions
    bus = lived.app.parts.publisher.published("acme", None, None)
    reindexed(lived, **{"from": "events"})
    assert lived.app.parts.publisher.published("acme", None, None) == bus


@pytest.mark.spec("A-34")
def test_what_was_derived_and_lost_comes_back(lived: Memory) -> None:
    before = _told(lived)
    database = lived.app.parts._database  # type: ignore[attr-defined] # of the laptop's parts only
    with database.writing(durable=True) as connection:
        for table in ("projections", "conversations", "slot_entries"):
            connection.execute(f"DELETE FROM {table}")
    lived.app.parts.index.remove(ANNA, [event.id for event in lived.app.parts.timeline.records(ANNA, 99, None).events])
    assert lived.found("sister paints") == []
    reindexed(lived, **{"from": "events"})
    assert _told(lived) == before


def test_vectors_are_made_anew_from_the_words_that_are_shown(lived: Memory) -> None:
    other = with_embedder(lived, OtherEmbedder())
    embedder = other.app.parts.embedder
    assert isinstance(embedder, OtherEmbedder)
    reindexed(other, **{"from": "events"})
    assert "Anna lives in Lyon" in embedder.encoded
    assert "I live in Lyon" not in embedder.encoded
    first = len(embedder.encoded)
    reindexed(other, **{"from": "events"})
    assert len(embedder.encoded) == 2 * first
    assert other.app.search_index.in_use.count(ANNA) == IndexCount(6, 6)
    assert other.app.search_index.health.lagging() == {}


def test_a_memory_as_it_was_promoted_says_again_what_its_event_says(lived: Memory) -> None:
    promoted = next(one for one in _memories(lived) if one.version == 1 and one.source_event_ids)
    item = lived.app.parts.items.get(ANNA, [memory_key(promoted.id)])[memory_key(promoted.id)]
    wrong = memory_document(replace(promoted, content="something else", importance=0.1))
    lived.app.parts.items.write(ANNA, [ItemWrite(item.key, wrong, item.version)], lived.now)
    reindexed(lived, **{"from": "events"})
    assert next(one for one in _memories(lived) if one.id == promoted.id) == promoted


def test_what_waits_to_be_projected_still_waits(lived: Memory) -> None:
    lived.add("said just now")
    reindexed(lived, **{"from": "events"})
    markers = lived.app.parts.projections.pending(10, None).markers
    assert [marker.ref.id for marker in markers] == lived.ids[-1:]
    published = len(lived.app.parts.publisher.published("acme", None, None))
    assert lived.project() == 1
    assert len(lived.app.parts.publisher.published("acme", None, None)) > published


def test_a_note_of_a_failure_that_cannot_be_read_stops_no_reindex(lived: Memory) -> None:
    before = _told(lived)
    lived.app.parts.items.write(ANNA, [ItemWrite(failed_key(lived.ids[0]), {"timestamp": "yesterday"})], lived.now)
    reindexed(lived, **{"from": "events"})
    assert _told(lived) == before
