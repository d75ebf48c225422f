"""`make compat`: other projects' suites against a running server, embedded and on the AWS engines; writes the page.

Each run of all suites in one place is stored in build/compat with its day and commit, and the page is written from the
last one of each place, so that it can be made in one go or one by one (`--engines aws --search domain`). Some of the
suites measure time: on a busy machine they can be run again alone (`--suite`).

The source distributions are downloaded by pip into build/compat and checked by their hashes; nothing of them is kept in
the repository. The suites run in an environment of their own, in which our modules are on the path, and reach the
server over HTTP alone. The AWS engines are those of `make engines`, by what it prints to export; without them nothing
is asked of them.
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
from datetime import UTC, datetime
from pathlib import Path

from infra.tools.compat.mcp import MCP_SCENARIOS, installed, passed
from infra.tools.compat.page import PLACES, Place, Result, Run, page, stored_run
from infra.tools.compat.suites import REQUIREMENTS, SCENARIOS, SUITES, Source, Suite

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build" / "compat"
PAGE = ROOT / "docs" / "compatibility.md"
KEYS = 400
ACCESS_KEY, SECRET = "COMPATACCESSKEY", "compat-secret-access-key"
"""With which AgentCore's clients sign."""
START_SECONDS = 60
_NEEDED = {
    "local": (),
    "aws": ("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_S3", "RECOLLECT_OPENSEARCH_URL"),
}
"""The variables of the environment without which a server over these engines is not asked."""
_STATES = ("failure", "error", "skipped")


def main() -> int:
    """Runs them; 1 where a goal is missed or a test fails that has no reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", choices=tuple(_NEEDED), help="only over these")
    parser.add_argument("--search", choices=("table", "domain"), help="only where this is searched")
    parser.add_argument("--suite", default="", help="only those with this in their name, as the page has it")
    options = parser.parse_args()
    suites = [suite for suite in SUITES if options.suite in suite.name]
    places = [place for place in PLACES if options.engines in (None, place.engines)]
    places = [place for place in places if options.search in (None, place.search)]
    found: list[str] = []
    for place in places:
        if os.environ.keys() >= set(_NEEDED[place.engines]):
            run = run_of(suites, place)
            found += [fault for one in run.results for fault in faults(one)]
            run.store(BUILD)
    write_page()
    return int(bool(found))


def write_page() -> None:
    """From the last run of each place, once there is one of each."""
    stored = [stored_run(BUILD, place) for place in PLACES]
    runs = [one for one in stored if one is not None]
    if len(runs) == len(PLACES):
        PAGE.write_text(page(runs), "utf-8")
    else:
        print("the page is written once all suites have run in each place, with those of make engines")


def run_of(suites: Sequence[Suite], place: Place) -> Run:
    """Runs the suites in one place, and prints how it went."""
    day, code = f"{datetime.now(UTC):%Y-%m-%d}", commit()
    by_pytest = [suite for suite in suites if suite.files]
    results: list[Result] = []
    with server(place) as url:
        for suite in by_pytest:
            python = environment(suite.requirements or REQUIREMENTS)
            results.append(tested(suite, unpacked(suite.source), python, url))
    if SCENARIOS in suites:
        results.append(scenarios(place))
    for one in results:
        print(f"{PLACES[place]}, {one.suite}: {one.passed} of {one.total}", *one.missed, sep="\n    ", flush=True)
    return Run(place, day, code, tuple(results))


def commit() -> str:
    """That of this checkout, as git shortens it."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def scenarios(place: Place) -> Result:
    """Of MCP's conformance suite, against a server that anybody may ask."""
    suite = installed(BUILD)
    with server(place, RECOLLECT_API_KEYS="", RECOLLECT_SIGNING_KEYS="", RECOLLECT_MCP_USER="anna") as url:
        missed = tuple(name for name in MCP_SCENARIOS if passed(suite, name, f"{url}/mcp") is None)
    return Result(SCENARIOS.name, len(MCP_SCENARIOS), missed)


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
def server(place: Place, **settings: str) -> Iterator[str]:
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
            "RECOLLECT_ENGINES": place.engines,
            "RECOLLECT_CALL_TIMEOUT_SECONDS": "20",
            "RECOLLECT_SEARCH_ENGINE": place.search or "table",
            "RECOLLECT_TABLE": f"compat-{uuid.uuid4().hex[:12]}",
            "RECOLLECT_INDEX_PREFIX": f"compat-{uuid.uuid4().hex[:12]}",
            **settings,
        }
        command = [sys.executable, "-m", "recollect.entrypoints.cli"]
        if place.engines == "aws":
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


def tested(suite: Suite, folder: Path, python: Path, url: str) -> Result:
    """Runs the files of a suite in its folder, with the plugin; our modules come last on the path."""
    report = BUILD / f"{suite.source.name}.xml"
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
    return result_of(suite, report)


def result_of(suite: Suite, report: Path) -> Result:
    """The result in a report of pytest's."""
    cases = list(ElementTree.parse(report).iter("testcase"))
    missed = [str(case.get("name")) for case in cases if any(case.find(state) is not None for state in _STATES)]
    return Result(suite.name, len(cases), tuple(missed))


if __name__ == "__main__":
    BUILD.mkdir(parents=True, exist_ok=True)
    sys.exit(main())
