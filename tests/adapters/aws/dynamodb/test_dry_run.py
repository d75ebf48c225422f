"""Dry work reads what is there, and nothing that it writes leaves the process; other work is as ever."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from recollect.adapters.aws.clients import dynamodb_client, eventbridge_client
from recollect.adapters.aws.dry_run import is_dry, run_dry
from recollect.adapters.concurrency import Threads

KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}


class _Service(BaseHTTPRequestHandler):
    """Answers every operation with an empty object, and notes its name."""

    asked: list[str]

    def do_POST(self) -> None:
        self.asked.append(self.headers["X-Amz-Target"].partition(".")[2])
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        """Standard error stays empty."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The operations that reach the service, in order."""
    names: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Service", (_Service,), {"asked": names}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for service in ("DYNAMODB", "EVENTBRIDGE"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", f"http://127.0.0.1:{server.server_port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    yield names
    server.shutdown()
    thread.join()
    server.server_close()


def _write_all(client: Any) -> None:
    update = {"UpdateExpression": "SET t = :t", "ExpressionAttributeValues": {":t": {"N": "1"}}}
    client.put_item(TableName="t", Item=KEY)
    client.update_item(TableName="t", Key=KEY, **update)
    client.delete_item(TableName="t", Key=KEY)
    client.batch_write_item(RequestItems={"t": [{"PutRequest": {"Item": KEY}}]})
    client.transact_write_items(TransactItems=[{"Put": {"TableName": "t", "Item": KEY}}])


def test_of_dry_work_reads_alone_are_sent(asked: list[str]) -> None:
    client = dynamodb_client()

    def work() -> None:
        assert is_dry()
        client.get_item(TableName="t", Key=KEY)
        _write_all(client)

    run_dry(work)
    assert asked == ["GetItem"]
    assert not is_dry()
    _write_all(client)
    assert asked[1:] == ["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"]


def test_what_dry_work_publishes_is_accepted_and_not_sent(asked: list[str]) -> None:
    client, answers = eventbridge_client(), list[Any]()
    entries = [{"Source": "s", "DetailType": "d", "Detail": json.dumps({})} for _ in range(3)]
    run_dry(lambda: answers.append(client.put_events(Entries=entries)))
    assert [len(one["Entries"]) for one in answers] == [3]
    assert asked == []


def test_what_dry_work_began_stays_dry_however_late_it_is(asked: list[str]) -> None:
    client, threads, over = dynamodb_client(), Threads(), threading.Event()
    begun: list[Any] = []

    def late() -> None:
        over.wait()
        client.put_item(TableName="t", Item=KEY)

    run_dry(lambda: begun.append(threads.submit(late)))
    over.set()
    begun[0].result()
    assert asked == []


def test_dry_work_that_fails_leaves_nothing_dry(asked: list[str]) -> None:
    def work() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        run_dry(work)
    dynamodb_client().put_item(TableName="t", Item=KEY)
    assert asked == ["PutItem"]
