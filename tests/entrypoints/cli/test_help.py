"""`-h` and `--help` of every command."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from entrypoints.cli.conftest import Run
from recollect.entrypoints.cli.main import app as commands


def paths(command: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words that call it, and each command below it."""
    yield before
    for name, below in getattr(command, "commands", {}).items():
        yield from paths(below, (*before, name))


@pytest.mark.parametrize("words", list(paths(typer.main.get_command(commands))), ids=" ".join)
def test_both_ask_for_it(run: Run, words: tuple[str, ...]) -> None:
    short, long = run(*words, "-h"), run(*words, "--help")
    assert (short.exit_code, short.stdout) == (0, long.stdout)
    assert "Usage:" in short.stdout
