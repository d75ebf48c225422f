"""`pip install .` without extras, into an empty environment: the client imports, the command line starts.

What only `recollect[local]` brings is asked for in one sentence, by the commands that need it.
"""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from infra.tools.dependencies import NOT_IN_FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
_CLIENT = "from recollect.client import Recollect; Recollect('http://127.0.0.1:8700').close(); print('imported')"
ASKS_FOR_LOCAL = "pip install 'recollect[local]'"


class Installation:
    """A virtual environment that holds what `pip install .` brings, and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self._bin, self._home = folder / "venv/bin", folder / "home"

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """Runs a program of the environment to its end, where nothing of this checkout is on its path."""
        foreign = ("RECOLLECT_", "PYTHONPATH", "AWS_")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        own = {"RECOLLECT_HOME": str(self._home), "XDG_CACHE_HOME": str(self._home / "cache")}
        return subprocess.run(
            [str(self._bin / command[0]), *command[1:]],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=inherited | own,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Made from a copy of the sources: pip would leave a `build` folder beside them."""
    folder = tmp_path_factory.mktemp("installation")
    source = _sources(folder / "source")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "venv/bin/python"), "install", "--quiet"]
    options = ["--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
    done = subprocess.run([*pip, *options, str(source)], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return Installation(folder)


def _sources(folder: Path) -> Path:
    package = Path("layers/memory/recollect")
    shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", PROJECT["readme"], "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("python", "-c", _CLIENT), "imported"),
        (("recollect", "--help"), "serve"),
        (("recollect", "--version"), f"recollect {PROJECT['version']}\n"),
    ],
    ids=["the client imports", "the command line starts", "it says its version"],
)
def test_without_extras_it_works(installation: Installation, command: tuple[str, ...], shown: str) -> None:
    done = installation.run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout


@pytest.mark.parametrize(
    ("command", "package"),
    [(("serve",), "uvicorn"), (("mcp", "--user", "anna"), "mcp"), (("init",), "onnxruntime")],
    ids=["serve", "mcp", "init"],
)
def test_a_command_that_needs_more_asks_for_it_in_one_sentence(
    installation: Installation, command: tuple[str, ...], package: str
) -> None:
    done = installation.run("recollect", *command)
    assert (done.returncode, done.stdout) == (1, "")
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("error: ")
    assert sentence.endswith(f"needs the package {package}: {ASKS_FOR_LOCAL}")


def test_doctor_says_which_package_is_missing(installation: Installation) -> None:
    done = installation.run("recollect", "doctor")
    assert done.returncode == 1
    assert f"needs the package onnxruntime: {ASKS_FOR_LOCAL}" in done.stdout


def test_what_needs_no_more_works_by_words_alone(installation: Installation) -> None:
    saved = installation.run("recollect", "memories", "save", "Anna is allergic to peanuts", "--user", "anna")
    assert saved.returncode == 0, saved.stderr
    found = installation.run("recollect", "search", "peanuts", "--user", "anna")
    assert found.returncode == 0, found.stderr
    assert "allergic to peanuts" in found.stdout
    assert "by words alone" in found.stderr


def test_what_functions_do_without_is_what_import_linter_forbids_them() -> None:
    """The layers leave these packages out; the contract holds the code that functions import to it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (forbidden,) = [one["forbidden_modules"] for one in contracts if "function" in one["name"]]
    assert sorted(forbidden) == sorted(NOT_IN_FUNCTIONS)
    pins = (ROOT / "layers/dependencies/requirements.txt").read_text("utf-8")
    assert not [name for name in NOT_IN_FUNCTIONS if f"\n{name}==" in pins]
