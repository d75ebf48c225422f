"""A connection to the database that breaks is made again, a few times, and then the error is raised (H-28, H-30)."""

from types import SimpleNamespace

import pytest

from adapters.embedders.local_server import Reply, Server, running_server
from recollect.adapters.aws.clients import ClientPolicy, dynamodb_client
from recollect.adapters.aws.errors import translated
from recollect.core.errors import Unavailable

HANGS_UP = Reply(b"", 0)
KEY = {"pk": {"S": "p"}, "sk": {"S": "s"}}
ITEM = Reply({"Item": KEY}, headers={"Content-Type": "application/x-amz-json-1.0"})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials, and no pauses between the tries."""
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda _: None))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


def read(server: Server, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", server.url)
    with translated("DynamoDB"):
        return dynamodb_client(ClientPolicy(tries=3)).get_item(TableName="t", Key=KEY).get("Item")


@pytest.mark.spec("H-28")
@pytest.mark.parametrize("trouble", [HANGS_UP, Reply({}, 500), Reply({}, 503)])
def test_a_broken_connection_is_made_again(monkeypatch: pytest.MonkeyPatch, trouble: Reply) -> None:
    with running_server() as server:
        server.replies = [trouble, trouble, ITEM]
        assert read(server, monkeypatch) == KEY
        assert len(server.asked) == 3


@pytest.mark.spec("H-28", "H-30")
def test_after_the_last_try_the_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_server() as server:
        server.replies = [HANGS_UP]
        with pytest.raises(Unavailable):
            read(server, monkeypatch)
        assert len(server.asked) == 3
