"""Whatever call of whatever use case is the last one of its process: nothing is lost, doubled, orphaned or back.

RECOLLECT_TEST_EVERY_FAULT=1 runs each way of failing at each call.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crashes.matrix import Matrix
from crashes.page import PAGE, Counts, rows_of
from crashes.scenarios import SCENARIOS

EVERY = os.environ.get("RECOLLECT_TEST_EVERY_FAULT") == "1"
ROUGHLY = 0.25
"""By how much the page's counts of calls may be out of date."""

MEMORY = Path("/dev/shm")
"""Files in memory, where there are some: each point opens a store anew."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where the stores of one scenario are."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="recollect-crashes-") as name:
        yield Path(name)


@pytest.mark.spec("P-20", "P-22", "P-25")
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_crash_at_any_call(name: str, folder: Path, record_property: Callable[[str, object], None]) -> None:
    matrix = Matrix(SCENARIOS[name], folder)
    runs = matrix.runs(every=EVERY)
    counts = Counts(len(matrix.whole.calls), len(matrix.points()), len(runs))
    for what in ("calls", "points", "runs"):
        record_property(f"crash_{what}", getattr(counts, what))
    failed: dict[str, str] = {}
    for fault in runs:
        try:
            matrix.run(fault)
        except AssertionError as error:
            failed[f"{fault.call} {fault.nth} {fault.side} {fault.kind}"] = str(error)[:600]
    assert failed == {}
    assert set(SCENARIOS[name].covers) <= matrix.ran
    told = rows_of(PAGE.read_text(encoding="utf-8"))[name].calls
    assert abs(told - counts.calls) <= ROUGHLY * counts.calls + 1, "python tests/crashes/page.py"
