"""The wheel as `make dist` builds it, and virtual environments that it is installed into."""

import os
import subprocess
import sys
import venv
from pathlib import Path

from infra.tools import dist
from tools.pages import ROOT


class Installation:
    """A virtual environment with what the wheel and these extras bring, and a home of its own."""

    def __init__(self, folder: Path, wheel: Path, *extras: str) -> None:
        """Raises AssertionError with what pip says, where it fails."""
        self.bin, self.home = folder / "venv/bin", folder / "home"
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "--quiet", "--no-compile"]
        options = ["--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
        named = f"recollect[{','.join(extras)}] @ {wheel.as_uri()}"
        bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # pip would count it in
        done = subprocess.run(
            [*pip, *options, named], capture_output=True, text=True, check=False, cwd=folder, env=bare
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


def built(folder: Path) -> tuple[Path, Path]:
    """Sdist and wheel, checked by twine."""
    sdist, wheel = sorted(dist.build(folder), key=lambda one: one.suffix)
    return sdist, wheel
