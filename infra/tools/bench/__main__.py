"""Measures: every figure is a ratio to a named baseline in the same run. `make bench` runs all and writes the page.

    python -m infra.tools.bench [--only NAME]… [--quick] [--write | --page] [--data FOLDER]

Figures go to build/bench/NAME.json, with --write from there to docs/benchmarks.md; --page only rewrites it. A part of
the page whose figures are not there (another machine made them) stays as it is. --quick measures a small part, to see
that all runs: into build/bench/quick, and never onto the page.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from infra.tools.bench.aws_costs import aws_costs
from infra.tools.bench.cold_start import cold_start
from infra.tools.bench.console import console_pages
from infra.tools.bench.contradictions import contradictions
from infra.tools.bench.data import DataSet, load
from infra.tools.bench.engines import engines_recall, running_engines
from infra.tools.bench.first_answer import first_answer
from infra.tools.bench.memory_sizes import memory_sizes
from infra.tools.bench.natural import natural
from infra.tools.bench.page import page
from infra.tools.bench.rivals import rivals_python
from infra.tools.bench.sizes import QUICK_SIZES, SIZES, aws_sizes, context_in_encodings, local_sizes
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors
from recollect.adapters.embedders.building.build import build_model
from recollect.adapters.embedders.model_folder import GENERATION
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder, PooledEmbedder, pooled
from recollect.bootstrap.providers import model_folder
from recollect.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
FIGURES = ROOT / "build" / "bench"
PAGE = ROOT / "docs" / "benchmarks.md"
DATA = ROOT.parent / "shared" / "data"
LOCOMO, BEAM, CHINESE, NATURAL = "locomo-dev", "beam-dev", "madial-zh-dev", "natural-dev"


@dataclass(frozen=True)
class Bench:
    """One run: where the data is, how much of it, and what all parts share."""

    data: Path
    quick: bool

    @property
    def out(self) -> Path:
        """The folder of the figures."""
        return FIGURES / "quick" if self.quick else FIGURES

    @cached_property
    def model(self) -> Path:
        """The embedding model's folder; builds it where it is missing."""
        settings = Settings.from_environment({})
        folder = model_folder(settings)
        build_model(folder)
        return folder

    @cached_property
    def embedder(self) -> PooledEmbedder:
        """The real embedder."""
        return pooled(OnnxEmbedder(self.model))

    @cached_property
    def kept(self) -> StoredVectors:
        """Vectors of earlier runs."""
        return StoredVectors(FIGURES, self.embedder)

    def watched(self) -> BenchEmbedder:
        """The embedder with its stop watch."""
        return BenchEmbedder(self.embedder, self.kept)

    def set(self, name: str) -> DataSet:
        """A data set, or the small part of it."""
        data = load(self.data / name)
        return data.shortened(1, 12) if self.quick else data

    @property
    def sizes(self) -> tuple[int, ...]:
        """Events of the users, the smallest first."""
        return QUICK_SIZES if self.quick else SIZES

    def quality(self) -> Any:
        """Recall and speed against LangGraph's store and mem0, in an environment that has them."""
        out = self.out / "quality.part.json"
        command = [rivals_python(), "-m", "infra.tools.bench.quality", "--data", self.data.resolve()]
        command += ["--model", self.model, "--vectors", FIGURES, "--out", out, *(["--quick"] if self.quick else [])]
        subprocess.run([str(part) for part in command], check=True, cwd=ROOT)
        figures = json.loads(out.read_text("utf-8"))
        out.unlink()
        return figures

    def engines(self) -> Any:
        """Recall on DynamoDB Local and OpenSearch beside SQLite's."""
        sets = [self.set(name) for name in (LOCOMO, BEAM, CHINESE)]
        return {data.name: engines_recall(data, self.watched(), self.kept, self.model) for data in sets}

    def local_sizes(self) -> Any:
        """Context and search of small and large users, on SQLite."""
        return local_sizes(self.set(LOCOMO), self.watched(), self.kept, self.model, self.sizes)

    def aws_sizes(self) -> Any:
        """The same on DynamoDB Local and OpenSearch."""
        return aws_sizes(self.set(LOCOMO), self.watched(), self.kept, self.model, self.sizes)

    def aws_costs(self) -> Any:
        """Calls, waves, units, dollars."""
        return aws_costs(self.set(LOCOMO), self.watched(), self.kept, self.model)

    def console(self) -> Any:
        """Server time and weight of the console's pages, over the largest user."""
        return console_pages(self.set(LOCOMO), self.sizes[-1], 3 if self.quick else 20)

    def contradictions(self) -> Any:
        """What is left stale, what is ended wrongly, and whether the newest comes first."""
        printed = self.out / "supersessions.txt"
        return contradictions(self.set(LOCOMO), self.set(BEAM), self.watched(), self.kept, self.model, printed)

    def natural(self) -> Any:
        """What context and search show of ordinary people's talks."""
        found = natural(self.data / NATURAL, self.model, self.quick)
        return found | {"encodings": context_in_encodings(self.set(LOCOMO), self.watched(), self.kept, self.model)}

    def cold_start(self) -> Any:
        """Start, first and warm answer of each built function; the model's load."""
        rounds = 1 if self.quick else 9
        return cold_start(self.model, rounds) | {"answers": first_answer(rounds)}

    def memory_sizes(self) -> Any:
        """A warm answer of each built function, and what its process holds."""
        return memory_sizes(1 if self.quick else 5)


