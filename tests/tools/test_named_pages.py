"""What docstrings and comments send a reader to is there: pages and the headings that they name in them."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tools.pages import ROOT

_PAGE = re.compile(r"(?<![\w/:.-])[\w./-]+\.md\b")
_HEADING = re.compile(r"`([\w./-]+\.md)`, \*([^*]+)\*")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_FOLDERS = ("layers/memory", "functions", "infra", "tests")


def prose(source: str) -> Iterator[str]:
    """The docstrings, those of attributes too, and the comments of a module."""
    for node in ast.walk(ast.parse(source)):
        for one in node.body if isinstance(node, _DOCUMENTED) else ():
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                yield one.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


@cache
def _modules() -> tuple[tuple[Path, tuple[str, ...]], ...]:
    paths = [path for folder in _FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    read = [(path, path.read_text()) for path in paths]
    return tuple((path, tuple(prose(source))) for path, source in read if ".md" in source)


def _named(pattern: re.Pattern[str]) -> list[tuple[str, re.Match[str]]]:
    return [
        (str(path.relative_to(ROOT)), found)
        for path, texts in _modules()
        for text in texts
        for found in pattern.finditer(text)
    ]


def _headings(page: Path) -> str:
    said = page.read_text()
    bold = re.findall(r"\*\*([^*]+)\*\*", said)
    return "\n".join([*re.findall(r"^#+ (.+)$", said, re.MULTILINE), *(one.rstrip(".") for one in bold)])


def test_prose_is_docstrings_and_comments_and_no_other_text() -> None:
    source = '"""Of a.md."""\nA = "b.md"\n"""As c.md says."""\n\ndef f(): # see d.md\n    """Of e.md."""\n'
    named = [found.group() for text in prose(source) for found in _PAGE.finditer(text)]
    assert sorted(named) == ["a.md", "c.md", "d.md", "e.md"]


def test_every_page_that_prose_names_is_in_the_repository() -> None:
    named = _named(_PAGE)
    assert {"docs/decisions.md", "docs/filters.md"} <= {found.group() for _, found in named}
    assert [(path, found.group()) for path, found in named if not (ROOT / found.group()).is_file()] == []


def test_every_heading_that_prose_names_is_in_its_page() -> None:
    named = _named(_HEADING)
    assert named
    missing = [(path, found.group()) for path, found in named if not _has(found)]
    assert missing == []


def _has(found: re.Match[str]) -> bool:
    page, heading = found.groups()
    return (ROOT / page).is_file() and heading in _headings(ROOT / page).split("\n")


@pytest.mark.parametrize("heading", ["Said twice", "Nowhere"])
def test_a_heading_is_found_only_where_it_is(heading: str) -> None:
    found = _HEADING.search(f"`docs/memories.md`, *{heading}*")
    assert found is not None
    assert _has(found) == (heading == "Said twice")
