"""The ports `Items` and `IdempotencyStore` in the file: one row for each item and for each key."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any

from recollect.adapters.local.database import Database
from recollect.adapters.local.rows import chunked_in, enter_user, user_number
from recollect.core.errors import InFlight, InvalidInput, KeyReused, VersionMismatch
from recollect.core.idempotency import Claimed, ClaimOutcome, IdempotencyClaim, Replay
from recollect.core.ids import IdSeed
from recollect.core.items import ABSENT, Due, DueItem, DuePage, Item, ItemKey, ItemPage, ItemPath, ItemWrite, checked
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds, microseconds

_COLUMNS = "collection, labels, key, value, version, updated_at, queue, due_at"
_AT = "scope = ? AND collection = ? AND labels = ? AND key = ?"
_GET = f"SELECT {_COLUMNS} FROM items WHERE scope = ? AND collection = ? AND labels = ? AND key IN ({{}})"  # noqa: S608
_PUT = f"""INSERT INTO items (scope, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope, collection, labels, key) DO UPDATE SET value = excluded.value, version = excluded.version,
    updated_at = excluded.updated_at, queue = excluded.queue, due_at = excluded.due_at"""  # noqa: S608
# After a path's labels comes its end or `"`, with which the next label begins; `#` is the character after `"`.
_PAGE = f"""SELECT {_COLUMNS} FROM items WHERE scope = ? AND collection = ? AND labels BETWEEN ? AND ? || '#'"""  # noqa: S608
_DUE = """SELECT s.tenant, s.user_id, i.collection, i.labels, i.key, i.due_at, i.row FROM items i
    JOIN scopes s ON s.id = i.scope WHERE i.queue = ? AND i.due_at <= ? AND (i.due_at, i.row) > (?, ?)
    ORDER BY i.due_at, i.row LIMIT ?"""
_CACHED_PATHS = 256
_BEFORE_ALL = (-(2**62), 0)


class SqliteItems:
    """Raises Throttled, Unavailable and StoredDataError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, owner: Scope, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        with self._database.reading() as connection:
            user = user_number(connection, owner)
            rows = [
                row
                for path, names in _by_path(keys)
                for row in chunked_in(connection, _GET, names, user, path.collection, _labels(path.labels))
            ]
        found = {item.key: item for item in map(_item, rows)}
        return {key: found[key] for key in keys if key in found} if found else {}

    def write(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> list[Item | None]:
        """All or none, on the disk when this returns; within `together`, with that commit.

        Raises VersionMismatch, InvalidInput.
        """
        texts = checked(writes)
        if not writes:
            return []
        with self._database.writing(durable=not self._database.grouped) as connection:
            user = enter_user(connection, owner).number
            return write_items(connection, user, writes, texts, now)

    def page(
        self,
        owner: Scope,
        path: ItemPath,
        limit: int,
        after: str | None,
        *,
        descending: bool = False,
        consistent: bool = True,  # noqa: ARG002 - a file is
    ) -> ItemPage:
        labels, order = _labels(path.labels), "DESC" if descending else "ASC"
        beyond, place = _beyond(after, descending)
        with self._database.reading() as connection:
            user = user_number(connection, owner)
            rows = connection.execute(
                f"{_PAGE}{beyond} ORDER BY labels {order}, key {order} LIMIT ?",
                (user, path.collection, labels, labels, *place, limit + 1),
            ).fetchall()
        items = tuple(_item(row) for row in rows[:limit])
        more = json.dumps(rows[limit - 1][1:3], ensure_ascii=False) if len(rows) > limit else None
        return ItemPage(items, more)

    def beside(self, owner: Scope, key: ItemKey) -> str:  # noqa: ARG002 - the port's
        return json.dumps([_labels(key.path.labels), key.key], ensure_ascii=False)

    def due(self, queue: str, now: datetime, limit: int, after: str | None) -> DuePage:
        place = _BEFORE_ALL if after is None else _numbers(after)
        with self._database.reading() as connection:
            rows = connection.execute(_DUE, (queue, microseconds(now), *place, limit + 1)).fetchall()
        more = json.dumps(rows[limit - 1][5:]) if len(rows) > limit else None
        return DuePage(tuple(_due_item(row) for row in rows[:limit]), more)


def write_items(
    connection: sqlite3.Connection, user: int, writes: Sequence[ItemWrite], texts: Sequence[str | None], now: datetime
) -> list[Item | None]:
    """The writes inside the caller's transaction, with the texts of `checked`. Raises VersionMismatch."""
    return [_write(connection, user, write, text, now) for write, text in zip(writes, texts, strict=True)]


def _write(connection: sqlite3.Connection, user: int, write: ItemWrite, text: str | None, now: datetime) -> Item | None:
    place = (user, write.key.path.collection, _labels(write.key.path.labels), write.key.key)
    found = connection.execute(f"SELECT version FROM items WHERE {_AT}", place).fetchone()  # noqa: S608
    version = int(found[0]) if found else ABSENT
    deleted_already = text is None and version == ABSENT
    if write.expected not in (None, version) and not deleted_already:
        raise VersionMismatch("the item changed since it was read")
    if text is None:
        connection.execute(f"DELETE FROM items WHERE {_AT}", place)  # noqa: S608
        return None
    due = (write.due.queue, microseconds(write.due.at)) if write.due else (None, None)
    connection.execute(_PUT, (*place, text, version + 1, microseconds(now), *due))
    return Item(write.key, json.loads(text), version + 1, now, write.due)


def _by_path(keys: Sequence[ItemKey]) -> Iterator[tuple[ItemPath, list[str]]]:
    return ((path, [one.key for one in some]) for path, some in groupby(keys, key=attrgetter("path")))


@lru_cache(maxsize=_CACHED_PATHS)
def _labels(labels: tuple[str, ...]) -> str:
    return "[" + "".join(f"{json.dumps(label, ensure_ascii=False)}," for label in labels)


def key_of_row(collection: str, labels: str, key: str) -> ItemKey:
    """The key of an item from the columns of its row."""
    return ItemKey(_path_of(collection, labels), key)


@lru_cache(maxsize=_CACHED_PATHS)
def _path_of(collection: str, labels: str) -> ItemPath:
    """A listing has many rows of few paths."""
    return ItemPath(collection, tuple(json.loads(f"{labels.removesuffix(',')}]")))


def _item(row: Sequence[Any]) -> Item:
    collection, labels, key, value, version, updated_at, queue, due_at = row
    due = Due(queue, from_microseconds(due_at)) if queue is not None else None
    return Item(key_of_row(collection, labels, key), json.loads(value), version, from_microseconds(updated_at), due)


def _due_item(row: Sequence[Any]) -> DueItem:
    tenant, user_id, collection, labels, key, due_at, _ = row
    return DueItem(Scope(tenant, user_id), key_of_row(collection, labels, key), from_microseconds(due_at))


def _beyond(after: str | None, descending: bool) -> tuple[str, tuple[str, ...]]:
    """The condition for what comes after a place in a listing, and its parameters."""
    if after is None:
        return "", ()
    place = _read(after)
    if not all(isinstance(part, str) for part in place):
        raise InvalidInput("a place in a listing that is none", ("after",))
    return f" AND (labels, key) {'<' if descending else '>'} (?, ?)", (place[0], place[1])


def _numbers(after: str) -> tuple[int, int]:
    place = _read(after)
    if not all(type(part) is int for part in place):
        raise InvalidInput("a place in a queue that is none", ("after",))
    return place[0], place[1]


def _read(after: str) -> list[Any]:
    try:
        place = json.loads(after)
    except ValueError:
        place = None
    if not isinstance(place, list) or len(place) != 2:
        raise InvalidInput("a place that is none", ("after",))
    return place


_DELETED_AT_ONCE = 20


class SqliteIdempotencyStore:
    """One row per key. A claim does not wait for the disk: the commit of its events brings it there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, claim: IdempotencyClaim) -> ClaimOutcome:
        with self._database.writing(durable=False) as connection:
            _delete_expired(connection, claim)
            found = connection.execute(
                "SELECT body_hash, seed, lapses_at, status, body FROM idempotency WHERE key_hash = ?", (claim.key_hash,)
            ).fetchone()
            if found is None:
                _insert(connection, claim)
                return Claimed(claim.seed)
            return _outcome(connection, claim, *found)

    def complete(self, claim: IdempotencyClaim, status: int, body: dict[str, object]) -> None:
        with self._database.writing(durable=False) as connection:
            connection.execute(
                "UPDATE idempotency SET status = ?, body = ? WHERE key_hash = ? AND body_hash = ? AND status IS NULL",
                (status, json.dumps(body, ensure_ascii=False), claim.key_hash, claim.body_hash),
            )

    def release(self, claim: IdempotencyClaim) -> None:
        """Frees the key for the next try, with the same seed."""
        with self._database.writing(durable=False) as connection:
            connection.execute(
                "UPDATE idempotency SET lapses_at = 0 WHERE key_hash = ? AND body_hash = ? AND status IS NULL",
                (claim.key_hash, claim.body_hash),
            )


def _delete_expired(connection: sqlite3.Connection, claim: IdempotencyClaim) -> None:
    now = microseconds(claim.now)
    connection.execute("DELETE FROM idempotency WHERE key_hash = ? AND expires_at <= ?", (claim.key_hash, now))
    connection.execute(
        "DELETE FROM idempotency WHERE key_hash IN (SELECT key_hash FROM idempotency WHERE expires_at <= ? LIMIT ?)",
        (now, _DELETED_AT_ONCE),
    )


def _insert(connection: sqlite3.Connection, claim: IdempotencyClaim) -> None:
    connection.execute(
        "INSERT INTO idempotency (key_hash, body_hash, seed, lapses_at, expires_at) VALUES (?, ?, ?, ?, ?)",
        (
            claim.key_hash,
            claim.body_hash,
            claim.seed.encode(),
            microseconds(claim.lapses_at),
            microseconds(claim.expires_at),
        ),
    )


def _outcome(
    connection: sqlite3.Connection,
    claim: IdempotencyClaim,
    body_hash: str,
    seed: str,
    lapses_at: int,
    status: int | None,
    body: str | None,
) -> ClaimOutcome:
    replay = None if status is None else Replay(status, json.loads(body or "{}"))
    if body_hash != claim.body_hash:
        raise KeyReused("the idempotency key was used with another body", replay.body if replay else None)
    if replay is not None:
        return replay
    if lapses_at > microseconds(claim.now):
        raise InFlight("a request with this idempotency key is under way")
    connection.execute(
        "UPDATE idempotency SET lapses_at = ? WHERE key_hash = ?", (microseconds(claim.lapses_at), claim.key_hash)
    )
    return Claimed(IdSeed.decode(seed))
