"""The columns in memory: read in parts, of one user among others, again after a read that broke off; their sum."""

import sqlite3
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from recollect.adapters.local import columns as columns_module
from recollect.adapters.local.columns import Columns, ColumnsCache
from recollect.adapters.local.database import Database
from recollect.adapters.local.rows import User, find_user
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.contracts.examples import a_document, a_random_vector, a_request, a_scope, some_events
from recollect.core.event import Event
from recollect.core.scope import Scope

GENERATION = "test.1"


@pytest.fixture(autouse=True)
def in_parts_of_seven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "_AT_ONCE", 7)


class _BreaksOff:
    """A connection whose reads of documents fail from the third on."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._left = 2

    def execute(self, query: str, parameters: Sequence[object] = ()) -> Any:
        if "document_vectors" in query:
            self._left -= 1
            if self._left < 0:
                raise sqlite3.OperationalError("interrupted")
        return self._connection.execute(query, parameters)


def put(index: SqliteSearchIndex, scope: Scope, events: Sequence[Event], first: int = 0) -> None:
    """With a vector for each that tells it from the others."""
    index.put([a_document(scope, event, a_random_vector(first + n)) for n, event in enumerate(events)])


def the_user(connection: sqlite3.Connection, scope: Scope) -> User:
    user = find_user(connection, scope)
    assert user is not None
    return user


def shown(index: SqliteSearchIndex, scope: Scope, number: int) -> dict[str, Any]:
    found = index.nominate(scope, a_request(vector=a_random_vector(number), limit=200))
    return {hit.ref.id: hit.vector for hit in found.hits}


def test_a_user_between_others_is_read_in_parts(sqlite_index: SqliteSearchIndex) -> None:
    scopes = [a_scope(), a_scope()]
    events = [some_events(scope, 40) for scope in scopes]
    for start in range(0, 40, 5):
        for scope, own in zip(scopes, events, strict=True):
            put(sqlite_index, scope, own[start : start + 5], start)
    for scope, own in zip(scopes, events, strict=True):
        found = shown(sqlite_index, scope, 3)
        assert set(found) == {event.id for event in own}
        for number, event in enumerate(own):
            assert np.allclose(found[event.id], a_random_vector(number), atol=1e-3)


def test_what_changed_is_read_again_and_the_rest_is_not(sqlite_index: SqliteSearchIndex, database: Database) -> None:
    scope = a_scope()
    events = some_events(scope, 30)
    put(sqlite_index, scope, events)
    columns = Columns()
    with database.reading() as connection:
        user = the_user(connection, scope)
        columns.refresh(connection, user.number, user.revision, GENERATION)
    put(sqlite_index, scope, events[10:12], 90)
    sqlite_index.remove(scope, [events[20].id])
    with database.reading() as connection:
        user, read = the_user(connection, scope), list[str]()
        connection.set_trace_callback(read.append)
        columns.refresh(connection, user.number, user.revision, GENERATION)
        connection.set_trace_callback(None)
    assert sum("document_vectors" in query for query in read) == 1
    assert (len(columns), int(columns["alive"].sum())) == (30, 29)
    for number, place in ((90, 10), (91, 11), (12, 12)):
        assert np.allclose(columns.vectors[place], a_random_vector(number), atol=1e-3)


def test_a_read_that_broke_off_is_made_again(sqlite_index: SqliteSearchIndex, database: Database, scope: Scope) -> None:
    events = some_events(scope, 30)
    put(sqlite_index, scope, events)
    cache = ColumnsCache(GENERATION, 50_000_000)
    with database.reading() as connection:
        user = the_user(connection, scope)
        with pytest.raises(sqlite3.OperationalError), cache.columns(cast(Any, _BreaksOff(connection)), user):
            pass
        with cache.columns(connection, user) as columns:
            assert (len(columns), int(columns["alive"].sum())) == (30, 30)
            vectors = columns.vectors.copy()
            again = Columns()
            again.refresh(connection, user.number, user.revision, GENERATION)
    assert np.array_equal(vectors, again.vectors)


def test_the_sum_stays_that_of_who_is_in_memory(database: Database) -> None:
    index = SqliteSearchIndex(database, GENERATION, len(a_random_vector(0)), budget_bytes=50_000)
    scopes = [a_scope() for _ in range(12)]
    for times in (1, 2):
        for number, scope in enumerate(scopes):
            put(index, scope, some_events(scope, 20 * times + number))
            assert shown(index, scope, number)
            assert index._cache is not None
            held = index._cache._entries.values()
            assert index._cache.size_bytes == sum(entry.columns.size_bytes for entry in held) <= 50_000
    assert index._cache is not None
    assert 1 < len(index._cache._entries) < 12
