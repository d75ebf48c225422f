"""What `make compat` makes of the protocol's conformance suite; the suite itself runs there."""

import json

import pytest

from infra.tools.compat.mcp import MCP_SCENARIOS, checks_passed
from tools.pages import ROOT

PAGE = (ROOT / "docs/mcp.md").read_text("utf-8").partition("## Conformance")[2]


@pytest.mark.parametrize(
    ("said", "passed"),
    [
        ("…\nPassed: 2/2, 0 failed, 0 warnings\n", 2),
        ("Passed: 1/2, 1 failed, 0 warnings", None),
        ("Passed: 1/2, 0 failed, 0 warnings", None),
        ("Passed: 1/1, 0 failed, 1 warnings", None),
        ("Passed: 0/0, 0 failed, 0 warnings", None),
        ("", None),
    ],
)
def test_only_a_scenario_with_all_its_checks_passed(said: str, passed: int | None) -> None:
    assert checks_passed(said) == passed


def test_the_page_names_the_scenarios_and_the_version_that_run() -> None:
    pinned = json.loads((ROOT / "infra/tools/compat/mcp_conformance/package.json").read_text("utf-8"))
    assert pinned["devDependencies"]["@modelcontextprotocol/conformance"] in PAGE
    assert [name for name in MCP_SCENARIOS if f"`{name}`" in PAGE] == list(MCP_SCENARIOS)
