"""Pages by execution: their blocks and their links."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def links(page: str) -> list[str]:
    """The files that a page links to."""
    return sorted(set(re.findall(r"\]\(([^)#]+)\)", page)))
