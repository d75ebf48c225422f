"""The promises of every port, on a real file."""

import pytest

from recollect.adapters.local.database import Database
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.contracts.conditional_stores import IdempotencyStoreContract
from recollect.contracts.examples import DIMENSION
from recollect.contracts.items import ItemsContract
from recollect.contracts.namespaced_items import NamespacedItemsContract
from recollect.contracts.projections import FailedProjectionsContract, ProjectionsContract
from recollect.contracts.rate_limiter import RateLimiterContract
from recollect.contracts.removal import ErasingContract, RejectingContract, RemovalContract
from recollect.contracts.search_index import SearchIndexContract, SearchIndexSightContract
from recollect.contracts.segments_of_events import SegmentsOfEventsContract
from recollect.contracts.services import PublisherContract
from recollect.contracts.session_log import SessionLogContract
from recollect.contracts.timeline import TimelineContract
from recollect.contracts.timeline_records import ItemsWithEventsContract, RecordsContract
from recollect.contracts.usage import UsageCountsContract
from samples.filtered_index import FiltersInTheIndex

TestTimeline = TimelineContract
TestProjections = ProjectionsContract
TestSegmentsOfEvents = SegmentsOfEventsContract
TestIdempotencyStore = IdempotencyStoreContract
TestRateLimiter = RateLimiterContract
TestUsageCounts = UsageCountsContract
TestPublisher = PublisherContract
TestItems = ItemsContract
TestNamespacedItems = NamespacedItemsContract
TestSessionLog = SessionLogContract
TestErasing = ErasingContract
TestRejecting = RejectingContract
TestRemoval = RemovalContract
TestRecords = RecordsContract
TestItemsWithEvents = ItemsWithEventsContract
TestFailedProjections = FailedProjectionsContract


class TestSearchIndex(SearchIndexContract, FiltersInTheIndex):
    examples = 200

    @pytest.fixture
    def index(self, sqlite_index: SqliteSearchIndex) -> SqliteSearchIndex:
        return sqlite_index

    @pytest.fixture
    def neighbour(self, database: Database, index: SqliteSearchIndex) -> SqliteSearchIndex:
        return SqliteSearchIndex(database, "other.1", DIMENSION)


class TestSearchIndexByWords(SearchIndexSightContract, FiltersInTheIndex):
    """Without an embedder: conditions of SQL instead of columns in memory."""

    @pytest.fixture
    def index(self, database: Database) -> SqliteSearchIndex:
        return SqliteSearchIndex(database, None)
