"""Counts the calls anew and writes the section *What it costs* of docs/operations.md.

    python -m infra.tools.costs [--engine domain|table]… [--data FOLDER] [--units | --page]

Needs the engines (`make engines`); --page only writes the section, from what was counted. With --units the processor's
seconds stay as they were counted before, and what is said of the machine: for one that others use just now.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from infra.tools.bench.__main__ import DATA, FIGURES, LOCOMO, Bench
from infra.tools.bench.engines import running_engines
from infra.tools.costs.counting import counts
from infra.tools.costs.page import ENGINES, PAGE, operations_page
from infra.tools.costs.pricing import COUNTED, Figures

SECONDS = "processor_seconds"


def main() -> int:
    """1 where the engines cannot be had."""
    options = _options()
    if not options.page:
        FIGURES.mkdir(parents=True, exist_ok=True)
        with running_engines(FIGURES / "engines" / "state.json") as running:
            if not running:
                sys.stderr.write("the engines do not start\n")
                return 1
            _count(Bench(options.data, quick=False), options.engine or list(ENGINES), units_alone=options.units)
    PAGE.write_text(operations_page(), "utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", choices=ENGINES, help="where searches ask; may be repeated")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data sets (%(default)s)")
    parser.add_argument("--units", action="store_true", help="the seconds stay as they were counted before")
    parser.add_argument("--page", action="store_true", help="only write the section")
    return parser.parse_args()


def _count(bench: Bench, engines: list[str], *, units_alone: bool) -> None:
    found = json.loads(COUNTED.read_text("utf-8")) if COUNTED.exists() else {}
    data = bench.set(LOCOMO)
    for engine in engines:
        made = counts(data, bench.watched(), bench.kept, bench.model, engine)
        found[engine] = with_seconds_of(found[engine], made) if units_alone else made
    if not units_alone:
        found["about"] = {
            "said_bytes": round(fmean(len(turn.text.encode()) for turn in data.turns)),
            "counted_on": datetime.now(UTC).date().isoformat(),
            "machine": f"{os.cpu_count()} cores of {platform.machine()}, Python {platform.python_version()}",
            "load": round(os.getloadavg()[0]),
        }
    COUNTED.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", "utf-8")


def with_seconds_of(before: Mapping[str, Figures], made: Mapping[str, Figures]) -> dict[str, Figures]:
    """What was counted now, each kind of work with the seconds that it had before."""
    return {name: {**one, SECONDS: before[name][SECONDS]} for name, one in made.items()}


if __name__ == "__main__":
    sys.exit(main())
