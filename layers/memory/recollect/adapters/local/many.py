"""Queries for many values: SQLite takes a bounded number of parameters in one statement, so they go in parts."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

_AT_ONCE = 500


def rows_among(
    connection: sqlite3.Connection, query: str, values: Sequence[Any], *before: Any
) -> Iterator[tuple[Any, ...]]:
    """The rows of a query that ends in `IN ({})`, for all these values; `before` are its parameters ahead of them."""
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        yield from connection.execute(query.format(", ".join("?" * len(some))), (*before, *some))
