"""docs/integrations/langgraph.md by execution."""

from pathlib import Path

import pytest

from integrations.serving import served, shown
from tools.pages import ROOT, blocks, links

pytest.importorskip("langgraph.graph", reason="needs LangGraph: make install")
pytest.importorskip("langgraph_sdk", reason="needs LangGraph: make install")

PAGE = (ROOT / "docs/integrations/langgraph.md").read_text("utf-8")
MEMORY, IN_PROCESS, OVER_A_SERVER, BY_THE_SDK, CHECKPOINTER = blocks(PAGE, "python")


def test_a_model_is_told_what_another_conversation_said(tmp_path: Path) -> None:
    assert shown(MEMORY, tmp_path) == ["I do not know.", "In Lyon."]


def test_a_graph_remembers_in_the_process(tmp_path: Path) -> None:
    assert shown(IN_PROCESS, tmp_path) == ["nothing yet", "Where do I live?"]
    assert (tmp_path / ".recollect/recollect.db").is_file()


def test_the_class_and_langgraphs_own_client_reach_a_server(tmp_path: Path) -> None:
    with served(tmp_path, RECOLLECT_API_KEYS='{"key-a": {"tenant": "acme"}}') as url:
        code = [block.replace("http://127.0.0.1:8700", url) for block in (OVER_A_SERVER, BY_THE_SDK)]
        lines = [shown(block, tmp_path) for block in code]
    assert lines == [["{'likes': 'jam', 'age': 40}", "[('users', 'anna')]"], ["{'likes': 'jam', 'age': 40}"]]


def test_a_thread_goes_on(tmp_path: Path) -> None:
    lines = shown(CHECKPOINTER, tmp_path)
    assert lines == ["['Hello', '1 heard', 'Are you there?', '3 heard']", "6"]
    assert shown(CHECKPOINTER, tmp_path) == lines  # the thread was deleted


@pytest.mark.parametrize("target", links(PAGE))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs/integrations" / target).exists()
