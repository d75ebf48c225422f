"""Events as JSON records: the stored form, with its format version, the same in every adapter."""

import base64
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from recollect.domain.errors import StoredDataError
from recollect.domain.event import ContentType, Event, EventType, Role, Source
from recollect.domain.instants import from_iso, iso

FORMAT_VERSION = 1

_DATES = ("timestamp", "recorded_at", "expires_at", "superseded_at")
_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {"event_type": "conversation", "views": 0, "is_private": False, "metadata": {}, "tags": [], "version": 1}
)

# One entry for each format ever written: it turns a record of that format into the next one.
UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = MappingProxyType({})


def to_record(event: Event) -> dict[str, Any]:
    """The JSON record of an event; what is None or the default is left out."""
    record: dict[str, Any] = {"format": FORMAT_VERSION}
    for name in Event.__slots__:
        value = _to_json(getattr(event, name))
        if value is not None and value != _DEFAULTS.get(name, ...):
            record[name] = value
    return record


def from_record(record: Mapping[str, Any]) -> Event:
    """Reads a record of this or an earlier format. Raises StoredDataError where it cannot."""
    try:
        fields = {**_DEFAULTS, **_upgraded(dict(record))}
        fields |= {name: _instant(fields[name]) for name in _DATES if fields.get(name)}
        embedding = fields.get("embedding")
        return Event(
            **fields
            | {
                "role": Role(fields["role"]),
                "content_type": ContentType(fields["content_type"]),
                "event_type": EventType(fields["event_type"]),
                "source": Source(fields["source"]),
                "tags": tuple(fields["tags"]),
                "metadata": MappingProxyType(dict(fields["metadata"])),
                "embedding": base64.b64decode(embedding) if embedding else None,
            }
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"an event's record cannot be read: {type(error).__name__}") from error


def _instant(text: str) -> datetime:
    """Raises ValueError for one without a zone, which compares with no other."""
    found = from_iso(text)
    if found.tzinfo is None:
        raise ValueError("an instant without a zone")
    return found


def _upgraded(record: dict[str, Any]) -> dict[str, Any]:
    version = record.pop("format")
    if version > FORMAT_VERSION:
        raise StoredDataError(f"written in format {version}, this release reads up to {FORMAT_VERSION}")
    for step in range(version, FORMAT_VERSION):
        record = UPGRADES[step](record)
    return record


def _to_json(value: object) -> object:
    if value is None or isinstance(value, str | bool | float | int):
        return value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    return value
