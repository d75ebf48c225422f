"""The README by execution: what it shows is run, against a server of this checkout."""

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.client import Recollect

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
BIN = Path(sys.executable).parent


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands() -> list[str]:
    """The lines after a prompt, with their continuations."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"(?m)^\$ ", block)[1:]:
            found.append(part.split(" #")[0].strip())
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tmp_path_factory.mktemp("home")
    own = {"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")} | own
    process = subprocess.Popen(
        [BIN / "recollect", "serve", "--port", str(port)], env=environment, stderr=subprocess.DEVNULL
    )
    address = f"127.0.0.1:{port}"
    try:
        _wait(process, address)
        yield address
    finally:
        process.terminate()
        process.wait(20)


def _wait(process: "subprocess.Popen[bytes]", address: str) -> None:
    with Recollect(f"http://{address}") as client:
        for _ in range(200):
            assert process.poll() is None, "the server ended"
            try:
                client.ready()
            except Exception:  # noqa: BLE001 - not up yet, in whatever way
                time.sleep(0.1)
            else:
                return
    pytest.fail("the server did not become ready")


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
    calls = [command for command in commands() if command.startswith("curl ")]
    answers = []
    for call in calls:
        shown = subprocess.run(
            shlex.split(call.replace("localhost:8700", server)), capture_output=True, text=True, check=True
        )
        answers.append(shown.stdout)
    assert '"status":"created"' in answers[0]
    assert "I moved to Lyon last week" in answers[1]


def test_the_python_shown_runs(server: str) -> None:
    (code,) = blocks("python")
    own = code.replace("127.0.0.1:8700", server)
    shown = subprocess.run([sys.executable, "-c", own], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.rstrip().endswith("Current user input: Where do I live?")


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()
