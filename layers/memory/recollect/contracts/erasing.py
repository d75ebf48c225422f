"""What erasing promises (P-22). A subclass gives `eraser`, `timeline`, `projections` and `items`, over one store."""

from collections import Counter
from dataclasses import replace

import pytest

from recollect.contracts.examples import HARD_IDS, NOW, a_scope, a_seed, a_vector, a_write, some_events, writes_of
from recollect.contracts.projections import pending_of
from recollect.domain.erasure import Kept
from recollect.domain.event import Event
from recollect.domain.items import ItemKey, ItemPath, ItemWrite
from recollect.domain.scope import Scope
from recollect.domain.timeline import AppendStatus, Projection, Removal
from recollect.ports import Eraser, Items, Projections, Timeline

ENTRY = ItemKey(ItemPath("audit"), "01800000-0000-7000-8000-000000000001")
GOAL = ItemKey(ItemPath("goals"), "01800000-0000-7000-8000-000000000002")


def erased(eraser: Eraser, scope: Scope, kept: Kept = Kept(), limit: int = 3) -> Counter[str]:  # noqa: B008 - frozen
    """Walks to the end; what was taken away, by part."""
    counts: Counter[str] = Counter()
    after: str | None = None
    while True:
        page = eraser.erase(scope, kept, limit, after)
        counts.update(page.counts)
        after = page.more
        if after is None:
            return counts


class Stored:
    """Some of everything of a user."""

    def __init__(self, scope: Scope, timeline: Timeline, projections: Projections, items: Items) -> None:
        self.scope = scope
        self.events = [replace(one, key="home") for one in some_events(scope, 7)]
        self.writes = writes_of(scope, self.events)
        timeline.append(scope, self.writes)
        for event in self.events[:4]:
            projections.save(scope, [Projection(event.ref, a_vector(), "generation")])
            projections.fill_slot(scope, event)
            projections.enter_conversation(scope, event.conversation_id, NOW)
            projections.settle(scope, [event.ref])
        timeline.remove(scope, self.events[3], Removal())
        timeline.reject(scope, "f" * 64, [], NOW)
        items.write(scope, [ItemWrite(ENTRY, {"a": 1}), ItemWrite(GOAL, {"b": 1})], NOW)
        items.write(scope, [ItemWrite(ItemKey(ItemPath("states", ("~#", "x")), "state"), {"c": 1})], NOW)


def nothing_left(stored: Stored, timeline: Timeline, projections: Projections, items: Items) -> bool:
    """Whether no port gives anything of the user's."""
    scope, refs = stored.scope, [event.ref for event in stored.events]
    found = (
        timeline.read(scope, refs),
        timeline.newest(scope, 10),
        timeline.records(scope, 10, None).events,
        timeline.important(scope, 10),
        timeline.tail(scope).refs,
        timeline.of_conversation(scope, stored.events[0].conversation_id, 10),
        timeline.conversations(scope, 10, None).conversations,
        timeline.slot_history(scope, ("", "", "home")),
        projections.vectors(scope, [ref.id for ref in refs]),
        pending_of(projections, scope),
        items.page(scope, ItemPath("goals"), 10, None).items,
        items.page(scope, ItemPath("states"), 10, None).items,
    )
    return not any(found)


class ErasingContract:
    """`Eraser`."""

    @pytest.mark.spec("P-22")
    @pytest.mark.parametrize("limit", [1, 4, 1000])
    def test_everything_goes_and_the_same_events_are_refused(
        self, eraser: Eraser, timeline: Timeline, projections: Projections, items: Items, limit: int
    ) -> None:
        stored = Stored(a_scope(), timeline, projections, items)
        other = Stored(a_scope(), timeline, projections, items)
        assert eraser.left(stored.scope, Kept()) > 10
        counts = erased(eraser, stored.scope, limit=limit)
        assert (counts["identities"], counts["events"], counts["items"]) == (6, 6, 3)
        assert eraser.left(stored.scope, Kept()) == 0
        assert nothing_left(stored, timeline, projections, items)
        assert erased(eraser, stored.scope) == Counter()
        again = [replace(write, event=replace(write.event, id=a_seed().nth(0))) for write in stored.writes]
        outcomes = timeline.append(stored.scope, again)
        assert {(one.status, one.reason) for one in outcomes} == {(AppendStatus.REFUSED, "deleted")}
        assert len(timeline.records(other.scope, 10, None).events) == 6
        assert eraser.left(other.scope, Kept()) > 10

    @pytest.mark.spec("P-22")
    def test_the_user_may_start_anew(
        self, eraser: Eraser, timeline: Timeline, projections: Projections, items: Items
    ) -> None:
        stored = Stored(a_scope(), timeline, projections, items)
        erased(eraser, stored.scope)
        later = replace(stored.events[0], id=a_seed().nth(0), content="a new life")
        write = replace(a_write(stored.scope, later), fingerprint="f" * 64)
        assert timeline.append(stored.scope, [write])[0].status is AppendStatus.CREATED
        assert timeline.newest(stored.scope, 10) == [later]
        projections.fill_slot(stored.scope, later)
        assert [entry.ref for entry in timeline.slot_history(stored.scope, ("", "", "home"))] == [later.ref]

    def test_what_is_kept_stays(
        self, eraser: Eraser, timeline: Timeline, projections: Projections, items: Items
    ) -> None:
        stored = Stored(a_scope(), timeline, projections, items)
        kept = Kept(frozenset([ENTRY]))
        erased(eraser, stored.scope, kept)
        assert items.get(stored.scope, [ENTRY, GOAL]).keys() == {ENTRY}
        assert (eraser.left(stored.scope, kept), eraser.left(stored.scope, Kept())) == (0, 1)

    def test_what_is_newer_than_a_bound_stays(
        self, eraser: Eraser, timeline: Timeline, projections: Projections, items: Items
    ) -> None:
        stored = Stored(a_scope(), timeline, projections, items)
        old, new = sorted(stored.events, key=lambda event: event.id)[:2], sorted(stored.events, key=lambda e: e.id)[2:]
        there = {event.id for event in timeline.records(stored.scope, 10, None).events}
        kept = Kept(before=new[0].id)
        erased(eraser, stored.scope, kept)
        left = {event.id for event in timeline.records(stored.scope, 10, None).events}
        assert left == there & {event.id for event in new}
        assert items.get(stored.scope, [ENTRY, GOAL]) == {}
        assert items.page(stored.scope, ItemPath("states"), 10, None).items
        assert timeline.conversations(stored.scope, 10, None).conversations
        assert eraser.left(stored.scope, kept) == 0
        again = {write.event.id: write for write in stored.writes}
        outcomes = timeline.append(stored.scope, [again[event.id] for event in old])
        assert {one.status for one in outcomes} == {AppendStatus.REFUSED}

    def test_ids_of_any_script(
        self, eraser: Eraser, timeline: Timeline, projections: Projections, items: Items
    ) -> None:
        for hard in HARD_IDS:
            scope = a_scope(user_id=hard)
            events: list[Event] = some_events(scope, 2, key=hard, conversation_id=hard, persona_id=hard)
            timeline.append(scope, writes_of(scope, events))
            projections.fill_slot(scope, events[0])
            items.write(scope, [ItemWrite(ItemKey(ItemPath("goals", (hard,)), hard), {"a": 1})], NOW)
            erased(eraser, scope)
            assert eraser.left(scope, Kept()) == 0
            assert timeline.newest(scope, 10) == []

    def test_a_stranger_is_no_error(self, eraser: Eraser) -> None:
        assert erased(eraser, a_scope()) == Counter()
