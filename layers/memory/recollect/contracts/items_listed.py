"""What every `Items` promises of lists and of the due queue; part of `recollect.contracts.items`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from uuid import uuid4

import pytest

from recollect.contracts.examples import HARD_IDS, NOW, a_scope
from recollect.domain.errors import InvalidInput
from recollect.domain.items import ABSENT, MOST_WRITES, Due, DueItem, Item, ItemKey, ItemPath, ItemWrite, of_tenant
from recollect.domain.scope import Scope
from recollect.ports import Items

SECOND = timedelta(seconds=1)


def put_all(items: Items, owner: Scope, keys: Sequence[ItemKey], due: Due | None = None) -> list[Item]:
    """New items at the keys."""
    written: list[Item | None] = []
    for start in range(0, len(keys), MOST_WRITES):
        some = keys[start : start + MOST_WRITES]
        written += items.write(owner, [ItemWrite(key, {"at": key.key}, ABSENT, due) for key in some], NOW)
    return [one for one in written if one is not None]


def pages_of(items: Items, owner: Scope, path: ItemPath, limit: int, descending: bool = False) -> list[Item]:
    """All of a listing, page by page."""
    found: list[Item] = []
    after: str | None = None
    for _ in range(500):
        page = items.page(owner, path, limit, after, descending=descending)
        assert len(page.items) <= limit
        found += page.items
        after = page.more
        if after is None:
            return found
    pytest.fail("the walk does not end")


def all_due(items: Items, queue: str, now: datetime, limit: int = 100) -> list[DueItem]:
    """All of a queue that is due, page by page."""
    found: list[DueItem] = []
    after: str | None = None
    for _ in range(500):
        page = items.due(queue, now, limit, after)
        assert len(page.items) <= limit
        found += page.items
        after = page.more
        if after is None:
            return found
    pytest.fail("the walk does not end")


class ItemsListedContract:
    """Listings by path, and what is due."""

    @pytest.mark.parametrize("limit", [1, 3, 100])
    @pytest.mark.parametrize("descending", [False, True])
    def test_a_path_lists_what_is_in_it_and_below_it(self, items: Items, limit: int, descending: bool) -> None:
        owner = a_scope()
        in_order = [
            ItemKey(ItemPath("notes", labels), key)
            for labels in ((), ("a",), ("a", "b"), ("a", "c"), ("ab",), ("b",))
            for key in ("1", "2", "3")
        ]
        others = [ItemKey(ItemPath("notes_old", ("a",)), "1"), ItemKey(ItemPath("note", ("a",)), "1")]
        put_all(items, owner, [*reversed(in_order), *others])
        put_all(items, a_scope(tenant=owner.tenant), in_order[:4])
        for labels in ((), ("a",), ("a", "b"), ("b",), ("",), ("a", "b", "c")):
            wanted = [key for key in in_order if key.path.labels[: len(labels)] == labels]
            found = pages_of(items, owner, ItemPath("notes", labels), limit, descending)
            assert [one.key for one in found] == (wanted[::-1] if descending else wanted)

    @pytest.mark.parametrize("descending", [False, True])
    def test_keys_sort_as_bytes_of_utf_8(self, items: Items, descending: bool) -> None:
        owner, path = a_scope(), ItemPath("notes", ("label",))
        names = sorted({*HARD_IDS, "", "#k", "!", "$", "A", "\uffff", "\U0001f600", "zz"}, key=str.encode)
        put_all(items, owner, [ItemKey(path, name) for name in reversed(names)])
        found = pages_of(items, owner, path, 4, descending)
        assert [one.key.key for one in found] == (names[::-1] if descending else names)

    def test_hard_labels_stand_together_each_with_its_own(self, items: Items) -> None:
        owner = a_scope()
        labels = [(name,) for name in (*HARD_IDS, "")] + [(name, "x") for name in HARD_IDS]
        keys = [ItemKey(ItemPath("notes", one), key) for one in labels for key in ("1", "2")]
        put_all(items, owner, keys)
        everything = [one.key for one in pages_of(items, owner, ItemPath("notes"), 7)]
        assert sorted(everything, key=repr) == sorted(keys, key=repr)
        assert all(everything[n].path == everything[n + 1].path for n in range(0, len(everything), 2))
        for name in (*HARD_IDS, ""):
            below = [one.key for one in pages_of(items, owner, ItemPath("notes", (name,)), 3)]
            assert below == [key for key in keys if key.path.labels[0] == name]

    @pytest.mark.parametrize("descending", [False, True])
    def test_a_walk_goes_on_whatever_is_written_meanwhile(self, items: Items, descending: bool) -> None:
        owner, path = a_scope(), ItemPath("notes", ("label",))
        keys = [ItemKey(path, f"{n}") for n in range(1, 9)][:: -1 if descending else 1]
        put_all(items, owner, keys)
        first = items.page(owner, path, 3, None, descending=descending)
        items.write(owner, [ItemWrite(keys[2], None), ItemWrite(keys[3], None), ItemWrite(keys[0], {"new": 1})], NOW)
        items.write(owner, [ItemWrite(ItemKey(path, f"{keys[1].key}x"), {})], NOW)
        rest = items.page(owner, path, 10, first.more, descending=descending)
        assert [one.key for one in (*first.items, *rest.items)] == [*keys[:3], *keys[4:]]
        assert rest.more is None

    def test_a_full_last_page_has_no_next(self, items: Items) -> None:
        owner, path = a_scope(), ItemPath("notes")
        put_all(items, owner, [ItemKey(path, f"{n}") for n in range(4)])
        assert items.page(owner, path, 4, None).more is None
        assert items.page(owner, path, 3, None).more is not None

    def test_a_page_of_large_items_is_whole(self, items: Items) -> None:
        owner, path = a_scope(), ItemPath("notes")
        for n in range(5):
            text = "".join(uuid4().hex for _ in range(10_000))
            items.write(owner, [ItemWrite(ItemKey(path, f"{n}"), {"text": text})], NOW)
        assert [one.key.key for one in items.page(owner, path, 5, None).items] == ["0", "1", "2", "3", "4"]

    @pytest.mark.parametrize("after", ["", "nonsense", "[]", '[1, "a"]', "M#other#k1"])
    def test_a_place_that_is_none_is_refused(self, items: Items, after: str) -> None:
        with pytest.raises(InvalidInput):
            items.page(a_scope(), ItemPath("notes"), 3, after)
        with pytest.raises(InvalidInput):
            items.due(a_queue(), NOW, 3, after)

    @pytest.mark.parametrize("limit", [1, 3, 100])
    def test_what_is_due_is_found_across_tenants(self, items: Items, limit: int) -> None:
        queue, first, second = a_queue(), a_scope(), a_scope()
        owners = [first, second, of_tenant(first.tenant)]
        expected = []
        for n, owner in enumerate(owners):
            for m, label in enumerate(("a", "#~", HARD_IDS[-2])):
                key, at = ItemKey(ItemPath("jobs", (label,)), f"{n}"), NOW - SECOND * (n + m)
                put_all(items, owner, [key], Due(queue, at))
                expected.append(DueItem(owner, key, at))
        put_all(items, first, [ItemKey(ItemPath("jobs"), "later")], Due(queue, NOW + SECOND))
        put_all(items, first, [ItemKey(ItemPath("jobs"), "other")], Due(a_queue(), NOW))
        put_all(items, first, [ItemKey(ItemPath("jobs"), "none")])
        found = all_due(items, queue, NOW, limit)
        assert sorted(found, key=repr) == sorted(expected, key=repr)
        assert len(all_due(items, queue, NOW + SECOND, limit)) == len(expected) + 1
        assert all_due(items, queue, NOW - timedelta(days=1), limit) == []

    def test_of_one_item_only_the_last_time_counts(self, items: Items) -> None:
        queue, other, owner = a_queue(), a_queue(), a_scope()
        keys = [ItemKey(ItemPath("jobs", ("l",)), f"{n}") for n in range(4)]
        put_all(items, owner, keys, Due(queue, NOW))
        moved = ItemWrite(keys[2], {}, 1, Due(queue, NOW + SECOND))
        items.write(owner, [ItemWrite(keys[0], None, 1), ItemWrite(keys[1], {}, 1), moved], NOW)
        items.write(owner, [ItemWrite(keys[3], {}, 1, Due(other, NOW))], NOW)
        assert all_due(items, queue, NOW) == []
        assert all_due(items, queue, NOW + SECOND) == [DueItem(owner, keys[2], NOW + SECOND)]
        assert all_due(items, other, NOW) == [DueItem(owner, keys[3], NOW)]
        items.write(owner, [ItemWrite(keys[2], None)], NOW)
        assert all_due(items, queue, NOW + SECOND) == []

    def test_within_an_owner_of_one_path_each_is_found_once(self, items: Items) -> None:
        queue, owner = a_queue(), a_scope()
        keys = [ItemKey(ItemPath("jobs"), f"{n:03d}") for n in range(60)]
        put_all(items, owner, keys, Due(queue, NOW))
        found = all_due(items, queue, NOW, 7)
        assert sorted(one.key.key for one in found) == [key.key for key in keys]

    def test_a_walk_of_the_queue_bears_that_its_items_are_done(self, items: Items) -> None:
        queue, owner = a_queue(), a_scope()
        keys = [ItemKey(ItemPath("jobs"), f"{n:02d}") for n in range(20)]
        put_all(items, owner, keys, Due(queue, NOW))
        seen: list[str] = []
        after: str | None = None
        for _ in range(100):
            page = items.due(queue, NOW, 3, after)
            seen += [one.key.key for one in page.items]
            if page.items:
                items.write(owner, [ItemWrite(one.key, None) for one in page.items], NOW)
            after = page.more
            if after is None:
                break
        assert sorted(seen) == [key.key for key in keys]
        assert all(one < other for one, other in pairwise(sorted(seen)))


def a_queue() -> str:
    """A queue that nothing else uses."""
    return "queue_" + "".join(chr(ord("a") + int(digit, 16)) for digit in uuid4().hex[:10])
