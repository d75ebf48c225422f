"""A database in a file of its own for each test, and the adapters over it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.adapters.local.database import FILE_NAME, Database
from recollect.adapters.local.items import SqliteIdempotencyStore, SqliteItems
from recollect.adapters.local.namespaced_items import SqliteNamespacedItems
from recollect.adapters.local.projections import SqliteProjections, SqlitePublisher
from recollect.adapters.local.rate_limiter import SqliteRateLimiter
from recollect.adapters.local.removal import SqliteEraser
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.adapters.local.usage import SqliteUsageCounts
from recollect.contracts.examples import DIMENSION, writes_of
from recollect.core.errors import Unavailable
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.timeline.bus import BusEvent

GENERATION = "test.1"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / FILE_NAME)
    yield database
    database.close()


def in_the_file(adapter: Callable[[Database], Any]) -> Any:
    """A fixture: an adapter over `database`."""

    @pytest.fixture
    def made(database: Database) -> Any:
        return adapter(database)

    return made


timeline = in_the_file(SqliteTimeline)
projections = in_the_file(SqliteProjections)
sqlite_index = in_the_file(lambda database: SqliteSearchIndex(database, GENERATION, DIMENSION))
publisher = in_the_file(SqlitePublisher)
store = in_the_file(SqliteIdempotencyStore)
items = in_the_file(SqliteItems)
namespaced_items = in_the_file(SqliteNamespacedItems)
limiter = in_the_file(SqliteRateLimiter)
usage = in_the_file(SqliteUsageCounts)
eraser = in_the_file(SqliteEraser)


@pytest.fixture
def unreliable(database: Database) -> Callable[[dict[str, int]], SqlitePublisher]:
    """A publisher with a subscriber that fails these events so many times."""

    def make(failures: dict[str, int]) -> SqlitePublisher:
        left = dict(failures)

        def subscriber(_tenant: str, event: BusEvent) -> None:
            left[event.id] = left.get(event.id, 0) - 1
            if left[event.id] >= 0:
                raise Unavailable("not now")

        return SqlitePublisher(database, [subscriber])

    return make


@pytest.fixture
def keep(timeline: SqliteTimeline) -> Callable[[Scope, list[Event]], None]:
    def append(scope: Scope, events: list[Event]) -> None:
        for start in range(0, len(events), 100):
            timeline.append(scope, writes_of(scope, events[start : start + 100]))

    return append


@pytest.fixture
def spoil(database: Database) -> Callable[[Scope, Event], None]:
    def spoil_record(_scope: Scope, event: Event) -> None:
        with database.writing(durable=True) as connection:
            row = connection.execute("SELECT row FROM events WHERE id = ?", (event.id,)).fetchone()
            connection.execute("UPDATE records SET record = '{' WHERE row = ?", row)

    return spoil_record
