"""The contract of the items that an append or a removal writes atomically with its event.

A subclass gives `timeline`, `items`, `plant_tombstone` and `plant_rejection`, over one store.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.contracts.examples import NOW, a_scope, a_seed, a_write, an_event, some_events
from recollect.contracts.items import a_key, a_put
from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.items import ABSENT, MOST_BYTES, MOST_WRITES, Due, Item, ItemWrite
from recollect.core.scope import Scope
from recollect.ports import Items, Timeline
from recollect.timeline.timeline import AppendStatus, Removal

Plant = Callable[[Scope, str], None]
LATER = NOW + timedelta(seconds=5)
KEY, OTHER = a_key("k", "label"), a_key("other")
THREADS = 4


class ItemsWithEventsContract:
    """`EventWrite.items` and `Removal.items`."""

    @pytest.mark.spec("P-20")
    def test_they_are_written_with_their_event(self, timeline: Timeline, items: Items) -> None:
        scope = a_scope(persona_id="p", household_id="h")
        event = an_event(scope, recorded_at=LATER)
        due = Due("jobs", LATER)
        items.write(scope.user, [a_put(OTHER)], NOW)
        writes = (ItemWrite(KEY, {"n": 1}, ABSENT, due), a_put(OTHER, {"n": 2}, None), ItemWrite(a_key("gone"), None))
        [outcome] = timeline.append(scope, [replace(a_write(scope, event), items=writes)])
        assert outcome.status is AppendStatus.CREATED
        assert timeline.find(scope, event.id) == event
        kept = items.get(scope.user, [KEY, OTHER])
        assert kept == {KEY: Item(KEY, {"n": 1}, 1, LATER, due), OTHER: Item(OTHER, {"n": 2}, 2, LATER)}

    @pytest.mark.spec("P-20")
    @pytest.mark.parametrize("expected", [ABSENT, 2])
    def test_without_the_version_expected_nothing_of_the_write_is_stored(
        self, timeline: Timeline, items: Items, expected: int
    ) -> None:
        scope = a_scope()
        items.write(scope, [a_put(KEY)], NOW)
        write = a_write(scope, an_event(scope))
        for more in ((), (a_put(a_key("any"), {}, None),)):
            with pytest.raises(VersionMismatch):
                timeline.append(scope, [replace(write, items=(a_put(OTHER), a_put(KEY, {}, expected), *more))])
        assert timeline.find(scope, write.event.id) is None
        assert timeline.records(scope, 5, None).events == ()
        assert timeline.tail(scope).refs == ()
        assert items.get(scope, [KEY, OTHER]) == {KEY: Item(KEY, {"n": 1}, 1, NOW)}
        [outcome] = timeline.append(scope, [replace(write, items=(a_put(OTHER), a_put(KEY, {}, 1)))])
        assert outcome.status is AppendStatus.CREATED
        assert items.get(scope, [KEY, OTHER]).keys() == {KEY, OTHER}

    def test_a_retry_writes_them_no_second_time(self, timeline: Timeline, items: Items) -> None:
        scope = a_scope()
        write = replace(a_write(scope, an_event(scope)), items=(a_put(KEY), a_put(OTHER, {"n": 1}, None)))
        before = timeline.append(scope, [write])
        items.write(scope, [a_put(OTHER, {"n": 2}, 1)], LATER)
        assert timeline.append(scope, [write]) == before
        assert [item.version for item in items.get(scope, [KEY, OTHER]).values()] == [1, 2]

    @pytest.mark.parametrize("expected", [ABSENT, None])
    def test_those_of_a_duplicate_are_not_written(self, timeline: Timeline, items: Items, expected: int | None) -> None:
        scope = a_scope()
        write = a_write(scope, an_event(scope))
        timeline.append(scope, [write])
        again = replace(write, event=replace(write.event, id=a_seed().nth(0)), items=(a_put(KEY, {}, expected),))
        assert [o.status for o in timeline.append(scope, [again])] == [AppendStatus.DUPLICATE]
        assert items.get(scope, [KEY]) == {}

    def test_those_of_a_refused_event_are_not_written(
        self, timeline: Timeline, items: Items, plant_tombstone: Plant, plant_rejection: Plant
    ) -> None:
        scope = a_scope()
        deleted, rejected = (replace(a_write(scope, e), items=(a_put(a_key(e.id)),)) for e in some_events(scope, 2))
        plant_tombstone(scope, deleted.identity)
        plant_rejection(scope, rejected.fingerprint)
        outcomes = timeline.append(scope, [deleted, rejected])
        assert [o.status for o in outcomes] == [AppendStatus.REFUSED] * 2
        assert items.get(scope, [a_key(write.event.id) for write in (deleted, rejected)]) == {}

    def test_a_refusal_goes_before_a_version(self, timeline: Timeline, items: Items, plant_rejection: Plant) -> None:
        scope = a_scope()
        items.write(scope, [a_put(KEY)], NOW)
        write = replace(a_write(scope, an_event(scope)), items=(a_put(KEY),))
        plant_rejection(scope, write.fingerprint)
        assert [o.status for o in timeline.append(scope, [write])] == [AppendStatus.REFUSED]

    def test_as_many_and_as_large_as_items_may_be(self, timeline: Timeline, items: Items) -> None:
        scope = a_scope()
        keys = [a_key(f"{n:02d}") for n in range(MOST_WRITES)]
        write = replace(a_write(scope, an_event(scope)), items=tuple(a_put(key) for key in keys))
        assert timeline.append(scope, [write])[0].status is AppendStatus.CREATED
        assert len(items.get(scope, keys)) == MOST_WRITES
        assert timeline.remove(scope, write.event, Removal(items=tuple(ItemWrite(k, None, 1) for k in keys), at=LATER))
        assert items.get(scope, keys) == {}

    @pytest.mark.parametrize("wrong", ["large", "many"])
    def test_too_large_or_too_many_is_refused_before_anything(
        self, timeline: Timeline, items: Items, wrong: str
    ) -> None:
        scope = a_scope()
        first, second = (a_write(scope, event) for event in some_events(scope, 2))
        refused = {
            "large": (a_put(KEY, {"text": "x" * MOST_BYTES}),),
            "many": tuple(a_put(a_key(str(n))) for n in range(MOST_WRITES + 1)),
        }[wrong]
        with pytest.raises(InvalidInput):
            timeline.append(scope, [first, replace(second, items=refused)])
        assert timeline.records(scope, 5, None).events == ()
        timeline.append(scope, [first])
        with pytest.raises(InvalidInput):
            timeline.remove(scope, first.event, Removal(items=refused, at=NOW))
        assert timeline.find(scope, first.event.id) == first.event

    def test_of_many_appends_with_one_item_one_is_stored(self, timeline: Timeline, items: Items) -> None:
        scope = a_scope()
        writes = [replace(a_write(scope, e), items=(a_put(KEY, {"id": e.id}),)) for e in some_events(scope, THREADS)]

        def stored(number: int) -> bool:
            try:
                return timeline.append(scope, [writes[number]])[0].status is AppendStatus.CREATED
            except VersionMismatch:
                return False

        with ThreadPoolExecutor(THREADS) as pool:
            won = list(pool.map(stored, range(THREADS)))
        assert sum(won) == 1
        event = writes[won.index(True)].event
        assert items.get(scope, [KEY])[KEY].value == {"id": event.id}
        assert timeline.records(scope, 9, None).events == (event,)

    def test_appends_that_take_any_version_all_count(self, timeline: Timeline, items: Items) -> None:
        scope = a_scope()
        writes = [replace(a_write(scope, e), items=(a_put(KEY, {}, None),)) for e in some_events(scope, 3)]
        with ThreadPoolExecutor(3) as pool:
            outcomes = [o for [o] in pool.map(lambda write: timeline.append(scope, [write]), writes)]
        assert {o.status for o in outcomes} == {AppendStatus.CREATED}
        assert items.get(scope, [KEY])[KEY].version == 3

    @pytest.mark.spec("P-22")
    @pytest.mark.parametrize("key", [None, "home"])
    def test_they_are_written_with_the_removal(self, timeline: Timeline, items: Items, key: str | None) -> None:
        scope = a_scope(persona_id="p")
        event, other = some_events(scope, 2, key=key)
        timeline.append(scope, [replace(a_write(scope, event), items=(a_put(KEY),)), a_write(scope, other)])
        writes = (ItemWrite(KEY, None, 1), a_put(OTHER, {"n": 3}, None))
        removal = Removal(also=(other.ref,), items=writes, at=LATER)
        assert timeline.remove(scope, event, removal)
        assert timeline.find(scope, event.id) is None
        assert items.get(scope.user, [KEY, OTHER]) == {OTHER: Item(OTHER, {"n": 3}, 1, LATER)}
        assert timeline.remove(scope, event, removal) is False
        assert items.get(scope.user, [OTHER])[OTHER].version == 1

    @pytest.mark.spec("P-22")
    @pytest.mark.parametrize("also_any", [False, True])
    def test_without_the_version_expected_nothing_is_removed(
        self, timeline: Timeline, items: Items, also_any: bool
    ) -> None:
        scope = a_scope()
        write = replace(a_write(scope, an_event(scope)), items=(a_put(KEY),))
        timeline.append(scope, [write])
        more = (a_put(a_key("any"), {}, None),) if also_any else ()
        with pytest.raises(VersionMismatch):
            timeline.remove(scope, write.event, Removal(items=(a_put(OTHER), a_put(KEY, {}, 2), *more), at=LATER))
        assert timeline.find(scope, write.event.id) == write.event
        assert items.get(scope, [KEY, OTHER]) == {KEY: Item(KEY, {"n": 1}, 1, NOW)}
        assert timeline.append(scope, [write])[0].status is AppendStatus.CREATED

    def test_those_of_another_version_of_the_event_are_not_written(self, timeline: Timeline, items: Items) -> None:
        scope = a_scope()
        event = an_event(scope)
        timeline.append(scope, [a_write(scope, event)])
        with pytest.raises(VersionMismatch):
            timeline.remove(scope, replace(event, version=2), Removal(items=(a_put(KEY),), at=NOW))
        assert items.get(scope, [KEY]) == {}
        assert timeline.find(scope, event.id) == event

    def test_of_many_removers_one_writes_them(self, timeline: Timeline, items: Items) -> None:
        scope = a_scope()
        event = an_event(scope, key="home")
        timeline.append(scope, [a_write(scope, event)])
        removal = Removal(items=(a_put(KEY, {}, None),), at=LATER)
        with ThreadPoolExecutor(THREADS) as pool:
            assert sum(pool.map(lambda _: timeline.remove(scope, event, removal), range(THREADS))) == 1
        assert items.get(scope, [KEY])[KEY].version == 1

    def test_those_of_a_removal_need_an_instant(self) -> None:
        with pytest.raises(ValueError, match="instant"):
            Removal(items=(a_put(KEY),))
