"""A deployment on the real engines: its table, index and bucket, the functions' handlers, and the stream between."""

import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

import boto3
import pytest

from conftest import Engines
from embedded.setting import judged
from recollect.adapters.aws.clients import dynamodb_client, streams_client
from recollect.adapters.aws.stream import StreamPump
from recollect.adapters.aws.table import Table
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.entrypoints.http.aws import build_handler
from recollect.entrypoints.lambda_handlers import project_handler
from recollect.settings import Settings


class Context:
    function_name = "recollect-test"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:recollect-test"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return 1000 * self._seconds


def lambda_context(seconds: int = 30) -> Any:
    return Context(seconds)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any


@dataclass(slots=True)
class Deployment:
    """Handlers as the template wires them, not warmed up, over one table, index and bucket."""

    app: App
    handlers: Mapping[str, Callable[..., Any]]
    pump: StreamPump
    engines: Engines

    def call(
        self,
        function: str,
        method: str,
        path: str,
        body: Any = None,
        tenant: str = "acme",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request of the HTTP API, version 2, with the tenant in the token's claims."""
        raw_path, _, query = path.partition("?")
        event: dict[str, Any] = {
            "version": "2.0",
            "routeKey": f"{method} {raw_path}",
            "rawPath": raw_path,
            "rawQueryString": query,
            "headers": {"content-type": "application/json", **(headers or {})},
            "requestContext": {
                "http": {"method": method, "path": raw_path},
                "stage": "$default",
                "requestId": "test",
                "authorizer": {"jwt": {"claims": {"tenant": tenant}, "scopes": ["recollect/admin"]}},
            },
            "isBase64Encoded": False,
        }
        if query:
            event["queryStringParameters"] = dict(parse_qsl(query))
        if body is not None:
            event["body"] = json.dumps(body)
        answer = self.handlers[function](event, lambda_context())
        return Answer(answer["statusCode"], json.loads(answer["body"] or "null"))

    def ingest(self, *contents: str, day: int = 1, tenant: str = "acme", **more: Any) -> Answer:
        """Events of anna, a second apart on a day of May 2024."""
        moments = [f"2024-05-{day:02d}T12:00:{n:02d}Z" for n in range(len(contents))]
        said = [{"content": c, "timestamp": at, **more} for c, at in zip(contents, moments, strict=True)]
        body = {"user_id": "anna", "conversation_id": "c1", "events": said}
        return self.call("ingest", "POST", "/v1/events", body, tenant)

    def found(self, query: str, tenant: str = "acme", **more: Any) -> list[str]:
        """The contents that a search of anna's shows."""
        answer = self.call("retrieval", "POST", "/v1/search", {"user_id": "anna", "query": query, **more}, tenant)
        assert answer.status == 200, answer.body
        return [result["content"] for result in answer.body["results"]]


SEARCH_ENGINES = ("domain", "table")
SEARCH_ENGINE = os.environ.get("RECOLLECT_TEST_SEARCH_ENGINE", "domain")
"""Where the index of a deployment is whose test does not say it."""
on_both = pytest.mark.parametrize("deployment", SEARCH_ENGINES, indirect=True)
"""A test of what the search engine has a part in: run with each, by each run of the tests."""
on_the_domain = pytest.mark.parametrize("deployment", ["domain"], indirect=True)
"""A test that speaks to OpenSearch itself."""


def settings_on(engines: Engines, name: str, search_engine: str = SEARCH_ENGINE) -> Settings:
    """Settings of a deployment whose table, index and bucket have that name, with the hashing embedder."""
    variables = {
        "RECOLLECT_ENGINES": "aws",
        "RECOLLECT_EMBEDDER": "hashing",
        "RECOLLECT_TABLE": name,
        "RECOLLECT_INDEX_PREFIX": name,
        "RECOLLECT_SEARCH_ENGINE": search_engine,
        "RECOLLECT_OPENSEARCH_URL": engines.opensearch_url if search_engine == "domain" else "",
        "RECOLLECT_SNAPSHOT_BUCKET": name,
        "RECOLLECT_CALL_TIMEOUT_SECONDS": "20",
    }
    return Settings.from_environment(variables)


class OwnDatabase:
    """A session whose clients of DynamoDB Local have a database to themselves: it keeps one for each access key.

    At each write to a table with a stream it looks through the stream records of all tables of the database, those
    deleted included, for they are kept for a day: with a hundred deployments in one a write takes ten times as long.
    Such a database is used once: its key says so to our server of it (infra/engines/dynamodb).
    """

    _session = boto3.Session(aws_access_key_id="tests", aws_secret_access_key="tests")

    def __init__(self, name: str) -> None:
        self._key = self.key(name)

    @staticmethod
    def key(name: str) -> str:
        """The access key of the database of this name."""
        return "once" + "".join(filter(str.isalnum, name))

    def client(self, service: str, **options: Any) -> Any:
        """As `boto3.Session.client`."""
        keys = {"aws_access_key_id": self._key, "aws_secret_access_key": self._key}
        return self._session.client(service, **keys, **options)

    @classmethod
    def use(cls, patch: pytest.MonkeyPatch, name: str) -> None:
        """Whatever client of DynamoDB this process makes from now on is of that database; S3's are as before."""
        session = cls(name)
        sessions = SimpleNamespace(Session=lambda: session)
        patch.setattr("recollect.adapters.aws.clients.boto3", sessions)


def shown_at_once(parts: Any, prefix: str) -> None:
    """Searches show a write of these indexes as soon as it is answered, where a deployment lets a second pass.

    A write that waits for the engine's refresh asks for one, since there is no room for it to wait.
    """
    if hasattr(parts.index, "_client"):  # the table's own index shows a write at once
        soon = {"index": {"refresh_interval": "100ms", "max_refresh_listeners": 0}}
        parts.index._client.indices.put_settings(index=f"{prefix}-*", body=soon)


def drop_indexes(parts: Any, prefix: str) -> None:
    """Deletes what a deployment has in the search engine; its table goes by itself."""
    if hasattr(parts.index, "_client"):
        parts.index._client.indices.delete(index=f"{prefix}-*")


@pytest.fixture
def deployment(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Deployment]:
    """A fresh deployment with the hashing embedder; its parameter, where it has one, is the search engine."""
    name = f"e2e-{uuid.uuid4().hex[:12]}"
    settings = settings_on(engines, name, getattr(request, "param", SEARCH_ENGINE))
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", engines.dynamodb_url)
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    OwnDatabase.use(monkeypatch, name)
    app = judged(open_app(settings))
    assert app.parts.create() == ["table", *(["index"] if settings.search_engine == "domain" else []), "bucket"]
    assert app.parts.create() == []
    parts: Any = app.parts
    shown_at_once(parts, name)
    project = project_handler(app)
    handlers = {
        "ingest": build_handler(app, ["ingest"]),
        "retrieval": build_handler(app, ["retrieval", "memories", "contradictions", "operations", "forgetting"]),
        "context": build_handler(app, ["context"]),
        "project": project,
    }
    arn = Table(dynamodb_client(), name).stream_arn()
    pump = StreamPump(streams_client(), arn, lambda event: project(event, lambda_context()))
    yield Deployment(app, handlers, pump, engines)
    drop_indexes(parts, name)
    parts.access.client.delete_table(TableName=name)
