"""docs/operations.md by execution: its `sh` blocks run in their order, in one shell, on a store of their own.

The words behind `#>` are what the output of their block must show. Blocks for AWS are `console`, and are not run.
"""

import json
import os
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from entrypoints.cli.forked import forked_commands
from entrypoints.cli.running import Home, serving
from recollect.deletion.storage import LAPSES
from tools.pages import BIN, ROOT, blocks, expected, links

PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
TEMPLATE = (ROOT / "template.yaml").read_text("utf-8")
BLOCKS = blocks(PAGE, "sh")
_MARK = "@@ block "
_SAID = {
    "anna": ["It rained a little", "I moved to Lyon last week", "My name is Anna and I always drink coffee"],
    "carl": ["I work as a carpenter"],
    "dora": ["My city is Oslo"],
}

pytestmark = pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="the page needs both")


@dataclass(frozen=True, slots=True)
class Walk:
    """What the blocks printed, as far as they came, and how their shell ended."""

    outputs: list[str]
    status: int


@pytest.fixture(scope="session")
def commands() -> Iterator[Path]:
    with TemporaryDirectory() as folder, forked_commands(Path(folder)):
        yield Path(folder)


@pytest.fixture(scope="session")
def variables(commands: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    path = os.pathsep.join(map(str, (commands, BIN, os.environ["PATH"])))
    home, copies = Home(tmp_path_factory.mktemp("home")), tmp_path_factory.mktemp("copies")
    return home.environment(TMPDIR=str(copies), PATH=path)


@pytest.fixture(scope="session")
def server(variables: dict[str, str]) -> Iterator[str]:
    with serving(variables) as (address, _):
        yield address


@pytest.fixture(scope="session")
def walk(server: str, variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Walk:
    for user, contents in _SAID.items():
        _say(server, user, contents)
    script = "\n".join(f"printf '\\n{_MARK}{number}\\n'\n{block}" for number, block in enumerate(BLOCKS))
    shown = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script.replace("localhost:8700", server)],
        env=variables,
        cwd=tmp_path_factory.mktemp("cwd"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    parts = re.split(rf"\n{_MARK}\d+\n", shown.stdout)
    return Walk(parts[1:], shown.returncode)


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
        what = f"{BLOCKS[reached - 1]}ended with {walk.status}:\n{walk.outputs[-1]}"
        pytest.fail(what, pytrace=False)
    assert reached == len(BLOCKS)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_shows_what_the_page_says(walk: Walk, number: int) -> None:
    if number >= len(walk.outputs):
        pytest.fail("an earlier block failed", pytrace=False)
    missing = [words for words in expected(BLOCKS[number]) if words not in walk.outputs[number]]
    if missing:
        pytest.fail(f"{missing} are missing in:\n{walk.outputs[number]}", pytrace=False)


def test_the_words_behind_commands_are_found() -> None:
    block = 'recollect doctor    #> ok\ncurl x #> "a":1\nls  # prose\n'
    assert expected(block) == ["ok", '"a":1']
    assert sum(map(len, map(expected, BLOCKS))) > 40


def test_every_alarm_of_the_template_has_its_row() -> None:
    alarms = re.findall(r"^  (\w+):\n    Type: AWS::CloudWatch::(?:Composite)?Alarm$", TEMPLATE, re.MULTILINE)
    rows = re.findall(r"^\| `(\w+Alarm)` \| [^|]{20,} \| [^|]{10,} \| [^|]{15,} \|$", PAGE, re.MULTILINE)
    assert len(alarms) >= 14
    assert sorted(rows) == sorted(alarms)


def test_every_parameter_and_output_that_the_page_names_is_the_template_s() -> None:
    declared = set(re.findall(r"^  ([A-Z]\w+):$", TEMPLATE, re.MULTILINE))
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", PAGE))
    foreign = {"DeletionPolicy", "OldestPendingAge", "PartsFailed", "IndexLacksDocuments", "ProcessEnded"}
    assert named - foreign <= declared, named - foreign - declared


def test_the_sizes_of_the_search_engine_are_by_the_rules_that_stand_above_them() -> None:
    section = PAGE.partition("### Size of the search engine")[2].partition("\n## ")[0]
    cells = r"^\| (\d+) million[^|]*\| [^|]+ \| (\d+) \| (\d+) \| (\d+) \| `[a-z0-9.]+` \|$"
    rows = [tuple(map(int, row)) for row in re.findall(cells, section, re.MULTILINE)]
    assert len(rows) == 5
    for millions, shards, nodes, gigabytes in rows:
        copy_gigabytes, copies = 6 * millions, min(nodes, 2)
        assert copy_gigabytes <= 30 * shards
        assert shards % nodes == 0 or copies * shards == nodes
        assert nodes * gigabytes >= 1.5 * copies * copy_gigabytes


def test_every_copy_that_lapses_is_in_the_table() -> None:
    section = PAGE.partition("## Erase a user")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `(\w+)`[^|]*\| (\d+) (hours|days) \|", section, re.MULTILINE)
    days = {part: int(number) / (24 if unit == "hours" else 1) for part, number, unit in told}
    assert days == {part: age.total_seconds() / 86_400 for part, age in LAPSES["aws"].items()}


@pytest.mark.parametrize("target", links(PAGE))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs" / target).exists()
