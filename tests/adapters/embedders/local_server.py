"""A server on this machine that answers as it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class Reply:
    """One answer of the server; status 0 hangs up without any. `announced` bytes are promised, whatever comes.

    After `after_seconds` it comes as a whole, or a byte every `trickle_seconds`.
    """

    body: Any = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    after_seconds: float = 0.0
    announced: int | None = None
    trickle_seconds: float = 0.0


@dataclass(slots=True)
class Request:
    """A request as it came; the names of its headers are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class Server:
    """Answers with `replies` in turn, the last one for ever.

    It keeps the `requests`, and what it was asked in JSON as (path, headers, body).
    """

    url: str = ""
    replies: list[Reply] = field(default_factory=lambda: [Reply()])
    requests: list[Request] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def running_server() -> Iterator[Server]:
    state = Server()
    listening = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(state))
    state.url = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield state
    state.closing.set()
    listening.shutdown()
    listening.server_close()
    thread.join()


def _handler_of(state: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.requests.append(Request(self.command, self.path, headers, sent))
            body: Any = None
            with suppress(ValueError):  # lines of JSON are none
                body = json.loads(sent)
            state.asked.append((self.path, dict(self.headers), body))
            reply = state.next_reply()
            state.closing.wait(reply.after_seconds)
            with suppress(BrokenPipeError, ConnectionResetError):  # the client may have given up
                self._send(reply, reply.body(body) if callable(reply.body) else reply.body)

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = answer

        def _send(self, reply: Reply, body: Any) -> None:
            if reply.status == 0:
                return
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(reply.status)
            announced = len(data) if reply.announced is None else reply.announced
            headers = {"Content-Type": "application/json", **reply.headers, "Content-Length": str(announced)}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "HEAD":
                return
            step = 1 if reply.trickle_seconds else max(1, len(data))
            for start in range(0, len(data), step):
                self.wfile.write(data[start : start + step])
                state.closing.wait(reply.trickle_seconds)

        def log_message(self, *arguments: object) -> None:
            """Quiet."""

    return Handler
