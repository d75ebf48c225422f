"""docs/integrations/agentcore.md by execution, with boto3, the bedrock-agentcore SDK and LangGraph's saver for it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from integrations.frameworks import frameworks
from integrations.serving import served
from tools.pages import ROOT, blocks, links

PAGE = (ROOT / "docs/integrations/agentcore.md").read_text("utf-8")


def test_a_program_moves_by_two_variables(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        of_a_laptop = PAGE.partition("## On AWS")[0].replace("http://127.0.0.1:8700", url)
        exported = dict(re.findall(r"(AWS_\w+)=(\S+)", of_a_laptop))
        command = [sys.executable, "-W", "ignore", "-c", "\n".join(blocks(PAGE, "python"))]
        variables = {**os.environ, "PYTHONPATH": str(frameworks()), **exported}
        ran = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=tmp_path, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["['I moved to Lyon in May']", "['I play the cello', 'Lovely!']", "[]"]


@pytest.mark.parametrize("target", links(PAGE))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs/integrations" / target).exists()
