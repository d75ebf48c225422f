"""The bus of one process: subscribers are called at once, the tenant's last 1,000 stay readable in the file."""

import json
import sqlite3
from collections.abc import Callable, Sequence

from recollect.adapters.local.database import Database
from recollect.domain.bus import KEPT_PER_TENANT, BusEvent
from recollect.domain.errors import RecollectError
from recollect.domain.instants import from_microseconds, microseconds

Subscriber = Callable[[str, BusEvent], None]


class SqlitePublisher:
    """Publishes to the file and to the subscribers of this process.

    An id that is still among the kept ones is not listed twice; subscribers tell a repetition by the id.
    """

    def __init__(self, database: Database, subscribers: Sequence[Subscriber] = ()) -> None:
        self._database = database
        self._subscribers = tuple(subscribers)

    def publish(self, tenant: str, events: Sequence[BusEvent]) -> list[str]:
        """Publishes; answers the ids of those that a subscriber did not take."""
        with self._database.writing(durable=False) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO bus (tenant, id, type, time, detail) VALUES (?, ?, ?, ?, ?)",
                [(tenant, e.id, e.type, microseconds(e.time), json.dumps(dict(e.detail))) for e in events],
            )
            _keep_the_last(connection, tenant)
        return [event.id for event in events if not self._delivered(tenant, event)]

    def published(self, tenant: str, event_type: str | None, after: str | None) -> list[BusEvent]:
        """The tenant's last 1,000, oldest first, from after that id on; from the first where it is not kept."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT id, type, time, detail FROM bus WHERE tenant = :tenant AND (:type IS NULL OR type = :type)"
                " AND place > coalesce((SELECT max(place) FROM bus WHERE tenant = :tenant AND id = :after), 0)"
                " ORDER BY place",
                {"tenant": tenant, "type": event_type, "after": after},
            ).fetchall()
        return [BusEvent(row[0], row[1], from_microseconds(row[2]), json.loads(row[3])) for row in rows]

    def _delivered(self, tenant: str, event: BusEvent) -> bool:
        try:
            for subscriber in self._subscribers:
                subscriber(tenant, event)
        except RecollectError:
            return False
        return True


def _keep_the_last(connection: sqlite3.Connection, tenant: str) -> None:
    connection.execute(
        "DELETE FROM bus WHERE tenant = ? AND place <="
        " (SELECT place FROM bus WHERE tenant = ? ORDER BY place DESC LIMIT 1 OFFSET ?)",
        (tenant, tenant, KEPT_PER_TENANT),
    )
