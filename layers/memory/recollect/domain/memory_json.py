"""An event as JSON in the names that other memory stores of this kind use: camelCase, one object a memory (K-84)."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from recollect.domain.event import Event
from recollect.domain.record import from_record, to_record

_HUMP = re.compile(r"(?<=[a-z])[A-Z]")
_BAR = re.compile(r"_([a-z])")


def memory_json(event: Event) -> dict[str, Any]:
    """The record of the event, its names in camelCase: `conversationId`, `contentType`; `metadata` as it was given."""
    return _renamed(to_record(event), lambda name: _BAR.sub(lambda bar: bar.group(1).upper(), name))


def from_memory_json(document: Mapping[str, Any]) -> Event:
    """The same event again. Raises StoredDataError where the document cannot be read."""
    return from_record(_renamed(document, lambda name: _HUMP.sub(lambda hump: f"_{hump.group().lower()}", name)))


def _renamed(document: Mapping[str, Any], rename: Callable[[str], str]) -> dict[str, Any]:
    return {rename(name): value for name, value in document.items()}
