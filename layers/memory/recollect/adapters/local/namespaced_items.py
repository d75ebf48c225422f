"""The port `NamespacedItems` in the file: one row for each item, and one for each of its vectors.

Filters are SQL (`filter_sql`); vectors are compared exactly, those of the items that pass. An expired item is returned
no more at once, and deleted by a later write.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from recollect.adapters.item_scores import best_cosines
from recollect.adapters.local.database import Database
from recollect.adapters.local.filter_sql import enable, filter_sql
from recollect.adapters.local.rows import enter_user
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds, microseconds
from recollect.items.item import (
    FoundItem,
    ItemListing,
    ItemPlace,
    ItemPut,
    ItemSearch,
    ItemVectors,
    ListedPage,
    Namespace,
    NamespacedItem,
    OwnedPage,
    check_vectors,
    value_text,
)

_COLUMNS = "namespace, key, value, version, revision, created_at, updated_at, owner, ttl, expires_at, paths"
_AT = "tenant = ? AND namespace = ? AND key = ?"
_LIVE = "(expires_at IS NULL OR expires_at > ?)"
# After a namespace's labels comes its end or `"`, with which the next label begins; `#` is the character after `"`.
_BELOW = "tenant = ? AND namespace BETWEEN ? AND ? || '#'"
_IN = "tenant = ? AND namespace BETWEEN ? AND ?"
_PUT = f"""INSERT INTO namespaced_items (tenant, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, namespace, key) DO UPDATE SET value = excluded.value, version = excluded.version,
    revision = excluded.revision, created_at = excluded.created_at, updated_at = excluded.updated_at,
    owner = excluded.owner, ttl = excluded.ttl, expires_at = excluded.expires_at, paths = excluded.paths
    RETURNING row"""  # noqa: S608
_PUT_VECTOR = "INSERT INTO namespaced_item_vectors (item, place, space, vector) VALUES (?, ?, ?, ?)"
_DELETE_VECTORS = "DELETE FROM namespaced_item_vectors WHERE item = ?"
_DELETE_EXPIRED = """DELETE FROM namespaced_items WHERE row IN
    (SELECT row FROM namespaced_items WHERE expires_at <= ? LIMIT ?)"""
_ORDER = "ORDER BY updated_at DESC, namespace, key"
_DELETED_AT_ONCE = 20


class SqliteNamespacedItems:
    """Raises Throttled, Unavailable and StoredDataError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, tenant: Scope, places: Sequence[ItemPlace], now: datetime) -> dict[ItemPlace, NamespacedItem]:
        with self._database.reading() as connection:
            found = [(place, _stored(connection, tenant.tenant, place)) for place in places]
        return {place: item for place, item in found if item is not None and not item.expired(now)}

    def write(self, tenant: Scope, puts: Sequence[ItemPut], now: datetime) -> list[NamespacedItem | None]:
        """All of them in one transaction, on the disk when this returns. Raises VersionMismatch, InvalidInput."""
        texts = [None if put.value is None else value_text(put.value) for put in puts]
        for put in puts:
            check_vectors(put.vectors)
        with self._database.writing(durable=True) as connection:
            connection.execute(_DELETE_EXPIRED, (microseconds(now), _DELETED_AT_ONCE))
            return [_write(connection, tenant.tenant, put, text, now) for put, text in zip(puts, texts, strict=True)]

    def refresh(self, tenant: Scope, items: Sequence[NamespacedItem]) -> None:
        """Without waiting for the disk: an end that a power cut takes back is the earlier one."""
        rows = [
            (microseconds(item.expires_at), tenant.tenant, *_names(item.place), item.revision)
            for item in items
            if item.expires_at is not None
        ]
        with self._database.writing(durable=False) as connection:
            connection.executemany(
                f"UPDATE namespaced_items SET expires_at = ? WHERE {_AT} AND revision = ?",  # noqa: S608
                rows,
            )

    def search(self, tenant: Scope, wanted: ItemSearch, now: datetime) -> list[FoundItem]:
        where = filter_sql(wanted.filter, "value")
        condition = f"{_IN if wanted.exact else _BELOW} AND {_LIVE} AND (? IS NULL OR owner = ?) AND {where.text}"
        low = namespace_text(wanted.prefix)
        owner = (wanted.owner, wanted.owner)
        parameters = (tenant.tenant, low, low, microseconds(now), *owner, *where.parameters)
        with self._database.reading() as connection:
            enable(connection)
            if wanted.vector is None:
                select = f"SELECT {_COLUMNS} FROM namespaced_items WHERE {condition} {_ORDER} LIMIT ? OFFSET ?"  # noqa: S608
                rows = connection.execute(select, (*parameters, wanted.limit, wanted.offset))
                return [FoundItem(_item(row)) for row in rows]
            return _most_similar(connection, wanted, condition, parameters)

    def namespaces(self, tenant: Scope, prefix: Namespace, owner: str | None, now: datetime) -> list[Namespace]:
        low = namespace_text(prefix)
        statement = f"""SELECT DISTINCT namespace FROM namespaced_items
            WHERE {_BELOW} AND {_LIVE} AND (? IS NULL OR owner = ?)"""  # noqa: S608
        with self._database.reading() as connection:
            rows = connection.execute(statement, (tenant.tenant, low, low, microseconds(now), owner, owner))
            return [_namespace(text) for (text,) in rows]

    def page(self, tenant: Scope, wanted: ItemListing, now: datetime) -> ListedPage:
        order, beyond = ("DESC", "<") if wanted.descending else ("ASC", ">")
        statement = f"""SELECT {_COLUMNS} FROM namespaced_items WHERE tenant = ? AND namespace = ? AND {_LIVE}
            AND (? IS NULL OR key {beyond} ?) ORDER BY key {order} LIMIT ?"""  # noqa: S608
        place = (tenant.tenant, namespace_text(wanted.namespace), microseconds(now))
        with self._database.reading() as connection:
            rows = connection.execute(statement, (*place, wanted.after, wanted.after, wanted.limit + 1)).fetchall()
        items = tuple(_item(row) for row in rows[: wanted.limit])
        return ListedPage(items, items[-1].place.key if len(rows) > wanted.limit else None)

    def owned(self, owner: Scope, limit: int, after: str | None) -> OwnedPage:
        statement = f"""SELECT {_COLUMNS}, row FROM namespaced_items WHERE tenant = ? AND owner = ? AND row > ?
            ORDER BY row LIMIT ?"""  # noqa: S608
        with self._database.reading() as connection:
            start = _row_after(after)
            rows = connection.execute(statement, (owner.tenant, owner.user_id, start, limit + 1)).fetchall()
        more = str(rows[limit - 1][-1]) if len(rows) > limit else None
        return OwnedPage(tuple(_item(row[:-1]) for row in rows[:limit]), more)


