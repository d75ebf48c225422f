"""The promises of every port, on a real file."""

import pytest

from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.contracts.idempotency import IdempotencyStoreContract
from recollect.contracts.items import ItemsContract
from recollect.contracts.projections import ProjectionsContract
from recollect.contracts.publisher import PublisherContract
from recollect.contracts.removal import RemovalContract
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


class TestIdempotencyStore(IdempotencyStoreContract):
    pass


class TestPublisher(PublisherContract):
    pass


class TestItems(ItemsContract):
    pass


class TestRemoval(RemovalContract):
    pass
