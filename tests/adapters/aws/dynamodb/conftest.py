"""A table on moto, and the same table on DynamoDB Local where the engines run."""

import copy
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models.table import Table as MotoTable

from conftest import Engines
from moto_calls import OneCallAtATime
from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import Backoff, ClientPolicy, dynamodb_client
from recollect.adapters.aws.items import DynamoDBIdempotency, DynamoDBItems
from recollect.adapters.aws.namespaced_items import DynamoDBNamespacedItems
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.publisher import AwsPublisher, BusLog, EventBus
from recollect.adapters.aws.rate_limiter import DynamoDBRateLimiter
from recollect.adapters.aws.removal import DynamoDBEraser
from recollect.adapters.aws.table import ItemAccess, table_definition
from recollect.adapters.aws.timeline import DynamoDBTimeline
from recollect.adapters.aws.usage import DynamoDBUsageCounts
from recollect.adapters.concurrency import Inline, Threads
from recollect.contracts.examples import writes_of
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.ports import Concurrency

PATIENT = ClientPolicy(connect_seconds=5, read_seconds=20)


class TableCopying:
    """What moto calls `copy`: before a transaction it copies the table, once for each operation, to undo a failure.

    Our transactions replace items and change none in place, so the mapping's copy is enough; a deep one takes
    longer with every item.
    """

    @staticmethod
    def deepcopy(value: Any) -> Any:
        if not isinstance(value, MotoTable):
            return copy.deepcopy(value)
        table = copy.copy(value)
        table.items = defaultdict(dict, {key: dict(items) for key, items in value.items.items()})
        return table


@contextmanager
def a_moto_client() -> Iterator[OneCallAtATime]:
    """A client of a DynamoDB that moto keeps in this process; the environment is changed only while it is made."""
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        patch.setattr("moto.dynamodb.models.copy", TableCopying)
        with pytest.MonkeyPatch.context() as environment:
            environment.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)
            environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
            client = OneCallAtATime(dynamodb_client())
        yield client


@pytest.fixture(scope="module")
def moto_client() -> Iterator[OneCallAtATime]:
    """One client for a module: making it takes longer than most tests."""
    with a_moto_client() as client:
        yield client


@pytest.fixture
def moto_access(moto_client: OneCallAtATime) -> Iterator[ItemAccess]:
    yield from a_table(moto_client, Inline())


def local_service(engines: Engines, name: str) -> Any:
    """A client of DynamoDB Local, which shows a table to the credentials that made it; so they are always these."""
    session = boto3.Session(aws_access_key_id="tests", aws_secret_access_key="tests", region_name=engines.region)
    return session.client(name, endpoint_url=engines.dynamodb_url, config=PATIENT.config)


@pytest.fixture(scope="session")
def local_client(engines: Engines) -> Any:
    return local_service(engines, "dynamodb")


@pytest.fixture(scope="class")
def local_access(local_client: Any) -> Iterator[ItemAccess]:
    """A table on DynamoDB Local for the tests of a class, or for a test that is in none."""
    yield from a_table(local_client, Threads())


@pytest.fixture(
    params=[pytest.param("moto", marks=pytest.mark.stand_in), pytest.param("local", marks=pytest.mark.engines)]
)
def access(request: pytest.FixtureRequest) -> ItemAccess:
    table: ItemAccess = request.getfixturevalue(f"{request.param}_access")
    return table


def a_table(client: Any, concurrency: Concurrency) -> Iterator[ItemAccess]:
    """Without stream and TTL: DynamoDB Local deletes what is past within seconds, and tests live in the past."""
    name = f"test-{uuid4().hex[:12]}"
    definition = table_definition()
    del definition["TimeToLiveSpecification"]
    del definition["StreamSpecification"]
    client.create_table(TableName=name, **definition)
    yield ItemAccess(client, name, concurrency)
    client.delete_table(TableName=name)


def over_the_table(adapter: Callable[[ItemAccess], Any]) -> Any:
    """A fixture: an adapter over `access`."""

    @pytest.fixture
    def made(access: ItemAccess) -> Any:
        return adapter(access)

    return made


timeline = over_the_table(DynamoDBTimeline)
projections = over_the_table(DynamoDBProjections)
store = over_the_table(DynamoDBIdempotency)
publisher = over_the_table(lambda access: AwsPublisher(BusLog(access)))
eraser = over_the_table(DynamoDBEraser)
items = over_the_table(DynamoDBItems)
namespaced_items = over_the_table(DynamoDBNamespacedItems)
limiter = over_the_table(DynamoDBRateLimiter)
usage = over_the_table(DynamoDBUsageCounts)


@pytest.fixture
def unreliable(access: ItemAccess) -> Callable[[dict[str, int]], AwsPublisher]:
    """A publisher whose bus fails these entries so many times."""

    def make(failures: dict[str, int]) -> AwsPublisher:
        bus = FailingBus(dict(failures))
        return AwsPublisher(BusLog(access), EventBus(bus, "bus-name", Backoff(tries=3, sleep=lambda _: None)))

    return make


@dataclass
class FailingBus:
    """Fails entries by the id in their detail; `left` times each."""

    left: dict[str, int]

    def put_events(self, **request: Any) -> dict[str, Any]:
        return {"Entries": [self._taken(json.loads(entry["Detail"])["id"]) for entry in request["Entries"]]}

    def _taken(self, event_id: str) -> dict[str, str]:
        self.left[event_id] = self.left.get(event_id, 0) - 1
        return {"ErrorCode": "InternalFailure"} if self.left[event_id] >= 0 else {"EventId": "1"}


@pytest.fixture
def keep(timeline: DynamoDBTimeline) -> Callable[[Scope, list[Event]], None]:
    def store_events(scope: Scope, events: list[Event]) -> None:
        timeline.append(scope, writes_of(scope, events))

    return store_events


@pytest.fixture
def spoil(access: ItemAccess) -> Callable[[Scope, Event], None]:
    return lambda scope, event: access.put_many([dict(keys.event_key(scope, event.ref).attributes)])
