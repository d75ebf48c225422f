"""Labels, owners, LangGraph's filters, listings: the rules of items."""

from typing import Any

import pytest

from recollect.core.errors import InvalidInput
from recollect.core.filter import filter_of, holds
from recollect.items.item import ItemPlace, Namespace, NamespaceListing, check_labels, check_new_namespace, check_place
from recollect.items.langgraph_filter import langgraph_filter
from recollect.items.owners import owner_of, owner_patterns


@pytest.mark.parametrize(
    "labels", [("",), ("a.b",), ("a\x00",), ("a", ""), ("\ud800",), ("a",) * 17, ("a" * 600, "b" * 600)]
)
def test_bad_labels_are_refused(labels: Namespace) -> None:
    with pytest.raises(InvalidInput):
        check_labels(labels, "namespace")


@pytest.mark.parametrize(
    "place", [ItemPlace((), "k"), ItemPlace(("a",), ""), ItemPlace(("a",), "x" * 1025), ItemPlace(("a",), "\x00")]
)
def test_bad_places_are_refused(place: ItemPlace) -> None:
    with pytest.raises(InvalidInput):
        check_place(place)


def test_langgraphs_own_label_is_reserved_in_the_first_place_alone() -> None:
    check_new_namespace(("a", "langgraph"))
    with pytest.raises(InvalidInput):
        check_new_namespace(("langgraph", "a"))


@pytest.mark.parametrize(
    ("namespace", "owner"),
    [
        (("users", "anna"), "anna"),
        (("users", "anna", "notes"), "anna"),
        (("teams", "ben", "notes"), "ben"),
        (("teams", "ben"), None),
        (("users",), None),
        (("users", "x" * 129), None),
    ],
)
def test_a_label_names_the_owner(namespace: Namespace, owner: str | None) -> None:
    assert owner_of(namespace, owner_patterns("users.{user_id}, *.{user_id}.notes")) == owner


@pytest.mark.parametrize("text", ["users", "{user_id}.{user_id}", "users..{user_id}"])
def test_a_pattern_names_one_owner(text: str) -> None:
    with pytest.raises(ValueError, match="each with"):
        owner_patterns(text)


@pytest.mark.parametrize(
    ("filter_", "ours"),
    [
        ({"a": 1}, {"a": 1}),
        ({"a": {"$gt": 1, "$lte": 3}}, {"a": {"gt": 1, "lte": 3}}),
        ({"a": {"b": {"$ne": 2}}}, {"a.b": {"ne": 2}}),
        ({"a.b": "x", "c": True}, {"a.b": "x", "c": True}),
        ({"a": None}, {"or": [{"a": None}, {"a": {"exists": False}}]}),
        ({"$or": [{"a": 1}, {"b": {"$in": [1, 2]}}]}, {"or": [{"a": 1}, {"b": {"in": [1, 2]}}]}),
        ({"$not": {"a": {"$contains": "x"}}}, {"not": {"a": {"contains": "x"}}}),
        ({"tags": ["draft"]}, {"tags": ["draft"]}),
    ],
)
def test_langgraphs_filters_mean_the_same_in_ours(filter_: dict[str, Any], ours: dict[str, Any]) -> None:
    values: list[Any] = [None, True, False, 1, 2, 3, "x", "xy", ["draft"], {"b": 2}, {"b": "x"}]
    documents: list[dict[str, Any]] = [{}] + [{name: one} for name in ("a", "b", "c", "tags") for one in values]
    documents += [{"a": {"b": "x"}, "c": True}, {"a": {"b": 2}}]
    for document in documents:
        assert holds(langgraph_filter(filter_), document) is holds(filter_of(ours), document), document


@pytest.mark.parametrize(
    "filter_", [{"a": {"$like": 1}}, {"$gt": 1}, {"a'": 1}, {"$or": {"a": 1}}, {"a": {"b": {"$x": 1}}}]
)
def test_what_langgraph_does_not_know_is_refused(filter_: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        langgraph_filter(filter_)


NAMESPACES = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "c", "f"), ("b", "a", "f"), ("x",)]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (NamespaceListing(), sorted(NAMESPACES)),
        (NamespaceListing(prefix=("a", "b")), NAMESPACES[:3]),
        (NamespaceListing(suffix=("f",)), [("a", "c", "f"), ("b", "a", "f")]),
        (NamespaceListing(prefix=("*", "*", "f")), [("a", "c", "f"), ("b", "a", "f")]),
        (NamespaceListing(suffix=("*", "e")), [("a", "b", "d", "e")]),
        (NamespaceListing(prefix=("a",), suffix=("f",)), [("a", "c", "f")]),
        (NamespaceListing(max_depth=2), [("a", "b"), ("a", "c"), ("b", "a"), ("x",)]),
        (NamespaceListing(max_depth=2, limit=2, offset=1), [("a", "c"), ("b", "a")]),
        (NamespaceListing(limit=0), []),
    ],
)
def test_namespaces_are_matched_cut_and_paged(wanted: NamespaceListing, found: list[Namespace]) -> None:
    assert wanted.of(NAMESPACES[::-1]) == found


def test_the_fixed_prefix_ends_at_the_first_label_that_may_be_any() -> None:
    assert NamespaceListing(prefix=("a", "*", "b")).fixed_prefix == ("a",)
    assert NamespaceListing(prefix=("a", "b")).fixed_prefix == ("a", "b")
