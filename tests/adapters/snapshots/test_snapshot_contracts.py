"""The snapshot stores under the contract of their port: a folder, moto, and a real S3 server."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from conftest import Engines
from recollect.adapters.aws.snapshots import S3Snapshots
from recollect.adapters.local.snapshots import FolderSnapshots
from recollect.contracts.snapshot_store import SnapshotStoreContract
from recollect.ports import SnapshotStore

BUCKET = "snapshots"


class TestFolderSnapshots(SnapshotStoreContract):
    """A folder."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> SnapshotStore:
        """An empty folder, not yet made."""
        return FolderSnapshots(tmp_path / "snapshots")


class TestS3SnapshotsOnMoto(SnapshotStoreContract):
    """S3 as moto has it."""

    @pytest.fixture
    def store(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[SnapshotStore]:
        """An empty bucket."""
        for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
            monkeypatch.delenv(name, raising=False)
        with mock_aws():
            client = boto3.client("s3", region_name="us-east-1")
            client.create_bucket(Bucket=BUCKET)
            yield S3Snapshots(client, BUCKET, "backups/")


@pytest.mark.engines
class TestS3SnapshotsOnServer(SnapshotStoreContract):
    """A real S3 server."""

    @pytest.fixture
    def store(self, engines: Engines) -> SnapshotStore:
        """A bucket of its own."""
        client = boto3.client("s3", endpoint_url=engines.s3_url, region_name=engines.region)
        bucket = f"test-{uuid4().hex[:12]}"
        client.create_bucket(Bucket=bucket)
        return S3Snapshots(client, bucket)
