"""A folder of data for each test, and the command line inside this process."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from embedded.setting import judged
from entrypoints.cli.running import Home
from recollect.app import App
from recollect.entrypoints.cli.main import program

Run = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty one, which this process's environment names too."""
    folder = tmp_path / "home"
    for name, value in Home(folder).environment().items():
        if name.startswith("RECOLLECT_"):
            monkeypatch.setenv(name, value)
    return Home(folder)


@pytest.fixture
def run(home: Home) -> Run:
    """Runs a command here; standard output and standard error apart."""

    def invoke(*arguments: Any) -> Result:
        words = [str(argument) for argument in arguments]
        return CliRunner().invoke(program(words), words)

    return invoke


@pytest.fixture
def app(home: Home) -> Iterator[App]:
    opened = judged(home.app())
    yield opened
    opened.parts.close()
