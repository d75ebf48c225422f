"""The synchronous client, written from the asynchronous one: client/synchronous.py and client/recollect.py."""

import subprocess
import sys
from pathlib import Path

CLIENT = "layers/memory/recollect/client"
FILES = {f"{CLIENT}/synchronous.py": "asynchronous.py", f"{CLIENT}/recollect.py": "async_recollect.py"}
"""What is written, and from which file beside it."""

_FOLDER = Path(__file__).resolve().parents[2] / CLIENT
_HEADER = '"""The client that waits. Generated from {source} (`make docs`): change that file, not this one."""\n'
_WORDS = {
    "client.asynchronous": "client.synchronous",
    "AsyncResources": "Resources",
    "import asyncio": "import time",
    "asyncio.sleep": "time.sleep",
    "An asynchronous context manager": "A context manager",
    "by tasks": "by threads",
    "AsyncApiKey": "ApiKey",
    "httpx.AsyncBaseTransport": "httpx.BaseTransport",
    "httpx.AsyncClient": "httpx.Client",
    "AsyncRecollect": "Recollect",
    "AsyncIterator": "Iterator",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "async def": "def",
    "async for": "for",
    "await ": "",
}


def sync_client_file(file: str) -> str:
    """The text of one of the files. Raises CalledProcessError where ruff cannot read what came out."""
    source = FILES[file]
    _, _, text = (_FOLDER / source).read_text(encoding="utf-8").partition('"""\n')
    for word, other in _WORDS.items():
        text = text.replace(word, other)
    return formatted(_sorted_imports(_HEADER.format(source=source) + text, file), file)


def _sorted_imports(text: str, file: str) -> str:
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--quiet",
        "--select",
        "I",
        "--fix",
        "--stdin-filename",
        file,
        "-",
    ]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def formatted(text: str, file: str) -> str:
    """The text of a file as ruff formats it. Raises CalledProcessError where ruff cannot read it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", file, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
