"""What the matrix depends on: its page carries the hash of it, so that a test can tell that it is stale."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "contradictions" / "cases.json"
_PACKAGE = ROOT / "layers" / "memory" / "recollect"
_READERS = (
    "recollect.domain.claim_reading",
    "recollect.domain.claim_relations",
    "recollect.contradictions.decisions",
    "recollect.domain.value_bounds",
    "recollect.domain.key_retractions",
)
_INSIDE = "recollect.domain."
_HASH_LENGTH = 32


def inputs_hash(cases: Path = CASES) -> str:
    """Of the cases, the rules as data, and the modules that read claims and relate them, with all that those import.

    Docstrings are no part of it: no words of theirs change what is read.
    """
    whole = hashlib.sha256()
    for file in (cases, *_rule_files()):
        whole.update(hashlib.sha256(_told(file)).digest())
    return whole.hexdigest()[:_HASH_LENGTH]


def _told(file: Path) -> bytes:
    return _code(file.read_text("utf-8")) if file.suffix == ".py" else file.read_bytes()


def _code(text: str) -> bytes:
    """A module's lines, without those of docstrings."""
    told: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            told |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return "\n".join(line for number, line in enumerate(text.splitlines(), 1) if number not in told).encode()


def _rule_files() -> list[Path]:
    modules: dict[str, Path] = {}
    waiting = list(_READERS)
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules[name] = _file(name)
            waiting += _imports(modules[name])
    return sorted([*modules.values(), *(_PACKAGE / "domain").glob("*cues*.json")])


def _file(module: str) -> Path:
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_INSIDE):
            yield node.module
