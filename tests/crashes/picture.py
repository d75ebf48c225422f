"""A store as a picture that two runs can be compared by: without ids, times and counts of tries."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from crashes.store import Row, Stored, tombstones

Picture: TypeAlias = dict[str, Counter[str]]

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[57][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)")
_SORTABLE = re.compile(r"\d{15,}")
_VERSION = re.compile(r'"(version|before|after)": \d+')
_HASH = re.compile(r"\b([0-9a-f]{64}|[0-9a-f]{16})\b")
# A message that is projected twice is counted twice (H-05), and may then have come late, as far as is known; from a
# failed try stay its count and its pause. What a summary covers is kept as hashes of ids.
_COUNTS_TRIES = {
    "summary_states": ("hint", "failures", "retry_at", "lease", "late"),
    "summary_covered": ("messages",),
    "jobs": ("counts", "errors", "tries", "leased_until", "retry_at", "state", "share"),
}
_TRIES_ALONE = frozenset({"summary_failures"})
# In which order events were projected, and of what it was noted that it was not there, is nobody's promise.
_ORDER_ALONE = frozenset({"segments", "segment_rolls", "tombstone_marker", "deleted_ids"})


def picture_of(stored: Stored, unlike: Iterable[str] = (), *, in_steps: bool = False) -> Picture:
    """Per table how often each row is there; ids are replaced by what they are of.

    `in_steps`: in how many steps it was made, and so in how many versions, is nobody's promise.
    """
    names = {place[2]: f"<{event['content']}>" for place, event in stored.events.items()}
    rows: dict[str, list[Any]] = {
        "events": [{**event, "owner": place[:2]} for place, event in stored.events.items()],
        "identities": [[*found] for found in stored.identities],
        "vectors": [[*place, vector] for place, vector in stored.vectors.items()],
        "documents": [[*place, {**document, "version": 0}] for place, document in stored.documents.items()],
        "slots": [[*row.owner, *row.slot, row.event_id, row.emptied is None] for row in stored.slots],
        "conversations": [[*found] for found in stored.conversations],
        "bus": [[one.tenant, one.type, one.detail] for one in stored.bus],
        "objects": [[name, _object(name, lines)] for name, lines in stored.objects.items() if _is_shown(name)],
        "told outside": sorted({told for tombstone in tombstones(stored) for told in _told(tombstone)}),
        **_items(stored),
    }
    left_out = {*unlike, *(("items.memory_versions",) if in_steps else ())}
    told = {name: [_plain(row, names) for row in found] for name, found in rows.items() if name not in left_out}
    if in_steps:
        told = {name: [_VERSION.sub("", row) for row in found] for name, found in told.items()}
    return {name: Counter(found) for name, found in told.items()}


def difference(one: Picture, other: Picture) -> dict[str, list[str]]:
    """What only one of them has, by table; empty where they are alike."""
    found = {
        name: [f"only without a crash: {row}" for row in (one.get(name, Counter()) - other.get(name, Counter()))]
        + [f"only with it: {row}" for row in (other.get(name, Counter()) - one.get(name, Counter()))]
        for name in sorted({*one, *other})
    }
    return {name: rows for name, rows in found.items() if rows}


def _items(stored: Stored) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in (row for row in stored.items if not _is_left_out(row)):
        left_out = _COUNTS_TRIES.get(row.collection, ())
        value = {name: part for name, part in row.value.items() if name not in left_out}
        queue = None if left_out or row.due is None else row.due[0]
        found.setdefault(f"items.{row.collection}", []).append([*row.owner, row.labels, row.key, value, queue])
    return found


def _is_shown(name: str) -> bool:
    return not name.endswith("/.lock") and "/tombstones/" not in name


def _told(tombstone: Mapping[str, Any]) -> list[str]:
    """What a tombstone tells, one deletion at a time: how many it tells at once is nobody's promise, nor how often."""
    events = [" ".join([event_id, *identity]) for event_id, _, *identity in tombstone.get("events", [])]
    named = events or [tombstone.get("id", "")]
    return [f"{tombstone['kind']} {own}" for own in named]


def _object(name: str, lines: Iterable[str]) -> object:
    """Of segments and archives their records in order; of the rest that it is there: it holds sums and hashes."""
    if not name.endswith((".segment", ".ndjson.gz")):
        return None
    return [{**document, "versions": None, "decisions": None} for document in map(json.loads, lines)]


def _is_left_out(row: Row) -> bool:
    failed = row.collection == "audit" and row.value.get("outcome") == "failed"
    on_the_way = row.collection == "arbitrations" and row.value["step"] == "key"  # which value ended which, and when
    return failed or on_the_way or row.collection in _TRIES_ALONE or row.collection in _ORDER_ALONE


def _plain(row: Any, names: Mapping[str, str]) -> str:
    if isinstance(row, dict):
        row = {name: value for name, value in row.items() if name not in ("version", "id")}
    text = json.dumps(row, sort_keys=True, ensure_ascii=False)
    text = _ID.sub(lambda found: names.get(found[0], "<id>"), text)
    return _SORTABLE.sub("<time>", _HASH.sub("<hash>", _INSTANT.sub("<time>", text)))
