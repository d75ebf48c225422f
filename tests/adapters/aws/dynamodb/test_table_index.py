"""The index in the table under the contract of its port, as items and as blocks, on moto and on the real engines."""

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import boto3
import pytest

from conftest import Engines
from recollect.adapters.aws import index_packing
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.snapshots import S3Snapshots
from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.table_index import TableIndex
from recollect.adapters.local.files import FolderSnapshots
from recollect.contracts.examples import DIMENSION
from recollect.contracts.search_index import SearchIndexContract
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.ports import IndexFailure, SearchIndex, SnapshotStore
from recollect.retrieval.nomination import IndexDocument
from recollect.timeline.timeline import Projection
from samples.filtered_index import FiltersInTheIndex

KEYS = {
    "aws_access_key_id": os.environ.get("AWS_ACCESS_KEY_ID"),
    "aws_secret_access_key": os.environ.get("AWS_SECRET_ACCESS_KEY"),
}
"""As they were before moto put its own in their place."""

KnownUsers = defaultdict[str, set[str]]


class TableIndexContract(SearchIndexContract, FiltersInTheIndex):
    """The users of a tenant are those whose events came."""

    kind = TableIndex
    crowd = 120

    @pytest.fixture
    def users(self) -> KnownUsers:
        self.known: KnownUsers = defaultdict(set)
        return self.known

    @pytest.fixture
    def store(self) -> SnapshotStore | None:
        return None

    @pytest.fixture
    def index(self, access: ItemAccess, users: KnownUsers, store: SnapshotStore | None) -> SearchIndex:
        return self.made(access, users, store, "hash.1")

    @pytest.fixture
    def neighbour(self, access: ItemAccess, users: KnownUsers, store: SnapshotStore | None) -> SearchIndex:
        return self.made(access, users, store, "hash.2")

    def made(self, access: ItemAccess, users: KnownUsers, store: SnapshotStore | None, generation: str) -> SearchIndex:
        bucket = None if store is None else lambda: store
        return self.kind(access, lambda tenant: sorted(users[tenant]), generation, DIMENSION, bucket)

    def admit(self, scope: Scope, events: Sequence[Event]) -> None:
        self.known[scope.tenant] |= {scope.user_id}


@pytest.mark.stand_in
class TestTableIndexOnMoto(TableIndexContract):
    @pytest.fixture
    def access(self, moto_access: ItemAccess) -> ItemAccess:
        return moto_access


@pytest.mark.engines
class TestTableIndexOnDynamoDB(TableIndexContract):
    @pytest.fixture
    def access(self, local_access: ItemAccess) -> ItemAccess:
        return local_access


class PackedAtOnce(TableIndex):
    """Saves the vectors as `project` does, and packs after each write: nothing is left to be found among the items."""

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:
        if not self._by_words:
            self._save([one for one in documents if one.vector is None or one.vector.any()])
        failures = super().put(documents, shown=shown)
        for scope in sorted({Scope(one.tenant, one.user_id) for one in documents}, key=str):
            self._pack(scope)
        return failures

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:
        failures = super().remove(scope, event_ids, shown=shown)
        self._pack(scope)
        return failures

    def _save(self, documents: Sequence[IndexDocument]) -> None:
        for scope in {Scope(one.tenant, one.user_id) for one in documents}:
            own = [one for one in documents if (one.tenant, one.user_id) == (scope.tenant, scope.user_id)]
            made = [Projection(one.ref, one.vector, self.generation) for one in own]
            DynamoDBProjections(self._access).save(scope, made)

    def _pack(self, scope: Scope) -> None:
        assert self._bucket is not None
        self._documents.ask_for_packing(scope)
        self.pack(lambda: 100.0)


class PackedContract(TableIndexContract):
    """With vectors packed to half a byte, as of a large user."""

    kind = PackedAtOnce
    full_records = 0

    @pytest.fixture(autouse=True)
    def small_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(index_packing, "FULL_RECORDS", self.full_records)
        monkeypatch.setattr(index_packing, "BLOCK_RECORDS", 50)
        monkeypatch.setattr(index_packing, "FEWEST_PACKED", 1)


@pytest.mark.stand_in
class TestPackedIndexOnMoto(PackedContract):
    @pytest.fixture
    def access(self, moto_access: ItemAccess) -> ItemAccess:
        return moto_access

    @pytest.fixture
    def store(self, tmp_path: Path) -> SnapshotStore:
        return FolderSnapshots(tmp_path)


class TestBlocksAsGivenOnMoto(TestPackedIndexOnMoto):
    """With vectors as they were given."""

    full_records = index_packing.FULL_RECORDS


@pytest.mark.engines
class TestPackedIndexOnDynamoDBAndS3(PackedContract):
    @pytest.fixture
    def access(self, local_access: ItemAccess) -> ItemAccess:
        return local_access

    @pytest.fixture
    def store(self, engines: Engines) -> SnapshotStore:
        client = boto3.client("s3", endpoint_url=engines.s3_url, region_name=engines.region, **KEYS)
        bucket = f"test-{uuid4().hex[:12]}"
        client.create_bucket(Bucket=bucket)
        return S3Snapshots(client, bucket)
