"""`make compat`: what counts as a fault, what a report says, and that the committed page is of the pinned suites."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType

import pytest

from infra.tools.compat.__main__ import PAGE, faults, result_of
from infra.tools.compat.page import PLACES, Place, Result, Run, page, stored_run
from infra.tools.compat.suites import SUITES, Suite

REPORT = """<testsuites><testsuite><testcase name="a"/><testcase name="b[x]"><failure/></testcase>
<testcase name="c"><skipped/></testcase><testcase name="d"><error/></testcase></testsuite></testsuites>"""


def test_what_is_skipped_or_fails_did_not_pass(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    result = result_of(SUITES[0], tmp_path / "report.xml")
    assert (result.total, result.passed, result.missed) == (4, 1, ("b[x]", "c", "d"))


def test_a_missed_goal_and_a_test_without_a_reason_are_faults() -> None:
    suite = SUITES[1]
    known = next(iter(suite.known))
    assert faults(Result(suite.name, suite.goal + 1, (f"{known}[x]",))) == []
    assert faults(Result(suite.name, suite.goal, (known,))) == ["the goal"]
    assert faults(Result(suite.name, suite.goal + 1, ("test_other",))) == ["test_other"]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.source.name)
def test_the_committed_page_is_of_the_pinned_suites_and_reaches_their_goals(suite: Suite) -> None:
    text = PAGE.read_text("utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {suite.name} |")]
    assert f"| {suite.source.version} | ≥ {suite.goal} of " in row
    figures = [(int(passed), int(total)) for passed, total in re.findall(r"\| (\d+) of (\d+)", row)]
    assert len(figures) == len(PLACES)
    assert all(passed >= suite.goal for passed, _ in figures)
    missed = re.findall(rf"^- {suite.source.name}, `(\w+)[`\[]", text, re.MULTILINE)
    assert set(missed) <= {name for one in SUITES if one.source == suite.source for name in one.known}
    own = [name for name in missed if name in suite.known]
    assert len(own) == figures[0][1] - min(passed for passed, _ in figures)


def test_the_page_names_every_missed_test_once_with_its_reason() -> None:
    suite = SUITES[1]
    known = next(iter(suite.known))
    text = page([run_of_all(place, {suite.name: (known,)}) for place in PLACES])
    assert all(f"- {one.source.name}, {one.left_out}.\n" in text for one in SUITES if one.left_out)
    assert text.count(f"`{known}`: {suite.known[known]}.") == 1
    assert "| 149 of 150 | 149 of 150 | 149 of 150 |" in text


def test_the_page_says_of_each_place_when_it_was_asked_and_what_code(tmp_path: Path) -> None:
    for number, place in enumerate(PLACES):
        run_of_all(place, day=f"2026-11-0{number}", commit=f"abc{number}").store(tmp_path)
    runs = [run for place in PLACES for run in [stored_run(tmp_path, place)] if run]
    text = page(runs)
    assert all(f"- {title}: run on 2026-11-0{n}, at commit abc{n}." in text for n, title in enumerate(PLACES.values()))


def test_a_run_of_other_suites_than_ours_is_none(tmp_path: Path) -> None:
    place = Place("aws", "domain")
    run = run_of_all(place, commit="one")
    run.store(tmp_path)
    assert stored_run(tmp_path, place) == run
    (tmp_path / "awsdomain.json").write_text(json.dumps({**asdict(run), "results": []}))
    assert stored_run(tmp_path, place) is None


def test_a_suite_that_is_run_again_is_taken_with_the_others_of_its_commit_alone(tmp_path: Path) -> None:
    place = Place("aws", "table")
    run = run_of_all(place, {SUITES[0].name: ("a",)}, commit="one")
    again = replace(run, results=(Result(SUITES[0].name, 150, ()),))
    again.store(tmp_path)
    assert stored_run(tmp_path, place) is None
    run.store(tmp_path)
    replace(again, commit="two").store(tmp_path)
    assert stored_run(tmp_path, place) == run
    again.store(tmp_path)
    stored = stored_run(tmp_path, place)
    assert stored is not None
    assert {one.suite: one.missed for one in stored.results} == {suite.name: () for suite in SUITES}


def run_of_all(
    place: Place, missed: Mapping[str, tuple[str, ...]] = MappingProxyType({}), day: str = "", commit: str = ""
) -> Run:
    return Run(place, day, commit, tuple(Result(one.name, 150, missed.get(one.name, ())) for one in SUITES))
