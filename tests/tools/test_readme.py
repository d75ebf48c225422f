"""The README by execution: what it shows is run, against a server of this checkout."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from entrypoints.cli.running import Home, serving
from tools.pages import BIN, ROOT, blocks, links, run_python

README = (ROOT / "README.md").read_text("utf-8")


def commands() -> list[str]:
    """The lines after a prompt, with their continuations."""
    parts = [part for block in blocks(README, "console") for part in re.split(r"(?m)^\$ ", block)[1:]]
    return [part.split(" #")[0].strip() for part in parts]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(Home(tmp_path_factory.mktemp("home")).environment()) as (address, _):
        yield address


def test_the_two_commands_are_targets_that_are_there() -> None:
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
    named = {command.split()[1] for command in commands() if command.startswith("make ")}
    assert {"demo", "test"} <= named <= targets


@pytest.mark.parametrize("command", [command for command in commands() if command.startswith("recollect ")])
def test_every_command_line_shown_exists(command: str) -> None:
    name = shlex.split(command)[1]
    shown = subprocess.run([BIN / "recollect", name, "--help"], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr


def test_the_calls_shown_are_answered(server: str) -> None:
    answers = [
        subprocess.run(shlex.split(call.replace("localhost:8700", server)), capture_output=True, text=True, check=True)
        for call in commands()
        if call.startswith("curl ")
    ]
    assert '"status":"created"' in answers[0].stdout
    assert "I moved to Lyon last week" in answers[1].stdout


def test_the_first_lines_of_python_run_in_their_process(tmp_path: Path) -> None:
    shown = run_python(blocks(README, "python")[0], tmp_path)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "I moved to Lyon last week\n", "")


def test_the_python_shown_runs_against_the_server(server: str, tmp_path: Path) -> None:
    code = blocks(README, "python")[1]
    shown = run_python(code.replace("127.0.0.1:8700", server), tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.rstrip().endswith("Current user input: Where do I live?")


@pytest.mark.parametrize("target", links(README))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()
