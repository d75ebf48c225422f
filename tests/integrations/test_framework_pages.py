"""docs/integrations of LangChain, Strands, Pydantic AI, LlamaIndex and CrewAI by execution, in the real packages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from integrations.frameworks import PINS, frameworks
from integrations.serving import served
from tools.pages import ROOT, blocks, links

PAGES = ROOT / "docs/integrations"
INJECTED = [
    "<memory>",
    '<entry source="recollect">Remember: I moved to Lyon</entry>',
    '<entry source="recollect">Noted.</entry>',
    "</memory>",
]
SHOWN = {
    "langchain": (
        ["Noted.", "In Lyon.", "['human', 'ai', 'human', 'ai']", "My sister Ada plays the cello"],
        ["['Good day', 'How are you?']", "[]"],
    ),
    "strands": (
        ["In Lyon.", *INJECTED, "2 Lyon, you said."],
        ["Prefers short answers a form", "wednesday", "None"],
    ),
    "pydantic-ai": (
        ["kept", "I live in Lyon", "['tuesday', 'monday']"],
        ["ConversationConflict", "4", "None"],
    ),
    "llama-index": (
        [
            "[('user', 'Hello'), ('assistant', 'text'), ('user', 'Are you there?'), ('assistant', 'text')]",
            "system True",
            "user False",
        ],
        ["['Good day', 'How are you?'] 3", "[]"],
    ),
    "crewai": (
        [
            "['Anna moved to Lyon']",
            "['/people', '/team'] 1 {'plan': 1, 'home': 1}",
            "1 ['The launch is in May']",
        ],
        ["[('Old plan', 1.0), ('New plan', 0.8)]", "1 1", "0"],
    ),
}
BETWEEN = "-- the next block --"
DRAWN = ("╭", "│", "╰")
PACKAGES = {
    "langchain": "langchain-core",
    "strands": "strands-agents",
    "pydantic-ai": "pydantic-ai-slim",
    "llama-index": "llama-index-core",
    "crewai": "crewai",
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_page_shows_runs_in_the_process_and_over_a_server(name: str, tmp_path: Path) -> None:
    page = (PAGES / f"{name}.md").read_text("utf-8")
    in_process, over_a_server = blocks(page, "python")
    with served(tmp_path, RECOLLECT_API_KEYS='{"key-a": {"tenant": "acme"}}') as url:
        code = f"{in_process}\nprint({BETWEEN!r})\n{over_a_server.replace('http://127.0.0.1:8700', url)}"
        lines = shown(code, tmp_path)
    assert lines == [*SHOWN[name][0], BETWEEN, *SHOWN[name][1]]


def shown(code: str, home: Path) -> list[str]:
    """The lines that the code prints, as a program of somebody with this home and these frameworks.

    Without empty lines, and without the boxes in which CrewAI tells what it does.
    """
    quiet = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
    path = os.pathsep.join((str(ROOT / "layers/memory"), str(frameworks())))
    own = {"HOME": str(home), "RECOLLECT_EMBEDDER": "hashing", "PYTHONPATH": path, **quiet}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **own}, timeout=180
    )
    assert ran.returncode == 0, ran.stderr
    lines = [line.partition(DRAWN[0])[0] for line in ran.stdout.splitlines()]
    return [line for line in lines if line and not line.startswith(DRAWN)]


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_names_the_version_that_it_was_run_with(name: str) -> None:
    pins = PINS.read_text("utf-8") + (ROOT / "constraints.txt").read_text("utf-8")
    version = re.search(rf"^{PACKAGES[name]}==(\S+)$", pins, re.MULTILINE)
    assert version is not None
    assert f"{PACKAGES[name]} {version[1]}" in " ".join((PAGES / f"{name}.md").read_text("utf-8").split())


@pytest.mark.parametrize(
    ("name", "target"),
    [(name, target) for name in SHOWN for target in links((PAGES / f"{name}.md").read_text("utf-8"))],
)
def test_every_link_leads_somewhere(name: str, target: str) -> None:
    assert (PAGES / target).exists()
