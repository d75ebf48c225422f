"""docs/compatibility.md, from the results of the suites."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from infra.tools.compat.suites import SUITES, Suite

_HEAD = """# Compatibility

Written by `make compat`: other projects' own test suites, unchanged and pinned by version and hash, run against a
server process over HTTP, once over SQLite and once over the AWS engines (DynamoDB Local). Our class stands in the place
of theirs; each store that a test opens is a tenant. AgentCore's clients are unchanged, moved by boto3's variables for
addresses and signing with an access key; waiting for AWS is cut short. mem0 has no suite that speaks to a server: its
client, unchanged and pinned, makes calls of our choice there (`infra/tools/compat/mem0_calls.py`). The reference memory
server's suite calls a class in its process: each of its cases is asked here by the tools, in our words
(`infra/tools/compat/graph_cases.py`). MCP's conformance suite comes from npm, with a lock. Texts are embedded
by `hashing`, and on the AWS engines the table is searched. `--search domain` runs suites over OpenSearch; there the
rows of langgraph-checkpoint, -sqlite and -aws, mem0, bedrock-agentcore and server-memory were the same on 2026-11-27,
at commit 1e144d5. It is asked what is remembered, not items ([filters](filters.md)), which most of them keep.
Last run on {day}, at commit {commit}.

| suite | version | goal | embedded | AWS engines |
|---|---|---|---|---|
"""


class Outcome(Protocol):
    """What the page needs of a result."""

    @property
    def suite(self) -> str: ...
    @property
    def engines(self) -> str: ...
    @property
    def total(self) -> int: ...
    @property
    def passed(self) -> int: ...
    @property
    def missed(self) -> tuple[str, ...]: ...


def page(results: Sequence[Outcome], day: str, commit: str) -> str:
    """The whole page; `day` and `commit` are those of the run."""
    rows = "".join(_row(suite, [one for one in results if one.suite == suite.name]) for suite in SUITES)
    head = _HEAD.format(day=day, commit=commit)
    left_out = "".join(f"- {suite.source.name}, {suite.left_out}.\n" for suite in SUITES if suite.left_out)
    return f"{head}{rows}\n## What does not pass\n\n{''.join(_missed(results))}\n## What is not asked\n\n{left_out}"


def _row(suite: Suite, results: Sequence[Outcome]) -> str:
    by_engines = {one.engines: f"{one.passed} of {one.total}" for one in results}
    figures = " | ".join(by_engines[engines] for engines in ("local", "aws"))
    return f"| {suite.name} | {suite.source.version} | ≥ {suite.goal} of {results[0].total} | {figures} |\n"


def _missed(results: Sequence[Outcome]) -> Iterable[str]:
    for suite in SUITES:
        names = dict.fromkeys(name for one in results if one.suite == suite.name for name in one.missed)
        for name in names:
            reason = suite.known.get(name.partition("[")[0], "no reason is known: a defect")
            yield f"- {suite.source.name}, `{name}`: {reason}.\n"
