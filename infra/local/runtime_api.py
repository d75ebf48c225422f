"""A small local Runtime API: what Lambda's own client in a function's process asks for events and tells results."""

import json
import queue
import sys
import time
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

PREFIX = "/2018-06-01/runtime"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an invocation, or the start of the process, ended: its answer, or the error it reported."""

    answer: Any = None
    error: dict[str, Any] | None = None


@dataclass(slots=True)
class _Invocation:
    id: str
    event: Any
    deadline_seconds: float
    outcome: "queue.Queue[Outcome]" = field(default_factory=queue.Queue)


class _Server(ThreadingHTTPServer):
    """A function that ends while it waits for its next event is no fault."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class RuntimeApi:
    """Serves one function's process on a port of loopback; a context manager.

    `started`: the process has asked for an event, so its start is over.
    """

    def __init__(self) -> None:
        self.start_error: dict[str, Any] | None = None
        self.started = Event()
        self._waiting: queue.Queue[_Invocation] = queue.Queue()
        self._under_way: dict[str, _Invocation] = {}
        self._server = _Server(("127.0.0.1", 0), self._handler())

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "RuntimeApi":
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def hand_over(self, event: Any, timeout_seconds: float) -> "queue.Queue[Outcome]":
        invocation = _Invocation(str(uuid.uuid4()), event, time.time() + timeout_seconds)
        self._under_way[invocation.id] = invocation
        self._waiting.put(invocation)
        return invocation.outcome

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                api.started.set()
                invocation = api._waiting.get()
                headers = {
                    "Lambda-Runtime-Aws-Request-Id": invocation.id,
                    "Lambda-Runtime-Deadline-Ms": str(int(invocation.deadline_seconds * 1000)),
                    "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:us-east-1:123456789012:function:built",
                }
                self._answer(200, json.dumps(invocation.event).encode(), headers)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"null")
                api._take(self.path.removeprefix(PREFIX).strip("/").split("/"), body)
                self._answer(202, b"{}", {})

            def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        return Handler

    def _take(self, path: list[str], body: Any) -> None:
        if path == ["init", "error"]:
            self.start_error = body
        else:
            _, invocation_id, kind = path
            outcome = Outcome(answer=body) if kind == "response" else Outcome(error=body)
            self._under_way.pop(invocation_id).outcome.put(outcome)
