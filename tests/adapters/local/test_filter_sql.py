"""Filters as SQL mean what the reference says they mean."""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from recollect.adapters.local.filter_sql import FUNCTION, enable, filter_sql
from recollect.core.filter import Filter, filter_of, holds
from samples.filters import CONDITIONS, DOCUMENTS, FILTERS


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    enable(connection)
    yield connection
    connection.close()


def passes(connection: sqlite3.Connection, wanted: Filter, document: dict[str, Any]) -> bool:
    where = filter_sql(wanted, "document")
    text = json.dumps(document, ensure_ascii=False)
    found = connection.execute(f"SELECT {where.text} FROM (SELECT ? AS document)", (*where.parameters, text)).fetchone()
    assert found[0] in (0, 1)
    return bool(found[0])


@settings(max_examples=500)
@given(wanted=CONDITIONS, document=DOCUMENTS)
def test_each_condition_means_the_same(
    connection: sqlite3.Connection, wanted: Filter, document: dict[str, Any]
) -> None:
    assert passes(connection, wanted, document) is holds(wanted, document)


@settings(max_examples=300)
@given(wanted=FILTERS, document=DOCUMENTS)
def test_connectives_mean_the_same(connection: sqlite3.Connection, wanted: Filter, document: dict[str, Any]) -> None:
    assert passes(connection, wanted, document) is holds(wanted, document)


@pytest.mark.parametrize(
    "wanted",
    [
        {"a": 1},
        {"a": "x"},
        {"a": None},
        {"a": {"ne": True}},
        {"a": {"in": [1, "x"]}},
        {"a": {"gte": "x"}},
        {"a": {"exists": True}},
    ],
)
def test_plain_conditions_are_decided_by_sqlite_itself(wanted: dict[str, Any]) -> None:
    """So that a WHERE is no loop in Python."""

    def refuse(*_: str) -> bool:
        raise AssertionError

    bare = sqlite3.connect(":memory:")
    bare.create_function(FUNCTION, 4, refuse)
    assert passes(bare, filter_of(wanted), {"a": 1}) is holds(filter_of(wanted), {"a": 1})
    bare.close()
