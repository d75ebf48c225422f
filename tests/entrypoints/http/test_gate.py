"""What stands before the laptop's routes: no other web page reads a memory, no body fills the machine."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from entrypoints.http.calling import Caller, Laptop
from entrypoints.http.conftest import settings_in
from recollect.app import App
from recollect.core.errors import ConfigurationError
from recollect.entrypoints.http.server import build_asgi, check_host, is_loopback


@pytest.mark.parametrize("host", ["localhost:8700", "127.0.0.1:8700", "[::1]:8700", "LOCALHOST:8700"])
def test_its_own_names_are_answered(laptop: Laptop, host: str) -> None:
    assert Caller(laptop).get("/v1/health", host=host).status == 200
    assert Caller(laptop).get("/v1/health", host=host, origin=f"http://{host.lower()}").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8700"},
        {"host": "localhost"},
        {"host": "localhost:8701"},
        {"host": "localhost:8700@evil.example"},
        {"host": "localhost.evil.example:8700"},
        {"host": "localhost:x"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "https://localhost:8700"},
        {"origin": "http://localhost"},
        {"origin": "http://localhost:3000"},
        {"origin": "null"},
        {"origin": "file://"},
        {"origin": "http://localhost:8700.evil.example"},
    ],
)
def test_another_page_is_refused(laptop: Laptop, headers: dict[str, str]) -> None:
    caller = Caller(laptop)
    for answer in (
        caller.get("/v1/health", **headers),
        caller.post("/v1/events", {"user_id": "anna", "events": [{"content": "planted"}]}, **headers),
    ):
        assert (answer.status, answer.json["type"]) == (403, "urn:recollect:problem:forbidden")
    assert caller.timeline().json["events"] == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", ""])
def test_without_keys_only_this_machine_is_served(app: App, host: str) -> None:
    with pytest.raises(ConfigurationError, match="RECOLLECT_API_KEYS"):
        build_asgi(app, host)
    assert not is_loopback(host)


def test_with_keys_any_host_is_served(tmp_path: Path) -> None:
    keys = '{"key-a": {"tenant": "acme"}}'
    check_host(settings_in(tmp_path, RECOLLECT_API_KEYS=keys), "0.0.0.0")
    for host in ("127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"):
        check_host(settings_in(tmp_path), host)


def run_raw(app: App, scope: dict[str, Any], parts: Iterator[bytes]) -> tuple[int, int]:
    """The status, and how many parts of the body were taken."""
    taken, sent = 0, []

    async def receive() -> dict[str, Any]:
        nonlocal taken
        taken += 1
        part = next(parts, None)
        return {"type": "http.request", "body": part or b"", "more_body": part is not None}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(build_asgi(app)({**POST, **scope}, receive, send))
    return sent[0]["status"], taken


HOST = (b"host", b"localhost:8700")
POST: dict[str, Any] = {
    "type": "http", "method": "POST", "path": "/v1/events", "headers": [HOST], "query_string": b"",
    "server": ("127.0.0.1", 8700),
}  # fmt: skip


def test_a_body_is_cut_off_while_it_streams_in(app: App) -> None:
    endless = iter(lambda: b"x" * 100_000, b"")
    assert run_raw(app, {}, endless) == (413, 51)
    assert run_raw(app, {"headers": [HOST, (b"content-length", b"5000001")]}, endless) == (413, 0)
    assert run_raw(app, {"headers": [HOST, (b"content-length", b"9" * 400)]}, endless) == (413, 0)


@pytest.mark.parametrize(
    ("path", "headers", "query", "status"),
    [
        ("/v1/health", [HOST, (b"x-odd", b"\xff\xfe")], b"", 200),
        ("/v1/health", [HOST], b"\xff=\xfe&%ff=%fe", 422),
        ("/v1/health", [], b"", 403),
        ("/v1/users/./events", [HOST], b"", 422),
        ("/v1/users/../events", [HOST], b"", 422),
    ],
)
def test_bytes_that_are_no_utf8_and_dot_segments_that_a_client_sends_all_the_same(
    app: App, path: str, headers: list[tuple[bytes, bytes]], query: bytes, status: int
) -> None:
    asked = {"method": "GET", "path": path, "headers": headers, "query_string": query}
    assert run_raw(app, asked, iter(())) == (status, 0 if status == 403 else 1)


def test_requests_run_side_by_side(app: App, laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits for the other to have begun: one after another they would wait for ever."""
    import threading

    both = threading.Barrier(2, timeout=10)
    window = type(app.parts.timeline).window

    def slow(self: Any, scope: Any, query: Any) -> Any:
        both.wait()
        return window(self, scope, query)

    monkeypatch.setattr(type(app.parts.timeline), "window", slow)

    async def two() -> list[Any]:
        users = (laptop.send_async("GET", f"/v1/users/{user}/events", None, {}) for user in ("anna", "bert"))
        return await asyncio.gather(*users)

    Caller(laptop).added("of bert", user="bert")
    anna, bert = asyncio.run(two())
    assert (anna.json["events"], bert.json["events"][0]["content"]) == ([], "of bert")
