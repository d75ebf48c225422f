"""What holds after any crash, once the process was started again and everything pending was reconciled.

No event is lost, none is there twice; no memory without its source, no document without its record; nothing that was
deleted is back; slots say what their history says; and nothing waits.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from crashes.store import Place, SlotRow, Stored, tombstones
from recollect.core.scope import Scope
from recollect.memories.representation import represented
from recollect.memories.storage import memory_in
from recollect.search_index.page import index_document
from recollect.timeline.record import from_record
from recollect.timeline.slots import slot_of

_EMPTIED = frozenset({"memories", "bus_outbox", "deferred", "untold_deletions"})
_BEHIND_ALL_IDS = "\U0010ffff"


def check(stored: Stored, *, lost: bool = False) -> None:
    """Raises AssertionError with the first that does not hold. `lost`: the archive may be ahead of the store."""
    for one in (*INVARIANTS, *(() if lost else OF_ARCHIVES)):
        one(stored)


def nothing_waits(stored: Stored) -> None:
    assert stored.pending == []
    assert stored.removed == []


def each_event_has_one_identity(stored: Stored) -> None:
    """Each event is behind one dedupe record, and each dedupe record that is no tombstone stands before an event."""
    named = Counter((tenant, user, own) for tenant, user, own in stored.identities if own is not None)
    assert named == Counter(stored.events.keys())


def each_document_has_its_record(stored: Stored) -> None:
    """The index shows the records that there are, each in the words of its memory as it is now."""
    assert stored.documents.keys() == stored.events.keys()
    memories = stored.memories()
    for place, document in stored.documents.items():
        memory = memories.get(place)
        shown = represented(from_record(stored.events[place]), memory_in(memory) if memory else None)
        wanted = index_document(Scope(*place[:2]), shown, None)
        assert document["superseded"] == wanted.superseded
        assert document["private"] == wanted.is_private
        assert document["importance"] == wanted.importance
        assert (document["words"] or ()) == wanted.terms
        assert document["vector"] is not document["private"]


def each_vector_has_its_record(stored: Stored) -> None:
    """Kept vectors are of the events that there are; only private ones have none."""
    assert stored.vectors == {place: not event.get("is_private", False) for place, event in stored.events.items()}


def each_event_was_published_once(stored: Stored) -> None:
    """`memory:episodic:saved` once for each event that is not private, and of none that is gone.

    A copy in the tenant has the id of its origin, and is the same thing to a reader of the bus.
    """
    saved = [(one.tenant, one.id) for one in stored.bus if one.type == "memory:episodic:saved"]
    told = {place: event for place, event in stored.events.items() if _said(event) and not event.get("is_private")}
    assert Counter(saved) == Counter({(tenant, own) for tenant, _, own in told})


def each_conversation_is_listed(stored: Stored) -> None:
    said = {(*place[:2], event["conversation_id"]) for place, event in stored.events.items() if _said(event)}
    assert said <= set(stored.conversations)
    assert len(stored.conversations) == len(set(stored.conversations))


def slots_say_what_their_history_says(stored: Stored) -> None:
    """Each keyed event has its entry; a value is superseded by the next newer one, and the newest by none.

    Where the next newer one is gone, any newer one is as good: all say that the value holds no longer.
    """
    by_slot: dict[Any, list[SlotRow]] = defaultdict(list)
    for row in stored.slots:
        by_slot[(row.owner, row.slot)].append(row)
    there = {(*row.owner, row.event_id) for row in stored.slots if row.emptied is None}
    assert there == {place for place, event in stored.events.items() if slot_of(from_record(event)) is not None}
    for rows in by_slot.values():
        ordered = sorted(rows, key=_order)
        assert ordered[-1].emptied is not False
        for number, row in enumerate(ordered):
            if row.emptied is None:
                by = stored.events[(*row.owner, row.event_id)].get("superseded_by")
                assert by in _may_supersede(ordered[number + 1 :])


def _may_supersede(newer: list[SlotRow]) -> list[str | None]:
    if not newer:
        return [None]
    return [newer[0].event_id, *(row.event_id for row in newer if newer[0].emptied is not None)]


def what_is_quoted_is_there(stored: Stored) -> None:
    """Sentences of summaries, and goals, come from events that there are."""
    for row in stored.of("summaries"):
        for sentence in row.value["sentences"]:
            assert _are_there(stored, row.owner, sentence["sources"])
    for row in stored.of("goals"):
        assert _are_there(stored, row.owner, row.value["sources"])


def each_memory_has_its_source(stored: Stored) -> None:
    """A memory stands on the record that it has its id from, and on all events that it says it was made from."""
    memories = {(*row.owner, row.key): row.value for row in stored.of("memories")}
    for (tenant, user, own), memory in memories.items():
        assert (tenant, user, own) in stored.events
        if "same_as" in memory:
            assert own in memories[(tenant, user, memory["same_as"])]["source_event_ids"]
        else:
            assert _are_there(stored, (tenant, user), memory["source_event_ids"])


def each_memory_has_its_history(stored: Stored) -> None:
    """Versions before the one that holds, each once and without a gap; none of a memory that is gone.

    One that moved to another of its events begins a new history.
    """
    memories = stored.memories()
    kept: dict[Place, list[int]] = defaultdict(list)
    for row in stored.of("memory_versions"):
        kept[(*row.owner, row.labels[0])].append(int(row.key))
    for place, versions in kept.items():
        assert place in memories
        assert sorted(versions) == list(range(min(versions), memories[place]["version"]))


def each_content_is_one_memory(stored: Stored) -> None:
    """A content's record names a memory that there is, and each active memory is named by one."""
    memories = stored.memories()
    named = {(*row.owner, row.value["id"]) for row in stored.of("memory_contents")}
    assert named <= memories.keys()
    assert {place for place, memory in memories.items() if memory["status"] == "active"} <= named


