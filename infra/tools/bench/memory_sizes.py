"""How much memory each function is given: what an answer takes, and costs, at several sizes.

Lambda gives a function a share of a processor by its memory, a whole one at 1,769 MB. Processor time and resident
memory of the built functions are measured, as for a first answer; time at a size is emulated: processor time over the
share, and the waiting that the cost page counts and assumes (`infra.tools.costs`). No run on Lambda stands behind it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from infra.tools.bench.first_answer import ASKED as WAITED_FOR
from infra.tools.bench.first_answer import warm_answers
from infra.tools.costs.pricing import COUNTED, Work, gb_second, work_of

SIZES_MB = (512, 1024, 1769)
"""From what a body of 5 MB and an answer of 6 want to be worked on, to a whole processor: models have one thread."""
SPARE = 1.4
"""A size is at least so many times what was resident: larger users and bodies need more than the samples."""
SLOWER_SECONDS = 0.1
"""What a client may wait longer than on a whole processor."""
ASKED = {**WAITED_FOR, "summarize": "summarize.http-make-summary"}
WAITS_AS = {
    "ingest": "ingest", "retrieval": "search", "memories": "search", "context": "context", "knowledge": "search",
    "arbitration": "search", "mcp": "search", "summarize": "idle summarize",
}  # fmt: skip
"""Whose waiting of the counted work stands for that of the sample."""
GIVEN_MB: Mapping[str, tuple[int, str]] = {
    "converse": (512, "waits for the language model, whatever its size, and has no model of recall"),
    "project": (1024, "most of its time it waits, and a batch of 50 long messages ends within half of its time-out"),
    "jobs": (1769, "a step of a job must end within its time-out, and embeds"),
    "retain": (512, "nobody waits, and it has no model"),
    "console": (512, "waits for the API, of whose answers it makes pages, and has no model"),
    "authorizer": (512, "one read of the table, or a check of a signature"),
    "mem0": (1024, "it searches as `retrieval` does, and has the same layers"),
    "agentcore": (1024, "it searches as `retrieval` does, and has the same layers"),
}
"""What no sample decides, with the reason."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer of a function takes: processor and waiting, and the megabytes that the process then holds."""

    work: Work
    resident_mb: float

    def seconds(self, size_mb: int) -> float:
        return self.work.seconds(size_mb)

    def dollars_per_million(self, size_mb: int) -> float:
        """For its duration alone: other prices do not depend on memory."""
        return 1e6 * self.seconds(size_mb) * size_mb / 1024 * gb_second()

    def fits(self, size_mb: int) -> bool:
        return size_mb >= SPARE * self.resident_mb

    @property
    def chosen_mb(self) -> int:
        """The smallest that it fits in and that clients need not wait for much longer; else a whole processor."""
        whole = self.seconds(SIZES_MB[-1])
        quick = (size for size in SIZES_MB if self.fits(size) and self.seconds(size) <= whole + SLOWER_SECONDS)
        return next(quick, SIZES_MB[-1])


def memory_sizes(rounds: int) -> dict[str, Any]:
    """By function: processor seconds of a warm answer, and resident megabytes. Needs the engines."""
    return warm_answers(ASKED, rounds)


def answer_of(function: str, figures: Mapping[str, Any]) -> Answer:
    """With the waiting of the work that stands for it, over the domain."""
    waiting = _counted()[WAITS_AS[function]]
    work = replace(waiting, processor_seconds=float(figures["warm_seconds"]), bus_events=0.0)
    return Answer(work, float(figures["resident_mb"]))


def _counted() -> dict[str, Work]:
    counted = json.loads(COUNTED.read_text("utf-8"))["domain"]
    return work_of({name: one for name, one in counted.items() if isinstance(one, dict)})
