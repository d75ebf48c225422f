"""Clients that are disconnected are clients still: the next call makes a connection of its own."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from recollect.adapters.aws.clients import dynamodb_client, eventbridge_client
from recollect.adapters.aws.index_format import IndexPlan
from recollect.adapters.aws.opensearch import OpenSearchConnection, OpenSearchIndex
from recollect.adapters.aws.snapshots import Bucket
from recollect.adapters.connections import disconnect_all
from recollect.adapters.http_connection import HttpConnection, HttpService

_ANSWER = json.dumps({"responses": [], "docs": [], "Entries": [], "FailedEntryCount": 0}).encode()


class _Service(BaseHTTPRequestHandler):
    """Answers everything, and notes from where each request comes."""

    protocol_version = "HTTP/1.1"
    senders: list[Any]

    def _answer(self) -> None:
        self.senders.append(self.client_address)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(_ANSWER)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(_ANSWER)

    do_GET = do_POST = do_PUT = do_HEAD = _answer

    def log_message(self, *_: Any) -> None:
        """Standard error stays empty."""


@pytest.fixture
def senders(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Of each request the address that it came from: a connection has one of its own."""
    seen: list[Any] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Service", (_Service,), {"senders": seen}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("SERVICE", f"http://127.0.0.1:{server.server_port}")
    for service in ("DYNAMODB", "EVENTBRIDGE", "S3"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", f"http://127.0.0.1:{server.server_port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    yield seen
    disconnect_all()
    server.shutdown()
    thread.join()
    server.server_close()


def _of_dynamodb(_url: str) -> Callable[[], object]:
    client = dynamodb_client()
    return lambda: client.get_item(TableName="t", Key={"pk": {"S": "a"}})


def _of_eventbridge(_url: str) -> Callable[[], object]:
    client = eventbridge_client()
    return lambda: client.put_events(Entries=[{"Source": "s", "DetailType": "d", "Detail": "{}"}])


def _of_the_bucket(_url: str) -> Callable[[], object]:
    bucket = Bucket("name", 2.0)
    return lambda: bucket.client.head_bucket(Bucket="name")


def _of_opensearch(url: str) -> Callable[[], object]:
    index = OpenSearchIndex(OpenSearchConnection(url=url), IndexPlan(prefix="p", generation=None, dimension=0))
    return lambda: index._client.cluster.health()


def _of_a_model(url: str) -> Callable[[], object]:
    connection = HttpConnection(HttpService(name="model", base_url=url))
    return lambda: connection.post("/v1/embeddings", {}, 2.0)


@pytest.mark.parametrize("of", [_of_dynamodb, _of_eventbridge, _of_the_bucket, _of_opensearch, _of_a_model])
def test_a_call_after_it_makes_a_connection_of_its_own(
    of: Callable[[str], Callable[[], object]], senders: list[Any]
) -> None:
    call = of(os.environ["SERVICE"])
    call()
    call()
    assert len(senders) == 2
    assert len(set(senders)) == 1
    assert disconnect_all() >= 1
    call()
    assert len(senders) == 3
    assert len(set(senders)) == 2
