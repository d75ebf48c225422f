"""Load goes to loopback addresses alone, by what a name resolves to and by where an answer would lead."""

import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.tools.load.__main__ import main
from infra.tools.load.loopback import NotThisMachine, Target, require_loopback, target
from infra.tools.load.run import Server

Resolve = Callable[[dict[str, list[str]]], None]


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Resolve:
    """A resolver that knows these names; numbers it reads as the system does."""
    system = socket.getaddrinfo

    def known(names: dict[str, list[str]]) -> None:
        def look_up(host: str, port: int, *more: Any, **options: Any) -> list[Any]:
            if host in names:
                return [found for one in names[host] for found in system(one, port, *more, **options)]
            return system(host, port, *more, **{**options, "flags": socket.AI_NUMERICHOST})

        monkeypatch.setattr(socket, "getaddrinfo", look_up)

    return known


@pytest.mark.parametrize(
    ("url", "address", "port"),
    [
        ("http://127.0.0.1:8700", "127.0.0.1", 8700),
        ("http://127.0.0.1:8700/", "127.0.0.1", 8700),
        ("http://127.8.9.10", "127.8.9.10", 80),
        ("http://[::1]:8700", "::1", 8700),
        ("http://[::ffff:127.0.0.1]:8700", "::ffff:127.0.0.1", 8700),
        ("http://localhost:8700", "127.0.0.1", 8700),
        ("http://memory.example.com:8700", "127.0.0.1", 8700),
        ("http://2130706433:8700", "127.0.0.1", 8700),
    ],
)
def test_loopback_is_taken_however_it_is_called(resolve: Resolve, url: str, address: str, port: int) -> None:
    resolve({"localhost": ["127.0.0.1", "::1"], "memory.example.com": ["127.0.0.1"]})
    assert (target(url).address, target(url).port) == (address, port)


@pytest.mark.parametrize(
    "url",
    [
        "http://0.0.0.0:8700",
        "http://[::]:8700",
        "http://0:8700",
        "http://10.0.0.1:8700",
        "http://192.168.1.1:8700",
        "http://169.254.169.254",
        "http://[fe80::1]:8700",
        "http://[fe80::1%25lo]:8700",
        "http://[::ffff:10.0.0.1]:8700",
        "http://[::ffff:0.0.0.0]:8700",
        "http://[64:ff9b::7f00:1]:8700",
        "http://93.184.216.34",
        "http://134744072:8700",
        "http://localhost:8700",
        "http://localhost.example.com:8700",
        "http://two.example.com:8700",
        "http://nowhere.example.com:8700",
        "http://nothing.example.com:8700",
        "http://127.0.0.1@example.com:8700",
        "http://me:secret@127.0.0.1:8700",
        "https://127.0.0.1:8700",
        "ftp://127.0.0.1:8700",
        "127.0.0.1:8700",
        "http://",
        "",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:port",
        "http://127.0.0.1:8700/v1",
        "http://127.0.0.1:8700?to=example.com",
    ],
)
def test_all_else_is_refused(resolve: Resolve, url: str) -> None:
    resolve(
        {
            "localhost": ["10.1.2.3"],
            "localhost.example.com": ["93.184.216.34"],
            "two.example.com": ["127.0.0.1", "10.0.0.1"],
            "nothing.example.com": [],
            "example.com": ["93.184.216.34"],
        }
    )
    with pytest.raises(NotThisMachine):
        target(url)


@given(st.ip_addresses())
def test_an_address_is_taken_if_and_only_if_it_is_loopback(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    loopback = (mapped or address) in ipaddress.ip_network("127.0.0.0/8" if mapped or address.version == 4 else "::1")
    if loopback:
        require_loopback(str(address))
    else:
        with pytest.raises(NotThisMachine):
            require_loopback(str(address))


@given(st.ip_addresses(network="127.0.0.0/8"))
def test_all_of_loopback_is_taken_in_both_spellings(address: ipaddress.IPv4Address) -> None:
    require_loopback(str(address))
    require_loopback(f"::ffff:{address}")


def test_a_name_is_asked_once_and_its_address_connected_to(resolve: Resolve) -> None:
    with answering(200) as (port, heard):
        resolve({"memory.example.com": ["127.0.0.1"]})
        server = Server(target(f"http://memory.example.com:{port}"))
        resolve({"memory.example.com": ["10.0.0.1"]})
        assert server.call("GET", "/v1/health")[0] == 200
    assert heard == [f"memory.example.com:{port} GET /v1/health"]


def test_an_other_end_that_is_elsewhere_is_refused_after_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(200) as (port, heard):
        monkeypatch.setattr("infra.tools.load.loopback.HTTPConnection", _Elsewhere)
        with pytest.raises(NotThisMachine, match=r"10\.0\.0\.1"):
            Server(Target("127.0.0.1", port, "localhost")).call("GET", "/v1/health")
    assert heard == []


class _Elsewhere:
    """A connection whose other end says that it is another machine."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.sock = self

    def connect(self) -> None: ...

    def close(self) -> None: ...

    def getpeername(self) -> tuple[str, int]:
        return ("10.0.0.1", 80)


def test_a_redirect_is_an_answer_and_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with answering(200) as (other, elsewhere), answering(307, f"http://127.0.0.1:{other}/v1/health") as (port, heard):
        assert Server(target(f"http://127.0.0.1:{port}")).call("GET", "/v1/health")[0] == 307
    assert heard == [f"127.0.0.1:{port} GET /v1/health"]
    assert elsewhere == []


@pytest.mark.parametrize("url", ["http://0.0.0.0:8700", "http://example.com", "http://[::ffff:10.0.0.1]"])
def test_the_command_sends_nothing_there(resolve: Resolve, capsys: pytest.CaptureFixture[str], url: str) -> None:
    resolve({"example.com": ["93.184.216.34"]})
    assert main(["--url", url]) == 2
    assert capsys.readouterr().err.startswith("nothing was sent: ")


@contextmanager
def answering(status: int, location: str = "") -> Iterator[tuple[int, list[str]]]:
    """A server of this machine that answers so: its port, and what it heard."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(f"{self.headers['Host']} GET {self.path}")
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port, heard
        finally:
            server.shutdown()
            thread.join()
