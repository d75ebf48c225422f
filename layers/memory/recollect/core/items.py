"""Items: exact, versioned JSON documents at a path (rules, knowledge, summaries, goals, jobs).

An item belongs to a user, or to the tenant (`of_tenant`), so that an erasure reaches it. Its collection is one of our
words; its labels and its key are ids of any script, at most 128 characters each. Within one path items sort by key,
as UTF-8 bytes; each adapter sorts the labels before it in its own fixed order.
"""

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from recollect.core.errors import InvalidInput, StoredDataError
from recollect.core.scope import Scope
from recollect.core.time import iso

ABSENT = 0
"""The version to expect of an item that must not exist yet."""

MOST_WRITES = 25
"""Writes of one atomic call."""

MOST_BYTES = 350 * 1024
"""Bytes of an item's JSON; DynamoDB takes 400 KB with the keys."""

MOST_BYTES_AT_ONCE = 3_500_000
"""Bytes of JSON in all writes of one call; DynamoDB takes 4 MB in a transaction."""

MOST_CHARACTERS = 128
"""Characters of a label, and of a key."""

Document: TypeAlias = Mapping[str, Any]


def of_tenant(tenant: str) -> Scope:
    """The owner of the tenant's own items; no user id is empty."""
    return Scope(tenant, "")


@dataclass(frozen=True, slots=True)
class ItemPath:
    """A collection (`[a-z_]+`, our word) and its labels (of any script, chosen by clients), in order."""

    collection: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemKey:
    """An item's path and key."""

    path: ItemPath
    key: str


@dataclass(frozen=True, slots=True)
class Due:
    """When a queue (`[a-z_]+`, our word) hands out an item."""

    queue: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Item:
    """A stored item. `version` counts its writes from 1."""

    key: ItemKey
    value: Document
    version: int
    updated_at: datetime
    due: Due | None = None


@dataclass(frozen=True, slots=True)
class ItemWrite:
    """Replaces or creates a whole item; `value` None deletes it.

    `expected` is the version that the item must have: ABSENT for a new one, None for any. Without `due` the item is in
    no queue.
    """

    key: ItemKey
    value: Document | None
    expected: int | None = None
    due: Due | None = None


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Items of one listing, in order; `more` is where the next page begins, None at the end."""

    items: tuple[Item, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class DueItem:
    """A hint that an item is due; the item as it is read then decides."""

    owner: Scope
    key: ItemKey
    at: datetime


@dataclass(frozen=True, slots=True)
class DuePage:
    """Due items of every tenant, the longest due first within a shard; `more` is where the next page begins."""

    items: tuple[DueItem, ...]
    more: str | None


class _Page(Protocol):
    @property
    def more(self) -> str | None: ...


_PageT = TypeVar("_PageT", bound=_Page)
_T = TypeVar("_T")

ALL_PAGES: Final = sys.maxsize


def pages(read: Callable[[str | None], _PageT], most: int = 10_000, after: str | None = None) -> Iterator[_PageT]:
    """The pages that `read` returns from `after` on, each from where the one before ended: `most` of them at most."""
    for _ in range(most):
        page = read(after)
        yield page
        after = page.more
        if after is None:
            return


def in_parts(whole: Sequence[_T], most: int = MOST_WRITES) -> Iterator[Sequence[_T]]:
    """The sequence in order, in parts of at most so many."""
    for start in range(0, len(whole), most):
        yield whole[start : start + most]


def write_all(
    write: Callable[[Scope, Sequence[ItemWrite], datetime], object],
    owner: Scope,
    writes: Sequence[ItemWrite],
    now: datetime,
    at_once: int = MOST_WRITES,
) -> None:
    """Writes any number of items of an owner with `Items.write`, each call's all or none. Raises what it raises."""
    for part in in_parts(writes, at_once):
        write(owner, part, now)


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Raises StoredDataError, naming `what`, where the body or the decorated function meets data of another form."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"{what} cannot be read: {type(error).__name__}") from error


def document_of(value: Any, without: Collection[str] = ()) -> dict[str, Any]:
    """A dataclass as JSON, its fields in their order: without None values and the named fields, instants as text."""
    names = [field.name for field in fields(value) if field.name not in without]
    return {name: _plain(one) for name in names if (one := getattr(value, name)) is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return dict(value) if isinstance(value, Mapping) else value


def checked(writes: Sequence[ItemWrite]) -> list[str | None]:
    """The JSON text of each write, None for a deletion; every adapter calls it before it stores anything.

    Raises InvalidInput for an item over 350 KB, for more than 3.5 MB or 25 writes, for a repeated key, a label or key
    over 128 characters, and a value that is not JSON.
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


def is_deeper(value: Any, levels: int) -> bool:
    """Whether JSON has more levels of lists and objects than these; it ends however many there are."""
    layer = [value]
    for _ in range(levels):
        layer = [part for one in layer if isinstance(one, dict | list) for part in _parts(one)]
    return any(isinstance(one, dict | list) for one in layer)


def _parts(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def json_bytes(value: Document) -> int:
    """The size of an item with this value. Raises InvalidInput for a value that is not JSON."""
    return len(_json(value).encode())


def _json(value: Document) -> str:
    try:
        return json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput("a value that is no JSON", ("items",)) from error
