"""An HTTP server on this machine that answers as it is told: for what the real engine here cannot show."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class Answer:
    """One answer; status 0 hangs up without any."""

    body: bytes = b"{}"
    status: int = 200
    after_seconds: float = 0.0


@dataclass(slots=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class ScriptedEngine:
    """Answers with `answers` in turn, the last one for ever."""

    port: int = 0
    answers: list[Answer] = field(default_factory=lambda: [Answer()])
    asked: list[Asked] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def next_answer(self) -> Answer:
        """The answer whose turn it is."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def running_engine() -> Iterator[ScriptedEngine]:
    """The server, ended with the block."""
    engine = ScriptedEngine()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(engine))
    server.daemon_threads = True
    engine.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield engine
    engine.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()


def _handler_of(engine: ScriptedEngine) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            engine.asked.append(Asked(self.command, self.path, headers, body))
            answer = engine.next_answer()
            engine.closing.wait(answer.after_seconds)
            with suppress(BrokenPipeError, ConnectionResetError):  # the client may have given up
                self.send(answer)

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = answer

        def send(self, answer: Answer) -> None:
            if answer.status:
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body if self.command != "HEAD" else b"")

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    return Handler
