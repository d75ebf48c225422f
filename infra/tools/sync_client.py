"""The synchronous client, written from the asynchronous one: client/synchronous.py."""

import subprocess
import sys
from pathlib import Path

FILE = "layers/memory/recollect/client/synchronous.py"
SOURCE = Path(__file__).resolve().parents[2] / "layers/memory/recollect/client/asynchronous.py"

_HEADER = '"""The client that waits. Generated from asynchronous.py (`make docs`): change that file, not this one."""\n'
_WORDS = {
    "import asyncio": "import time",
    "asyncio.sleep": "time.sleep",
    "An asynchronous context manager; safe to share by tasks": "A context manager; safe to share by threads",
    "httpx.AsyncBaseTransport": "httpx.BaseTransport",
    "httpx.AsyncClient": "httpx.Client",
    "AsyncRecollect": "Recollect",
    "AsyncIterator": "Iterator",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "async def": "def",
    "await ": "",
}


def sync_client_file() -> str:
    """The text of the file. Raises CalledProcessError where ruff cannot read what came out."""
    _, _, text = SOURCE.read_text(encoding="utf-8").partition('"""\n')
    for word, other in _WORDS.items():
        text = text.replace(word, other)
    return formatted(_HEADER + text, FILE)


def formatted(text: str, file: str) -> str:
    """The text of a file as ruff formats it. Raises CalledProcessError where ruff cannot read it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", file, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
