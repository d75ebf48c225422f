"""docs/operations.md by execution: its `sh` blocks run in their order, in one shell, on a store of their own.

The words behind `#>` are what the output of their block must show. Blocks for AWS are `console`, and are not run.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
TEMPLATE = (ROOT / "template.yaml").read_text("utf-8")
BIN = Path(sys.executable).parent
_MARK = "@@ block "
_BESIDE = re.compile(r"\s#> (.+)$", re.MULTILINE)
_SAID = {
    "anna": ["It rained a little", "I moved to Lyon last week", "My name is Anna and I always drink coffee"],
    "carl": ["I work as a carpenter"],
    "dora": ["My city is Oslo"],
}

pytestmark = [
    pytest.mark.skipif(shutil.which("bash") is None, reason="the page's commands need bash"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the page's commands need curl"),
]


def blocks() -> list[str]:
    """What is run."""
    return re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def expected(block: str) -> list[str]:
    """The words behind its commands."""
    return [words.strip() for words in _BESIDE.findall(block)]


@dataclass(frozen=True, slots=True)
class Walk:
    """What the blocks printed, as far as they came, and how their shell ended."""

    outputs: list[str]
    status: int


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    own = {
        "RECOLLECT_HOME": str(tmp_path_factory.mktemp("home")),
        "RECOLLECT_EMBEDDER": "hashing",
        "TMPDIR": str(tmp_path_factory.mktemp("copies")),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
    }
    return {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")} | own


@pytest.fixture(scope="session")
def server(environment: dict[str, str]) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [str(BIN / "recollect"), "serve", "--port", address.partition(":")[2]]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        _wait(process, address)
        yield address
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def walk(server: str, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Walk:
    for user, contents in _SAID.items():
        _say(server, user, contents)
    script = "\n".join(f"printf '\\n{_MARK}{number}\\n'\n{block}" for number, block in enumerate(blocks()))
    shown = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script.replace("localhost:8700", server)],
        env=environment,
        cwd=tmp_path_factory.mktemp("cwd"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    parts = re.split(rf"\n{_MARK}\d+\n", shown.stdout)
    return Walk(parts[1:], shown.returncode)


def _wait(process: "subprocess.Popen[bytes]", address: str) -> None:
    for _ in range(300):
        assert process.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(f"http://{address}/v1/ready", timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server did not become ready")


def _say(address: str, user: str, contents: list[str]) -> None:
    key = {"key": "city"} if user == "dora" else {}
    events = [
        {"content": content, "timestamp": f"2024-05-06T09:0{place}:00Z", **key}
        for place, content in enumerate(contents)
    ]
    body = json.dumps({"user_id": user, "conversation_id": "monday", "events": events}).encode()
    request = urllib.request.Request(
        f"http://{address}/v1/events", body, {"Content-Type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 201


def test_every_command_of_the_page_succeeds(walk: Walk) -> None:
    reached = len(walk.outputs)
    if walk.status:
        what = f"{blocks()[reached - 1]}ended with {walk.status}:\n{walk.outputs[-1]}"
        pytest.fail(what, pytrace=False)
    assert reached == len(blocks())


@pytest.mark.parametrize("number", range(len(blocks())))
def test_a_block_shows_what_the_page_says(walk: Walk, number: int) -> None:
    if number >= len(walk.outputs):
        pytest.fail("an earlier block failed", pytrace=False)
    missing = [words for words in expected(blocks()[number]) if words not in walk.outputs[number]]
    if missing:
        pytest.fail(f"{missing} are missing in:\n{walk.outputs[number]}", pytrace=False)


def test_the_words_behind_commands_are_found() -> None:
    block = 'recollect doctor    #> ok\ncurl x #> "a":1\nls  # prose\n'
    assert expected(block) == ["ok", '"a":1']
    assert sum(map(len, map(expected, blocks()))) > 40


def test_every_alarm_of_the_template_has_its_row() -> None:
    alarms = re.findall(r"^  (\w+):\n    Type: AWS::CloudWatch::(?:Composite)?Alarm$", TEMPLATE, re.MULTILINE)
    rows = re.findall(r"^\| `(\w+Alarm)` \| [^|]{20,} \| [^|]{10,} \|$", PAGE, re.MULTILINE)
    assert len(alarms) >= 14
    assert sorted(rows) == sorted(alarms)


def test_every_parameter_and_output_that_the_page_names_is_the_template_s() -> None:
    declared = set(re.findall(r"^  ([A-Z]\w+):$", TEMPLATE, re.MULTILINE))
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", PAGE))
    foreign = {"DeletionPolicy", "OldestPendingAge", "IndexLacksDocuments"}
    assert named - foreign <= declared, named - foreign - declared


def test_every_copy_that_lapses_is_in_the_table() -> None:
    from recollect.deletion.tombstones import LAPSES

    section = PAGE.partition("## Erase a user")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `(\w+)`[^|]*\| (\d+) (hours|days) \|", section, re.MULTILINE)
    days = {part: int(number) / (24 if unit == "hours" else 1) for part, number, unit in told}
    assert days == {part: age.total_seconds() / 86_400 for part, age in LAPSES["aws"].items()}


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", PAGE))))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs" / target).exists()
