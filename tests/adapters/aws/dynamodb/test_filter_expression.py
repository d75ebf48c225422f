"""Filters as DynamoDB's expression: nothing that passes is held back, and what DynamoDB can decide it decides."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.adapters.aws.filter_expression import MAP, expression_of, fields_of
from recollect.adapters.aws.item_format import text
from recollect.adapters.aws.table import ItemAccess, Walk
from recollect.core.filter import (
    MOST_CHOICES,
    MOST_CONDITIONS,
    AllOf,
    Condition,
    Filter,
    Operator,
    conditions_in,
    filter_of,
    holds,
    value_at,
)
from samples.filters import DOCUMENTS, FILTERS

Document = dict[str, Any]
PARTITIONS = itertools.count()


def let_through(access: ItemAccess, documents: Sequence[Document], wanted: Filter) -> list[int]:
    """The numbers of the documents that DynamoDB answers with."""
    partition = f"filters-{next(PARTITIONS)}"
    access.put_many(
        {"pk": text(partition), "sk": text(f"{number:03}")} | ({MAP: fields} if fields else {})
        for number, document in enumerate(documents)
        for fields in [fields_of(document)]
    )
    found, more = access.first(Walk(partition, passing=expression_of(wanted)), len(documents))
    assert not more
    return [int(one["sk"]["S"]) for one in found]


def is_told(wanted: Filter, document: Document) -> bool:
    """Whether the filter asks for no list, no object, no text in either case, and no number beyond DynamoDB's."""
    return not any(
        one.operator is Operator.ICONTAINS or any(map(untold, (value_at(document, one.path), one.value)))
        for one in conditions_in(wanted)
    )


def untold(value: Any) -> bool:
    return isinstance(value, list | dict) or (isinstance(value, int | float) and abs(value) > 10**37)


@pytest.mark.engines
class TestOnDynamoDB:
    @settings(max_examples=40, deadline=None)
    @given(wanted=FILTERS, documents=st.lists(DOCUMENTS, min_size=1, max_size=12))
    def test_what_passes_is_never_held_back_and_what_it_can_tell_is_exact(
        self, local_access: ItemAccess, wanted: Filter, documents: list[Document]
    ) -> None:
        found = let_through(local_access, documents, wanted)
        assert [n for n, one in enumerate(documents) if holds(wanted, one) and n not in found] == []
        told = [n for n in found if is_told(wanted, documents[n])]
        assert told == [n for n in told if holds(wanted, documents[n])]


WIDE = {f"field {n}": n for n in range(100)}


CASES: Sequence[tuple[Document, Document, bool]] = (
    ({"a": 1, "b": {"c": "x"}}, {"a": {"gt": 0}, "b.c": "x"}, True),
    ({"a": 1, "b": {"c": "x"}}, {"b.c": {"in": ["y", None]}}, False),
    ({"a": 1}, {"a": True}, False),
    ({"a": 1}, {"not": {"b": {"gt": 1}}}, True),
    ({"a": 1}, {"a": {"exists": False}}, False),
    ({"a": "long " * 20}, {"a": {"gt": "long"}}, True),
    ({"a": "Été"}, {"a": {"icontains": "éTÉ"}}, True),
    ({"a": ["x"]}, {"a": {"contains": "x"}}, True),
    ({"a": 1}, {"a": {"contains": "x"}}, False),
    ({"a": 1}, {"or": []}, False),
    ({"a": "x"}, {"a": "\ud800"}, False),
    ({"a": "x"}, {"a": {"contains": "\ud800"}}, True),
)


@pytest.mark.engines
def test_of_lists_and_long_texts_it_is_told_only_that_they_are_there(local_access: ItemAccess) -> None:
    """Not on moto, which orders a number beside a text."""
    assert [let_through(local_access, [document], filter_of(wanted)) for document, wanted, _ in CASES] == [
        [0] if passes else [] for *_, passes in CASES
    ]


def test_what_has_many_fields_passes(access: ItemAccess) -> None:
    wide = {f"field {n}": n for n in range(100)}
    assert let_through(access, [wide], filter_of({"field 7": 8})) == [0]


def test_a_filter_that_is_more_than_dynamodb_takes_is_left_to_this_process(access: ItemAccess) -> None:
    one_of = Condition(("a",), Operator.IN, tuple(range(MOST_CHOICES)))
    assert let_through(access, [{"a": -1}], one_of) == []
    assert let_through(access, [{"a": -1}], AllOf((one_of,) * MOST_CONDITIONS)) == [0]


def test_what_an_earlier_release_wrote_passes(access: ItemAccess) -> None:
    access.put_many([{"pk": text("earlier"), "sk": text("0")}])
    found, _ = access.first(Walk("earlier", passing=expression_of(filter_of({"a": 1}))), 9)
    assert len(found) == 1
