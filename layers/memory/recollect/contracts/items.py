"""The contract of `Items`: single items, lists, the due queue, and the order of the audit. A subclass gives `items`."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from recollect.contracts.examples import FOUR_BYTES, HARD_IDS, NOW, a_scope
from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.ids import IdSource
from recollect.core.items import (
    ABSENT,
    MOST_BYTES,
    MOST_WRITES,
    Due,
    DueItem,
    Item,
    ItemKey,
    ItemPath,
    ItemWrite,
    of_tenant,
    pages,
)
from recollect.core.scope import Scope
from recollect.memories.audit import AUDIT, Action, Actor, ActorKind, AuditEntry, audit_entry, audit_json, audit_write
from recollect.ports import Items

_IDS = IdSource()
SECOND = timedelta(seconds=1)
LATER = NOW + SECOND
# The order in which the writers come, by the instants of their entries.
_LATE = (5, 3, 9, 0, 7, 7, 1, 8, 2, 4, 6)


def an_entry(at: datetime) -> AuditEntry:
    """An entry of that instant, written now."""
    actor = Actor(ActorKind.USER, "anna")
    return AuditEntry(id=_IDS.fresh(), at=at, actor=actor, action=Action.PATCH, target_ids=("m",), via="memories")


def append(items: Items, owner: Scope, entries: Sequence[AuditEntry]) -> None:
    """Writes them, one after the other."""
    for entry in entries:
        items.write(owner, [audit_write(entry)], NOW)


class OwnOwner:
    """Gives the fixture `owner`: a user whom no other test has."""

    @pytest.fixture
    def owner(self) -> Scope:
        return a_scope()


class AuditOrderContract(OwnOwner):
    """Entries, newest first."""

    @pytest.mark.parametrize("limit", [1, 3, 100])
    def test_entries_are_in_the_order_of_their_instants_whoever_wrote_late(self, items: Items, limit: int) -> None:
        owner = a_scope()
        written = [an_entry(NOW + SECOND * place) for place in _LATE]
        append(items, owner, written)
        expected = sorted(written, key=lambda entry: (entry.at, entry.id), reverse=True)
        assert audit_pages(items, owner, limit) == expected

    def test_a_walk_sees_each_once_while_others_write_late(self, items: Items, owner: Scope) -> None:
        written = [an_entry(NOW + SECOND * 2 * place) for place in range(6)]
        append(items, owner, written)
        first = items.page(owner, AUDIT, 3, None, descending=True)
        behind, ahead = an_entry(NOW + SECOND * 9), an_entry(NOW + SECOND * 3)
        append(items, owner, [behind, ahead])
        rest = items.page(owner, AUDIT, 10, first.more, descending=True)
        seen = [audit_entry(item.key.key, item.value) for item in (*first.items, *rest.items)]
        assert seen == [*written[:2:-1], written[2], ahead, *written[1::-1]]
        assert behind not in seen
        assert audit_pages(items, owner, 4).count(behind) == 1

    def test_entries_that_were_stored_under_their_id_alone_are_listed_last(self, items: Items, owner: Scope) -> None:
        before = [an_entry(NOW), an_entry(NOW + SECOND)]
        for entry in before:
            items.write(owner, [ItemWrite(ItemKey(AUDIT, entry.id), audit_json(entry), ABSENT)], NOW)
        new = an_entry(NOW + SECOND * 2)
        append(items, owner, [new])
        assert audit_pages(items, owner, 1) == [new, *reversed(before)]

    def test_an_entry_is_appended_once(self, items: Items, owner: Scope) -> None:
        entry = an_entry(NOW)
        append(items, owner, [entry])
        with pytest.raises(VersionMismatch):
            append(items, owner, [entry])


def audit_pages(items: Items, owner: Scope, limit: int) -> list[AuditEntry]:
    """All entries, page by page, the newest first."""
    return [audit_entry(item.key.key, item.value) for item in pages_of(items, owner, AUDIT, limit, descending=True)]


def put_all(items: Items, owner: Scope, keys: Sequence[ItemKey], due: Due | None = None) -> list[Item]:
    """New items at the keys."""
    written: list[Item | None] = []
    for start in range(0, len(keys), MOST_WRITES):
        some = keys[start : start + MOST_WRITES]
        written += items.write(owner, [ItemWrite(key, {"at": key.key}, ABSENT, due) for key in some], NOW)
    return [one for one in written if one is not None]


def pages_of(items: Items, owner: Scope, path: ItemPath, limit: int, descending: bool = False) -> list[Item]:
    """All of a listing, page by page."""
    found = [page.items for page in pages(lambda after: items.page(owner, path, limit, after, descending=descending))]
    assert max(map(len, found)) <= limit
    return [item for page in found for item in page]


def all_due(items: Items, queue: str, now: datetime, limit: int = 100) -> list[DueItem]:
    """All of a queue that is due, page by page."""
    found = [page.items for page in pages(lambda after: items.due(queue, now, limit, after))]
    assert max(map(len, found)) <= limit
    return [item for page in found for item in page]


class ItemsListedContract(OwnOwner):
    """Listings by path, and the due queue."""

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
    def test_keys_sort_as_bytes_of_utf_8(self, items: Items, descending: bool, owner: Scope) -> None:
        path = ItemPath("notes", ("label",))
        names = sorted({*HARD_IDS, "", "#k", "!", "$", "A", "\uffff", "\U0001f600", "zz"}, key=str.encode)
        put_all(items, owner, [ItemKey(path, name) for name in reversed(names)])
        found = pages_of(items, owner, path, 4, descending)
        assert [one.key.key for one in found] == (names[::-1] if descending else names)

    def test_hard_labels_stand_together_each_with_its_own(self, items: Items, owner: Scope) -> None:
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
    def test_a_walk_goes_on_whatever_is_written_meanwhile(self, items: Items, descending: bool, owner: Scope) -> None:
        path = ItemPath("notes", ("label",))
        keys = [ItemKey(path, f"{n}") for n in range(1, 9)][:: -1 if descending else 1]
        put_all(items, owner, keys)
        first = items.page(owner, path, 3, None, descending=descending)
        items.write(owner, [ItemWrite(keys[2], None), ItemWrite(keys[3], None), ItemWrite(keys[0], {"new": 1})], NOW)
        items.write(owner, [ItemWrite(ItemKey(path, f"{keys[1].key}x"), {})], NOW)
        rest = items.page(owner, path, 10, first.more, descending=descending)
        assert [one.key for one in (*first.items, *rest.items)] == [*keys[:3], *keys[4:]]
        assert rest.more is None

    def test_a_full_last_page_has_no_next(self, items: Items, owner: Scope) -> None:
        path = ItemPath("notes")
        put_all(items, owner, [ItemKey(path, f"{n}") for n in range(4)])
        assert items.page(owner, path, 4, None).more is None
        assert items.page(owner, path, 3, None).more is not None

    def test_a_page_of_large_items_is_whole(self, items: Items, owner: Scope) -> None:
        path = ItemPath("notes")
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
        for page in pages(lambda after: items.due(queue, NOW, 3, after)):
            seen += [one.key.key for one in page.items]
            items.write(owner, [ItemWrite(one.key, None) for one in page.items], NOW)
        assert sorted(seen) == [key.key for key in keys]


def a_queue() -> str:
    """A queue that nothing else uses."""
    return "queue_" + "".join(chr(ord("a") + int(digit, 16)) for digit in uuid4().hex[:10])


DOCUMENT = {
    "text": "I live in Paris. 我住在巴黎 🙂\u202e\u0000\n",
    "é": {"deep": [1, -2.5, None, True, {"": []}]},
    "large": 2**53,
}


def a_key(key: str = "k", *labels: str, collection: str = "rules") -> ItemKey:
    """A key of a collection, under the labels."""
    return ItemKey(ItemPath(collection, labels), key)


def a_put(key: ItemKey, value: dict[str, object] | None = None, expected: int | None = ABSENT) -> ItemWrite:
    """The write of a new item, unless another version is expected."""
    return ItemWrite(key, {"n": 1} if value is None else value, expected)


KEY = a_key()


class ItemsContract(ItemsListedContract, AuditOrderContract):
    """Reading, writing, versions, owners, names, sizes; `ItemsListedContract` has lists and queues."""

    def test_what_was_written_is_read_at_once(self, items: Items, owner: Scope) -> None:
        key = a_key("k", "label")
        due = Due("summarize", LATER)
        (written,) = items.write(owner, [ItemWrite(key, DOCUMENT, ABSENT, due)], NOW)
        assert written == Item(key, DOCUMENT, 1, NOW, due)
        assert items.get(owner, [key, a_key("other", "label")]) == {key: written}

    def test_nothing_is_asked_and_nothing_written(self, items: Items) -> None:
        assert items.get(a_scope(), []) == {}
        assert items.write(a_scope(), [], NOW) == []

    def test_each_write_counts(self, items: Items, owner: Scope) -> None:
        for expected, moment in ((ABSENT, NOW), (1, LATER), (None, NOW), (3, LATER)):
            (written,) = items.write(owner, [a_put(KEY, {"at": str(moment)}, expected)], moment)
            assert items.get(owner, [KEY]) == {KEY: written}
        assert written == Item(KEY, {"at": str(LATER)}, 4, LATER)

    def test_a_write_replaces_the_whole(self, items: Items, owner: Scope) -> None:
        items.write(owner, [ItemWrite(KEY, {"a": 1, "b": 2}, ABSENT, Due("jobs", NOW))], NOW)
        items.write(owner, [a_put(KEY, {"c": 3}, 1)], NOW)
        assert items.get(owner, [KEY])[KEY] == Item(KEY, {"c": 3}, 2, NOW)

    @pytest.mark.parametrize("expected", [ABSENT, 1, 3])
    @pytest.mark.parametrize("value", [{"new": True}, None])
    def test_another_version_is_refused(self, items: Items, expected: int, value: dict[str, object] | None) -> None:
        owner, key = a_scope(), a_key()
        for version in (0, 1):
            items.write(owner, [a_put(key, {"old": version}, version)], NOW)
        with pytest.raises(VersionMismatch):
            items.write(owner, [ItemWrite(key, value, expected)], LATER)
        assert items.get(owner, [key])[key] == Item(key, {"old": 1}, 2, NOW)

    def test_replacing_what_is_not_there_is_refused(self, items: Items, owner: Scope) -> None:
        with pytest.raises(VersionMismatch):
            items.write(owner, [a_put(KEY, expected=1)], NOW)
        assert items.get(owner, [KEY]) == {}

    @pytest.mark.parametrize("expected", [None, 1])
    def test_what_was_deleted_is_gone_and_counts_from_one_again(self, items: Items, expected: int | None) -> None:
        owner, key = a_scope(), a_key()
        items.write(owner, [a_put(key)], NOW)
        assert items.write(owner, [ItemWrite(key, None, expected)], NOW) == [None]
        assert items.get(owner, [key]) == {}
        (again,) = items.write(owner, [a_put(key)], LATER)
        assert again == Item(key, {"n": 1}, 1, LATER)

    @pytest.mark.parametrize("expected", [None, ABSENT, 7])
    def test_deleting_what_is_not_there_is_no_error(self, items: Items, expected: int | None) -> None:
        assert items.write(a_scope(), [ItemWrite(a_key(), None, expected)], NOW) == [None]

    def test_several_are_written_at_once(self, items: Items, owner: Scope) -> None:
        keys = [a_key(f"{n:02d}") for n in range(MOST_WRITES)]
        assert all(items.write(owner, [a_put(key) for key in keys], NOW))
        mixed = [
            ItemWrite(keys[0], None, 1),
            a_put(keys[1], {"n": 2}, 1),
            a_put(keys[2], {"n": 3}, None),
            a_put(a_key("new"), {"n": 4}, None),
            ItemWrite(a_key("never"), None),
        ]
        written = items.write(owner, mixed, LATER)
        assert [one.version if one else None for one in written] == [None, 2, 2, 1, None]
        found = items.get(owner, [write.key for write in mixed])
        assert found == {one.key: one for one in written if one}

    @pytest.mark.parametrize("wrong", [0, 1, 2])
    def test_all_or_none(self, items: Items, wrong: int, owner: Scope) -> None:
        keys = [a_key(str(n), "label") for n in range(3)]
        items.write(owner, [a_put(key) for key in keys], NOW)
        writes = [
            ItemWrite(keys[0], None, 1),
            a_put(keys[1], {"n": 2}, 1),
            a_put(keys[2], {"n": 3}, 1),
            a_put(a_key("new"), {"n": 4}, None),
        ]
        writes[wrong] = ItemWrite(writes[wrong].key, writes[wrong].value, 2)
        with pytest.raises(VersionMismatch):
            items.write(owner, writes, LATER)
        found = items.get(owner, [write.key for write in writes])
        assert found == {key: Item(key, {"n": 1}, 1, NOW) for key in keys}

    def test_too_many_or_one_twice_is_refused(self, items: Items, owner: Scope) -> None:
        for writes in ([a_put(a_key(str(n))) for n in range(MOST_WRITES + 1)], [a_put(a_key()), a_put(a_key())]):
            with pytest.raises(InvalidInput):
                items.write(owner, writes, NOW)
        assert items.get(owner, [a_key("0"), a_key()]) == {}

    def test_an_item_of_any_size_up_to_the_limit(self, items: Items, owner: Scope) -> None:
        fits = {"text": "é" * ((MOST_BYTES - len('{"text":""}')) // 2)}
        (written,) = items.write(owner, [a_put(KEY, dict(fits))], NOW)
        assert written is not None
        assert items.get(owner, [KEY])[KEY].value == fits
        with pytest.raises(InvalidInput):
            items.write(owner, [a_put(KEY, {"text": fits["text"] + "é"}, 1)], NOW)
        assert items.get(owner, [KEY])[KEY] == written

    @pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": object()}], ids=["nan", "object"])
    def test_what_is_no_json_is_refused(self, items: Items, value: dict[str, object]) -> None:
        with pytest.raises(InvalidInput):
            items.write(a_scope(), [a_put(a_key(), value)], NOW)

    def test_owners_are_kept_apart(self, items: Items) -> None:
        tenant, other = a_scope(), a_scope()
        user = f"user-{tenant.user_id}"
        owners = [
            of_tenant(tenant.tenant), of_tenant(other.tenant), tenant, other,
            a_scope(tenant=tenant.tenant, user_id=user), a_scope(tenant=other.tenant, user_id=user),
        ]  # fmt: skip
        key = a_key("k", "label")
        for n, owner in enumerate(owners):
            items.write(owner, [a_put(key, {"owner": n})], NOW)
        items.write(owners[0], [ItemWrite(key, None)], NOW)
        assert items.get(owners[0], [key]) == {}
        assert items.page(owners[0], key.path, 10, None).items == ()
        for n, owner in enumerate(owners[1:], start=1):
            assert items.get(owner, [key])[key].value == {"owner": n}
            assert [one.value for one in items.page(owner, ItemPath("rules"), 10, None).items] == [{"owner": n}]

    def test_persona_and_household_are_no_part_of_the_owner(self, items: Items) -> None:
        owner = a_scope(persona_id="p", household_id="h")
        items.write(owner, [a_put(a_key())], NOW)
        assert items.get(owner.user, [a_key()])

    def test_hard_names_are_told_apart(self, items: Items, owner: Scope) -> None:
        names = [*HARD_IDS, "", "#k", "#l", "a#kb", "~0", "~1", "~2", FOUR_BYTES[:-1], "\u200f", "é" * 128]
        keys = [a_key(name) for name in names]
        keys += [a_key("k", name) for name in names] + [a_key(name, name) for name in names]
        keys += [a_key("b", "a", "b"), a_key("a#b", "a"), a_key("lb#kb", "a"), a_key("k", collection="rules_b")]
        keys += [a_key(FOUR_BYTES, *[FOUR_BYTES] * 4), a_key("#" * 128, *["#" * 128] * 4)]
        for n, key in enumerate(keys):
            items.write(owner, [a_put(key, {"number": n})], NOW)
        found = items.get(owner, keys)
        assert {key: one.value["number"] for key, one in found.items()} == {key: n for n, key in enumerate(keys)}
        assert all(one.key == key for key, one in found.items())

    def test_owners_of_hard_names_are_kept_apart(self, items: Items) -> None:
        unique = a_scope().tenant[-8:]
        ids = [f"{name[: 128 - len(unique)]}{unique}" for name in HARD_IDS]
        owners = [a_scope(tenant=name, user_id=other) for name, other in zip(ids, reversed(ids), strict=True)]
        owners += [of_tenant(name) for name in ids]
        for n, owner in enumerate(owners):
            items.write(owner, [ItemWrite(a_key(), {"owner": n}, None)], NOW)
        for n, owner in enumerate(owners):
            assert items.get(owner, [a_key()])[a_key()].value == {"owner": n}

    def test_a_name_that_is_too_long_is_refused(self, items: Items) -> None:
        for key in (a_key("x" * 129), a_key("k", "x" * 129)):
            with pytest.raises(InvalidInput):
                items.write(a_scope(), [a_put(key)], NOW)

    def test_many_are_read_in_one_batch(self, items: Items, owner: Scope) -> None:
        keys = [a_key(f"{n}") for n in range(130)]
        for start in range(0, len(keys), MOST_WRITES):
            items.write(owner, [a_put(key) for key in keys[start : start + MOST_WRITES]], NOW)
        assert set(items.get(owner, [*keys, keys[0]])) == set(keys)

    @pytest.mark.parametrize("together", [1, 2])
    @pytest.mark.parametrize("expected", [ABSENT, 1])
    def test_of_two_writers_of_one_item_one_wins(self, items: Items, expected: int, together: int) -> None:
        owner, key = a_scope(), a_key()
        if expected:
            items.write(owner, [a_put(key)], NOW)

        def attempt(writer: int) -> bool:
            others = [a_put(a_key(f"{writer}"), expected=None)] * (together - 1)
            try:
                items.write(owner, [a_put(key, {"writer": writer}, expected), *others], NOW)
            except VersionMismatch:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            won = list(pool.map(attempt, range(4)))
        assert sum(won) == 1
        assert items.get(owner, [key])[key] == Item(key, {"writer": won.index(True)}, expected + 1, NOW)
        beside = items.get(owner, [a_key(f"{writer}") for writer in range(4)])
        assert [int(one.key) for one in beside] == [won.index(True)] * (together - 1)

    def test_writers_that_take_any_version_all_count(self, items: Items, owner: Scope) -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda n: items.write(owner, [a_put(KEY, {"n": n}, None)], NOW), range(4)))
        assert items.get(owner, [KEY])[KEY].version == 4
