"""The OpenSearch adapter under the contract of its port, on the real engine."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest

from conftest import Engines
from recollect.adapters.aws.index_format import IndexPlan
from recollect.adapters.aws.opensearch import OpenSearchConnection, OpenSearchIndex
from recollect.contracts.examples import DIMENSION
from recollect.contracts.search_index import SearchIndexContract
from recollect.ports import SearchIndex
from samples.filtered_index import FiltersInTheIndex

PATIENT_SECONDS = 30.0
SOON_SECONDS = 0.05


def created(engines: Engines, plan: IndexPlan) -> Iterator[OpenSearchIndex]:
    connection = OpenSearchConnection(url=engines.opensearch_url, timeout_seconds=PATIENT_SECONDS)
    index = OpenSearchIndex(connection, plan)
    assert index.create() is True
    yield index
    connection.open().indices.delete(index=plan.index)


@pytest.fixture(scope="module")
def shared_index(engines: Engines) -> Iterator[OpenSearchIndex]:
    """One index for the module; searches show a write soon."""
    plan = IndexPlan(generation="hash.1", dimension=DIMENSION, refresh_seconds=SOON_SECONDS)
    yield from created(engines, replace(plan, prefix=f"test-{uuid4().hex[:8]}"))


@pytest.fixture(scope="module")
def shared_neighbour(engines: Engines, shared_index: OpenSearchIndex) -> Iterator[OpenSearchIndex]:
    yield from created(engines, replace(shared_index._plan, generation="hash.2"))


@pytest.mark.engines
class TestOpenSearchIndex(SearchIndexContract, FiltersInTheIndex):
    @pytest.fixture
    def index(self, shared_index: OpenSearchIndex) -> SearchIndex:
        return shared_index

    @pytest.fixture
    def neighbour(self, index: SearchIndex, shared_neighbour: OpenSearchIndex) -> SearchIndex:
        return shared_neighbour
