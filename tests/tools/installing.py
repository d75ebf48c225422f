"""The wheel as `make dist` builds it, and virtual environments that it is installed into."""

import os
import shlex
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from infra.tools import dist
from tools.pages import ROOT


class Installation:
    """A virtual environment with a home of its own, and the wheel in it as somebody would install it."""

    def __init__(self, folder: Path, wheel: Path, *commands: str) -> None:
        """Installs as each command says (what follows `pip install`). Raises AssertionError where pip fails."""
        self.bin, self.home = folder / "venv/bin", folder / "home"
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        for command in commands:
            self._install([_located(word, wheel) for word in shlex.split(command)])

    def _install(self, arguments: Sequence[str]) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "--quiet", "--no-compile"]
        options = ["--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
        alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # pip would count it in
        done = subprocess.run(
            [*pip, *options, *arguments], capture_output=True, text=True, check=False, cwd=self.home.parent, env=alone
        )
        assert done.returncode == 0, done.stderr

    @property
    def packages(self) -> Path:
        (folder,) = self.bin.parent.glob("lib/python*/site-packages")
        return folder

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of this checkout is on its path."""
        foreign = ("RECOLLECT_", "PYTHONPATH", "AWS_")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        own = {"HOME": str(self.home), "RECOLLECT_HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache")}
        return inherited | own

    def run(self, *command: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        """Runs a program of the environment to its end."""
        return subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=self.environment | settings,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )


def _located(word: str, wheel: Path) -> str:
    return f"{word} @ {wheel.as_uri()}" if word.partition("[")[0] == "recollect" else word


def built(folder: Path) -> tuple[Path, Path]:
    """Sdist and wheel, checked by twine."""
    sdist, wheel = sorted(dist.build(folder), key=lambda one: one.suffix)
    return sdist, wheel
