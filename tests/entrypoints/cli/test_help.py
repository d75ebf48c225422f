"""`-h` and `--help` of every command."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from entrypoints.cli.conftest import Run
from recollect.entrypoints.cli.main import COMMANDS, program


def paths(command: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words that call it, and each command below it."""
    yield before
    for name, below in getattr(command, "commands", {}).items():
        yield from paths(below, (*before, name))


@pytest.mark.parametrize("words", list(paths(typer.main.get_command(program(())))), ids=" ".join)
def test_both_ask_for_it(run: Run, words: tuple[str, ...]) -> None:
    short, long = run(*words, "-h"), run(*words, "--help")
    assert (short.exit_code, short.stdout) == (0, long.stdout)
    assert "Usage:" in short.stdout


def test_a_command_is_alone_where_it_is_named_and_among_all_elsewhere() -> None:
    assert set(typer.main.get_command(program(["--help"])).commands) == set(COMMANDS)  # type: ignore[attr-defined]
    assert list(typer.main.get_command(program(["jobs", "list"])).commands) == ["jobs"]  # type: ignore[attr-defined]


def test_a_word_that_is_no_command_is_answered_with_what_there_is(run: Run) -> None:
    assert "No such command 'serch'" in run("serch").stderr
    assert "search" in run("serch").stderr


def test_the_help_names_the_variable_of_the_data_folder(run: Run) -> None:
    assert "RECOLLECT_HOME" in run("--help").stdout
