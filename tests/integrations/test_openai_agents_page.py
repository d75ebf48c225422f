"""docs/integrations/openai-agents.md by execution."""

from pathlib import Path

import pytest

from integrations.serving import served, shown
from tools.pages import ROOT, blocks, links

pytest.importorskip("agents.testing", reason="needs the OpenAI Agents SDK: make install")

PAGE = (ROOT / "docs/integrations/openai-agents.md").read_text("utf-8")
MEMORY, IN_PROCESS, OVER_A_SERVER = blocks(PAGE, "python")


def test_a_model_is_told_what_another_conversation_said(tmp_path: Path) -> None:
    assert shown(MEMORY, tmp_path) == ["Noted.", "In Lyon.", "True"]


def test_a_run_remembers_in_the_process(tmp_path: Path) -> None:
    assert shown(IN_PROCESS, tmp_path) == ["['user', 'assistant', 'user', 'assistant']", "California"]
    assert shown(IN_PROCESS, tmp_path)[0].count("user") == 4


def test_the_class_reaches_a_server(tmp_path: Path) -> None:
    with served(tmp_path, RECOLLECT_API_KEYS='{"key-a": {"tenant": "acme"}}') as url:
        lines = shown(OVER_A_SERVER.replace("http://127.0.0.1:8700", url), tmp_path)
    assert lines == ["{'role': 'assistant', 'content': 'Good day'}", "['Hello', 'Hello, Anna']", "[]"]


@pytest.mark.parametrize("target", links(PAGE))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs/integrations" / target).exists()
