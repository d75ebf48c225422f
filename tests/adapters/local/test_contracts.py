"""The promises of every port, on a real file."""

import pytest

from recollect.adapters.local.database import Database
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.contracts.conditional_stores import IdempotencyStoreContract
from recollect.contracts.examples import DIMENSION
from recollect.contracts.items import ItemsContract
from recollect.contracts.projections import FailedProjectionsContract, ProjectionsContract
from recollect.contracts.removal import ErasingContract, RejectingContract, RemovalContract
from recollect.contracts.search_index import SearchIndexContract
from recollect.contracts.services import PublisherContract
from recollect.contracts.timeline import TimelineContract
from recollect.contracts.timeline_records import ItemsWithEventsContract, RecordsContract


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
