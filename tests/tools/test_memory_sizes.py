"""The template gives each function the memory that docs/benchmarks.md says, and that is chosen by its rule."""

import re
from dataclasses import replace

import pytest

from deployment.template import FUNCTIONS, ROOT, function
from infra.tools.bench.memory_sizes import ASKED, GIVEN_MB, SIZES_MB, SPARE, WAITS_AS, Answer, answer_of
from infra.tools.costs.pricing import Work, gb_second

WORK = Work(
    write_units=0, read_units=0, object_reads=0, object_writes=0, store_waves=2, engine_waves=0,
    processor_seconds=0.02, bus_events=0,
)  # fmt: skip


def given() -> dict[str, int]:
    """By the page: each function and its memory."""
    page = (ROOT / "docs/benchmarks.md").read_text("utf-8")
    rows = re.findall(r"^\| (\w+) \|.*\| \*\*(\d+)\*\* \|$", page.partition("## Memory of functions")[2], re.MULTILINE)
    return {name: int(size) for name, size in rows}


def test_the_template_has_the_sizes_of_the_page() -> None:
    assert given() == {name: function(name)["MemorySize"] for name in FUNCTIONS}


def test_every_function_is_measured_or_given_with_a_reason() -> None:
    assert sorted([*ASKED, *GIVEN_MB]) == sorted(FUNCTIONS)
    assert WAITS_AS.keys() == ASKED.keys()
    assert all(why for _, why in GIVEN_MB.values())


def test_a_size_takes_processor_time_by_its_share_and_waiting_as_it_is() -> None:
    answer = Answer(WORK, 100.0)
    assert answer.seconds(1769) == pytest.approx(0.02 + 0.01)
    assert answer.seconds(512) == pytest.approx(0.02 * 1769 / 512 + 0.01)
    assert answer.dollars_per_million(1024) == pytest.approx(1e6 * answer.seconds(1024) * gb_second())


@pytest.mark.parametrize(
    ("processor_ms", "resident_mb", "chosen_mb"),
    [(20, 100, 512), (40, 100, 512), (41, 100, 1024), (137, 100, 1024), (138, 100, 1769), (600, 100, 1769),
     (20, 512 / SPARE, 512), (20, 512 / SPARE + 1, 1024), (20, 1300, 1769)],
)  # fmt: skip
def test_the_smallest_that_fits_and_is_not_much_slower_is_chosen(
    processor_ms: float, resident_mb: float, chosen_mb: int
) -> None:
    assert Answer(replace(WORK, processor_seconds=processor_ms / 1000), resident_mb).chosen_mb == chosen_mb


def test_a_sample_waits_as_counted_work_does() -> None:
    answer = answer_of("retrieval", {"warm_seconds": 0.05, "resident_mb": 200.0})
    assert answer.work.processor_seconds == 0.05
    assert answer.work.engine_waves == 1
    assert answer.seconds(SIZES_MB[-1]) > 0.05
