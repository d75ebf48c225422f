"""Runs of the suites as they are stored, and docs/compatibility.md, written from them alone."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from infra.tools.compat.suites import SUITES, Suite


class Place(NamedTuple):
    """Over which engines the server runs, and what is searched there; nothing named where there is no choice."""

    engines: str
    search: str


PLACES: Final = {
    Place("local", ""): "embedded",
    Place("aws", "table"): "AWS engines, the table searched",
    Place("aws", "domain"): "AWS engines, OpenSearch searched",
}
"""The columns of the page."""

_HEAD = """# Compatibility

Written by `make compat`: other projects' own test suites, unchanged and pinned by version and hash, run against a
server process over HTTP, over SQLite and over the AWS engines (DynamoDB Local), there with the table searched and with
OpenSearch. Our class stands in the place of theirs; each store that a test opens is a tenant. AgentCore's clients are
unchanged, moved by boto3's variables for addresses and signing with an access key; waiting for AWS is cut short. mem0
has no suite that speaks to a server: its client, unchanged and pinned, makes calls of our choice there
(`infra/tools/compat/mem0_calls.py`). The reference memory server's suite calls a class in its process: each of its
cases is asked here by the tools, in our words (`infra/tools/compat/graph_cases.py`). MCP's conformance suite comes from
npm, with a lock. Texts are embedded by `hashing`. OpenSearch is asked what is remembered, not items
([filters](filters.md)), which most suites keep.

"""


@dataclass(frozen=True, slots=True)
class Result:
    """How many tests a suite has, and the names of those that did not pass."""

    suite: str
    total: int
    missed: tuple[str, ...]

    @property
    def passed(self) -> int:
        return self.total - len(self.missed)


@dataclass(frozen=True, slots=True)
class Run:
    """Suites in one place, by the code of one commit; `day` as YYYY-MM-DD, that on which it began."""

    place: Place
    day: str
    commit: str
    results: tuple[Result, ...]

    def store(self, folder: Path) -> None:
        """For the page. A run of some suites alone replaces these in a stored one, if that was of the same code."""
        names = {one.suite for one in self.results}
        before = stored_run(folder, self.place)
        kept = before.results if before is not None and before.commit == self.commit else ()
        whole = replace(self, results=(*(one for one in kept if one.suite not in names), *self.results))
        if {one.suite for one in whole.results} == {suite.name for suite in SUITES}:
            _file(folder, self.place).write_text(json.dumps(asdict(whole)), "utf-8")


def stored_run(folder: Path, place: Place) -> Run | None:
    """The last run in a place; None where there is none, or where it was of other suites than ours."""
    file = _file(folder, place)
    if not file.exists():
        return None
    stored = json.loads(file.read_text("utf-8"))
    results = tuple(Result(one["suite"], one["total"], tuple(one["missed"])) for one in stored["results"])
    complete = {one.suite for one in results} == {suite.name for suite in SUITES}
    return Run(place, stored["day"], stored["commit"], results) if complete else None


def page(runs: Sequence[Run]) -> str:
    """The whole page, of one run in each place."""
    titles = [PLACES[run.place] for run in runs]
    days = "".join(
        f"- {title}: run on {run.day}, at commit {run.commit}.\n" for title, run in zip(titles, runs, strict=True)
    )
    table = f"| suite | version | goal | {' | '.join(titles)} |\n|---|---|---|{'---|' * len(runs)}\n"
    rows = "".join(_row(suite, [_result(suite, run) for run in runs]) for suite in SUITES)
    left_out = "".join(f"- {suite.source.name}, {suite.left_out}.\n" for suite in SUITES if suite.left_out)
    missed = "".join(_missed(runs))
    return f"{_HEAD}{days}\n{table}{rows}\n## What does not pass\n\n{missed}\n## What is not asked\n\n{left_out}"


def _file(folder: Path, place: Place) -> Path:
    return folder / f"{place.engines}{place.search}.json"


def _result(suite: Suite, run: Run) -> Result:
    return next(one for one in run.results if one.suite == suite.name)


def _row(suite: Suite, results: Sequence[Result]) -> str:
    figures = " | ".join(f"{one.passed} of {one.total}" for one in results)
    return f"| {suite.name} | {suite.source.version} | ≥ {suite.goal} of {results[0].total} | {figures} |\n"


def _missed(runs: Sequence[Run]) -> Iterable[str]:
    for suite in SUITES:
        for name in dict.fromkeys(name for run in runs for name in _result(suite, run).missed):
            reason = suite.known.get(name.partition("[")[0], "no reason is known: a defect")
            yield f"- {suite.source.name}, `{name}`: {reason}.\n"
