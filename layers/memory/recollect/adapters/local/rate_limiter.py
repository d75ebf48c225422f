"""The port `RateLimiter` in the file: one number for a tenant, shared by the processes that have the file open."""

from datetime import datetime, timedelta

from recollect.adapters.local.database import RATES, Database
from recollect.core.time import from_microseconds, microseconds

_PUT = """INSERT INTO rates (tenant, paid_until) VALUES (?, ?)
    ON CONFLICT (tenant) DO UPDATE SET paid_until = excluded.paid_until"""


class SqliteRateLimiter:
    """Raises Throttled, Unavailable and StoredDataError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def admit(self, tenant: str, cost: timedelta, tolerance: timedelta, now: datetime) -> timedelta:
        """Without waiting for the disk: a count that a power cut loses lets some writes more through."""
        with self._database.writing(durable=False) as connection:
            connection.execute(RATES)  # a file of before has no such table
            found = connection.execute("SELECT paid_until FROM rates WHERE tenant = ?", (tenant,)).fetchone()
            paid_until = max(now, from_microseconds(found[0])) if found else now
            if paid_until > now + tolerance:
                return paid_until - tolerance - now
            connection.execute(_PUT, (tenant, microseconds(paid_until + cost)))
            return timedelta(0)
