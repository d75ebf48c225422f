"""The promises of every port, on a real file."""

import pytest

from recollect.adapters.local.database import Database
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.contracts.examples import DIMENSION
from recollect.contracts.idempotency import IdempotencyStoreContract
from recollect.contracts.items import ItemsContract
from recollect.contracts.items_with_events import ItemsWithEventsContract
from recollect.contracts.projections import FailedProjectionsContract, ProjectionsContract
from recollect.contracts.publisher import PublisherContract
from recollect.contracts.records import RecordsContract
from recollect.contracts.removal import ErasingContract, RejectingContract, RemovalContract
from recollect.contracts.search_index import SearchIndexContract
from recollect.contracts.timeline import TimelineContract


class TestTimeline(TimelineContract):
    pass


class TestProjections(ProjectionsContract):
    pass


class TestSearchIndex(SearchIndexContract):
    @pytest.fixture
    def index(self, sqlite_index: SqliteSearchIndex) -> SqliteSearchIndex:
        return sqlite_index

    @pytest.fixture
    def neighbour(self, database: Database, index: SqliteSearchIndex) -> SqliteSearchIndex:
        return SqliteSearchIndex(database, "other.1", DIMENSION)


class TestIdempotencyStore(IdempotencyStoreContract):
    pass


class TestPublisher(PublisherContract):
    pass


class TestItems(ItemsContract):
    pass


class TestErasing(ErasingContract):
    pass


class TestRejecting(RejectingContract):
    pass


class TestRemoval(RemovalContract):
    pass


class TestRecords(RecordsContract):
    pass


class TestItemsWithEvents(ItemsWithEventsContract):
    pass


class TestFailedProjections(FailedProjectionsContract):
    pass
