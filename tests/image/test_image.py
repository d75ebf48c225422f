"""The Dockerfile, as far as it goes without Docker: what it copies is there, and what it runs runs."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

from image.dockerfile import Instruction, context_of, environment, instructions, is_sent
from recollect.settings import variables
from tools.pages import BIN, ROOT, blocks, links

FOUND = instructions((ROOT / "Dockerfile").read_text("utf-8"))
IGNORE = (ROOT / ".dockerignore").read_text("utf-8")
PAGE = (ROOT / "docs/docker.md").read_text("utf-8")
SERVED = ("first-start", "complete")
KEYS = '{"a-long-random-key":{"tenant":"acme","admin":true}}'
(JOB,) = yaml.safe_load((ROOT / ".github/workflows/image.yml").read_text("utf-8"))["jobs"].values()
STEPS = JOB["steps"]
START_SECONDS = 60


def the(word: str, *stages: str) -> Instruction:
    (one,) = [one for one in FOUND if one.word == word and one.stage in (stages or SERVED)]
    return one


def ran(home: Path, command: list[str], **settings: str) -> "subprocess.Popen[str]":
    """A command of the image, found by its PATH, with what the image sets and nothing else."""
    own = {name: value.replace("/data", str(home)) for name, value in environment(FOUND, "first-start").items()}
    paths = own["PATH"].replace("/opt/recollect/bin", str(BIN))
    variables_ = own | {"PATH": paths, "RECOLLECT_EMBEDDER": "hashing"} | settings
    program = shutil.which(command[0], path=paths)
    assert program is not None
    return subprocess.Popen(
        [program, *command[1:]], env=variables_, cwd=home, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def status_of(process: "subprocess.Popen[str]") -> int:
    process.communicate(timeout=START_SECONDS)
    return int(process.returncode)


def test_the_last_stage_is_the_complete_one_and_nobody_is_root() -> None:
    assert FOUND[-1].stage == "complete"
    assert the("USER").rest == "10001:10001"
    after = FOUND[FOUND.index(the("USER")) :]
    assert not [one for one in after if one.word == "RUN"]


def test_every_stage_is_of_one_pinned_image_or_of_another_stage() -> None:
    stages = [one.stage for one in FOUND if one.word == "FROM"]
    bases = {one.rest.partition(" AS ")[0] for one in FOUND if one.word == "FROM"}
    (base,) = bases - set(stages)
    assert base == "${PYTHON}"
    (named,) = [one.rest.removeprefix("PYTHON=") for one in FOUND if one.word == "ARG"]
    assert named.removeprefix("python:").split("-")[0].count(".") == 2
    assert named in PAGE


def test_what_is_copied_is_there_is_sent_and_makes_the_wheel(tmp_path: Path) -> None:
    """Nothing else of the checkout is there when pip builds the package in the image."""
    copies = [one.arguments[:-1] for one in FOUND if one.word == "COPY" and "--from=" not in one.rest]
    for source in (name for sources in copies for name in sources):
        assert context_of(ROOT, IGNORE, [source]), source
    for name in (name for sources in copies for name in context_of(ROOT, IGNORE, sources)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", "made", "."]
    done = subprocess.run(pip, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "made").glob("recollect-*.whl")
    package = ROOT / "layers/memory/recollect"
    with ZipFile(wheel) as packed:
        names = set(packed.namelist())
    left = {"__pycache__", "contracts"}
    sources = {path for path in package.rglob("*") if path.is_file() and not left & set(path.parts)}
    assert {str(path.relative_to(package.parent)) for path in sources} <= names


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("pyproject.toml", True),
        ("layers/memory/recollect/text/terms.py", True),
        ("layers/memory/recollect/text/__pycache__/terms.pyc", False),
        ("docs/README.md", False),
        (".git/config", False),
        (".venv/bin/python", False),
    ],
)
def test_nothing_is_sent_but_what_is_copied(path: str, sent: bool) -> None:
    assert is_sent(path, IGNORE) is sent


def test_what_a_stage_copies_of_another_was_made_there() -> None:
    runs = {one.stage: "" for one in FOUND} | {one.stage: one.rest for one in FOUND if one.word == "RUN"}
    for one in (one for one in FOUND if one.word == "COPY" and "--from=" in one.rest):
        stage = one.rest.partition("--from=")[2].split()[0]
        assert one.arguments[0] in runs[stage]


def test_the_command_that_builds_the_model_is_there() -> None:
    """What it builds is tests/adapters/embedders' matter."""
    command = the("RUN", "model").rest.split()
    assert command[0] == "/opt/recollect/bin/python"
    done = subprocess.run([sys.executable, *command[1:3], "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert command[3] in done.stdout
    assert environment(FOUND, "complete") == {"RECOLLECT_MODEL_FOLDER": command[-1]}


def test_it_does_not_start_without_a_key(tmp_path: Path) -> None:
    process = ran(tmp_path, [*the("ENTRYPOINT").arguments, *the("CMD").arguments])
    said = process.communicate(timeout=START_SECONDS)[1]
    assert process.returncode == 2
    assert "RECOLLECT_API_KEYS: must be set to listen on 0.0.0.0" in said


def test_it_serves_is_healthy_and_ends_when_it_is_stopped(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [one.replace("8700", port) for one in (*the("ENTRYPOINT").arguments, *the("CMD").arguments)]
    check = the("HEALTHCHECK").rest.partition("CMD ")[2]
    probe = [one.replace("8700", port) for one in Instruction("", "CMD", check).arguments]
    assert status_of(ran(tmp_path, probe)) == 1
    server = ran(tmp_path, command, RECOLLECT_API_KEYS=KEYS)
    until = time.monotonic() + START_SECONDS
    while (healthy := status_of(ran(tmp_path, probe))) != 0 and time.monotonic() < until:
        assert server.poll() is None, server.communicate()
    assert healthy == 0
    (asked,) = [one["run"] for one in STEPS if one.get("id") == "asked"]
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    for script, status in ((asked, 0), (asked.replace("'I moved to Lyon'", "'I moved to Rome'"), 1)):
        done = subprocess.run([*bash, script], env={**os.environ, "PORT": port}, capture_output=True, check=False)
        assert done.returncode == status, done.stderr
    server.terminate()
    server.communicate(timeout=START_SECONDS)
    assert server.returncode == 0
    assert (tmp_path / "recollect.db").is_file()


def test_the_workflow_builds_runs_asks_and_stops_the_image_of_this_checkout() -> None:
    assert JOB["env"]["RECOLLECT_API_KEYS"] == KEYS
    commands = [words for one in STEPS for words in re.findall(r"docker (\w+)", one.get("run", ""))]
    assert [one for one in commands if one in ("build", "run", "stop")] == ["build", "run", "stop"]
    assert all(re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40}", one["uses"]) for one in STEPS if "uses" in one)
    started = next(one["run"] for one in STEPS if "docker run" in one.get("run", ""))
    assert f":{the('EXPOSE').rest}" in started


def test_the_compose_file_names_services_and_settings_that_are_there() -> None:
    served = yaml.safe_load((ROOT / "compose.server.yaml").read_text("utf-8"))
    (included,) = served["include"]
    engines = yaml.safe_load((ROOT / included).read_text("utf-8"))
    services = engines["services"] | served["services"]
    assert served["name"] == engines["name"]
    for name, service in served["services"].items():
        assert set(service["depends_on"]) <= set(services), name
        for needed, how in service["depends_on"].items():
            assert how["condition"] != "service_healthy" or "healthcheck" in services[needed]
    given = served["services"]["recollect"]["environment"]
    assert {name for name in given if name.startswith("RECOLLECT_")} <= {name for name, _, _ in variables()}
    assert given["RECOLLECT_API_KEYS"].startswith("${RECOLLECT_API_KEYS:?")
    hosts = {value.split("//")[1].split(":")[0] for value in given.values() if value.startswith("http://")}
    assert hosts <= set(engines["services"])


def test_the_page_runs_what_is_built_and_links_lead_somewhere() -> None:
    (first, second) = blocks(PAGE, "console")
    assert "-e RECOLLECT_API_KEYS='" + KEYS in first
    assert "-f compose.server.yaml" in second
    targets = {one.stage for one in FOUND}
    assert {part.split()[0] for part in PAGE.split("--target ")[1:]} <= targets
    for target in links(PAGE):
        assert (ROOT / "docs" / target).exists()
