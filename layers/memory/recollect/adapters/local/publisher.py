"""The port `Publisher` in one process: calls subscribers at once; the file has each tenant's last 1,000 events."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

from recollect.adapters.local.database import Database
from recollect.core.errors import RecollectError, Unavailable
from recollect.core.time import from_microseconds, microseconds, utc_now
from recollect.timeline.bus import KEPT_PER_TENANT, BusEvent

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
