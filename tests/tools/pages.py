"""Pages by execution: their blocks, their links, and a server of this checkout."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def links(page: str) -> list[str]:
    """The files that a page links to."""
    return sorted(set(re.findall(r"\]\(([^)#]+)\)", page)))


def environment(home: Path, **more: str) -> dict[str, str]:
    """This process's, with a store of its own."""
    own = {"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing", **more}
    return {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")} | own


@contextmanager
def serving(variables: Mapping[str, str]) -> Iterator[str]:
    """`recollect serve` on a free port; host and port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(BIN / "recollect"), "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=variables, stderr=subprocess.DEVNULL)
    try:
        _wait(process, f"127.0.0.1:{port}")
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def _wait(process: "subprocess.Popen[bytes]", address: str) -> None:
    for _ in range(300):
        assert process.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(f"http://{address}/v1/ready", timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server did not become ready")
