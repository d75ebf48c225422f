"""Export and import of the items of applications that a user owns: lines of JSON after the lines of the user's records.

| field        | meaning                                                                    |
|--------------|----------------------------------------------------------------------------|
| `v`, `kind`  | format of the line; `item`                                                 |
| `namespace`, `key`, `value` | where the item is, and its document                         |
| `revision`   | of its last write, by which a deletion since is recognised                 |
| `index`      | the paths of its embedded texts; vectors are made again                    |
| `ttl`        | its lifetime in seconds, which an import begins anew                       |

An import refuses what was written before the user was erased, or before the item was deleted; what is there and newer
stays. It may be sent twice.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from recollect.archive.transfer import LineOutcome, LinesPage, fitting_page
from recollect.core.errors import InvalidInput, StoredDataError, VersionMismatch
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.deletion.forget_items import deleted_item_key
from recollect.deletion.storage import erased_user_key
from recollect.items.item import (
    ABSENT,
    LONGEST_TTL,
    ItemPlace,
    NamespacedItem,
    OwnedPage,
    check_new_namespace,
    check_place,
    value_text,
)
from recollect.items.use_cases import Put
from recollect.ports import Items, NamespacedItems

FORMAT_VERSION = 1
KIND_ITEM = "item"
PAGE_ITEMS = 200

ReadOwned = Callable[[Scope, int, str | None, datetime], OwnedPage]
PutItem = Callable[[str, Put, datetime], NamespacedItem | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLine:
    """An item as an export has it."""

    place: ItemPlace
    value: Mapping[str, Any]
    revision: str
    index: tuple[str, ...]
    ttl: timedelta | None


class ExportItems:
    """The items behind `GET …/export`. `owned` reads a page of a user's items."""

    def __init__(self, owned: ReadOwned) -> None:
        self._owned = owned

    def any(self, scope: Scope, now: datetime) -> bool:
        """Whether the user may have items; the first page may be empty all the same."""
        page = self._owned(scope, 1, None, now)
        return bool(page.items) or page.more is not None

    def page(self, scope: Scope, after: str | None, now: datetime) -> LinesPage:
        """At most 200 items, fewer where they are large."""

        def read(limit: int) -> LinesPage:
            page = self._owned(scope, limit, after, now)
            text = "".join(f"{item_line_text(item)}\n" for item in page.items)
            return LinesPage(text, len(page.items), page.more)

        return fitting_page(read, PAGE_ITEMS)


class ImportItems:
    """Stores lines as a user's items. `put` is the use case's."""

    def __init__(self, items: Items, stored: NamespacedItems, put: PutItem) -> None:
        self._items = items
        self._stored = stored
        self._put = put

    def import_lines(self, scope: Scope, lines: Sequence[ItemLine], now: datetime) -> Counter[LineOutcome]:
        """The outcomes. Raises Unavailable with some of them stored; a retry continues."""
        if not lines:
            return Counter()
        erased = self._bound(of_tenant(scope.tenant), [erased_user_key(scope.user_id)])
        there = self._stored.read(of_tenant(scope.tenant), [line.place for line in lines], now)
        return Counter(self._imported(scope, line, there.get(line.place), erased, now) for line in lines)

    def _imported(
        self, scope: Scope, line: ItemLine, there: NamespacedItem | None, erased: str, now: datetime
    ) -> LineOutcome:
        deleted = self._bound(scope.user, [deleted_item_key(scope.tenant, line.place)])
        if line.revision < max(erased, deleted):
            return LineOutcome.REFUSED
        if there is not None and (there.owner != scope.user_id or there.revision >= line.revision):
            return LineOutcome.DUPLICATE if there.owner == scope.user_id else LineOutcome.INVALID
        expected = there.version if there else ABSENT
        paths = list(line.index) or False
        wanted = Put(
            place=line.place, value=line.value, index=paths, ttl=line.ttl, owner=scope.user_id, expected=expected
        )
        try:
            self._put(scope.tenant, wanted, now)
        except VersionMismatch:
            return LineOutcome.DUPLICATE
        return LineOutcome.CREATED

    def _bound(self, owner: Scope, keys: Sequence[Any]) -> str:
        """What has a smaller revision was deleted; empty where nothing was."""
        found = self._items.get(owner, keys)
        return max((str(item.value["before"]) for item in found.values()), default="")


def item_line_text(item: NamespacedItem) -> str:
    """One line of JSON, without its line end."""
    line: dict[str, Any] = {
        "v": FORMAT_VERSION,
        "kind": KIND_ITEM,
        "namespace": list(item.place.namespace),
        "key": item.place.key,
        "value": dict(item.value),
        "revision": item.revision,
        "index": list(item.index),
    }
    if item.ttl is not None:
        line["ttl"] = item.ttl.total_seconds()
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def is_item_line(document: object) -> bool:
    """Whether a JSON value is a line of an item."""
    return isinstance(document, dict) and document.get("kind") == KIND_ITEM and "namespace" in document


def read_item_line(text: str) -> ItemLine | None:
    """The item of a line; None for a line of another kind. Raises StoredDataError as `item_line` does."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return item_line(document) if is_item_line(document) else None


def item_line(document: Mapping[str, Any]) -> ItemLine:
    """The item of a line, checked as a put is. Raises StoredDataError for what is none, or breaks a rule."""
    try:
        if document["v"] != FORMAT_VERSION:
            raise ValueError("another format")
        seconds = document.get("ttl")
        line = ItemLine(
            place=ItemPlace(tuple(map(_text, document["namespace"])), _text(document["key"])),
            value=document["value"],
            revision=_text(document["revision"]),
            index=tuple(map(_text, document["index"])),
            ttl=None if seconds is None else timedelta(seconds=float(seconds)),
        )
        _check(line)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, InvalidInput) as error:
        raise StoredDataError(f"an item's line cannot be read: {type(error).__name__}") from error
    return line


def _check(line: ItemLine) -> None:
    check_place(line.place)
    check_new_namespace(line.place.namespace)
    if not isinstance(line.value, dict):
        raise TypeError("a value that is no object")
    value_text(line.value)
    if line.ttl is not None and not timedelta(0) < line.ttl <= LONGEST_TTL:
        raise ValueError("a lifetime that is none")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
