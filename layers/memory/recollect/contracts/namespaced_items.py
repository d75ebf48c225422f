"""The contract of `NamespacedItems`. A subclass gives `namespaced_items` and, for the erasure, `eraser`."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from recollect.contracts.examples import NOW, a_scope
from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.filter import Condition, Not, Operator
from recollect.core.ids import IdSource
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, pack_vector
from recollect.deletion.storage import Exempt
from recollect.items.item import (
    ABSENT,
    MOST_BYTES,
    MOST_VECTOR_BYTES,
    FoundItem,
    ItemListing,
    ItemPlace,
    ItemPut,
    ItemSearch,
    ItemVectors,
    Namespace,
    NamespacedItem,
)
from recollect.ports import Eraser, NamespacedItems

_IDS = IdSource()
SECOND = timedelta(seconds=1)
LATER = NOW + SECOND
NOTES = ("users", "anna", "notes")
PLACE = ItemPlace(NOTES, "1")
DOCUMENT = {
    "text": "I live in Paris. 我住在巴黎 🙂\u202e\u0000\n",
    "é": {"deep": [1, -2.5, None, True, {"": []}]},
    "n": 2**53,
}
HARD_NAMES = (
    "a#b", "a", "#", "a/b", "%", "~", "~YQ", "~2", "a|b", "a b", " ", "*", "?", "[", "'", '"', "\\", "é", "e\u0301",
    "देवनागरी", "🙂", "A", "\n", "x" * 600, "\U00020000" * 200, "#l", "l", "k", "#k1",
)  # fmt: skip


def a_tenant() -> Scope:
    """A tenant that nothing else uses."""
    return of_tenant(a_scope().tenant)


def a_put(place: ItemPlace = PLACE, value: Any = None, **more: Any) -> ItemPut:
    """The write of a document, of a new revision."""
    return ItemPut(place=place, value={"n": 1} if value is None else value, revision=_IDS.fresh(), **more)


def places_of(found: Sequence[FoundItem]) -> list[ItemPlace]:
    """Where the results are, in order."""
    return [one.item.place for one in found]


def vector(*numbers: float) -> FloatArray:
    """A vector of these numbers."""
    return np.asarray(numbers, dtype=np.float32)


def vectors(*given: FloatArray, space: str = "test.1") -> ItemVectors:
    """The vectors of an item, packed."""
    return ItemVectors(space, tuple(map(pack_vector, given)))


class _OwnTenant:
    @pytest.fixture
    def tenant(self) -> Scope:
        return a_tenant()


class ItemsReadAndWrittenContract(_OwnTenant):
    """Single items: exactness, versions, lifetimes, names."""

    def test_what_was_put_is_read_exactly(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        put = a_put(value=DOCUMENT, index=("text", "é.deep[*]"), owner="anna", ttl=SECOND)
        (written,) = namespaced_items.write(tenant, [put], NOW)
        expected = NamespacedItem(
            place=PLACE,
            value=DOCUMENT,
            version=1,
            revision=put.revision,
            created_at=NOW,
            updated_at=NOW,
            index=("text", "é.deep[*]"),
            owner="anna",
            ttl=SECOND,
            expires_at=LATER,
        )
        assert written == expected
        assert namespaced_items.read(tenant, [PLACE, ItemPlace(NOTES, "2")], NOW) == {PLACE: expected}
        assert list(written.value) == list(DOCUMENT)

    def test_a_put_replaces_the_whole_and_keeps_when_it_began(
        self, namespaced_items: NamespacedItems, tenant: Scope
    ) -> None:
        namespaced_items.write(tenant, [a_put(value={"a": 1, "b": 2}, ttl=SECOND * 60)], NOW)
        (written,) = namespaced_items.write(tenant, [a_put(value={"c": 3})], LATER)
        assert written is not None
        assert (written.value, written.version, written.created_at, written.updated_at) == ({"c": 3}, 2, NOW, LATER)
        assert (written.ttl, written.expires_at) == (None, None)
        assert namespaced_items.read(tenant, [PLACE], LATER + SECOND * 90) == {PLACE: written}

    def test_a_deletion_deletes_and_a_new_item_begins_anew(
        self, namespaced_items: NamespacedItems, tenant: Scope
    ) -> None:
        namespaced_items.write(tenant, [a_put()], NOW)
        deletion = ItemPut(place=PLACE, value=None)
        assert namespaced_items.write(tenant, [deletion], NOW) == [None]
        assert namespaced_items.write(tenant, [deletion], NOW) == [None]
        assert namespaced_items.read(tenant, [PLACE], NOW) == {}
        (again,) = namespaced_items.write(tenant, [a_put()], LATER)
        assert again is not None
        assert (again.version, again.created_at) == (1, LATER)

    @pytest.mark.parametrize("value", [{"new": 1}, None])
    @pytest.mark.parametrize("expected", [ABSENT, 1, 3])
    def test_another_version_is_refused(
        self, namespaced_items: NamespacedItems, tenant: Scope, value: Any, expected: int
    ) -> None:
        for _ in range(2):
            namespaced_items.write(tenant, [a_put()], NOW)
        with pytest.raises(VersionMismatch):
            namespaced_items.write(tenant, [ItemPut(place=PLACE, value=value, expected=expected)], NOW)
        assert namespaced_items.read(tenant, [PLACE], NOW)[PLACE].version == 2

    def test_the_expected_version_passes(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        for expected in (ABSENT, 1, 2):
            namespaced_items.write(tenant, [a_put(expected=expected)], NOW)
        assert namespaced_items.write(tenant, [ItemPut(place=PLACE, value=None, expected=3)], NOW) == [None]

    def test_what_ended_is_gone_at_once_and_its_place_is_free(
        self, namespaced_items: NamespacedItems, tenant: Scope
    ) -> None:
        namespaced_items.write(tenant, [a_put(ttl=SECOND)], NOW)
        assert namespaced_items.read(tenant, [PLACE], NOW)[PLACE].expires_at == LATER
        assert namespaced_items.read(tenant, [PLACE], LATER) == {}
        assert namespaced_items.search(tenant, ItemSearch(), LATER) == []
        assert namespaced_items.namespaces(tenant, (), None, LATER) == []
        (again,) = namespaced_items.write(tenant, [a_put(expected=ABSENT)], LATER)
        assert again is not None
        assert (again.version, again.created_at) == (1, LATER)

    def test_a_lifetime_begins_anew_unless_the_item_was_written_since(
        self, namespaced_items: NamespacedItems, tenant: Scope
    ) -> None:
        (item,) = namespaced_items.write(tenant, [a_put(ttl=SECOND * 10, owner="anna")], NOW)
        assert item is not None
        namespaced_items.refresh(tenant, [replace(item, expires_at=NOW + SECOND * 15)])
        assert namespaced_items.read(tenant, [PLACE], NOW + SECOND * 14)[PLACE].version == 1
        assert namespaced_items.read(tenant, [PLACE], NOW + SECOND * 15) == {}
        namespaced_items.write(tenant, [a_put(ttl=SECOND * 2)], NOW)
        namespaced_items.refresh(tenant, [replace(item, expires_at=NOW + SECOND * 60)])
        assert namespaced_items.read(tenant, [PLACE], NOW + SECOND * 2) == {}
        namespaced_items.write(tenant, [ItemPut(place=PLACE, value=None)], NOW)
        namespaced_items.write(tenant, [a_put(ttl=SECOND * 2)], NOW)  # another item of the same version
        namespaced_items.refresh(tenant, [replace(item, expires_at=NOW + SECOND * 60)])
        assert namespaced_items.read(tenant, [PLACE], NOW + SECOND * 2) == {}

    def test_tenants_share_nothing(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        other = a_tenant()
        namespaced_items.write(tenant, [a_put(owner="anna", vectors=vectors(vector(1, 0)))], NOW)
        assert namespaced_items.read(other, [PLACE], NOW) == {}
        wanted = ItemSearch(vector=vector(1, 0), space="test.1")
        assert namespaced_items.search(other, wanted, NOW) == []
        assert namespaced_items.namespaces(other, (), None, NOW) == []
        namespaced_items.write(other, [ItemPut(place=PLACE, value=None)], NOW)
        assert namespaced_items.owned(Scope(other.tenant, "anna"), 9, None).items == ()
        assert PLACE in namespaced_items.read(tenant, [PLACE], NOW)

    def test_hard_names_are_each_their_own(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        places = [ItemPlace((label,), key) for label in HARD_NAMES for key in ("1", label)]
        places += [ItemPlace(("a", label, "b"), "1") for label in HARD_NAMES]
        for start in range(0, len(places), 40):
            puts = [a_put(place, {"at": [*place.namespace, place.key]}) for place in places[start : start + 40]]
            namespaced_items.write(tenant, puts, NOW)
        read = namespaced_items.read(tenant, places, NOW)
        assert {place: item.value["at"] for place, item in read.items()} == {
            place: [*place.namespace, place.key] for place in places
        }
        for label in HARD_NAMES:
            found = places_of(namespaced_items.search(tenant, ItemSearch(prefix=(label,), limit=99), NOW))
            assert set(found) == {place for place in places if place.namespace[:1] == (label,)}
        namespaces = namespaced_items.namespaces(tenant, (), None, NOW)
        assert sorted(namespaces) == sorted({place.namespace for place in places})

    def test_the_deepest_namespace_and_the_longest_names_fit(
        self, namespaced_items: NamespacedItems, tenant: Scope
    ) -> None:
        label = "\U00020000" * 64
        place = ItemPlace((label,) * 16, "\U00020000" * 1024)
        namespaced_items.write(tenant, [a_put(place)], NOW)
        for depth in range(17):
            assert places_of(namespaced_items.search(tenant, ItemSearch(prefix=(label,) * depth), NOW)) == [place]

    def test_what_is_too_large_is_refused_and_the_largest_fits(
        self, namespaced_items: NamespacedItems, tenant: Scope
    ) -> None:
        rng = np.random.default_rng(1)
        text = "".join(map(chr, rng.integers(33, 127, MOST_BYTES - 1000)))
        largest = {"text": text.replace('"', "x").replace("\\", "x")}
        many = ItemVectors("test.1", tuple(rng.bytes(768) for _ in range(MOST_VECTOR_BYTES // 768)))
        namespaced_items.write(tenant, [a_put(value=largest, vectors=many)], NOW)
        assert namespaced_items.read(tenant, [PLACE], NOW)[PLACE].value == largest
        too_many = ItemVectors("test.1", (*many.packed, b"\x00" * 2000))
        for bad in (a_put(value={"text": "x" * MOST_BYTES}), a_put(vectors=too_many), a_put(value={"x": float("nan")})):
            with pytest.raises(InvalidInput):
                namespaced_items.write(tenant, [a_put(ItemPlace(NOTES, "2")), bad], NOW)
        assert namespaced_items.read(tenant, [ItemPlace(NOTES, "2")], NOW) == {}


class ItemsSearchedContract(_OwnTenant):
    """Searches and listings of namespaces."""

    def test_a_prefix_ends_where_a_label_ends(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        namespaces: list[Namespace] = [("foo",), ("foo", "child"), ("foo", "child", "deep"), ("foobar",), ("Foo",)]
        namespaced_items.write(tenant, [a_put(ItemPlace(one, "k")) for one in namespaces], NOW)
        for prefix in ((), ("foo",), ("foo", "child"), ("foobar",), ("Foo",), ("fo",), ("foo", "c")):
            found = namespaced_items.search(tenant, ItemSearch(prefix=prefix), NOW)
            wanted = {one for one in namespaces if one[: len(prefix)] == prefix}
            assert {place.namespace for place in places_of(found)} == wanted
            exact = namespaced_items.search(tenant, ItemSearch(prefix=prefix, exact=True), NOW)
            assert {place.namespace for place in places_of(exact)} == wanted & {prefix}
            assert set(namespaced_items.namespaces(tenant, prefix, None, NOW)) == wanted

    def test_the_last_written_come_first_in_pages(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        places = [ItemPlace(("a", f"{n % 2}"), f"{n}") for n in range(7)]
        for n, place in enumerate(places):
            namespaced_items.write(tenant, [a_put(place)], NOW + SECOND * (n // 2))
        namespaced_items.write(tenant, [a_put(places[0])], NOW + SECOND * 9)
        in_order = [places[n] for n in (0, 6, 4, 5, 2, 3, 1)]
        for limit in (1, 3, 9):
            pages = [
                places_of(namespaced_items.search(tenant, ItemSearch(limit=limit, offset=offset), NOW))
                for offset in range(0, 9, limit)
            ]
            assert [place for page in pages for place in page] == in_order

    def test_a_filter_and_an_owner_narrow(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        for n in range(6):
            put = a_put(ItemPlace(NOTES, f"{n}"), {"n": n}, owner=("anna", "ben", None)[n % 3])
            namespaced_items.write(tenant, [put], NOW + SECOND * n)
        large = Condition(("n",), Operator.GT, 1)
        found = namespaced_items.search(tenant, ItemSearch(filter=large, limit=2, offset=1), NOW)
        assert [one.item.value["n"] for one in found] == [4, 3]
        found = namespaced_items.search(tenant, ItemSearch(filter=Not(large), owner="ben"), NOW)
        assert [one.item.value["n"] for one in found] == [1]
        assert namespaced_items.namespaces(tenant, (), "nobody", NOW) == []
        assert namespaced_items.namespaces(tenant, (), "anna", NOW) == [NOTES]

    def test_the_best_vector_of_an_item_counts(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        given = {
            "both": vectors(vector(0, 1), vector(1, 0)),
            "near": vectors(vector(0.8, 0.6)),
            "none": None,
            "far": vectors(vector(-1, 0)),
            "other": vectors(vector(1, 0), space="test.2"),
            "longer": vectors(vector(1, 0, 0)),
        }
        for n, (key, own) in enumerate(given.items()):
            namespaced_items.write(tenant, [a_put(ItemPlace(NOTES, key), vectors=own)], NOW + SECOND * n)
        wanted = ItemSearch(vector=vector(2, 0), space="test.1")
        found = namespaced_items.search(tenant, wanted, NOW)
        assert [one.item.place.key for one in found] == ["both", "near", "far", "longer", "other", "none"]
        scores = [one.score for one in found]
        assert scores[:3] == pytest.approx([1.0, 0.8, -1.0], abs=1e-3)
        assert scores[3:] == [None, None, None]
        page = namespaced_items.search(tenant, replace(wanted, limit=2, offset=2), NOW)
        assert [one.item.place.key for one in page] == ["far", "longer"]

    def test_a_put_replaces_the_vectors_too(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        wanted = ItemSearch(vector=vector(1, 0), space="test.1")
        for own, score in ((vectors(vector(1, 0)), 1.0), (vectors(vector(0, 1)), 0.0), (None, None)):
            namespaced_items.write(tenant, [a_put(vectors=own)], NOW)
            (found,) = namespaced_items.search(tenant, wanted, NOW)
            assert found.score == (None if score is None else pytest.approx(score, abs=1e-3))

    def test_many_namespaces_and_many_items_are_listed(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        places = [ItemPlace(("a", f"{n % 130:03d}"), f"{n}") for n in range(260)]
        places += [ItemPlace(("a", "050", "deep"), f"{n}") for n in range(150)]
        for start in range(0, len(places), 100):
            namespaced_items.write(tenant, [a_put(place) for place in places[start : start + 100]], NOW)
        assert sorted(namespaced_items.namespaces(tenant, ("a",), None, NOW)) == sorted(
            {place.namespace for place in places}
        )
        assert len(namespaced_items.search(tenant, ItemSearch(limit=1000), NOW)) == len(places)


class ItemsListedContract(_OwnTenant):
    """One namespace, by keys."""

    @pytest.mark.parametrize("descending", [False, True])
    def test_pages_of_a_namespace_are_in_the_order_of_keys(
        self, namespaced_items: NamespacedItems, tenant: Scope, descending: bool
    ) -> None:
        names = sorted(["0", "0-1", "00", "1", "9", "A", "a", "a.b", "b_"])
        puts = [a_put(ItemPlace(NOTES, name)) for name in names]
        elsewhere = [a_put(ItemPlace(place, "5")) for place in ((*NOTES, "k"), (*NOTES, "a"), NOTES[:2], ("users",))]
        namespaced_items.write(tenant, [*puts, *elsewhere], NOW)
        wanted = ItemListing(namespace=NOTES, limit=3, descending=descending)
        found: list[str] = []
        while True:
            page = namespaced_items.page(tenant, wanted, NOW)
            found += [item.place.key for item in page.items]
            assert len(page.items) <= wanted.limit
            if page.more is None:
                break
            wanted = replace(wanted, after=page.more)
        assert found == (names[::-1] if descending else names)

    def test_a_listing_goes_on_where_the_last_item_is_gone(
        self, namespaced_items: NamespacedItems, tenant: Scope
    ) -> None:
        places = [ItemPlace(NOTES, name) for name in "abcd"]
        namespaced_items.write(tenant, [a_put(places[0]), *(a_put(one, ttl=SECOND) for one in places[1:])], NOW)
        namespaced_items.write(tenant, [ItemPut(place=places[1], value=None)], NOW)
        after = ItemListing(namespace=NOTES, limit=2, after="b")
        assert [item.place.key for item in namespaced_items.page(tenant, after, NOW).items] == ["c", "d"]
        assert namespaced_items.page(tenant, after, LATER).items == ()
        assert namespaced_items.page(a_tenant(), after, NOW).items == ()


class ItemsOwnedContract(_OwnTenant):
    """What an erasure and an export reach."""

    def test_a_users_items_are_listed_in_pages(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        owner = Scope(tenant.tenant, "anna")
        places = [ItemPlace((f"{n % 3}",), f"{n}") for n in range(7)]
        namespaced_items.write(tenant, [a_put(place, owner="anna") for place in places], NOW)
        namespaced_items.write(tenant, [a_put(ItemPlace(NOTES, "x"), owner="ben"), a_put(ItemPlace(NOTES, "y"))], NOW)
        found: list[ItemPlace] = []
        after = None
        while True:
            page = namespaced_items.owned(owner, 3, after)
            found += [item.place for item in page.items]
            after = page.more
            if after is None:
                break
        assert len(found) == len(places)
        assert set(found) == set(places)

    @pytest.mark.parametrize("owner", ["ben", None])
    def test_an_item_has_its_last_owner(
        self, namespaced_items: NamespacedItems, tenant: Scope, owner: str | None
    ) -> None:
        namespaced_items.write(tenant, [a_put(owner="anna")], NOW)
        namespaced_items.write(tenant, [a_put(owner=owner)], NOW)
        assert namespaced_items.owned(Scope(tenant.tenant, "anna"), 9, None).items == ()
        assert len(namespaced_items.owned(Scope(tenant.tenant, "ben"), 9, None).items) == (owner == "ben")

    def test_an_item_of_another_is_left_alone(self, namespaced_items: NamespacedItems, tenant: Scope) -> None:
        namespaced_items.write(tenant, [a_put(owner="anna")], NOW)
        for value in ({"n": 2}, None):
            with pytest.raises(VersionMismatch):
                namespaced_items.write(tenant, [ItemPut(place=PLACE, value=value, owner="ben", only_of="ben")], NOW)
        namespaced_items.write(tenant, [a_put(owner="anna", only_of="anna")], NOW)

    @pytest.mark.parametrize("limit", [1, 100])
    def test_an_erasure_reaches_a_users_items_and_no_others(
        self, namespaced_items: NamespacedItems, eraser: Eraser, tenant: Scope, limit: int
    ) -> None:
        anna = Scope(tenant.tenant, "anna")
        own = [ItemPlace(("shared",), f"{n}") for n in range(3)]
        namespaced_items.write(
            tenant, [a_put(place, owner="anna", vectors=vectors(vector(1, 0))) for place in own], NOW
        )
        others = [a_put(ItemPlace(("shared",), "ben"), owner="ben"), a_put(ItemPlace(("anna",), "nobody"))]
        namespaced_items.write(tenant, others, NOW)
        assert eraser.left(anna, Exempt()) == 3
        counts, after = 0, None
        while True:
            page = eraser.erase(anna, Exempt(), limit, after)
            counts += page.counts.get("namespaced_items", 0)
            after = page.more
            if after is None:
                break
        assert counts == 3
        assert eraser.left(anna, Exempt()) == 0
        assert set(places_of(namespaced_items.search(tenant, ItemSearch(), NOW))) == {one.place for one in others}

    def test_what_was_put_after_an_erasure_stays(
        self, namespaced_items: NamespacedItems, eraser: Eraser, tenant: Scope
    ) -> None:
        anna = Scope(tenant.tenant, "anna")
        namespaced_items.write(tenant, [a_put(owner="anna")], NOW)
        before = _IDS.fresh()
        namespaced_items.write(tenant, [a_put(ItemPlace(NOTES, "2"), owner="anna")], NOW)
        exempt = Exempt(before=before)
        assert eraser.left(anna, exempt) == 1
        after = None
        while True:
            after = eraser.erase(anna, exempt, 100, after).more
            if after is None:
                break
        assert places_of(namespaced_items.search(tenant, ItemSearch(), NOW)) == [ItemPlace(NOTES, "2")]


class NamespacedItemsContract(
    ItemsReadAndWrittenContract, ItemsSearchedContract, ItemsListedContract, ItemsOwnedContract
):
    """All of it."""
