"""docs/integrations/mem0.md by execution, with mem0's own client."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from integrations.frameworks import frameworks
from integrations.serving import served
from tools.pages import ROOT, blocks, links

PAGE = (ROOT / "docs/integrations/mem0.md").read_text("utf-8")


def test_an_application_moves_by_three_lines(tmp_path: Path) -> None:
    connect, use, save = blocks(PAGE, "python")
    added_before = 'client.add("Plays chess", user_id="anna", infer=False)\n'
    with served(tmp_path, RECOLLECT_API_KEYS='{"key-a": {"tenant": "acme"}}') as url:
        code = "\n".join((connect.replace("http://127.0.0.1:8700", url), use, added_before, save))
        own = {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(tmp_path / "mem0"), "PYTHONPATH": str(frameworks())}
        variables, command = {**os.environ, **own}, [sys.executable, "-c", code]
        ran = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=tmp_path, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "SUCCEEDED ['I moved to Lyon in May and I drink green tea']",
        "['I moved to Lyon in May and I drink green tea']",
        "2 ['ADD', 'UPDATE']",
        "[]",
    ]
    assert "Plays chess" in (tmp_path / "anna.json").read_text("utf-8")


@pytest.mark.parametrize("target", links(PAGE))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs/integrations" / target).exists()
