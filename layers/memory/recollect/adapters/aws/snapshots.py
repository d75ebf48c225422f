"""The port `SnapshotStore` on S3, by its conditional writes; and the bucket, checked and made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from recollect.adapters.aws.clients import code_of, from_client_error, from_core_error, of_ours, translated
from recollect.archive.snapshot import folder_of, name_of, path_of, tenant_part
from recollect.core.errors import NotReady, RecollectError, UpstreamFailed, VersionMismatch

if TYPE_CHECKING:
    from botocore.client import BaseClient


_MISSING = "NoSuchKey"
_CONFLICTS = ("PreconditionFailed", "ConditionalRequestConflict", _MISSING)


class S3Snapshots:
    """`SnapshotStore` on S3: keys are prefix, tenant and name; a tag is S3's ETag.

    The role needs GetObject, PutObject, DeleteObject and ListBucket (without it S3 answers 403 for a missing object);
    to purge also ListBucketVersions and DeleteObjectVersion.
    """

    def __init__(self, client: BaseClient, bucket: str, prefix: str = "") -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix

    def put_if_absent(self, tenant: str, name: str, data: bytes) -> str:
        return self._put(self._key(tenant, name), data, IfNoneMatch="*")

    def put_if_match(self, tenant: str, name: str, data: bytes, tag: str) -> str:
        return self._put(self._key(tenant, name), data, IfMatch=tag)

    def _put(self, key: str, data: bytes, **condition: str) -> str:
        with _translated_errors():
            answer = self._client.put_object(Bucket=self._bucket, Key=key, Body=data, **condition)
        tag: str = answer["ETag"]
        return tag

    def get(self, tenant: str, name: str) -> tuple[bytes, str] | None:
        try:
            with _translated_errors():
                answer = self._client.get_object(Bucket=self._bucket, Key=self._key(tenant, name))
                return answer["Body"].read(), answer["ETag"]
        except VersionMismatch:  # a read has no condition: the object is missing
            return None

    def names(self, tenant: str, prefix: str = "") -> Iterator[str]:
        root = self._root(tenant)
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=root + folder_of(prefix)
        )
        with _translated_errors():
            for page in pages:
                found = (name_of(entry["Key"].removeprefix(root)) for entry in page.get("Contents", ()))
                yield from (name for name in found if name.startswith(prefix))

    def delete(self, tenant: str, name: str) -> None:
        with _translated_errors():
            self._client.delete_object(Bucket=self._bucket, Key=self._key(tenant, name))

    def purge(self, tenant: str, name: str) -> None:
        """Deletes every version but the current one, and the delete markers."""
        key = self._key(tenant, name)
        pages = self._client.get_paginator("list_object_versions").paginate(Bucket=self._bucket, Prefix=key)
        with _translated_errors():
            for page in pages:
                for version in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
                    if version["Key"] == key and not (version["IsLatest"] and "Size" in version):
                        self._client.delete_object(Bucket=self._bucket, Key=key, VersionId=version["VersionId"])

    def _root(self, tenant: str) -> str:
        return f"{self._prefix}{tenant_part(tenant)}/"

    def _key(self, tenant: str, name: str) -> str:
        return self._root(tenant) + path_of(name)


@contextmanager
def _translated_errors() -> Iterator[None]:
    """S3's answers to conditions and for missing things; other errors as for any service."""
    try:
        yield
    except ClientError as error:
        raise _of_condition(code_of(error)) or from_client_error("S3", error) from error
    except BotoCoreError as error:
        raise from_core_error("S3", error) from error


def _of_condition(code: str) -> RecollectError | None:
    if code in _CONFLICTS:
        return VersionMismatch("the snapshot has changed, is there already, or is not there")
    return NotReady("the snapshot bucket is missing; `recollect init` creates it") if code == "NoSuchBucket" else None


class Bucket:
    """An S3 bucket by name. It is made private and versioned; encryption at rest is S3's own default."""

    def __init__(self, name: str, timeout_seconds: float) -> None:
        self._name = name
        self._timeout_seconds = timeout_seconds

    @cached_property
    def client(self) -> Any:
        """The SDK's client, with the path style that every S3 server takes.

        S3 checks what it stores and TLS what it sends: a third check, in the process, is a tenth of a block's reading.
        """
        import boto3
        from botocore.config import Config

        config = Config(
            connect_timeout=self._timeout_seconds,
            read_timeout=self._timeout_seconds,
            retries={"mode": "standard", "total_max_attempts": 3},
            s3={"addressing_style": "path"},
            response_checksum_validation="when_required",
        )
        return of_ours(boto3.client("s3", config=config))

    def check(self) -> str:
        """One line about the bucket. Raises NotReady where it is missing or another account's."""
        if not self._exists():
            raise NotReady(f"S3: no bucket {self._name}; `recollect init` creates it")
        return f"S3 bucket {self._name}"

    def create(self) -> bool:
        """Makes the bucket; False where it exists."""
        if self._exists():
            return False
        region = self.client.meta.region_name
        place = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        with translated("S3"):
            self.client.create_bucket(Bucket=self._name, **place)
            self.client.put_bucket_versioning(Bucket=self._name, VersioningConfiguration={"Status": "Enabled"})
        return True

    def _exists(self) -> bool:
        try:
            with translated("S3"):
                self.client.head_bucket(Bucket=self._name)
        except (NotReady, UpstreamFailed) as error:
            cause = error.__cause__
            if isinstance(cause, ClientError) and cause.response["ResponseMetadata"].get("HTTPStatusCode") == 404:
                return False
            raise
        return True
