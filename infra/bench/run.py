"""Measures: every figure is a ratio to a named baseline in the same run. `make bench` runs all and writes the page.

    .venv/bin/python infra/bench/run.py [--only NAME]… [--quick] [--write | --page] [--data FOLDER]

Figures go to build/bench/NAME.json, with --write from there to docs/benchmarks.md and docs/plots; --page only rewrites
these. Parts whose figures are not there (another machine made them) stay on the page as they are.
--quick measures a small part, to see that all runs: into build/bench/quick, and never onto the page.
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

from ablation import ablation
from arbitration_bench import arbitration
from archive_bench import WRITES, archive
from aws_costs import aws_costs
from bench_data import DataSet, load
from bench_engines import running_engines
from bench_page import page
from bench_vectors import BenchEmbedder, KeptVectors
from context_bench import context_bench
from embedders_bench import embedders
from engines_recall import engines_recall
from growth import growth_of
from index_bench import aws_index, local_index
from intent_bench import RECORDS, intent_bench
from passages import passages
from plots import FOLDER, draw_plots
from rivals_env import rivals_python
from scale_runs import QUICK_SIZES, SIZES, aws_scale, local_scale
from summaries_bench import summaries
from supersessions_bench import supersessions
from tool_calls_bench import tool_calls
from updates_bench import updates
from vector_storage import vector_storage
from weights_bench import weights

from recollect.adapters.embedders.build import build_model
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.adapters.embedders.pooled import PooledEmbedder, pooled
from recollect.bootstrap.embedding import model_folder, model_recipe
from recollect.settings import Settings

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIGURES = ROOT / "build" / "bench"
PAGE = ROOT / "docs" / "benchmarks.md"
DATA = ROOT.parent / "shared" / "data"
SETS = ("locomo-dev", "beam-dev")


@dataclass(frozen=True)
class Bench:
    """One run: where the data is, how much of it, and what all benches share."""

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
        build_model(folder, model_recipe(settings))
        return folder

    @cached_property
    def embedder(self) -> PooledEmbedder:
        """The real embedder."""
        return pooled(OnnxEmbedder(self.model))

    @cached_property
    def kept(self) -> KeptVectors:
        """Vectors of earlier runs."""
        return KeptVectors(FIGURES, self.embedder)

    def watched(self) -> BenchEmbedder:
        """The embedder with its stop watch."""
        return BenchEmbedder(self.embedder, self.kept)

    def set(self, name: str) -> DataSet:
        """A data set, or the small part of it."""
        data = load(self.data / name)
        return data.shortened(1, 12) if self.quick else data

    def quality(self) -> Any:
        """Recall and speed against LangGraph's store and mem0."""
        out = self.out / "duel.part.json"
        command = [rivals_python(), HERE / "duel.py", "--data", self.data, "--model", self.model]
        command += ["--vectors", FIGURES, "--out", out, *(["--quick"] if self.quick else [])]
        subprocess.run([str(part) for part in command], check=True)
        figures = json.loads(out.read_text("utf-8"))
        out.unlink()
        return figures

    def passages(self) -> Any:
        """What to embed of a turn."""
        plain = KeptVectors(FIGURES, OnnxEmbedder(self.model))
        return {"locomo-dev": passages(self.set("locomo-dev"), plain, self.kept)}

    def ablation(self) -> Any:
        """Recall with each signal of the ranking off."""
        names = (*SETS, "madial-zh-dev")
        return {name: ablation(self.set(name), self.watched(), self.kept, self.model) for name in names}

    def weights(self) -> Any:
        """Recall by conversation, the weights chosen with and without it."""
        sets = [self.set(name) for name in (*SETS, "madial-zh-dev")]
        return weights(sets, self.watched(), self.kept, self.model)

    def aws_recall(self) -> Any:
        """Recall on DynamoDB Local and OpenSearch beside SQLite's."""
        names = (*SETS, "madial-zh-dev")
        return {name: engines_recall(self.set(name), self.watched(), self.kept, self.model) for name in names}

    def context(self) -> Any:
        """Gold turns in view and tokens by budget, against the last 20 messages and Stage 4; assembly's share."""
        names = (*SETS, "madial-zh-dev")
        return {name: context_bench(self.set(name), self.watched(), self.kept, self.model) for name in names}

    def summaries(self) -> Any:
        """What a summary without a model holds, against first and random sentences."""
        return {name: summaries(self.set(name)) for name in SETS}

    def local_scale(self) -> Any:
        """Context and search at 100,000 events of one user over 1,000, on SQLite."""
        return local_scale(self.set(SETS[0]), self.watched(), self.kept, self.model, self.sizes)

    def local_growth(self) -> Any:
        """10^3 to 10^6 events of one user, and ten events of each of 10^5 users, on SQLite."""
        return growth_of(self.set(SETS[0]), self.watched(), self.kept, self.model, quick=self.quick)

    def vector_storage(self) -> Any:
        """Recall, bytes and scan time of vectors stored as float32, float16 and int8."""
        sets = [self.set(name) for name in (*SETS, "madial-zh-dev")]
        return vector_storage(sets, self.watched(), self.kept, self.model)

    def aws_scale(self) -> Any:
        """The same on DynamoDB Local and OpenSearch."""
        return aws_scale(self.set(SETS[0]), self.watched(), self.kept, self.model, self.sizes)

    def local_index(self) -> Any:
        """The index rebuilt from kept vectors, and the memory of a search, on SQLite."""
        return local_index(self.set(SETS[0]), self.watched(), self.kept, self.model, max(self.sizes))

    def aws_index(self) -> Any:
        """The index rebuilt from kept vectors, and from write to searchable, on OpenSearch."""
        size = max(self.sizes) // (1 if self.quick else 5)
        return aws_index(self.set(SETS[0]), self.watched(), self.kept, self.model, size)

    def archive(self) -> Any:
        """Segments over NDJSON, a restore over copying the files, writes beside a compaction."""
        return archive(self.set(SETS[0]), self.watched(), self.kept, self.model, 300 if self.quick else WRITES)

    def aws_costs(self) -> Any:
        """Calls, waves, units, dollars."""
        return aws_costs(self.set(SETS[0]), self.watched(), self.kept, self.model)

    def import_time(self) -> Any:
        """Of each built function, over a bare one."""
        rounds = ["--rounds", "2"] if self.quick else []
        command = [sys.executable, str(HERE / "import_time.py"), "--json", *rounds]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    def tool_calls(self) -> Any:
        """The parser of tool calls over a bare `json.loads`, and what a doubling costs."""
        return tool_calls(2 if self.quick else 15)

    def contradictions(self) -> Any:
        """Decisions over the bare cosine of the same vectors; the cue reader over splitting words."""
        return arbitration(self.set(SETS[0]), self.kept, 2 if self.quick else 7)

    def false_supersessions(self) -> Any:
        """Every decision on conversations that contradict themselves little."""
        printed = self.out / "supersessions.txt"
        return supersessions(self.set(SETS[0]), self.watched(), self.kept, self.model, printed)

    def beam_updates(self) -> Any:
        """The newest gold turn above the older ones, with and without settling."""
        return updates(self.set(SETS[1]), self.watched(), self.kept, self.model)

    def intent(self) -> Any:
        """Retrieval by intent: times, a hundred at once, and what it shows against the date-based mode."""
        return intent_bench([self.set(name) for name in SETS], 200 if self.quick else RECORDS)

    def embedders(self) -> Any:
        """The models in the process: encoding, loading, memory, size; e5 beside the engine of its wheel."""
        sets = {name: self.set(name) for name in (*SETS, "madial-zh-dev")}
        return embedders(sets, FIGURES / "wheels", 20 if self.quick else 200, 10 if self.quick else 100)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Events of the small user and of the large one."""
        return QUICK_SIZES if self.quick else SIZES


BENCHES: dict[str, Callable[[Bench], Any]] = {
    "quality": Bench.quality,
    "passages": Bench.passages,
    "ablation": Bench.ablation,
    "weights": Bench.weights,
    "aws-recall": Bench.aws_recall,
    "context": Bench.context,
    "summaries": Bench.summaries,
    "local-scale": Bench.local_scale,
    "local-growth": Bench.local_growth,
    "vector-storage": Bench.vector_storage,
    "aws-scale": Bench.aws_scale,
    "local-index": Bench.local_index,
    "aws-index": Bench.aws_index,
    "archive": Bench.archive,
    "aws-costs": Bench.aws_costs,
    "import-time": Bench.import_time,
    "tool-calls": Bench.tool_calls,
    "contradictions": Bench.contradictions,
    "false-supersessions": Bench.false_supersessions,
    "beam-updates": Bench.beam_updates,
    "intent": Bench.intent,
    "embedders": Bench.embedders,
}
NEED_ENGINES = frozenset({"aws-recall", "aws-scale", "aws-index", "aws-costs"})


def main() -> int:
    """Runs what was asked for; 1 where something could not be measured."""
    options = _options()
    left_out = [] if options.page else _measure(Bench(options.data, options.quick), options.only or list(BENCHES))
    if (options.write or options.page) and not options.quick:
        files = {name: FIGURES / f"{name}.json" for name in BENCHES}
        _write_page({n: json.loads(f.read_text("utf-8")) for n, f in files.items() if f.exists()})
    for name, why in left_out:
        print(f"not measured: {name}: {why}", file=sys.stderr)
    return 1 if left_out else 0


def _write_page(made: dict[str, Any]) -> None:
    """The page, and the plots that it shows."""
    before = PAGE.read_text("utf-8") if PAGE.exists() else ""
    PAGE.write_text(page(made, before), "utf-8")
    drawn = draw_plots({name: file["figures"] for name, file in made.items()}, PAGE.parent / FOLDER)
    print(f"written: {PAGE.relative_to(ROOT)} and {len(drawn)} plots")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(BENCHES), help="one of them; may be repeated")
    parser.add_argument("--quick", action="store_true", help="a small part, to see that all runs")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md afterwards")
    parser.add_argument("--page", action="store_true", help="only write docs/benchmarks.md")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data sets (%(default)s)")
    return parser.parse_args()


def _measure(bench: Bench, names: list[str]) -> list[tuple[str, str]]:
    bench.out.mkdir(parents=True, exist_ok=True)
    left_out: list[tuple[str, str]] = []
    for name in [name for name in names if name not in NEED_ENGINES]:
        left_out += _run(bench, name)
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
        figures = BENCHES[name](bench)
    except Exception as error:  # noqa: BLE001 - one bench must not take the others' figures with it
        return [(name, f"{type(error).__name__}: {error}")]
    seconds = time.monotonic() - began
    about = _machine() | {"made": datetime.now(UTC).isoformat(timespec="minutes"), "load_before": load_before}
    text = json.dumps({"about": about | {"seconds": seconds}, "figures": figures}, indent=1)
    (bench.out / f"{name}.json").write_text(text, "utf-8")
    print(f"{name}: {seconds:.0f} s", flush=True)
    return []


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "embedder": model_recipe(Settings.from_environment({})).generation,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "unknown")


if __name__ == "__main__":
    sys.exit(main())
