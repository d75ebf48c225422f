"""What every `Items` promises of single items. A subclass gives the fixture `items`."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from recollect.contracts.audit_order import AuditOrderContract
from recollect.contracts.examples import FOUR_BYTES, HARD_IDS, NOW, a_scope
from recollect.contracts.items_listed import ItemsListedContract
from recollect.domain.errors import InvalidInput, VersionMismatch
from recollect.domain.items import (
    ABSENT,
    MOST_BYTES,
    MOST_WRITES,
    Due,
    Item,
    ItemKey,
    ItemPath,
    ItemWrite,
    of_tenant,
)
from recollect.ports import Items

LATER = NOW + timedelta(seconds=1)
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


class ItemsContract(ItemsListedContract, AuditOrderContract):
    """Reading, writing, versions, owners, names, sizes; `ItemsListedContract` has lists and queues."""

    def test_what_was_written_is_read_at_once(self, items: Items) -> None:
        owner, key = a_scope(), a_key("k", "label")
        due = Due("summarize", LATER)
        (written,) = items.write(owner, [ItemWrite(key, DOCUMENT, ABSENT, due)], NOW)
        assert written == Item(key, DOCUMENT, 1, NOW, due)
        assert items.get(owner, [key, a_key("other", "label")]) == {key: written}

    def test_nothing_is_asked_and_nothing_written(self, items: Items) -> None:
        assert items.get(a_scope(), []) == {}
        assert items.write(a_scope(), [], NOW) == []

    def test_each_write_counts(self, items: Items) -> None:
        owner, key = a_scope(), a_key()
        for expected, moment in ((ABSENT, NOW), (1, LATER), (None, NOW), (3, LATER)):
            (written,) = items.write(owner, [a_put(key, {"at": str(moment)}, expected)], moment)
            assert items.get(owner, [key]) == {key: written}
        assert written == Item(key, {"at": str(LATER)}, 4, LATER)

    def test_a_write_replaces_the_whole(self, items: Items) -> None:
        owner, key = a_scope(), a_key()
        items.write(owner, [ItemWrite(key, {"a": 1, "b": 2}, ABSENT, Due("jobs", NOW))], NOW)
        items.write(owner, [a_put(key, {"c": 3}, 1)], NOW)
        assert items.get(owner, [key])[key] == Item(key, {"c": 3}, 2, NOW)

    @pytest.mark.parametrize("expected", [ABSENT, 1, 3])
    @pytest.mark.parametrize("value", [{"new": True}, None])
    def test_another_version_is_refused(self, items: Items, expected: int, value: dict[str, object] | None) -> None:
        owner, key = a_scope(), a_key()
        for version in (0, 1):
            items.write(owner, [a_put(key, {"old": version}, version)], NOW)
        with pytest.raises(VersionMismatch):
            items.write(owner, [ItemWrite(key, value, expected)], LATER)
        assert items.get(owner, [key])[key] == Item(key, {"old": 1}, 2, NOW)

    def test_replacing_what_is_not_there_is_refused(self, items: Items) -> None:
        owner, key = a_scope(), a_key()
        with pytest.raises(VersionMismatch):
            items.write(owner, [a_put(key, expected=1)], NOW)
        assert items.get(owner, [key]) == {}

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

    def test_several_are_written_at_once(self, items: Items) -> None:
        owner, keys = a_scope(), [a_key(f"{n:02d}") for n in range(MOST_WRITES)]
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
    def test_all_or_none(self, items: Items, wrong: int) -> None:
        owner, keys = a_scope(), [a_key(str(n), "label") for n in range(3)]
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

    def test_too_many_or_one_twice_is_refused(self, items: Items) -> None:
        owner = a_scope()
        for writes in ([a_put(a_key(str(n))) for n in range(MOST_WRITES + 1)], [a_put(a_key()), a_put(a_key())]):
            with pytest.raises(InvalidInput):
                items.write(owner, writes, NOW)
        assert items.get(owner, [a_key("0"), a_key()]) == {}

    def test_an_item_of_any_size_up_to_the_limit(self, items: Items) -> None:
        owner, key = a_scope(), a_key()
        fits = {"text": "é" * ((MOST_BYTES - len('{"text":""}')) // 2)}
        (written,) = items.write(owner, [a_put(key, dict(fits))], NOW)
        assert written is not None
        assert items.get(owner, [key])[key].value == fits
        with pytest.raises(InvalidInput):
            items.write(owner, [a_put(key, {"text": fits["text"] + "é"}, 1)], NOW)
        assert items.get(owner, [key])[key] == written

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

    def test_hard_names_are_told_apart(self, items: Items) -> None:
        owner = a_scope()
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

    def test_many_are_read_in_one_batch(self, items: Items) -> None:
        owner, keys = a_scope(), [a_key(f"{n}") for n in range(130)]
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

    def test_writers_that_take_any_version_all_count(self, items: Items) -> None:
        owner, key = a_scope(), a_key()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda n: items.write(owner, [a_put(key, {"n": n}, None)], NOW), range(4)))
        assert items.get(owner, [key])[key].version == 4
