"""Mutants of what mutmut leaves alone: tables and defaults, the literals outside of functions.

Each number is made one more, each text marked, each truth value turned, one at a time; a forked process runs the tests
that import the module. Its answer is kept beside mutmut's, in the same form.
"""

import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

SECONDS = 60
IMPORTED_BEFORE = "ignore::pytest.PytestAssertRewriteWarning"
SKIPPED = ("megabyte", "steps", "in_vain", "work_grows", "noise")
MODULES = ("relative_time", "rule_groups", "scoring", "selection")  # where the rules are written as data


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal of a module: where it stands, and what it is."""

    line: int
    column: int
    value: str | int | float | bool


def literals(source: str) -> list[Literal]:
    """Those outside of functions, in order; no documentation, no `__all__`, no prose of a rule."""
    module = ast.parse(source)
    bodies = [module.body, *(node.body for node in module.body if isinstance(node, ast.ClassDef))]
    values = [value for body in bodies for statement in body if (value := _assigned(statement)) is not None]
    found = {(one.lineno, one.col_offset): one for value in values for one in _constants(value)}
    return [
        Literal(line, column, one.value)
        for (line, column), one in sorted(found.items())
        if isinstance(one.value, str | int | float)
    ]


def _assigned(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.AnnAssign):
        return statement.value
    if isinstance(statement, ast.Assign) and not any(
        isinstance(t, ast.Name) and t.id == "__all__" for t in statement.targets
    ):
        return statement.value
    return None


def _constants(node: ast.AST) -> Iterator[ast.Constant]:
    if isinstance(node, ast.JoinedStr):
        return
    if isinstance(node, ast.Constant):
        yield node
    for child in ast.iter_child_nodes(node):
        if not _is_prose(node, child):
            yield from _constants(child)


def _is_prose(node: ast.AST, child: ast.AST) -> bool:
    """What a rule means, and the names in a field's metadata."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_rule":
        return child is node.args[-1]
    return isinstance(node, ast.keyword) and node.arg == "metadata"


def changed(value: str | int | float | bool) -> str | int | float | bool:
    """What a literal becomes."""
    if isinstance(value, bool):
        return not value
    return f"XX{value}XX" if isinstance(value, str) else value + 1


def mutated(source: str, literal: Literal, filename: str) -> CodeType:
    """The module with that literal changed."""
    module = copy.deepcopy(ast.parse(source))
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and (node.lineno, node.col_offset) == (literal.line, literal.column):
            node.value = changed(literal.value)
    return compile(module, filename, "exec")


class _Mutant(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module from the code of a mutant."""

    def __init__(self, name: str, code: CodeType) -> None:
        self._name, self._code = name, code

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self._name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)


def tests_of(module: str, tests: Path) -> list[str]:
    """The test files that import the module; all where none names it."""
    files = sorted(tests.glob("test_*.py"))
    naming = [str(file) for file in files if f"recollect.domain.{module} import" in file.read_text("utf-8")]
    if module in ("rule_groups", "rules"):
        naming += [str(file) for file in files if "domain.rules import" in file.read_text("utf-8")]
    return sorted(set(naming)) or [str(file) for file in files]


def run(at: Path) -> None:
    """Tests every literal of the copy's domain that was not killed before; writes `tables.json` there."""
    os.chdir(at)
    sys.path.insert(0, str(at))
    kept = at / "tables.json"
    killed: dict[str, bool] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    for module in MODULES:
        path = Path(f"recollect/domain/{module}.py")
        source = path.read_text("utf-8")
        if _fails(f"recollect.domain.{module}", compile(source, str(path), "exec"), module):
            raise SystemExit(f"{module}: a test fails without any mutant")
        for literal in literals(source):
            name = f"{path}:{literal.line}:{literal.column}:{literal.value!r}"
            if not killed.get(name):
                killed[name] = _fails(f"recollect.domain.{module}", mutated(source, literal, str(path)), module)
                kept.write_text(json.dumps(killed), "utf-8")


def _fails(name: str, code: CodeType, module: str) -> bool:
    """Whether a test fails in a process of its own."""
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        os._exit(_passes(name, code, module))
    return os.waitpid(child, 0)[1] != 0


def _passes(name: str, code: CodeType, module: str) -> int:
    import pytest

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    sys.meta_path.insert(0, _Mutant(name, code))
    chosen = " and ".join(f"not {word}" for word in SKIPPED)
    return int(
        pytest.main(
            [
                "-x",
                "-q",
                "--hypothesis-profile=mutants",
                "-W",
                IMPORTED_BEFORE,
                "-k",
                chosen,
                *tests_of(module, Path("tests/domain")),
            ]
        )
    )


if __name__ == "__main__":
    import hypothesis.strategies
    import numpy
    import pytest

    _ = (hypothesis, numpy, pytest)  # imported once, for all the processes to come
    run(Path(sys.argv[1]))
