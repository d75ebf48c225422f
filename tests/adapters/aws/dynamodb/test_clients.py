"""The clients: time-outs, retries of broken connections (H-28, H-30), and the cost of calls."""

import socket
import time
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.embedders.local_server import Reply, Server, running_server
from recollect.adapters.aws.clients import (
    DEFAULT_POLICY,
    ClientPolicy,
    dynamodb_client,
    eventbridge_client,
    listen,
    streams_client,
    translated,
)
from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.timeline import DynamoDBTimeline
from recollect.contracts.examples import append_events
from recollect.core.errors import Unavailable
from recollect.core.scope import Scope

HANGS_UP = Reply(b"", 0)
KEY = {"pk": {"S": "p"}, "sk": {"S": "s"}}
ITEM = Reply({"Item": KEY}, headers={"Content-Type": "application/x-amz-json-1.0"})


@pytest.fixture
def silent_server() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda _: None))


def test_a_try_lasts_two_seconds_at_most() -> None:
    assert DEFAULT_POLICY.connect_seconds + DEFAULT_POLICY.read_seconds <= 2


@pytest.mark.usefixtures("credentials")
def test_a_silent_service_is_given_up(silent_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", silent_server)
    client = dynamodb_client(ClientPolicy(connect_seconds=0.2, read_seconds=0.2, tries=2))
    begun = time.monotonic()
    with pytest.raises(Unavailable), translated("DynamoDB"):
        client.get_item(TableName="t", Key={"pk": {"S": "p"}, "sk": {"S": "s"}})
    assert time.monotonic() - begun < 5


@pytest.mark.usefixtures("credentials")
def test_a_closed_port_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")
    with pytest.raises(Unavailable), translated("DynamoDB"):
        dynamodb_client(ClientPolicy(tries=1)).describe_table(TableName="t")


@pytest.mark.usefixtures("credentials")
def test_all_clients_share_the_policy() -> None:
    clients: list[Any] = [dynamodb_client(), streams_client(), eventbridge_client()]
    for client in clients:
        config = client.meta.config
        assert config.read_timeout == DEFAULT_POLICY.read_seconds
        assert config.retries["total_max_attempts"] == DEFAULT_POLICY.tries


def test_a_listener_hears_every_call_and_what_it_cost(moto_access: ItemAccess, scope: Scope) -> None:
    heard: list[tuple[str, Mapping[str, Any]]] = []
    listen(moto_access.client, lambda operation, answer: heard.append((operation, answer)))
    timeline = DynamoDBTimeline(moto_access)
    events = append_events(timeline, scope, 2)
    timeline.read(scope, [event.ref for event in events])
    timeline.newest(scope, 10)
    appended = ["BatchGetItem", "TransactWriteItems", "TransactWriteItems"]
    assert [operation for operation, _ in heard] == [*appended, "BatchGetItem", "Query"]
    assert all("ConsumedCapacity" in answer for _, answer in heard)


def read(server: Server, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", server.url)
    with translated("DynamoDB"):
        return dynamodb_client(ClientPolicy(tries=3)).get_item(TableName="t", Key=KEY).get("Item")


@pytest.mark.spec("H-28")
@pytest.mark.usefixtures("credentials", "no_pauses")
@pytest.mark.parametrize("trouble", [HANGS_UP, Reply({}, 500), Reply({}, 503)])
def test_a_broken_connection_is_made_again(monkeypatch: pytest.MonkeyPatch, trouble: Reply) -> None:
    with running_server() as server:
        server.replies = [trouble, trouble, ITEM]
        assert read(server, monkeypatch) == KEY
        assert len(server.asked) == 3


@pytest.mark.spec("H-28", "H-30")
@pytest.mark.usefixtures("credentials", "no_pauses")
def test_after_the_last_try_the_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_server() as server:
        server.replies = [HANGS_UP]
        with pytest.raises(Unavailable):
            read(server, monkeypatch)
        assert len(server.asked) == 3