PARTS: dict[str, Callable[[Bench], Any]] = {
    "quality": Bench.quality,
    "engines": Bench.engines,
    "local-sizes": Bench.local_sizes,
    "aws-sizes": Bench.aws_sizes,
    "aws-costs": Bench.aws_costs,
    "console": Bench.console,
    "contradictions": Bench.contradictions,
    "natural": Bench.natural,
    "cold-start": Bench.cold_start,
    "memory-sizes": Bench.memory_sizes,
}
NEED_ENGINES = frozenset({"engines", "aws-sizes", "aws-costs", "cold-start", "memory-sizes"})


def main() -> int:
    """Runs what was asked for; 1 where something could not be measured."""
    options = _options()
    left_out = [] if options.page else _measure(Bench(options.data, options.quick), options.only or list(PARTS))
    if (options.write or options.page) and not options.quick:
        files = {name: FIGURES / f"{name}.json" for name in PARTS}
        made = {name: json.loads(file.read_text("utf-8")) for name, file in files.items() if file.exists()}
        PAGE.write_text(page(made, PAGE.read_text("utf-8") if PAGE.exists() else ""), "utf-8")
    for name, why in left_out:
        print(f"not measured: {name}: {why}", file=sys.stderr)
    return 1 if left_out else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(PARTS), help="one of them; may be repeated")
    parser.add_argument("--quick", action="store_true", help="a small part, to see that all runs")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md afterwards")
    parser.add_argument("--page", action="store_true", help="only write docs/benchmarks.md")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data sets (%(default)s)")
    return parser.parse_args()


def _measure(bench: Bench, names: list[str]) -> list[tuple[str, str]]:
    bench.out.mkdir(parents=True, exist_ok=True)
    left_out = [fault for name in names if name not in NEED_ENGINES for fault in _run(bench, name)]
    engines = [name for name in names if name in NEED_ENGINES]
    if engines:
        with running_engines(FIGURES / "engines" / "state.json") as running:
            for name in engines:
                left_out += _run(bench, name) if running else [(name, "the engines do not start")]
    return left_out


def _run(bench: Bench, name: str) -> list[tuple[str, str]]:
    print(f"{name} …", flush=True)
    began, load_before = time.monotonic(), os.getloadavg()[0]
    try:
        figures = PARTS[name](bench)
    except Exception as error:  # noqa: BLE001 - one part must not take the others' figures with it
        return [(name, f"{type(error).__name__}: {error}")]
    about = _machine() | {"made": datetime.now(UTC).isoformat(timespec="minutes"), "load_before": load_before}
    text = json.dumps({"about": about, "figures": figures}, indent=1)
    (bench.out / f"{name}.json").write_text(text, "utf-8")
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return []


def _machine() -> dict[str, Any]:
    return {
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "embedder": GENERATION,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "unknown")


if __name__ == "__main__":
    sys.exit(main())