def namespace_text(namespace: Namespace) -> str:
    """The labels as a JSON list that is left open, so that what continues a namespace begins with it."""
    return "[" + "".join(f"{json.dumps(label, ensure_ascii=False)}," for label in namespace)


def _namespace(text: str) -> Namespace:
    return tuple(json.loads(f"{text.removesuffix(',')}]"))


def _names(place: ItemPlace) -> tuple[str, str]:
    return namespace_text(place.namespace), place.key


def _stored(connection: sqlite3.Connection, tenant: str, place: ItemPlace) -> NamespacedItem | None:
    statement = f"SELECT {_COLUMNS} FROM namespaced_items WHERE {_AT}"  # noqa: S608
    row = connection.execute(statement, (tenant, *_names(place))).fetchone()
    return _item(row) if row else None


def _write(
    connection: sqlite3.Connection, tenant: str, put: ItemPut, text: str | None, now: datetime
) -> NamespacedItem | None:
    stored = _stored(connection, tenant, put.place)
    item = put.after(None if stored is None or stored.expired(now) else stored, now)
    place = (tenant, *_names(put.place))
    if item is None or text is None:
        connection.execute(f"DELETE FROM namespaced_items WHERE {_AT}", place)  # noqa: S608
        return None
    if item.owner is not None:
        enter_user(connection, Scope(tenant, item.owner))  # whom an erasure finds
    ends = microseconds(item.expires_at) if item.expires_at else None
    ttl = item.ttl // timedelta(microseconds=1) if item.ttl else None
    times = (microseconds(item.created_at), microseconds(item.updated_at))
    written = (*place, text, item.version, item.revision, *times, item.owner, ttl, ends, json.dumps(item.index))
    (row,) = connection.execute(_PUT, written).fetchone()
    _write_vectors(connection, row, put.vectors)
    return item


def _write_vectors(connection: sqlite3.Connection, row: int, vectors: ItemVectors | None) -> None:
    connection.execute(_DELETE_VECTORS, (row,))
    if vectors is not None:
        rows = ((row, place, vectors.space, packed) for place, packed in enumerate(vectors.packed))
        connection.executemany(_PUT_VECTOR, rows)


def _most_similar(
    connection: sqlite3.Connection, wanted: ItemSearch, condition: str, parameters: tuple[Any, ...]
) -> list[FoundItem]:
    """The page of the items that pass, each with the best of its vectors; documents of that page alone are read."""
    listed = f"SELECT row, updated_at FROM namespaced_items WHERE {condition} {_ORDER}"  # noqa: S608
    rows = [row for row, _ in connection.execute(listed, parameters)]
    vectors = f"""SELECT item, vector FROM namespaced_item_vectors WHERE space = ? AND item IN
        (SELECT row FROM namespaced_items WHERE {condition})"""  # noqa: S608
    assert wanted.vector is not None
    scores = best_cosines(wanted.vector, connection.execute(vectors, (wanted.space, *parameters)))
    ranked = sorted(rows, key=lambda row: -scores.get(row, -2.0))
    page = ranked[wanted.offset : wanted.offset + wanted.limit]
    return [FoundItem(item, scores.get(row)) for row, item in zip(page, _of_rows(connection, page), strict=True)]


def _of_rows(connection: sqlite3.Connection, rows: Sequence[int]) -> Iterator[NamespacedItem]:
    for row in rows:
        statement = f"SELECT {_COLUMNS} FROM namespaced_items WHERE row = ?"  # noqa: S608
        yield _item(connection.execute(statement, (row,)).fetchone())


def _item(row: Sequence[Any]) -> NamespacedItem:
    namespace, key, value, version, revision, created_at, updated_at, owner, ttl, expires_at, paths = row
    return NamespacedItem(
        place=ItemPlace(_namespace(namespace), key),
        value=json.loads(value),
        version=version,
        revision=revision,
        created_at=from_microseconds(created_at),
        updated_at=from_microseconds(updated_at),
        index=tuple(json.loads(paths)),
        owner=owner,
        ttl=None if ttl is None else timedelta(microseconds=ttl),
        expires_at=None if expires_at is None else from_microseconds(expires_at),
    )


def _row_after(after: str | None) -> int:
    if after is None:
        return 0
    if not (after.isascii() and after.isdecimal() and len(after) < 19):
        raise InvalidInput("a place in a listing that is none", ("after",))
    return int(after)
