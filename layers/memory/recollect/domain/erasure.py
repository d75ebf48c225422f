"""Erasing a user: everything recorded before is gone and is refused for ever; the user may start anew (P-22).

An erasure's id is a UUIDv7 of the real time: what has a smaller id was recorded before it.

| collection     | owner  | key        | item                                                             |
|----------------|--------|------------|------------------------------------------------------------------|
| `erasures`     | tenant | erasure id | `Erasure`; its work is the job of the same id, of kind `erase`   |
| `erased_users` | tenant | user id    | `{before}`: the id of the user's last erasure                    |
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from recollect.domain.errors import StoredDataError
from recollect.domain.instants import from_iso, iso
from recollect.domain.items import ItemKey, ItemPath

JOB_KIND = "erase"
ERASURES = ItemPath("erasures")
ERASED_USERS = ItemPath("erased_users")
_OUR_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

# Copies that nobody can edit, by engines, and how long each lives.
LAPSES: Mapping[str, Mapping[str, timedelta]] = {
    "local": {"idempotency_records": timedelta(hours=24)},
    "aws": {
        "idempotency_records": timedelta(hours=24),
        "bus_log": timedelta(days=7),
        "index_snapshots": timedelta(days=14),
        "point_in_time_backups": timedelta(days=35),
    },
}


@dataclass(frozen=True, slots=True)
class ErasedPage:
    """What a step took away, by part; `more` is where the next one goes on, None at the end."""

    counts: Mapping[str, int]
    more: str | None


@dataclass(frozen=True, slots=True)
class Kept:
    """What an erasure leaves: the items named, and, where `before` is given, all that is not older than that id.

    Without `before` everything goes that is there; of an identity its hash stays, as a tombstone.
    """

    items: frozenset[ItemKey] = frozenset()
    before: str | None = None

    def keeps_record(self, record_id: str) -> bool:
        """Whether a record, or what hangs on it, stays."""
        return self.before is not None and record_id >= self.before

    def keeps_unnamed(self) -> bool:
        """Whether things without an id of ours stay: nobody knows when they were written."""
        return self.before is not None

    def keeps_item(self, key: ItemKey, value: Mapping[str, Any]) -> bool:
        """Whether an item stays: by the newest of our ids in its name, else by the id that it holds."""
        if key in self.items:
            return True
        if self.before is None:
            return False
        ids = _ids_in([*key.path.labels, key.key]) or _ids_in([str(value.get("id", ""))])
        return not ids or max(ids) >= self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An erasure as its report tells of it. `counts` is what the request itself took away, by part."""

    id: str
    user_id: str
    at: datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    lapses: Sequence[tuple[str, datetime]] = ()


def erasure_key(erasure_id: str) -> ItemKey:
    """Where an erasure is."""
    return ItemKey(ERASURES, erasure_id)


def erased_user_key(user_id: str) -> ItemKey:
    """Where it is told that a user was erased."""
    return ItemKey(ERASED_USERS, user_id)


def lapses_of(engines: str, now: datetime) -> tuple[tuple[str, datetime], ...]:
    """The copies that nobody can edit, and when each is gone by itself."""
    return tuple((part, now + age) for part, age in LAPSES[engines].items())


def erasure_document(erasure: Erasure) -> dict[str, Any]:
    """The stored form."""
    return {
        "user_id": erasure.user_id,
        "at": iso(erasure.at),
        "counts": dict(erasure.counts),
        "lapses": [[part, iso(until)] for part, until in erasure.lapses],
    }


def erasure_in(erasure_id: str, document: Mapping[str, Any]) -> Erasure:
    """Reads what `erasure_document` wrote. Raises StoredDataError."""
    try:
        return Erasure(
            id=erasure_id,
            user_id=document["user_id"],
            at=from_iso(document["at"]),
            counts=document["counts"],
            lapses=tuple((part, from_iso(until)) for part, until in document["lapses"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"an erasure cannot be read: {type(error).__name__}") from error


def _ids_in(names: Iterable[str]) -> list[str]:
    return [found for name in names for found in _OUR_ID.findall(name)]
