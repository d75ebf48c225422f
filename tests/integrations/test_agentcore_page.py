"""docs/integrations/agentcore.md by execution: boto3 as it is here; the SDK's and LangGraph's classes where they are.

Those are in an environment that `make compat` makes, which takes minutes: without it the last block is left out.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from infra.tools.compat.__main__ import environment_folder
from infra.tools.compat.suites import OF_AGENTCORE
from integrations.serving import served
from tools.pages import ROOT, blocks, links

PAGE = (ROOT / "docs/integrations/agentcore.md").read_text("utf-8")
BOTO3, CLASSES = blocks(PAGE, "python")


def printed(python: Path | str, code: str, home: Path) -> list[str]:
    """What the code prints with the variables of the page, at a server of its own."""
    with served(home) as url:
        exported = dict(re.findall(r"(AWS_\w+)=(\S+)", PAGE.replace("http://127.0.0.1:8700", url)))
        command = [str(python), "-W", "ignore", "-c", code]
        variables = {**os.environ, "PYTHONPATH": "", **exported}
        ran = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=home, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_a_program_moves_by_two_variables(tmp_path: Path) -> None:
    assert printed(sys.executable, BOTO3, tmp_path) == ["['I moved to Lyon in May']"]


def test_the_sdk_and_langgraph_are_clients_as_they_are(tmp_path: Path) -> None:
    folder = environment_folder(OF_AGENTCORE)
    if not (folder / "complete").exists():
        pytest.skip("make compat makes the environment of these classes")
    lines = printed(folder / "bin" / "python", f"{BOTO3}\n{CLASSES}", tmp_path)
    assert lines == ["['I moved to Lyon in May']", "['I play the cello', 'Lovely!']", "[]"]


@pytest.mark.parametrize("target", links(PAGE))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs/integrations" / target).exists()
