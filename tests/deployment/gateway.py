"""Stands between a function and the engines: forwards, notes what a role would have to allow, takes services away."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from deployment.template import OPTIONAL
from infra.local.runtime_api import Outcome

TRANSACTION_ACTIONS = {
    "Put": "PutItem",
    "ConditionCheck": "ConditionCheckItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
}
_OBJECT_ACTIONS = {"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject", "DELETE": "s3:DeleteObject"}
RULES_PARAMETER = "/recollect/rules"
SIGNING_PARAMETER = OPTIONAL["agentcore"]["SigningKeysParameter"]
SIGNING_KEYS = {
    f"AKIA{tenant.upper()}": {"secret": f"secret-of-{tenant}-0123456789", "tenant": tenant}
    for tenant in ("acme", "globex")
}
_HOP = {"connection", "keep-alive", "transfer-encoding"}


@dataclass(frozen=True, slots=True, order=True)
class Need:
    """An action on `table`, `table/index/NAME`, `domain/PATH`, `bucket`, `bucket/object`, `bus`, `parameter/…`,
    `function/NAME`, or an ARN.
    """

    action: str
    resource: str


def _parameters() -> dict[str, str]:
    return {RULES_PARAMETER: '{"tags": {"boats": ["canoe"]}}', SIGNING_PARAMETER: json.dumps(SIGNING_KEYS)}


@dataclass(slots=True)
class Gateway:
    """One port for all services of one function; a context manager. `away` names services that answer 503.

    `parameters` are what SSM holds, `said` what a model on Bedrock answers; what it was sent is in `asked`. `invoked`
    runs another function with an event.
    """

    upstream: dict[str, str]
    needs: set[Need] = field(default_factory=set)
    published: list[dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    away: set[str] = field(default_factory=set)
    parameters: dict[str, str] = field(default_factory=_parameters)
    said: str = ""
    invoked: Callable[[str, Any], Outcome] | None = None
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Gateway":
        self._server = _Server(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def take(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        service, target = _service_of(headers), headers.get("X-Amz-Target", "").rpartition(".")[2]
        if service in self.away:
            return 503, [("Content-Type", "application/json")], b"{}"
        self.needs |= set(_needs(service, method, path, target, body))
        if service == "events":
            return self._publish(json.loads(body)["Entries"])
        if service == "ssm":
            name = json.loads(body)["Name"]
            return _json({"Parameter": {"Name": name, "Value": self.parameters[name]}})
        if service == "bedrock":
            return self._converse(json.loads(body))
        if service == "lambda":
            return self._invoke(_function_in(path), json.loads(body))
        return _forward(self.upstream[service], method, path, headers, body)

    def _publish(self, entries: list[dict[str, Any]]) -> tuple[int, list[tuple[str, str]], bytes]:
        self.published += entries
        return _json({"FailedEntryCount": 0, "Entries": [{"EventId": str(n)} for n in range(len(entries))]})

    def _converse(self, request: dict[str, Any]) -> tuple[int, list[tuple[str, str]], bytes]:
        self.asked.append(request)
        message = {"role": "assistant", "content": [{"text": self.said}]}
        return _json({"output": {"message": message}, "stopReason": "end_turn"})

    def _invoke(self, name: str, event: Any) -> tuple[int, list[tuple[str, str]], bytes]:
        assert self.invoked is not None, f"nobody runs the function {name}"
        outcome = self.invoked(name, event)
        status, headers, answer = _json(outcome.answer if outcome.error is None else outcome.error)
        return status, [*headers, *([("X-Amz-Function-Error", "Unhandled")] if outcome.error else [])], answer


def _function_in(path: str) -> str:
    """The name in `/2015-03-31/functions/NAME/invocations`."""
    return unquote(urlsplit(path).path.split("/")[3])


def _json(answer: Any) -> tuple[int, list[tuple[str, str]], bytes]:
    return 200, [("Content-Type", "application/x-amz-json-1.1")], json.dumps(answer).encode()


class _Server(ThreadingHTTPServer):
    """A client that hangs up, because its time is over, is no fault here."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _service_of(headers: Any) -> str:
    target = headers.get("X-Amz-Target", "")
    if target.startswith("DynamoDB_"):
        return "dynamodb"
    if target.startswith("AWSEvents."):
        return "events"
    if target.startswith("AmazonSSM."):
        return "ssm"
    for service in ("bedrock", "lambda"):
        if f"/{service}/aws4_request" in headers.get("Authorization", ""):
            return service
    return "s3" if "/s3/aws4_request" in headers.get("Authorization", "") else "opensearch"


def _needs(service: str, method: str, path: str, target: str, body: bytes) -> Iterator[Need]:
    if service == "dynamodb":
        request = json.loads(body)
        index = f"table/index/{request['IndexName']}" if "IndexName" in request else "table"
        for action in _table_actions(target, request):
            yield Need(f"dynamodb:{action}", index)
    elif service == "opensearch":
        yield Need(f"es:ESHttp{method.capitalize()}", f"domain{unquote(urlsplit(path).path)}")
    elif service == "ssm":
        yield Need(f"ssm:{target}", "parameter" + json.loads(body)["Name"])
    elif service == "bedrock":
        yield Need("bedrock:InvokeModel", unquote(urlsplit(path).path.split("/")[2]))
    elif service == "lambda":
        yield Need("lambda:InvokeFunction", f"function/{_function_in(path)}")
    elif service == "s3":
        yield _bucket_need(method, urlsplit(path).path, urlsplit(path).query)
    else:
        yield Need(f"events:{target}", "bus")


def _bucket_need(method: str, path: str, query: str) -> Need:
    """An object is asked for by a path of more than the bucket's name."""
    asked = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
    if "/" not in path.strip("/"):
        return Need("s3:ListBucketVersions" if "versions" in asked else "s3:ListBucket", "bucket")
    version = "Version" if "versionId" in asked else ""
    return Need(_OBJECT_ACTIONS[method] + version, "bucket/object")


def _table_actions(target: str, request: dict[str, Any]) -> set[str]:
    if target != "TransactWriteItems":
        return {target}
    return {TRANSACTION_ACTIONS[kind] for item in request["TransactItems"] for kind in item}


def _forward(
    upstream: str, method: str, path: str, headers: Any, body: bytes
) -> tuple[int, list[tuple[str, str]], bytes]:
    parts = urlsplit(upstream)
    assert parts.hostname is not None
    connection = HTTPConnection(parts.hostname, parts.port, timeout=30)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if name.lower() not in _HOP:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, [h for h in answer.getheaders() if h[0].lower() not in _HOP], answer.read()
    finally:
        connection.close()


def _handler_of(gateway: Gateway) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _take(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, answer = gateway.take(self.command, self.path, self.headers, body)
            self.send_response_only(status)
            for name, value in headers:
                if name.lower() != "content-length" or self.command == "HEAD":
                    self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer)

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _take

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    return Handler
