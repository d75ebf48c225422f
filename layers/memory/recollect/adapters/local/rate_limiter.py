"""The port `RateLimiter` in the file: a number for a tenant and kind, shared by the processes that have it open."""

from datetime import datetime, timedelta

from recollect.adapters.local.database import LIMITS, Database
from recollect.core.limited import Limited
from recollect.core.time import from_microseconds, microseconds

_GET = "SELECT paid_until FROM limits WHERE tenant = ? AND kind = ?"
_PUT = """INSERT INTO limits (tenant, kind, paid_until) VALUES (?, ?, ?)
    ON CONFLICT (tenant, kind) DO UPDATE SET paid_until = excluded.paid_until"""


class SqliteRateLimiter:
    """Raises Throttled, Unavailable and StoredDataError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def admit(self, tenant: str, kind: Limited, cost: timedelta, tolerance: timedelta, now: datetime) -> timedelta:
        """Without waiting for the disk: a count that a power cut loses lets some more through."""
        with self._database.writing(durable=False) as connection:
            connection.execute(LIMITS)  # a file of before has no such table
            found = connection.execute(_GET, (tenant, kind.value)).fetchone()
            paid_until = max(now, from_microseconds(found[0])) if found else now
            if paid_until > now + tolerance:
                return paid_until - tolerance - now
            connection.execute(_PUT, (tenant, kind.value, microseconds(paid_until + cost)))
            return timedelta(0)
