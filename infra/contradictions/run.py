"""The matrix of contradictions: `make contradictions` runs all cases and writes docs/contradictions.md (minutes).

    .venv/bin/python infra/contradictions/run.py [CASES.json] [--write | --page] [--only TEXT] [--workers N]

Figures go to build/contradictions/NAME.json. Of a file given as argument only figures and ids are printed, no text.
--page writes the page from the figures that are there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(HERE)]

from matrix_inputs import CASES, inputs_hash  # noqa: E402
from matrix_page import failures, goals, page, summary  # noqa: E402
from matrix_run import document, embedder_of, run_cases  # noqa: E402

from contradictions.cases import load_cases  # noqa: E402

FIGURES = ROOT / "build" / "contradictions"
PAGE = ROOT / "docs" / "contradictions.md"


def main() -> int:
    """Runs, prints, writes; 1 where a goal of the whole collection was missed."""
    options = _options()
    file = FIGURES / f"{options.cases.stem}.json"
    made = json.loads(file.read_text("utf-8")) if options.page else _measured(options)
    if not options.page:
        FIGURES.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(made, indent=1), "utf-8")
    print(summary(made))
    for line in failures(made):
        print(line)
    for goal, seen, met in goals(made):
        print(f"{goal}: {seen}{'' if met else '  MISSED'}")
    if (options.write or options.page) and options.cases == CASES and not options.only:
        PAGE.write_text(page(made), "utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")
    return 0


def _measured(options: argparse.Namespace) -> dict[str, Any]:
    began = time.monotonic()
    cases = [case for case in load_cases(options.cases) if not options.only or options.only in case.id]
    runs = []
    for run in run_cases(cases, options.workers, options.hashing):
        runs.append(run)
        if sys.stderr.isatty():
            print(f"\r{len(runs)}/{len(cases)}", end="", file=sys.stderr, flush=True)
    about = {
        "made": datetime.now(UTC).isoformat(timespec="minutes"),
        "seconds": round(time.monotonic() - began),
        "embedder": embedder_of(options.hashing).generation,
        "inputs": inputs_hash(options.cases),
        "cases": len(cases),
    }
    return {"about": about, **document(runs)}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="?", type=Path, default=CASES, help="a file of cases (%(default)s)")
    parser.add_argument("--write", action="store_true", help="write docs/contradictions.md")
    parser.add_argument("--page", action="store_true", help="only write docs/contradictions.md")
    parser.add_argument("--only", default="", help="cases whose id has this in it")
    parser.add_argument("--workers", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--hashing", action="store_true", help="the hashing embedder, for a quick look")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
