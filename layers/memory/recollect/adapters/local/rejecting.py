"""Rejected values as an append compares them, changed in one transaction with the items that tell of it."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from recollect.adapters.local.items import write_items
from recollect.adapters.local.users import enter_user
from recollect.domain.items import ItemWrite, checked
from recollect.domain.scope import Scope

_REJECT = "INSERT OR IGNORE INTO rejections (scope, fingerprint) VALUES (?, ?)"
_LIFT = "DELETE FROM rejections WHERE scope = ? AND fingerprint = ?"


def reject_value(
    connection: sqlite3.Connection, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime
) -> None:
    """From this commit on appends of the fingerprint are refused. Raises VersionMismatch, InvalidInput."""
    _change(connection, _REJECT, scope, fingerprint, items, now)


def lift_rejection(
    connection: sqlite3.Connection, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime
) -> None:
    """From this commit on they are stored again. Raises VersionMismatch, InvalidInput."""
    _change(connection, _LIFT, scope, fingerprint, items, now)


def _change(
    connection: sqlite3.Connection,
    statement: str,
    scope: Scope,
    fingerprint: str,
    items: Sequence[ItemWrite],
    now: datetime,
) -> None:
    texts, user = checked(items), enter_user(connection, scope).number
    connection.execute(statement, (user, fingerprint))
    write_items(connection, user, items, texts, now)
