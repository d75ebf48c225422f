"""A tenant's user as a number, and the counters that the index keeps for the user."""

import sqlite3
from dataclasses import dataclass

from recollect.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class User:
    """A row of `scopes`. `documents` and `terms` count what can be found by words; `revision` is the index's."""

    number: int
    documents: int
    terms: int
    revision: int


def find_user(connection: sqlite3.Connection, scope: Scope) -> User | None:
    """The user of this scope; None where nothing was ever written for them."""
    row = connection.execute(
        "SELECT id, documents, terms, revision FROM scopes WHERE tenant = ? AND user_id = ?",
        (scope.tenant, scope.user_id),
    ).fetchone()
    return User(*row) if row else None


def user_number(connection: sqlite3.Connection, scope: Scope) -> int:
    """The user's number; -1, which no row has, where nothing was ever written for them."""
    user = find_user(connection, scope)
    return user.number if user else -1


def enter_user(connection: sqlite3.Connection, scope: Scope) -> User:
    """The user of this scope, listed now if they were not. Inside a write transaction."""
    user = find_user(connection, scope)
    if user is not None:
        return user
    cursor = connection.execute("INSERT INTO scopes (tenant, user_id) VALUES (?, ?)", (scope.tenant, scope.user_id))
    return User(int(cursor.lastrowid or 0), 0, 0, 0)
