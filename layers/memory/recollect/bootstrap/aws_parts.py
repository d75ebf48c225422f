"""The parts of a deployment on AWS. Each is imported on first use: a function that ingests starts without a search
client.
"""

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recollect.bootstrap.providers import ProviderParts
from recollect.core.errors import NotReady
from recollect.ports import (
    Concurrency,
    Eraser,
    IdempotencyStore,
    Items,
    NamespacedItems,
    PartState,
    Projections,
    Publisher,
    RateLimiter,
    SearchIndex,
    SnapshotStore,
    Timeline,
    UsageCounts,
)
from recollect.timeline.listing import KnownUsers
from recollect.timeline.timeline import TAIL_EVENTS

if TYPE_CHECKING:
    from recollect.adapters.aws.snapshots import Bucket
    from recollect.adapters.aws.table import ItemAccess, Table


class AwsParts(ProviderParts):
    """DynamoDB, OpenSearch, EventBridge and S3; region, credentials and endpoints are the SDK's own settings."""

    @cached_property
    def access(self) -> "ItemAccess":
        """The table's client, shared by all its adapters."""
        from recollect.adapters.aws.clients import ClientPolicy, dynamodb_client
        from recollect.adapters.aws.table import ItemAccess

        seconds = self._settings.call_timeout_seconds
        policy = ClientPolicy(connect_seconds=seconds / 4, read_seconds=seconds * 3 / 4)
        return ItemAccess(dynamodb_client(policy), self._settings.table, self.concurrency)

    @cached_property
    def timeline(self) -> Timeline:
        from recollect.adapters.aws.timeline import DynamoDBTimeline

        return DynamoDBTimeline(self.access)

    @cached_property
    def projections(self) -> Projections:
        from recollect.adapters.aws.projections import DynamoDBProjections

        return DynamoDBProjections(self.access)

    @cached_property
    def index(self) -> SearchIndex:
        return self._table_index if self._settings.search_engine == "table" else self._domain_index

    @property
    def former_index(self) -> SearchIndex | None:
        """The table's own is always there; a domain as long as it has an address."""
        if self._settings.search_engine == "domain":
            return self._table_index
        return self._domain_index if self._settings.opensearch_url else None

    @cached_property
    def _table_index(self) -> SearchIndex:
        from recollect.adapters.aws.index_cache import BlockCache
        from recollect.adapters.aws.table_index import TableIndex

        embedder, users = self.embedder, KnownUsers(self.items)
        kept = self._settings.index_cache_megabytes
        return TableIndex(
            self.access,
            users.all,
            embedder.generation if embedder else None,
            embedder.dimension if embedder else 0,
            (lambda: self.snapshots) if self._settings.snapshot_bucket else None,
            cache=BlockCache(kept * 1_000_000, time.monotonic) if kept else None,
        )

    @cached_property
    def _domain_index(self) -> SearchIndex:
        from recollect.adapters.aws.index_format import IndexPlan
        from recollect.adapters.aws.opensearch import OpenSearchConnection, OpenSearchIndex, signing_for

        url, embedder = self._settings.opensearch_url, self.embedder
        connection = OpenSearchConnection(
            url=url, signing=signing_for(url), timeout_seconds=self._settings.call_timeout_seconds
        )
        plan = IndexPlan(
            prefix=self._settings.index_prefix,
            generation=embedder.generation if embedder else None,
            dimension=embedder.dimension if embedder else 0,
            shards=self._settings.index_shards,
        )
        return OpenSearchIndex(connection, plan)

    @cached_property
    def publisher(self) -> Publisher:
        from recollect.adapters.aws.clients import eventbridge_client
        from recollect.adapters.aws.publisher import AwsPublisher, BusLog, EventBus

        name = self._settings.event_bus
        return AwsPublisher(BusLog(self.access), EventBus(eventbridge_client(), name) if name else None)

    @cached_property
    def idempotency(self) -> IdempotencyStore:
        from recollect.adapters.aws.items import DynamoDBIdempotency

        return DynamoDBIdempotency(self.access)

    @cached_property
    def rate_limiter(self) -> RateLimiter:
        from recollect.adapters.aws.rate_limiter import DynamoDBRateLimiter

        return DynamoDBRateLimiter(self.access)

    @cached_property
    def usage(self) -> UsageCounts:
        from recollect.adapters.aws.usage import DynamoDBUsageCounts

        return DynamoDBUsageCounts(self.access)

    @cached_property
    def items(self) -> Items:
        from recollect.adapters.aws.items import DynamoDBItems

        return DynamoDBItems(self.access)

    @cached_property
    def namespaced_items(self) -> NamespacedItems:
        from recollect.adapters.aws.namespaced_items import DynamoDBNamespacedItems

        return DynamoDBNamespacedItems(self.access)

    @cached_property
    def eraser(self) -> Eraser:
        from recollect.adapters.aws.removal import DynamoDBEraser

        return DynamoDBEraser(self.access)

    @cached_property
    def concurrency(self) -> Concurrency:
        from recollect.adapters.concurrency import Threads

        return Threads()

    @cached_property
    def _table(self) -> "Table":
        from recollect.adapters.aws.table import Table

        return Table(self.access.client, self.access.table)

    def _table_state(self) -> PartState:
        detail = self._table.check()
        return PartState(True, detail, len(self.projections.pending(TAIL_EVENTS, None).markers))

    @cached_property
    def _bucket(self) -> "Bucket":
        from recollect.adapters.aws.snapshots import Bucket

        return Bucket(self._settings.snapshot_bucket, self._settings.call_timeout_seconds)

    @cached_property
    def snapshots(self) -> SnapshotStore:
        from recollect.adapters.aws.snapshots import S3Snapshots

        if not self._settings.snapshot_bucket:
            raise NotReady("there is no bucket for snapshots: RECOLLECT_SNAPSHOT_BUCKET")
        return S3Snapshots(self._bucket.client, self._settings.snapshot_bucket)

    def embedding_generation(self) -> str | None:
        """Also in a function without a model: another function embeds what it saves."""
        return self._embedding.generation

    def checks(self) -> Mapping[str, Callable[[], PartState]]:
        """Timeline, index, embedder, model, and the bucket where one is set."""
        checks: dict[str, Callable[[], PartState]] = {
            "timeline": self._table_state,
            "index": lambda: PartState(True, self.index.check()),
            "embedder": self._embedding.check,
            "model": self.model_state,
        }
        if self._settings.snapshot_bucket:
            checks["snapshots"] = lambda: PartState(True, self._bucket.check())
        return checks

    def dry_run(self, work: Callable[[], object]) -> None:
        from recollect.adapters.aws.dry_run import run_dry

        run_dry(work)

    def create(self) -> list[str]:
        """Creates table, index, and the bucket where one is set; answers what is new."""
        made = ["table"] if self._table.create() else []
        made += ["index"] if self.index.create() else []
        made += ["bucket"] if self._settings.snapshot_bucket and self._bucket.create() else []
        return made

    def endpoints(self) -> list[str]:
        """Where everything is that holds users' data, as the clients will call it, whatever said so."""
        stores: list[Any] = [self.access.client]
        stores += [self._bucket.client] if self._settings.snapshot_bucket else []
        return [self._settings.opensearch_url, *(client.meta.endpoint_url for client in stores)]

    def disconnect(self) -> None:
        from recollect.adapters.connections import disconnect_all

        disconnect_all()

    def close(self) -> None:
        """Does nothing: the SDK's connections end with the process."""
