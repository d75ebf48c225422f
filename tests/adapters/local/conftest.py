"""A database in a file of its own for each test, and the adapters over it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.adapters.local.database import FILE_NAME, Database
from recollect.adapters.local.items import SqliteIdempotencyStore, SqliteItems
from recollect.adapters.local.projections import SqliteProjections, SqlitePublisher
from recollect.adapters.local.removal import SqliteEraser
from recollect.adapters.local.rows import enter_user
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.contracts.examples import DIMENSION, writes_of
from recollect.core.errors import Unavailable
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.timeline.bus import BusEvent

GENERATION = "test.1"
Plant = Callable[[Scope, str], None]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / FILE_NAME)
    yield database
    database.close()


@pytest.fixture
def timeline(database: Database) -> SqliteTimeline:
    return SqliteTimeline(database)


@pytest.fixture
def projections(database: Database) -> SqliteProjections:
    return SqliteProjections(database)


@pytest.fixture
def sqlite_index(database: Database) -> SqliteSearchIndex:
    return SqliteSearchIndex(database, GENERATION, DIMENSION)


@pytest.fixture
def publisher(database: Database) -> SqlitePublisher:
    return SqlitePublisher(database)


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
def store(database: Database) -> SqliteIdempotencyStore:
    return SqliteIdempotencyStore(database)


@pytest.fixture
def items(database: Database) -> SqliteItems:
    return SqliteItems(database)


@pytest.fixture
def eraser(database: Database) -> SqliteEraser:
    return SqliteEraser(database)


@pytest.fixture
def keep(timeline: SqliteTimeline) -> Callable[[Scope, list[Event]], None]:
    def append(scope: Scope, events: list[Event]) -> None:
        for start in range(0, len(events), 100):
            timeline.append(scope, writes_of(scope, events[start : start + 100]))

    return append


@pytest.fixture
def plant_tombstone(database: Database) -> Plant:
    def plant(scope: Scope, identity: str) -> None:
        with database.writing(durable=True) as connection:
            user = enter_user(connection, scope)
            connection.execute("INSERT INTO identities (scope, identity) VALUES (?, ?)", (user.number, identity))

    return plant


@pytest.fixture
def spoil(database: Database) -> Callable[[Scope, Event], None]:
    def spoil_record(_scope: Scope, event: Event) -> None:
        with database.writing(durable=True) as connection:
            row = connection.execute("SELECT row FROM events WHERE id = ?", (event.id,)).fetchone()
            connection.execute("UPDATE records SET record = '{' WHERE row = ?", row)

    return spoil_record


@pytest.fixture
def plant_rejection(database: Database) -> Plant:
    def plant(scope: Scope, fingerprint: str) -> None:
        with database.writing(durable=True) as connection:
            user = enter_user(connection, scope)
            connection.execute("INSERT INTO rejections (scope, fingerprint) VALUES (?, ?)", (user.number, fingerprint))

    return plant
