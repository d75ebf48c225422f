"""The bucket of snapshots: whether it is there, and making it where it is not."""

from functools import cached_property
from typing import Any

from recollect.adapters.aws.errors import translated
from recollect.domain.errors import NotReady, UpstreamFailed


class Bucket:
    """An S3 bucket by name. It is made private and versioned; encryption at rest is S3's own default."""

    def __init__(self, name: str, timeout_seconds: float) -> None:
        self._name = name
        self._timeout_seconds = timeout_seconds

    @cached_property
    def client(self) -> Any:
        """The SDK's client, with the path style that every S3 server takes."""
        import boto3
        from botocore.config import Config

        config = Config(
            connect_timeout=self._timeout_seconds,
            read_timeout=self._timeout_seconds,
            retries={"mode": "standard", "total_max_attempts": 3},
            s3={"addressing_style": "path"},
        )
        return boto3.client("s3", config=config)

    def check(self) -> str:
        """One line about it. Raises NotReady where it is missing or another's."""
        if not self._exists():
            raise NotReady(f"S3: no bucket {self._name}; `recollect init` creates it")
        return f"S3 bucket {self._name}"

    def create(self) -> bool:
        """Makes it where it is missing; False where it was there."""
        if self._exists():
            return False
        region = self.client.meta.region_name
        place = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        with translated("S3"):
            self.client.create_bucket(Bucket=self._name, **place)
            self.client.put_bucket_versioning(Bucket=self._name, VersioningConfiguration={"Status": "Enabled"})
        return True

    def _exists(self) -> bool:
        from botocore.exceptions import ClientError

        try:
            with translated("S3"):
                self.client.head_bucket(Bucket=self._name)
        except (NotReady, UpstreamFailed) as error:
            cause = error.__cause__
            if isinstance(cause, ClientError) and cause.response["ResponseMetadata"].get("HTTPStatusCode") == 404:
                return False
            raise
        return True
