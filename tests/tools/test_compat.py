"""`make compat`: what counts as a fault, what a report says, and that the committed page is of the pinned suites."""

import re
from pathlib import Path

import pytest

from infra.tools.compat.__main__ import PAGE, Result, faults, result_of
from infra.tools.compat.page import page
from infra.tools.compat.suites import SUITES, Suite

REPORT = """<testsuites><testsuite><testcase name="a"/><testcase name="b[x]"><failure/></testcase>
<testcase name="c"><skipped/></testcase><testcase name="d"><error/></testcase></testsuite></testsuites>"""


def test_what_is_skipped_or_fails_did_not_pass(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    result = result_of(SUITES[0], "local", tmp_path / "report.xml")
    assert (result.total, result.passed, result.missed) == (4, 1, ("b[x]", "c", "d"))


def test_a_missed_goal_and_a_test_without_a_reason_are_faults() -> None:
    suite = SUITES[1]
    known = next(iter(suite.known))
    assert faults(Result(suite.name, "aws", suite.goal + 1, (f"{known}[x]",))) == []
    assert faults(Result(suite.name, "aws", suite.goal, (known,))) == ["the goal"]
    assert faults(Result(suite.name, "aws", suite.goal + 1, ("test_other",))) == ["test_other"]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.source.name)
def test_the_committed_page_is_of_the_pinned_suites_and_reaches_their_goals(suite: Suite) -> None:
    text = PAGE.read_text("utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {suite.name} |")]
    assert f"| {suite.source.version} | ≥ {suite.goal} of " in row
    figures = [(int(passed), int(total)) for passed, total in re.findall(r"\| (\d+) of (\d+)", row)]
    assert len(figures) == 2
    assert all(passed >= suite.goal for passed, _ in figures)
    missed = re.findall(rf"^- {suite.source.name}, `(\w+)[`\[]", text, re.MULTILINE)
    assert set(missed) <= {name for one in SUITES if one.source == suite.source for name in one.known}
    own = [name for name in missed if name in suite.known]
    assert len(own) == figures[0][1] - min(passed for passed, _ in figures)


def test_the_page_names_every_missed_test_once_with_its_reason() -> None:
    suite = SUITES[1]
    known = next(iter(suite.known))
    engines = ("local", "aws")
    missed = {suite.name: (known,)}
    results = [Result(one.name, name, 150, missed.get(one.name, ())) for one in SUITES for name in engines]
    text = page(results, "2026-11-27", "abc1234")
    assert "Last run on 2026-11-27, at commit abc1234." in text
    assert all(f"- {one.source.name}, {one.left_out}.\n" in text for one in SUITES if one.left_out)
    assert text.count(f"`{known}`: {suite.known[known]}.") == 1
    assert "| 149 of 150 | 149 of 150 |" in text
