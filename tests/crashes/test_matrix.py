"""Whatever call of whatever use case is the last one of its process: nothing is lost, doubled, orphaned or back.

The points of a scenario are its calls of ports, before or after them, and a way in which they fail. One run takes a
fifth of them, another fifth each day; `make crashes` (RECOLLECT_CRASH_POINTS=all) takes them all, and
RECOLLECT_TEST_EVERY_FAULT=1 tries each way of failing at each call.
"""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import pytest

from crashes.matrix import Matrix
from crashes.scenarios import SCENARIOS
from crashes.wrapping import Fault, Kind, Side

EVERY = os.environ.get("RECOLLECT_TEST_EVERY_FAULT") == "1"
ALL = EVERY or os.environ.get("RECOLLECT_CRASH_POINTS") == "all"
SHARE = 5
TODAY = datetime.now(UTC).date()


def sampled(name: str, points: list[Fault], day: int, share: int = SHARE) -> list[Fault]:
    """Every fifth point; in five days all of them, and on one day another place of each scenario."""
    first = (crc32(name.encode()) + day) % share
    return points[first % len(points) :: share]


@pytest.mark.spec("P-20", "P-22", "P-25")
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_crash_at_any_call(name: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    matrix = Matrix(SCENARIOS[name], tmp_path)
    points = matrix.runs(every=EVERY)
    taken = points if ALL else sampled(name, points, TODAY.toordinal())
    for what, count in (("calls", len(matrix.whole.calls)), ("points", len(points)), ("runs", len(taken))):
        record_property(f"crash_{what}", count)
    failed: dict[str, str] = {}
    for fault in taken:
        try:
            matrix.run(fault)
        except AssertionError as error:
            failed[f"{fault.call} {fault.nth} {fault.side} {fault.kind}"] = str(error)[:600]
    assert failed == {}, f"points of {TODAY}; RECOLLECT_CRASH_POINTS=all runs every one"


def test_five_days_take_every_point() -> None:
    points = [Fault("timeline.append", number, Side.BEFORE, Kind.KILLED) for number in range(7)]
    taken = [fault.nth for day in range(SHARE) for fault in sampled("ingest", points, day)]
    assert sorted(taken) == list(range(7))
