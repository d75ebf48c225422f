"""docs/integrations/langgraph.md by execution."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from integrations.serving import served
from tools.pages import ROOT, blocks, links

pytest.importorskip("langgraph.graph", reason="needs LangGraph: make install")
pytest.importorskip("langgraph_sdk", reason="needs LangGraph: make install")

PAGE = (ROOT / "docs/integrations/langgraph.md").read_text("utf-8")
IN_PROCESS, OVER_A_SERVER, BY_THE_SDK = blocks(PAGE, "python")


def shown(code: str, home: Path) -> str:
    """What the code prints, as a program of somebody with this home."""
    variables = {**os.environ, "HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_graph_remembers_in_the_process(tmp_path: Path) -> None:
    assert shown(IN_PROCESS, tmp_path).splitlines() == ["nothing yet", "Where do I live?"]
    assert (tmp_path / ".recollect/recollect.db").is_file()


def test_the_class_and_langgraphs_own_client_reach_a_server(tmp_path: Path) -> None:
    with served(tmp_path, RECOLLECT_API_KEYS='{"key-a": {"tenant": "acme"}}') as url:
        code = [block.replace("http://127.0.0.1:8700", url) for block in (OVER_A_SERVER, BY_THE_SDK)]
        lines = [shown(block, tmp_path).splitlines() for block in code]
    assert lines == [["{'likes': 'jam', 'age': 40}", "[('users', 'anna')]"], ["{'likes': 'jam', 'age': 40}"]]


@pytest.mark.parametrize("target", links(PAGE))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs/integrations" / target).exists()
