"""Any number of operations on items, in requests and answers of a size that a server takes; any text as a label."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from recollect.client.errors import Unprocessable
from recollect.client.recollect import Recollect

_OPERATIONS_AT_ONCE = 500
_BYTES_AT_ONCE = 4_000_000
_LISTED_AT_ONCE = 500
_FULL_ANSWER_BYTES = 2_000_000
"""A shorter answer with fewer items than were asked for is the last one."""

_Place = TypeVar("_Place")
_Operation = TypeVar("_Operation", bound=Mapping[str, Any])


def in_requests(operations: Sequence[tuple[_Place, _Operation]]) -> Iterator[list[tuple[_Place, _Operation]]]:
    """Operations of a batch with their places, in order, in requests of a size that a server takes.

    Puts go by themselves where there are several, so that reads may be repeated.
    """
    part: list[tuple[_Place, _Operation]] = []
    size = 0
    for place, operation in operations:
        own = len(json.dumps(operation, ensure_ascii=False).encode())
        full = len(part) == _OPERATIONS_AT_ONCE or size + own > _BYTES_AT_ONCE
        if part and (full or ("put" in operation) != ("put" in part[-1][1])):
            yield part
            part, size = [], 0
        part.append((place, operation))
        size += own
    if part:
        yield part


def answers_of(memory: Recollect, operations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answers of `/store/batch` to any number of operations, in order. Raises Unprocessable for a wrong one."""
    found: list[dict[str, Any]] = []
    for part in in_requests(list(enumerate(operations))):
        found += answers_at_once(memory, [operation for _, operation in part])
    return found


def answers_at_once(memory: Recollect, operations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answers to one request of operations, in more where they are too large for one answer."""
    try:
        return memory.item_batch(operations)
    except Unprocessable as error:
        if error.errors or len(operations) == 1:
            raise
        half = len(operations) // 2  # nothing is wrong with any
        return [*answers_at_once(memory, operations[:half]), *answers_at_once(memory, operations[half:])]


def items_below(
    memory: Recollect, prefix: Sequence[str], where: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """All items below a prefix, the last written first, each once."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    offset = 0
    while True:
        items = memory.search_items(prefix, where=where, limit=_LISTED_AT_ONCE, offset=offset)
        found |= {(*item["namespace"], item["key"]): item for item in items}
        offset += len(items)
        if not items or (len(items) < _LISTED_AT_ONCE and len(json.dumps(items)) < _FULL_ANSWER_BYTES):
            return [*found.values()]


def deletions(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The operations that delete these items."""
    return [{"put": {"namespace": item["namespace"], "key": item["key"], "value": None}} for item in items]


def delete_below(memory: Recollect, prefix: Sequence[str]) -> None:
    """Deletes all items below a prefix; by longer ones where there are more than one search reads.

    Raises Unprocessable where so many are in one namespace.
    """
    try:
        while items := memory.search_items(prefix, limit=_LISTED_AT_ONCE):
            answers_of(memory, deletions(items))
    except Unprocessable:
        below = memory.item_namespaces(prefix, max_depth=len(prefix) + 1, limit=_LISTED_AT_ONCE)
        longer = [one for one in below if len(one) > len(prefix)]
        if not longer:
            raise
        for one in longer:
            delete_below(memory, one)
        delete_below(memory, prefix)


def label(text: str) -> str:
    """A text as a label: never empty, without dots."""
    return "=" + quote(text, safe=":|/ ").replace(".", "%2E")


def text_of(made: str) -> str:
    """The text that a label was made of."""
    return unquote(made[1:])
