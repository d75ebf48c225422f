"""The port `UsageCounts` in the file: a row for each tenant, day and kind."""

from collections.abc import Mapping
from datetime import date

from recollect.adapters.local.database import USAGE, Database

_ADD = """INSERT INTO usage (tenant, day, kind, count) VALUES (?, ?, ?, ?)
    ON CONFLICT (tenant, day, kind) DO UPDATE SET count = count + excluded.count"""


class SqliteUsageCounts:
    """Raises Throttled, Unavailable and StoredDataError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, tenant: str, day: date, counts: Mapping[str, int]) -> None:
        """Without waiting for the disk: a power cut may lose the last ones."""
        with self._database.writing(durable=False) as connection:
            connection.execute(USAGE)  # a file of before has no such table
            connection.executemany(_ADD, [(tenant, day.isoformat(), *one) for one in counts.items()])

    def days(self, tenant: str) -> dict[date, dict[str, int]]:
        found: dict[date, dict[str, int]] = {}
        with self._database.reading() as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'usage'").fetchone():
                return found
            rows = connection.execute("SELECT day, kind, count FROM usage WHERE tenant = ? ORDER BY day", (tenant,))
            for day, kind, count in rows:
                found.setdefault(date.fromisoformat(day), {})[kind] = count
        return found
