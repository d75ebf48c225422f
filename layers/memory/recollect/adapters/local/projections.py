"""The ports `Projections` and `Publisher` in the file. Neither waits for the disk.

Projections can be derived again. The bus calls the subscribers in this process at once; the file has the last 1,000
events of each tenant.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

from recollect.adapters.local.database import Database
from recollect.adapters.local.rows import (
    chunked_in,
    delete_derived,
    enter_user,
    events_by_id,
    mark_pending,
    ref_of,
    replace_record,
    user_number,
    write_slot_entry,
)
from recollect.core.errors import RecollectError, Unavailable, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds, microseconds, utc_now
from recollect.core.vectors import pack_vector, stored_vector
from recollect.timeline.bus import KEPT_PER_TENANT, BusEvent
from recollect.timeline.slots import slot_of
from recollect.timeline.timeline import PendingEvent, PendingPage, PlacedEvent, Projection

_VECTORS = "SELECT event_id, timestamp, generation, vector FROM projections WHERE scope = ? AND event_id IN ({})"

_PLACES = "SELECT event_id, timestamp, segment FROM segment_places WHERE scope = ? AND event_id IN ({})"
_PLACE = """INSERT OR IGNORE INTO segment_places (scope, event_id, timestamp, segment)
    SELECT scope, id, timestamp, ? FROM events WHERE scope = ? AND id = ?"""

_PENDING = """SELECT e.id, e.timestamp, s.tenant, s.user_id, o.row FROM outbox o JOIN events e ON e.row = o.row
    JOIN scopes s ON s.id = o.scope WHERE o.row > ? ORDER BY o.row LIMIT ?"""
_REMOVED = """SELECT r.event_id, r.timestamp, s.tenant, s.user_id, r.row FROM removed r
    JOIN scopes s ON s.id = r.scope WHERE r.row > ? ORDER BY r.row LIMIT ?"""


_MANY_TOGETHER, _ONE_BY_ONE = 300, 1
"""Events projected in one commit. Where a judge reads them each may take a second, and a writer waits five at most."""


class SqliteProjections:
    """Raises Throttled, Unavailable and StoredDataError. `is_judged`: whether a judge reads what is projected."""

    def __init__(self, database: Database, is_judged: Callable[[], bool] = lambda: False) -> None:
        self._database = database
        self._is_judged = is_judged

    @property
    def most_together(self) -> int:
        """How many events are projected in one commit: asked when something is, so that who reads loads no judge."""
        return _ONE_BY_ONE if self._is_judged() else _MANY_TOGETHER

    @property
    def others_wait(self) -> bool:
        """One file has one writer; without a judge nothing is slow."""
        return self._is_judged()

    def together(self) -> AbstractContextManager[None]:
        """One commit for the writes of this thread inside, those of index and bus included."""
        return self._database.together()

    def pending(self, limit: int, after: str | None) -> PendingPage:
        """Markers of every tenant, oldest arrival first; a removal's in the place of its event's."""
        after_row = int(after or 0)
        with self._database.reading() as connection:
            found = [row for query in (_PENDING, _REMOVED) for row in connection.execute(query, (after_row, limit + 1))]
        rows = sorted(found, key=lambda row: int(row[4]))[: limit + 1]
        markers = tuple(PendingEvent(Scope(row[2], row[3]), ref_of(row)) for row in rows[:limit])
        return PendingPage(markers, str(rows[limit - 1][4]) if len(rows) > limit else None)

    def save(
        self,
        scope: Scope,
        projections: Sequence[Projection],
        known: Mapping[str, Event] | None = None,  # noqa: ARG002 - needs nothing of the events
    ) -> None:
        with self._database.writing(durable=False) as connection:
            user = enter_user(connection, scope)
            connection.executemany(
                "INSERT INTO projections (scope, event_id, timestamp, generation, vector) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (scope, event_id) DO UPDATE SET timestamp = excluded.timestamp,"
                " generation = excluded.generation, vector = excluded.vector",
                [(user.number, *_projection_row(projection)) for projection in projections],
            )
            placed = [(one.segment, user.number, one.ref.id) for one in projections if one.segment is not None]
            connection.executemany(_PLACE, placed)

    def vectors(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, Projection]:
        with self._database.reading() as connection:
            user = user_number(connection, scope)
            placed = _places(connection, user, event_ids)
            found = {i: Projection(one.ref, None, None, one.segment) for i, one in placed.items()}
            for row in chunked_in(connection, _VECTORS, event_ids, user):
                segment = placed[row[0]].segment if row[0] in placed else None
                found[row[0]] = Projection(ref_of(row), stored_vector(row[3]), row[2], segment)
        return found

    def place(self, scope: Scope, event: Event, segment: int) -> None:
        with self._database.writing(durable=False) as connection:
            connection.execute(_PLACE, (segment, user_number(connection, scope), event.id))

    def places(
        self,
        scope: Scope,
        event_ids: Sequence[str],
        *,
        consistent: bool = True,  # noqa: ARG002 - always
    ) -> dict[str, PlacedEvent]:
        with self._database.reading() as connection:
            return _places(connection, user_number(connection, scope), event_ids)

    def fill_slot(self, scope: Scope, event: Event) -> None:
        """Enters a keyed event in its slot's history (P-19), unless it is there or was removed."""
        if slot_of(event) is None:
            return
        with self._database.writing(durable=False) as connection:
            write_slot_entry(connection, enter_user(connection, scope).number, event, None)

    def keep_place(self, scope: Scope, event: Event, *, emptied: bool) -> None:
        """Enters an event that is not stored as a removed one (P-22), on the disk: nothing else can derive it."""
        if slot_of(event) is None:
            return
        with self._database.writing(durable=not self._database.grouped) as connection:
            write_slot_entry(connection, enter_user(connection, scope).number, event, emptied)

    def store_bound(self, scope: Scope, event: Event) -> None:
        """Writes until when its value holds. Raises VersionMismatch where it changed since, or is gone."""
        with self._database.writing(durable=False) as connection:
            user = user_number(connection, scope)
            stored = _unchanged(connection, user, event)
            replace_record(connection, user, replace(stored, holds_until=event.holds_until))

    def supersede(self, scope: Scope, event: Event, by: EventRef | None) -> Event:
        """Writes which event supersedes this one. Raises VersionMismatch where it changed since or is deleted."""
        with self._database.writing(durable=False) as connection:
            user = user_number(connection, scope)
            changed = _unchanged(connection, user, event).superseded(by)
            replace_record(connection, user, changed)
        return changed

    def enter_conversation(self, scope: Scope, conversation_id: str, started_at: datetime) -> None:
        with self._database.writing(durable=False) as connection:
            connection.execute(
                "INSERT OR IGNORE INTO conversations (scope, id, started_at) VALUES (?, ?, ?)",
                (enter_user(connection, scope).number, conversation_id, microseconds(started_at)),
            )

    def leave_conversation(self, scope: Scope, conversation_id: str) -> None:
        with self._database.writing(durable=True) as connection:
            connection.execute(
                "DELETE FROM conversations WHERE scope = ? AND id = ?",
                (user_number(connection, scope), conversation_id),
            )

    def mark(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        with self._database.writing(durable=False) as connection:
            mark_pending(connection, user_number(connection, scope), refs)

    def settle(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        with self._database.writing(durable=False) as connection:
            user = user_number(connection, scope)
            connection.executemany(
                "DELETE FROM outbox WHERE row = (SELECT row FROM events WHERE scope = ? AND id = ?)",
                [(user, ref.id) for ref in refs],
            )

    def forget(self, scope: Scope, refs: Sequence[EventRef], *, keeps_segment: bool = False) -> None:
        """Removes the projections of deleted events, with the markers of their removal (P-22)."""
        with self._database.writing(durable=False) as connection:
            user = user_number(connection, scope)
            delete_derived(connection, scope.tenant, user, refs)
            removed = [(user, ref.id) for ref in refs]
            if not keeps_segment:
                connection.executemany("DELETE FROM segment_places WHERE scope = ? AND event_id = ?", removed)
            connection.executemany("DELETE FROM removed WHERE scope = ? AND event_id = ?", removed)


def _places(connection: sqlite3.Connection, user: int, event_ids: Sequence[str]) -> dict[str, PlacedEvent]:
    return {row[0]: PlacedEvent(ref_of(row), row[2]) for row in chunked_in(connection, _PLACES, event_ids, user)}


def _projection_row(projection: Projection) -> tuple[str, int, str | None, bytes | None]:
    vector = None if projection.vector is None else pack_vector(projection.vector)
    return projection.ref.id, microseconds(projection.ref.timestamp), projection.generation, vector


def _unchanged(connection: sqlite3.Connection, user: int, event: Event) -> Event:
    stored = events_by_id(connection, user, [event.id]).get(event.id)
    if stored is None or stored.version != event.version:
        raise VersionMismatch("the event changed since it was read")
    return stored


Subscriber = Callable[[str, BusEvent], None]

_TRIES = 3
_TRIM_EVERY = 100
_LAST_TRIMMED = "(SELECT place FROM bus WHERE tenant = :tenant ORDER BY place DESC LIMIT 1 OFFSET :kept)"
_TRIM = f"DELETE FROM bus WHERE tenant = :tenant AND place <= {_LAST_TRIMMED}"  # noqa: S608
_PUBLISHED = f"""SELECT id, type, time, detail FROM bus
    WHERE tenant = :tenant AND (:type IS NULL OR type = :type) AND place > coalesce({_LAST_TRIMMED}, 0)
    AND place > coalesce((SELECT max(place) FROM bus WHERE tenant = :tenant AND id = :after), 0)
    AND NOT EXISTS (SELECT 1 FROM scopes JOIN events ON scope = scopes.id
        WHERE tenant = :tenant AND user_id = json_extract(detail, '$.userId') AND expires_at <= :now
        AND events.id = coalesce(json_extract(detail, '$.eventId'), json_extract(detail, '$.memoryId')))
    ORDER BY place"""  # noqa: S608


class SqlitePublisher:
    """Publishes to the subscribers of this process, and then to the file.

    An id is listed once; subscribers recognize a repetition by the id. They run on the publisher's thread, also within
    `together`, where they must not wait for another writer. `clock` is the real time, for expiry.
    """

    def __init__(
        self, database: Database, subscribers: Sequence[Subscriber] = (), clock: Callable[[], datetime] = utc_now
    ) -> None:
        self._database = database
        self._subscribers = tuple(subscribers)
        self._clock = clock
        self._until_trim: dict[str, int] = {}

    def publish(self, tenant: str, events: Sequence[BusEvent]) -> list[str]:
        """Publishes, to each subscriber in up to three tries; the ids of those that a subscriber did not take."""
        delivered = [self._delivered(tenant, event) for event in events]
        taken = [event for event, was_taken in zip(events, delivered, strict=True) if was_taken]
        with self._database.writing(durable=False) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO bus (tenant, id, type, time, detail) VALUES (?, ?, ?, ?, ?)",
                [(tenant, e.id, e.type, microseconds(e.time), json.dumps(dict(e.detail))) for e in taken],
            )
            self._trim_now_and_then(connection, tenant, len(taken))
        return [event.id for event, was_taken in zip(events, delivered, strict=True) if not was_taken]

    def published(self, tenant: str, event_type: str | None, after: str | None) -> list[BusEvent]:
        asked = {"tenant": tenant, "type": event_type, "after": after, "kept": KEPT_PER_TENANT}
        with self._database.reading() as connection:
            rows = connection.execute(_PUBLISHED, {**asked, "now": microseconds(self._clock())}).fetchall()
        return [BusEvent(row[0], row[1], from_microseconds(row[2]), json.loads(row[3])) for row in rows]

    def _trim_now_and_then(self, connection: sqlite3.Connection, tenant: str, published: int) -> None:
        """Trimming walks over the last 1,000: at the first publication, then once in a hundred."""
        left = self._until_trim.get(tenant, 0) - published
        self._until_trim[tenant] = left if left > 0 else _TRIM_EVERY
        if left <= 0:
            connection.execute(_TRIM, {"tenant": tenant, "kept": KEPT_PER_TENANT})

    def _delivered(self, tenant: str, event: BusEvent) -> bool:
        return all(_delivered_to(subscriber, tenant, event) for subscriber in self._subscribers)


def _delivered_to(subscriber: Subscriber, tenant: str, event: BusEvent) -> bool:
    for _ in range(_TRIES):
        try:
            subscriber(tenant, event)
        except Unavailable:
            continue
        except RecollectError:
            return False
        return True
    return False