def each_change_is_told_once(stored: Stored) -> None:
    """The audit has no version of a memory twice, and no deletion; one that several ended at once it has for each.

    Where a promotion was overtaken by a deletion, it has the making of what is gone by now as often as that was made.
    """
    there = {(*row.owner, row.key) for row in stored.of("memories")}
    told: Counter[Any] = Counter()
    for row in stored.of("audit"):
        after, action = row.value.get("after"), row.value["action"]
        if after and (*row.owner, after["id"]) in there:
            told[(row.owner, after["id"], after["version"], *row.value["target_ids"])] += 1
        if action == "delete":
            told.update((row.owner, target, action) for target in row.value["target_ids"])
    assert [change for change, times in told.items() if times > 1] == []


def nothing_is_left_to_do(stored: Stored) -> None:
    """Nothing stands in a queue that the reconciliation empties, but what is deferred while the bridge is suspended."""
    suspended = {row.owner[0] for row in stored.of("bridge") if row.value["suspended"]}
    queued = [row for row in stored.items if row.due is not None and row.due[0] in _EMPTIED]
    assert [row for row in queued if row.collection != "deferred" or row.owner[0] not in suspended] == []


def each_event_has_its_segment(stored: Stored) -> None:
    """One, for good; and no segment counts an event twice. Of a deleted one none is left."""
    assert stored.events.keys() == stored.segments.keys()
    counted = [(*row.owner, own) for row in stored.of("segments") for own in row.value["ids"]]
    rolled = [(*row.owner, own) for row in stored.of("segment_rolls") for own in row.value["ids"]]
    assert max(Counter([*counted, *rolled]).values(), default=1) == 1


def the_archive_holds_what_is_there(stored: Stored) -> None:
    """No segment, of the timeline or of a snapshot, has a record that was deleted."""
    there = {own for _, _, own in stored.events}
    for name, lines in stored.objects.items():
        if name.endswith(".segment"):
            assert {json.loads(line)["event"]["id"] for line in lines} <= there, name


def each_memory_was_published_once(stored: Stored) -> None:
    """`memory:semantic:saved` at most once for a memory, and of none that is gone."""
    memories = {(row.owner[0], row.key) for row in stored.of("memories")}
    saved = Counter((one.tenant, one.detail["memoryId"]) for one in stored.bus if one.type == "memory:semantic:saved")
    assert saved.keys() <= memories
    assert set(saved.values()) <= {1}


def the_table_knows_what_is_told_outside(stored: Stored) -> None:
    """Of every deletion that is kept outside, so that it is ready."""
    known = [row.value for row in stored.of("tombstone_marker")]
    assert known == ([{"last": len(tombstones(stored)), "beyond": []}] if tombstones(stored) else [])


INVARIANTS: tuple[Callable[[Stored], None], ...] = (
    nothing_waits,
    nothing_is_left_to_do,
    each_event_has_one_identity,
    each_document_has_its_record,
    each_vector_has_its_record,
    each_event_was_published_once,
    each_conversation_is_listed,
    slots_say_what_their_history_says,
    what_is_quoted_is_there,
    each_memory_has_its_source,
    each_memory_has_its_history,
    each_content_is_one_memory,
    each_memory_was_published_once,
    each_event_has_its_segment,
    each_change_is_told_once,
)
OF_ARCHIVES: tuple[Callable[[Stored], None], ...] = (
    the_archive_holds_what_is_there,
    the_table_knows_what_is_told_outside,
)


def _said(event: Mapping[str, Any]) -> bool:
    """Not the carrier of a memory that was saved directly: that is no event of a conversation."""
    return event.get("event_type") != "memory"


def _are_there(stored: Stored, owner: tuple[str, str], event_ids: Any) -> bool:
    return all((*owner, own) in stored.events for own in event_ids)


def _order(row: SlotRow) -> tuple[int, str]:
    return row.timestamp, _BEHIND_ALL_IDS if row.emptied else row.event_id
