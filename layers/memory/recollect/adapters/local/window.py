"""A page of the timeline: a walk down the index by time, with the reason for each record that is left out."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from recollect.adapters.local.event_rows import SPOKEN, readable_by_row, ref_of
from recollect.domain.event import EventRef
from recollect.domain.filters import DropReason, TimeWindow
from recollect.domain.instants import EARLIEST, LATEST, microseconds
from recollect.domain.scope import Scope
from recollect.domain.timeline import COUNTED_RECORDS, WindowPage, WindowQuery

_COLUMNS = "row, id, timestamp, persona, household, event_type, expires_at"


@dataclass(slots=True)
class _Walk:
    """What was met on the way; `last` is the record at which the page ends."""

    rows: dict[int, EventRef] = field(default_factory=dict)
    dropped: Counter[DropReason] = field(default_factory=Counter)
    last: EventRef | None = None
    more: bool = False

    @property
    def scanned(self) -> int:
        return len(self.rows) + self.dropped.total()


def window_page(connection: sqlite3.Connection, user_number: int, scope: Scope, query: WindowQuery) -> WindowPage:
    """At most `limit` events, and at most 10,000 records read: `more` then says where the next page goes on.

    A record is counted on one page of a walk. The first page also counts what lies outside the window, of it
    10,000 records at most; with a conversation only that conversation's records are considered.
    """
    walk = _walk(connection, user_number, scope, query)
    if query.after is None:
        walk.dropped += _outside(connection, user_number, scope, query)
    read = readable_by_row(connection, walk.rows, around_unreadable=query.around_unreadable)
    events = tuple(read[row] for row in walk.rows if row in read)
    unreadable = tuple(ref for row, ref in walk.rows.items() if row not in read)
    return WindowPage(events, walk.scanned, dict(walk.dropped), walk.last if walk.more else None, unreadable)


def _walk(connection: sqlite3.Connection, user_number: int, scope: Scope, query: WindowQuery) -> _Walk:
    walk = _Walk()
    passed: Counter[DropReason] = Counter()
    place: EventRef | None = None
    for row in _inside(connection, user_number, query):
        reason = _reason(scope, query, row)
        if reason is None and len(walk.rows) == query.limit:
            walk.more = True
            return walk
        place = ref_of(row[1:3])
        if reason is not None:
            passed[reason] += 1
        else:
            walk.rows[row[0]] = place
        if reason is None or walk.scanned + passed.total() == COUNTED_RECORDS:
            walk.last = place
            if passed:
                walk.dropped, passed = walk.dropped + passed, Counter()
        if walk.scanned == COUNTED_RECORDS:
            walk.more = True
            return walk
    walk.dropped += passed
    return walk


def _inside(connection: sqlite3.Connection, user_number: int, query: WindowQuery) -> Iterator[tuple[Any, ...]]:
    where, parameters = _where(user_number, query)
    start, end = _bounds(query.window)
    if query.after is not None:
        end = min(end, microseconds(query.after.timestamp))
        where = f"{where} AND (timestamp < ? OR id < ?)"
        parameters += [microseconds(query.after.timestamp), query.after.id]
    where, parameters = f"{where} AND timestamp BETWEEN ? AND ?", [*parameters, start, end]
    return connection.execute(
        f"SELECT {_COLUMNS} FROM events WHERE {where} ORDER BY timestamp DESC, id DESC",  # noqa: S608
        parameters,
    )


def _outside(connection: sqlite3.Connection, user_number: int, scope: Scope, query: WindowQuery) -> Counter[DropReason]:
    start, end = _bounds(query.window)
    counted: Counter[DropReason] = Counter()
    for condition, bound in (("timestamp > ?", end), ("timestamp < ?", start)):
        where, parameters = _where(user_number, query)
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM events WHERE {where} AND {condition} ORDER BY timestamp DESC LIMIT ?",  # noqa: S608
            (*parameters, bound, COUNTED_RECORDS - counted.total()),
        )
        counted += Counter(
            DropReason.WINDOW if reason in (None, DropReason.FILTER) else reason
            for reason in (_reason(scope, query, row) for row in rows)
        )
    return counted


def _where(user_number: int, query: WindowQuery) -> tuple[str, list[Any]]:
    if query.conversation_id is None:
        return f"scope = ? AND {SPOKEN}", [user_number]
    return f"scope = ? AND conversation = ? AND {SPOKEN}", [user_number, query.conversation_id]


def _bounds(window: TimeWindow) -> tuple[int, int]:
    return microseconds(window.start or EARLIEST), microseconds(window.end or LATEST)


def _reason(scope: Scope, query: WindowQuery, row: tuple[Any, ...]) -> DropReason | None:
    """In the order of `domain.filters.drop_reason`, for a record that is inside of the window."""
    _, _, _, persona, household, event_type, expires_at = row
    if not scope.admits(persona, household):
        return DropReason.SCOPE
    if expires_at is not None and expires_at <= microseconds(query.now):
        return DropReason.EXPIRED
    return None if query.event_type in (None, event_type) else DropReason.FILTER
