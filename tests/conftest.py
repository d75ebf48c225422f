"""Shared fixtures: the real engines, where they run; else the reason why a test is left out."""

import fcntl
import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("recollect.contracts")

pytest_plugins = ["embedded.fixtures"]

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
settings.load_profile("default")

MEMORY = Path("/dev/shm")
ROOM_BYTES = 2 * 1024**3


def _in_memory() -> None:
    """Temporary folders of this run are in memory where there is room; TMPDIR=/tmp leaves them on the disk.

    SQLite waits for the disk at each durable commit. No test cuts the power, and a killed process loses no more of a
    file in memory than of one on a disk.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM_BYTES:
        return
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


_in_memory()

# Workers, engines and the processes of tests are more than there are processors: a product of matrices waits for one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

NEEDS_ENGINES = "needs the real engines: make engines"
BESIDE_ENGINES = "run on DynamoDB Local, and a tenth on moto, its stand-in: another tenth each day"
STAND_IN_SHARE = 10
TODAY = datetime.now(UTC).date().toordinal()
NEEDS_BUILT = "needs the built artifacts: make build"


@dataclass(frozen=True, slots=True)
class Engines:
    """Where the engines of this run answer; `opensearch_2_url` is None where no 2.19 runs beside 3.x."""

    opensearch_url: str
    opensearch_2_url: str | None
    dynamodb_url: str
    s3_url: str
    region: str


@pytest.fixture(scope="session")
def engines() -> Engines:
    """The running engines. Without them the test is left out; with RECOLLECT_REQUIRE_ENGINES=1 it fails."""
    if os.environ.get("RECOLLECT_TEST_ENGINES") != "1":
        if os.environ.get("RECOLLECT_REQUIRE_ENGINES") == "1":
            pytest.fail("the real engines are required here and are not running", pytrace=False)
        pytest.skip(NEEDS_ENGINES)
    return Engines(
        os.environ["RECOLLECT_OPENSEARCH_URL"],
        os.environ.get("RECOLLECT_TEST_OPENSEARCH_2_URL"),
        os.environ["AWS_ENDPOINT_URL_DYNAMODB"],
        os.environ["AWS_ENDPOINT_URL_S3"],
        os.environ["AWS_REGION"],
    )


SLOW_FILES = (
    "browser/",
    "engines/test_kill.py",
    "engines/test_end_to_end.py",
    "engines/test_crash_points.py",
    "entrypoints/cli/test_kill.py",
    "tools/",
    "engines/",
    "services/",
    "crashes/",
    "adapters/",
    "entrypoints/",
    "summaries/",
    "contradictions/",
    "archive/",
    "deletion/",
)
"""What lasts longest, as beginnings of paths: begun first, so that the end of a run is of short tests."""

ONE_BY_ONE = ("engines/", "crashes/")
"""Folders whose tests last long and share nothing."""


BROWSER = "browser/"
"""The folder whose tests share a browser and a server."""


BUILT = ("deployment/test_built_", "deployment/test_layer_versions")
"""Files that lay out the built layers: one worker does, once."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """One worker collects before the others, which read what it compiled: in a fresh clone that is most of the work.

    What collecting makes stays until the end: the garbage collector looks through none of it, then or later.
    """
    gc.disable()
    try:
        with Path(__file__).open() as file:
            _take_turn(file)
            yield
    finally:
        gc.freeze()
        gc.enable()


def _take_turn(file: IO[str]) -> None:
    """The first one has the file for itself until it is closed; the others wait for that, and then share it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(file, fcntl.LOCK_SH)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, so that the end of a run is of short ones. Beside an engine its stand-in takes a tenth."""
    if os.environ.get("RECOLLECT_TEST_ENGINES") == "1":
        for item in items:
            if item.get_closest_marker("stand_in") and (crc32(item.nodeid.encode()) + TODAY) % STAND_IN_SHARE:
                item.add_marker(pytest.mark.skip(BESIDE_ENGINES))
    items.sort(key=_turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file run on one worker: its fixtures are made once. (pytest 9.2 hides the groups of xdist.)"""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid)

    return ByFile(config, log)


def _group(nodeid: str) -> str:
    """What runs on one worker, one after another."""
    path = nodeid.partition("::")[0].removeprefix("tests/")
    if path.startswith(BUILT):
        return "built"
    if path.startswith(BROWSER):
        return BROWSER
    return nodeid if path.startswith(ONE_BY_ONE) else path


def _turn(item: pytest.Item) -> int:
    """Built artifacts come first: they are one long piece."""
    path = _path(item)
    if path.startswith(BUILT):
        return -1
    return next((turn for turn, part in enumerate(SLOW_FILES) if path.startswith(part)), len(SLOW_FILES))


def _path(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).as_posix()


@pytest.hookimpl(hookwrapper=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Says how many tests were left out, and why; and how many points the crash matrix has."""
    yield
    _tell_crash_points(terminalreporter)
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"left out: {count} tests: {reason.removeprefix('Skipped: ')}")


def _tell_crash_points(terminalreporter: pytest.TerminalReporter) -> None:
    """The matrix of tests/crashes: a point is a call of a port, before or after it, and a way in which it fails."""
    reports = [*terminalreporter.stats.get("passed", []), *terminalreporter.stats.get("failed", [])]
    counts = [dict(report.user_properties) for report in reports if hasattr(report, "user_properties")]
    found = [count for count in counts if "crash_points" in count]
    if found:
        calls, points, runs = (sum(one[f"crash_{name}"] for one in found) for name in ("calls", "points", "runs"))
        told = f"{len(found)} scenarios, {calls} calls, {points} points, {runs} of them run"
        terminalreporter.write_line(f"crash matrix: {told}; all: make crashes")
