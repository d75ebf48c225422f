"""A built function in a process of its own, laid out as Lambda lays it out, under Lambda's own runtime client."""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from queue import Empty
from typing import Any

from infra.local.runtime_api import Outcome, RuntimeApi

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".aws-sam/build"
START_SECONDS = 60.0
"""A start may take, beside others on a busy machine."""

# -I and -S leave the standard library alone on the path; then what Lambda puts there, in its order.
PRELUDE = """
import sys
task, opt, runtime, handler = sys.argv[1:]
sys.path[:0] = [task, opt + "/python"]
sys.path.append(runtime)
from awslambdaric.__main__ import main
main(["bootstrap", handler])
"""


class NoAnswer(Exception):
    """The process ended, or its time was over; the message has what it said."""


@cache
def runtime_python() -> str:
    """The Python of the functions, looked for once. Raises CalledProcessError where there is none."""
    found = subprocess.run([ROOT / "infra/sam.sh", "--python"], check=True, stdout=subprocess.PIPE, text=True)
    return found.stdout.strip()


def lay_out_opt(layers: Sequence[str], folder: Path) -> Path:
    """Lays layers over each other, as Lambda does under /opt. Raises FileExistsError where two hold one file."""
    for layer in layers:
        shutil.copytree(BUILD / layer, folder, dirs_exist_ok=True, copy_function=_link)
    return folder


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        raise FileExistsError(f"two layers hold {Path(target).name}: {source}") from None
    except OSError:
        shutil.copy2(source, target)


def install_runtime_client(interpreter: str) -> Path:
    """Lambda's runtime client for that Python, in a folder of its own; fetched once."""
    wanted = f"awslambdaric=={version('awslambdaric')}"
    folder = ROOT / "build" / f"runtime-client-{hashlib.sha256((wanted + interpreter).encode()).hexdigest()[:12]}"
    if not folder.exists():
        part = folder.with_suffix(f".{os.getpid()}")
        options = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--only-binary=:all:"]
        subprocess.run([interpreter, "-m", "pip", "install", *options, "--target", str(part), wanted], check=True)
        _put_in_place(part, folder)
    return folder


def _put_in_place(part: Path, folder: Path) -> None:
    """Renames; another process of the same run may have been first, and made the same."""
    try:
        part.rename(folder)
    except OSError:
        if not folder.exists():
            raise
        shutil.rmtree(part)


class FunctionProcess:
    """A built function in a process of its own. `timeout_seconds` is what Lambda gives one invocation."""

    def __init__(self, name: str, timeout_seconds: float, log: Path) -> None:
        self.name = name
        self._timeout_seconds = timeout_seconds
        self._log = log
        self._api = RuntimeApi()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, interpreter: str, opt: Path, runtime: Path, environment: Mapping[str, str]) -> None:
        """Begins the process; what goes wrong shows at the first invocation."""
        self._api.__enter__()
        task = BUILD / f"{self.name.capitalize()}Function"
        command = [interpreter, "-I", "-S", "-c", PRELUDE, str(task), str(opt), str(runtime), "app.handler"]
        own = of_lambda(self.name, task) | {"AWS_LAMBDA_RUNTIME_API": self._api.address}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, cwd=task, env={**environment, **own}, stdout=log, stderr=subprocess.STDOUT
            )

    def stop(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._api.__exit__()

    def outcome(self, event: Any) -> Outcome:
        """How the invocation ended, within the function's time, in which the start is not. Raises NoAnswer."""
        self._wait_for_start()
        result = self._api.hand_over(event, self._timeout_seconds)
        deadline = time.monotonic() + self._timeout_seconds
        while time.monotonic() < deadline and self._running:
            with suppress(Empty):
                return result.get(timeout=0.2)
        raise NoAnswer(f"{self.name} gave no answer: {self._api.start_error or 'out of time'}\n{self.log}")

    def _wait_for_start(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while self._running and not self._api.started.wait(0.1) and time.monotonic() < deadline:
            pass

    @property
    def _running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        """What it has said so far."""
        return self._log.read_text("utf-8", errors="replace")


def of_lambda(name: str, task: Path) -> dict[str, str]:
    """What Lambda itself sets."""
    return {
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_LAMBDA_FUNCTION_NAME": name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "LAMBDA_TASK_ROOT": str(task),
        "LANG": "en_US.UTF-8",
        "PATH": "/usr/bin:/bin",
        "TZ": ":UTC",
    }
