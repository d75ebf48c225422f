"""A server in a thread: uvicorn over an app of its own, on a free port; and programs that use it."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from entrypoints.http.conftest import opened
from recollect.entrypoints.http.server import build_asgi


@contextmanager
def served(home: Path, **variables: str) -> Iterator[str]:
    """The address of a server over a store in this folder."""
    with opened(home, **variables) as app, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(build_asgi(app), log_config=None, lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def shown(code: str, home: Path) -> list[str]:
    """The lines that the code prints, as a program of somebody with this home."""
    variables = {**os.environ, "HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()
