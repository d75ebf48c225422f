"""The snapshot stores under the contract of their port: a folder, moto, and a real S3 server."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from conftest import Engines
from moto_calls import OneCallAtATime
from recollect.adapters.aws.snapshots import S3Snapshots
from recollect.adapters.local.files import FolderSnapshots
from recollect.adapters.spared_snapshots import SparedSnapshots
from recollect.contracts.conditional_stores import SnapshotStoreContract
from recollect.core.errors import VersionMismatch
from recollect.ports import SnapshotStore

BUCKET = "snapshots"


class TestFolderSnapshots(SnapshotStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> SnapshotStore:
        return FolderSnapshots(tmp_path / "snapshots")


class TestSparedSnapshots(SnapshotStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> SnapshotStore:
        return SparedSnapshots(FolderSnapshots(tmp_path / "spared"), FolderSnapshots(tmp_path / "scratch"))


def test_what_is_spared_is_shown_and_never_written(tmp_path: Path) -> None:
    spared = FolderSnapshots(tmp_path / "spared")
    tags = {name: spared.put_if_absent("t", name, name.encode()) for name in ("a/1", "a/2", "a/3")}
    store = SparedSnapshots(spared, FolderSnapshots(tmp_path / "scratch"))
    store.put_if_match("t", "a/1", b"new", tags["a/1"])
    with pytest.raises(VersionMismatch):
        store.put_if_match("t", "a/2", b"new", "other")
    with pytest.raises(VersionMismatch):
        store.put_if_absent("t", "a/2", b"")
    store.delete("t", "a/3")
    store.purge("t", "a/3")
    store.put_if_absent("t", "a/4", b"4")
    assert [(name, (store.get("t", name) or (b"",))[0]) for name in store.names("t", "a/")] == [
        ("a/1", b"new"), ("a/2", b"a/2"), ("a/4", b"4"),
    ]  # fmt: skip
    assert store.get("t", "a/3") is None
    assert {name: spared.get("t", name) for name in spared.names("t")} == {n: (n.encode(), t) for n, t in tags.items()}


class TestS3SnapshotsOnMoto(SnapshotStoreContract):
    @pytest.fixture
    def store(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[SnapshotStore]:
        for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
            monkeypatch.delenv(name, raising=False)
        with mock_aws():
            client = OneCallAtATime(boto3.client("s3", region_name="us-east-1"))
            client.create_bucket(Bucket=BUCKET)
            versioned(client, BUCKET)
            yield S3Snapshots(client, BUCKET, "backups/")

    @pytest.fixture
    def versions_of(self, store: SnapshotStore) -> Callable[[str, str], int]:
        return counting(boto3.client("s3", region_name="us-east-1"), BUCKET, "backups/")


@pytest.mark.engines
class TestS3SnapshotsOnServer(SnapshotStoreContract):
    @pytest.fixture
    def bucket(self, engines: Engines, request: pytest.FixtureRequest) -> str:
        """One of its own. It keeps versions only to be purged: this server takes the mark of a deletion for an object
        where S3 does not, and so refuses to write what was deleted anew."""
        bucket = f"test-{uuid4().hex[:12]}"
        client_of(engines).create_bucket(Bucket=bucket)
        if "purged" in request.node.name:
            versioned(client_of(engines), bucket)
        return bucket

    @pytest.fixture
    def store(self, engines: Engines, bucket: str) -> SnapshotStore:
        return S3Snapshots(client_of(engines), bucket)

    @pytest.fixture
    def versions_of(self, engines: Engines, bucket: str) -> Callable[[str, str], int]:
        return counting(client_of(engines), bucket)


def client_of(engines: Engines) -> Any:
    return boto3.client("s3", endpoint_url=engines.s3_url, region_name=engines.region)


def versioned(client: Any, bucket: str) -> None:
    """The bucket keeps what was there before, as `recollect init` and the template make it."""
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})


def counting(client: Any, bucket: str, prefix: str = "") -> Callable[[str, str], int]:
    """Counts an object's versions and marks of deletion."""

    def count(tenant: str, name: str) -> int:
        key = f"{prefix}{tenant}/{name}"
        page = client.list_object_versions(Bucket=bucket, Prefix=key)
        return sum(one["Key"] == key for kind in ("Versions", "DeleteMarkers") for one in page.get(kind, ()))

    return count
