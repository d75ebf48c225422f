"""The AWS SDK's clients (DynamoDB, its streams, EventBridge, SSM) with short time-outs and few tries.

`Backoff` paces Recollect's own tries of what was throttled or conflicted; `listen` reports what each call cost.
"""

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import boto3
from botocore.config import Config

from recollect.adapters.aws.errors import translated

Answer = dict[str, Any]
Listener = Callable[[str, Mapping[str, Any]], None]

_REPORTS_CAPACITY = frozenset(
    {
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "TransactWriteItems",
        "UpdateItem",
    }
)


class DynamoDBClient(Protocol):
    """The methods of boto3's low-level DynamoDB client that are called; boto3 has no types."""

    def batch_get_item(self, **request: Any) -> Answer: ...
    def batch_write_item(self, **request: Any) -> Answer: ...
    def create_table(self, **request: Any) -> Answer: ...
    def delete_item(self, **request: Any) -> Answer: ...
    def describe_table(self, **request: Any) -> Answer: ...
    def describe_time_to_live(self, **request: Any) -> Answer: ...
    def get_item(self, **request: Any) -> Answer: ...
    def put_item(self, **request: Any) -> Answer: ...
    def query(self, **request: Any) -> Answer: ...
    def transact_write_items(self, **request: Any) -> Answer: ...
    def update_item(self, **request: Any) -> Answer: ...
    def update_table(self, **request: Any) -> Answer: ...
    def update_time_to_live(self, **request: Any) -> Answer: ...


class StreamsClient(Protocol):
    """The methods of boto3's client of DynamoDB streams that are called."""

    def describe_stream(self, **request: Any) -> Answer: ...
    def get_shard_iterator(self, **request: Any) -> Answer: ...
    def get_records(self, **request: Any) -> Answer: ...


class EventBridgeClient(Protocol):
    """The method of boto3's EventBridge client that is called."""

    def put_events(self, **request: Any) -> Answer: ...


@dataclass(frozen=True, slots=True)
class ClientPolicy:
    """When a client gives up. No try lasts longer than `connect_seconds` + `read_seconds`; `tries` counts the first."""

    connect_seconds: float = 0.5
    read_seconds: float = 1.5
    tries: int = 3
    connections: int = 32

    @property
    def config(self) -> Config:
        """The SDK's form."""
        return Config(
            connect_timeout=self.connect_seconds,
            read_timeout=self.read_seconds,
            retries={"mode": "standard", "total_max_attempts": self.tries},
            max_pool_connections=self.connections,
            tcp_keepalive=True,
        )


DEFAULT_POLICY = ClientPolicy()


def dynamodb_client(policy: ClientPolicy = DEFAULT_POLICY) -> DynamoDBClient:
    """A client of DynamoDB; region, credentials and endpoint come from the SDK's own settings."""
    client: DynamoDBClient = boto3.Session().client("dynamodb", config=policy.config)
    return client


def streams_client(policy: ClientPolicy = DEFAULT_POLICY) -> StreamsClient:
    """A client of DynamoDB's streams; where only DynamoDB's own endpoint is set (DynamoDB Local), that one serves."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_DYNAMODB_STREAMS") or os.environ.get("AWS_ENDPOINT_URL_DYNAMODB")
    client: StreamsClient = boto3.Session().client("dynamodbstreams", endpoint_url=endpoint, config=policy.config)
    return client


def eventbridge_client(policy: ClientPolicy = DEFAULT_POLICY) -> EventBridgeClient:
    """A client of EventBridge."""
    client: EventBridgeClient = boto3.Session().client("events", config=policy.config)
    return client


def read_parameter(name: str, timeout_seconds: float) -> str:
    """The decrypted value of a parameter in SSM's parameter store.

    Raises UpstreamFailed where there is none of that name; NotReady, Unavailable, Throttled.
    """
    policy = ClientPolicy(connect_seconds=timeout_seconds, read_seconds=timeout_seconds)
    with translated("SSM"):
        answer = boto3.client("ssm", config=policy.config).get_parameter(Name=name, WithDecryption=True)
    return str(answer["Parameter"]["Value"])


def listen(client: Any, listener: Listener) -> None:
    """Calls `listener` after every call with the operation's name and the answer, capacity by index included.

    For benches and tests; once a call, however often the SDK tried (`ResponseMetadata.RetryAttempts`).
    """

    def ask(params: dict[str, Any], model: Any, **_: Any) -> None:
        if model.name in _REPORTS_CAPACITY:
            params["ReturnConsumedCapacity"] = "INDEXES"

    def report(parsed: Mapping[str, Any], model: Any, **_: Any) -> None:
        listener(model.name, parsed)

    client.meta.events.register("provide-client-params.dynamodb", ask)
    client.meta.events.register("after-call", report)


@dataclass(frozen=True, slots=True)
class Backoff:
    """`tries` in all; before each but the first a random part of a pause that doubles from `base` to `cap` seconds."""

    tries: int = 8
    base_seconds: float = 0.02
    cap_seconds: float = 0.32
    sleep: Callable[[float], object] = time.sleep

    def attempts(self) -> Iterator[int]:
        """Counts the tries from 0 and sleeps between them."""
        for attempt in range(self.tries):
            if attempt:
                self.sleep(self._pause(attempt))
            yield attempt

    def _pause(self, attempt: int) -> float:
        longest = min(self.cap_seconds, self.base_seconds * 2 ** (attempt - 1))
        return random.uniform(longest / 4, longest)  # noqa: S311 - spreads tries, guards nothing


DEFAULT_BACKOFF = Backoff()
