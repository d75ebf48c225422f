"""The real server in a process of its own: ready, projecting in the background, JSON lines on standard error."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

START = """
import os, sys
from recollect.entrypoints.http.server import serve
from recollect.settings import Settings
serve(Settings.from_environment(os.environ), sys.argv[1], int(sys.argv[2]))
"""


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    url: str
    process: subprocess.Popen[str]


def start(home: Path, host: str, port: int, **variables: str) -> subprocess.Popen[str]:
    """Starts a server; its standard error is piped."""
    environment = {**os.environ, "RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing", **variables}
    command = [sys.executable, "-c", START, host, str(port)]
    return subprocess.Popen(command, env=environment, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server that is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = start(tmp_path, "127.0.0.1", port)
    url = f"http://127.0.0.1:{port}"
    wait_for(lambda: httpx.get(f"{url}/v1/ready").status_code == 200)
    yield Served(url, process)
    process.kill()
    process.communicate()


def wait_for(condition: Any, seconds: float = 30) -> None:
    """Until it holds; connection errors are waited out."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    pytest.fail("not within the time")


def test_it_serves_projects_and_ends_in_order(served: Served) -> None:
    body = {"user_id": "anna", "events": [{"content": "I like green tea"}]}
    with httpx.Client(base_url=served.url) as client:
        added = client.post("/v1/events", json=body)
        assert added.status_code == 201
        assert "server" not in added.headers
        wait_for(lambda: client.get("/v1/bus").json()["events"] != [])
        wait_for(lambda: client.get("/v1/ready").json()["parts"]["timeline"]["pending"] == 0)
        found = client.post("/v1/search", json={"user_id": "anna", "query": "green tea"}).json()["results"]
        assert [one["id"] for one in found] == [added.json()["results"][0]["event_id"]]
        assert client.get("/v1/health", headers={"host": "evil.example"}).status_code == 403
        assert client.get("/v1/users/%F0%9F%A6%8A/events").json()["events"] == []
    served.process.send_signal(signal.SIGTERM)
    out, err = served.process.communicate(timeout=20)
    assert out == ""
    assert {json.loads(line)["service"] for line in err.splitlines()} == {"recollect"}
    assert "projected" in {json.loads(line)["message"] for line in err.splitlines()}
    assert "green tea" not in err


def test_an_early_413_and_a_late_one_reach_the_client(served: Served) -> None:
    with httpx.Client(base_url=served.url) as client:
        assert client.post("/v1/events", content=b" " * 5_000_001).status_code == 413
        chunks = (b" " * 1_000_000 for _ in range(6))
        assert client.post("/v1/events", content=chunks).status_code == 413
        assert client.get("/v1/health").status_code == 200


def test_it_does_not_start_where_others_could_read(tmp_path: Path) -> None:
    process = start(tmp_path, "0.0.0.0", 8799)
    _, err = process.communicate(timeout=20)
    assert process.returncode != 0
    assert "RECOLLECT_API_KEYS" in err
