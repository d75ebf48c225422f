"""The grammar of filters: what each operator means, how JSON is read, and what is refused."""

from typing import Any

import pytest

from recollect.core.errors import InvalidInput
from recollect.core.filter import (
    EVERYTHING,
    MOST_CHOICES,
    MOST_CONDITIONS,
    MOST_DEPTH,
    AllOf,
    AnyOf,
    Condition,
    Not,
    Operator,
    filter_of,
    holds,
)

DOCUMENT: dict[str, Any] = {
    "n": 3,
    "x": 2.5,
    "s": "Straße",
    "day": "2026-03-01",
    "yes": True,
    "nothing": None,
    "tags": ["draft", 1, {"a": 1}],
    "owner": {"name": "Anna", "age": 40, "né": {"à": 1}},
    "and-so": "on",
}


@pytest.mark.parametrize(
    ("wanted", "passes"),
    [
        ({}, True),
        ({"n": 3}, True),
        ({"n": 3.0}, True),
        ({"n": "3"}, False),
        ({"yes": True}, True),
        ({"yes": 1}, False),
        ({"n": {"eq": 3, "gt": 2}}, True),
        ({"n": {"gt": 3}}, False),
        ({"n": {"gte": 3}}, True),
        ({"n": {"lt": 10**100}}, True),
        ({"x": {"lte": 2.5}}, True),
        ({"x": {"lt": 2.5}}, False),
        ({"n": {"gt": "1"}}, False),
        ({"yes": {"gte": 0}}, False),
        ({"nothing": {"lte": 0}}, False),
        ({"day": {"gte": "2026-02-28", "lt": "2026-04"}}, True),
        ({"nothing": None}, True),
        ({"gone": None}, False),
        ({"gone": {"ne": 1}}, True),
        ({"n": {"ne": 3}}, False),
        ({"nothing": {"exists": True}}, True),
        ({"gone": {"exists": False}}, True),
        ({"n": {"exists": False}}, False),
        ({"n": {"in": [1, 3]}}, True),
        ({"n": {"in": []}}, False),
        ({"tags": {"in": [["draft", 1, {"a": 1}]]}}, True),
        ({"tags": ["draft", 1, {"a": 1}]}, True),
        ({"tags": ["draft", True, {"a": 1}]}, False),
        ({"tags": {"contains": "draft"}}, True),
        ({"tags": {"contains": "dra"}}, False),
        ({"tags": {"contains": {"a": 1}}}, True),
        ({"tags": {"icontains": "DRAFT"}}, True),
        ({"s": {"contains": "raß"}}, True),
        ({"s": {"contains": "RASS"}}, False),
        ({"s": {"icontains": "RASS"}}, True),
        ({"n": {"contains": 3}}, False),
        ({"owner": {"eq": {"age": 40, "name": "Anna", "né": {"à": 1}}}}, True),
        ({"owner.name": "Anna", "owner.né.à": {"lt": 2}}, True),
        ({"tags.0": "draft"}, False),
        ({"n.x": 1}, False),
        ({"and-so": "on"}, True),
        ({"or": [{"n": 4}, {"s": "Straße"}]}, True),
        ({"or": []}, False),
        ({"and": []}, True),
        ({"and": [{"n": 3}, {"x": 2}]}, False),
        ({"not": {"n": 3, "x": 2.5}}, False),
        ({"not": {"n": {"gt": 5}}}, True),
    ],
)
def test_what_passes(wanted: dict[str, Any], passes: bool) -> None:
    assert holds(filter_of(wanted), DOCUMENT) is passes


def test_the_tree_of_a_filter() -> None:
    read = filter_of({"a.b": {"gte": 1, "lt": 9}, "or": [{"c": 1}, {"not": {"d": {"exists": True}}}]})
    assert read == AllOf(
        (
            Condition(("a", "b"), Operator.GTE, 1),
            Condition(("a", "b"), Operator.LT, 9),
            AnyOf((Condition(("c",), Operator.EQ, 1), Not(Condition(("d",), Operator.EXISTS, True)))),
        )
    )
    assert filter_of({}) == EVERYTHING


def deep(levels: int) -> dict[str, Any]:
    return {"n": 1} if levels == 0 else {"not": deep(levels - 1)}


@pytest.mark.parametrize(
    ("wanted", "loc"),
    [
        ([], ()),
        ({"": 1}, ("",)),
        ({"a..b": 1}, ("a..b",)),
        ({"a') OR '1'='1": 1}, ("a') OR '1'='1",)),
        ({"$where": 1}, ("$where",)),
        ({"a[0]": 1}, ("a[0]",)),
        ({"a\n": 1}, ("a\n",)),
        ({"n": {"like": 1}}, ("n", "like")),
        ({"or": {"n": 1}}, ("or",)),
        ({"or": [{"n": 1}, 2]}, ("or", 1)),
        ({"n": {"exists": 1}}, ("n", "exists")),
        ({"n": {"in": 1}}, ("n", "in")),
        ({"n": {"in": [1] * (MOST_CHOICES + 1)}}, ("n", "in")),
        ({"n": {"icontains": 1}}, ("n", "icontains")),
        (deep(MOST_DEPTH + 1), ("not",) * (MOST_DEPTH + 1)),
        ({f"n{n}": n for n in range(MOST_CONDITIONS + 1)}, ()),
    ],
)
def test_what_is_refused_and_where(wanted: Any, loc: tuple[object, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        filter_of(wanted)
    assert refused.value.loc == loc


def test_the_largest_filters_are_read() -> None:
    assert holds(filter_of(deep(MOST_DEPTH)), {"n": 1}) is (MOST_DEPTH % 2 == 0)
    assert holds(filter_of({f"n{n}": {"ne": n} for n in range(MOST_CONDITIONS)}), {})
