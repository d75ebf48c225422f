"""Pages by execution: their blocks and their links."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
_BESIDE = re.compile(r"\s# ?> (.+)$", re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def runnable(page: str) -> list[tuple[str, str]]:
    """The fenced blocks of shell and Python, and what they show (`text`): language and code of each, in their order."""
    return re.findall(r"^```(sh|python|text)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def expected(block: str) -> list[str]:
    """The words behind its commands."""
    return [words.strip() for words in _BESIDE.findall(block)]


def links(page: str) -> list[str]:
    """The files that a page links to."""
    return sorted(set(re.findall(r"\]\(([^)#]+)\)", page)))


def run_python(code: str, home: Path) -> "subprocess.CompletedProcess[str]":
    """The code as a program of somebody with this home, by the embedder of the tests."""
    own = {"HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"}
    foreign = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    program = [sys.executable, "-c", code]
    return subprocess.run(program, capture_output=True, text=True, check=False, env=foreign | own, timeout=120)
