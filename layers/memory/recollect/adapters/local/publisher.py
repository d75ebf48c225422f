"""The bus of one process: subscribers are called at once, the tenant's last 1,000 stay readable in the file."""

import json
import sqlite3
from collections.abc import Callable, Sequence

from recollect.adapters.local.database import Database
from recollect.domain.bus import KEPT_PER_TENANT, BusEvent
from recollect.domain.errors import RecollectError
from recollect.domain.instants import from_microseconds, microseconds

Subscriber = Callable[[str, BusEvent], None]

_TRIM_EVERY = 100
_LAST_TO_GO = "(SELECT place FROM bus WHERE tenant = :tenant ORDER BY place DESC LIMIT 1 OFFSET :kept)"
_TRIM = f"DELETE FROM bus WHERE tenant = :tenant AND place <= {_LAST_TO_GO}"  # noqa: S608
_PUBLISHED = f"""SELECT id, type, time, detail FROM bus
    WHERE tenant = :tenant AND (:type IS NULL OR type = :type) AND place > coalesce({_LAST_TO_GO}, 0)
    AND place > coalesce((SELECT max(place) FROM bus WHERE tenant = :tenant AND id = :after), 0)
    ORDER BY place"""  # noqa: S608


class SqlitePublisher:
    """Publishes to the file and to the subscribers of this process.

    An id that is still among the kept ones is not listed twice; subscribers tell a repetition by the id. They are
    called where the publisher is, within a group of writes too: whoever waits there for another writer waits in vain.
    """

    def __init__(self, database: Database, subscribers: Sequence[Subscriber] = ()) -> None:
        self._database = database
        self._subscribers = tuple(subscribers)
        self._until_trim: dict[str, int] = {}

    def publish(self, tenant: str, events: Sequence[BusEvent]) -> list[str]:
        """Publishes; answers the ids of those that a subscriber did not take."""
        with self._database.writing(durable=False) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO bus (tenant, id, type, time, detail) VALUES (?, ?, ?, ?, ?)",
                [(tenant, e.id, e.type, microseconds(e.time), json.dumps(dict(e.detail))) for e in events],
            )
            self._trim_now_and_then(connection, tenant, len(events))
        return [event.id for event in events if not self._delivered(tenant, event)]

    def published(self, tenant: str, event_type: str | None, after: str | None) -> list[BusEvent]:
        """The tenant's last 1,000, oldest first, from after that id on; from the first where it is not kept."""
        with self._database.reading() as connection:
            rows = connection.execute(
                _PUBLISHED, {"tenant": tenant, "type": event_type, "after": after, "kept": KEPT_PER_TENANT}
            ).fetchall()
        return [BusEvent(row[0], row[1], from_microseconds(row[2]), json.loads(row[3])) for row in rows]

    def _trim_now_and_then(self, connection: sqlite3.Connection, tenant: str, published: int) -> None:
        """Finding where the last 1,000 begin is a walk over all of them: the first time, then once in a hundred."""
        left = self._until_trim.get(tenant, 0) - published
        self._until_trim[tenant] = left if left > 0 else _TRIM_EVERY
        if left <= 0:
            connection.execute(_TRIM, {"tenant": tenant, "kept": KEPT_PER_TENANT})

    def _delivered(self, tenant: str, event: BusEvent) -> bool:
        try:
            for subscriber in self._subscribers:
                subscriber(tenant, event)
        except RecollectError:
            return False
        return True
