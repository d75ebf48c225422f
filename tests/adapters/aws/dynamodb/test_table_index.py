"""The index in the table under the contract of its port, on moto and on DynamoDB Local; and what it does beside."""

from collections import defaultdict
from collections.abc import Sequence

import pytest

from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.table_index import TableIndex
from recollect.contracts.examples import DIMENSION
from recollect.contracts.search_index import SearchIndexContract
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.ports import SearchIndex

KnownUsers = defaultdict[str, set[str]]


class TableIndexContract(SearchIndexContract):
    """The users of a tenant are those whose events came."""

    @pytest.fixture
    def users(self) -> KnownUsers:
        self.known: KnownUsers = defaultdict(set)
        return self.known

    @pytest.fixture
    def index(self, access: ItemAccess, users: KnownUsers) -> SearchIndex:
        return TableIndex(access, lambda tenant: sorted(users[tenant]), "hash.1", DIMENSION)

    @pytest.fixture
    def neighbour(self, access: ItemAccess, users: KnownUsers) -> SearchIndex:
        return TableIndex(access, lambda tenant: sorted(users[tenant]), "hash.2", DIMENSION)

    def admit(self, scope: Scope, events: Sequence[Event]) -> None:
        self.known[scope.tenant] |= {scope.user_id}


class TestTableIndexOnMoto(TableIndexContract):
    @pytest.fixture
    def access(self, moto_access: ItemAccess) -> ItemAccess:
        return moto_access


@pytest.mark.engines
class TestTableIndexOnDynamoDB(TableIndexContract):
    @pytest.fixture
    def access(self, local_access: ItemAccess) -> ItemAccess:
        return local_access
