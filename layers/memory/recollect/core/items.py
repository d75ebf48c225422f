"""Items: JSON documents at a path, exact and versioned (rules, knowledge, summaries, goals, jobs).

An item belongs to a user, or to the tenant itself (`of_tenant`), so that an erasure reaches it; its collection is a
word of ours, its labels and its key are ids of any script, at most 128 characters each. Within one path items sort
by key, as bytes of UTF-8; the labels before it sort in an order that is each adapter's own, and never changes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope

ABSENT = 0
"""The version to expect of an item that must not exist yet."""

MOST_WRITES = 25
"""Writes of one all-or-nothing call."""

MOST_BYTES = 350 * 1024
"""An item's JSON; the service behind one adapter takes 400 KB, keys and all."""

MOST_BYTES_AT_ONCE = 3_500_000
"""The JSON of all writes of one call; that service takes 4 MB in a transaction."""

MOST_CHARACTERS = 128
"""A label's, and a key's."""

Document: TypeAlias = Mapping[str, Any]


def of_tenant(tenant: str) -> Scope:
    """The owner of what is the tenant's and no user's; no user id is empty."""
    return Scope(tenant, "")


@dataclass(frozen=True, slots=True)
class ItemPath:
    """Collection (`[a-z_]+`, ours) and labels (of any script, as clients chose them, in order)."""

    collection: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemKey:
    """Where an item is."""

    path: ItemPath
    key: str


@dataclass(frozen=True, slots=True)
class Due:
    """When somebody must look at an item: `queue` (`[a-z_]+`, ours) and the instant."""

    queue: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Item:
    """An item as stored. `version` counts its writes from 1."""

    key: ItemKey
    value: Document
    version: int
    updated_at: datetime
    due: Due | None = None


@dataclass(frozen=True, slots=True)
class ItemWrite:
    """Replaces an item as a whole, or makes it; `value` None deletes it.

    `expected` is the version it must have: ABSENT for none, None for any. `due` as in `Item`; absent, nobody looks.
    """

    key: ItemKey
    value: Document | None
    expected: int | None = None
    due: Due | None = None


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Items of one listing, in order; `more` where the next page goes on."""

    items: tuple[Item, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class DueItem:
    """A sign that an item is due; what counts is the item as it is read then."""

    owner: Scope
    key: ItemKey
    at: datetime


@dataclass(frozen=True, slots=True)
class DuePage:
    """Due items of every tenant, the longest due first within a shard; `more` where the next page goes on."""

    items: tuple[DueItem, ...]
    more: str | None


def checked(writes: Sequence[ItemWrite]) -> list[str | None]:
    """The JSON text of each write, None for a deletion: what every adapter asks before it stores anything.

    Raises InvalidInput where one is over 350 KB, all are over 3.5 MB or 25, a key stands twice, a label or key is too
    long, or a value is no JSON.
    """
    if len(writes) > MOST_WRITES or len({write.key for write in writes}) < len(writes):
        raise InvalidInput(f"at most {MOST_WRITES} writes at once, one for each key", ("items",))
    for write in writes:
        if any(len(name) > MOST_CHARACTERS for name in (*write.key.path.labels, write.key.key)):
            raise InvalidInput(f"a name of more than {MOST_CHARACTERS} characters", ("items",))
    texts = [None if write.value is None else _json(write.value) for write in writes]
    sizes = [0 if text is None else len(text.encode()) for text in texts]
    if max(sizes, default=0) > MOST_BYTES or sum(sizes) > MOST_BYTES_AT_ONCE:
        raise InvalidInput("an item of more than 350 KB, or too much at once", ("items",))
    return texts


def json_bytes(value: Document) -> int:
    """How large an item of this value is. Raises InvalidInput for what is no JSON."""
    return len(_json(value).encode())


def _json(value: Document) -> str:
    try:
        return json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput("a value that is no JSON", ("items",)) from error
