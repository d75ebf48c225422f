"""The ONNX graph of the judge: the embedder's encoder with trained layers over the embedder's own word table.

The trained layers are in `judge_layers.npz`, which `infra/tools/judge export` writes: each matrix in int8 with a scale
for each row, vectors in float32, by the names of the embedder's file. The head is `hidden` and `classes`, whose last
row tells a retraction, that of the first look `early_hidden` and `early`, and `passing` tells of the same states what
holds for a while only; `about` is JSON with version, calibration and from which logit on each of them says yes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto

from recollect.adapters.embedders.building import graph as graphs
from recollect.adapters.embedders.building.weights import DIMENSION, EARLY_LAYERS, LAYERS, FourBitTable
from recollect.adapters.embedders.model_folder import (
    GRAPH_FILE,
    JUDGE_EARLY_GRAPH_FILE,
    JUDGE_EARLY_WEIGHTS_FILE,
    JUDGE_FILE,
    JUDGE_GRAPH_FILE,
    JUDGE_WEIGHTS_FILE,
    describe_file,
)
from recollect.core.vectors import FloatArray

INPUTS: Final = ("input_ids", "segments")
STATES, EARLY, LOGITS = "states", "early", "logits"
EARLY_LOGITS = 2
"""What the first layers say: changed or not, for a while only or not."""
CLASSES = 5
"""What the whole says: stands, replaced, ended, in part, retracted."""

_FILES = (JUDGE_EARLY_GRAPH_FILE, JUDGE_EARLY_WEIGHTS_FILE, JUDGE_GRAPH_FILE, JUDGE_WEIGHTS_FILE)
_SCALES = ".scales"
_VOCABULARY = 100_000
"""Only the word table has so many rows."""


def read_layers(path: Path) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """The weights in float32 by name, and what is said about them."""
    with np.load(path) as stored:
        about: dict[str, Any] = json.loads(stored["about"].item())
        names = [name for name in stored.files if name != "about" and not name.endswith(_SCALES)]
        return {name: _floats(stored, name) for name in names}, about


def _floats(stored: Mapping[str, NDArray[Any]], name: str) -> FloatArray:
    scales = stored[f"{name}{_SCALES}"][:, None] if f"{name}{_SCALES}" in stored else np.float32(1)
    found: FloatArray = (stored[name].astype(np.float32) * scales).astype(np.float32)
    return found


def write_judge(
    layers: Path, words: FourBitTable, sample: Sequence[tuple[Sequence[int], Sequence[int]]], folder: Path
) -> None:
    """Writes graphs, constants and `judge.json` beside the embedder's files, whose word table they share.

    `sample` are pairs in ids and segments, to measure activations over.
    """
    weights, about = read_layers(layers)
    floats = graphs.FloatLayers()
    given = [dict(zip(INPUTS, (np.array([one], np.int64) for one in pair), strict=True)) for pair in sample]
    ranges = graphs.input_ranges(floats, JudgeEncoder(weights, words, floats), given)
    early, late = (JudgeEncoder(weights, words, graphs.Int8Layers(ranges)) for _ in range(2))
    _write_early(early, folder)
    model = late.graph.finished("judge", {LOGITS: (late.logits(STATES), CLASSES)}, (), {STATES: DIMENSION})
    graphs.save(model, folder / JUDGE_GRAPH_FILE, JUDGE_WEIGHTS_FILE)
    files = [asdict(describe_file(folder / name)) for name in _FILES]
    about |= {"layers_sha256": describe_file(layers).sha256, "files": files}
    (folder / JUDGE_FILE).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def _write_early(encoder: "JudgeEncoder", folder: Path) -> None:
    """What is asked of every message and every pair; only where that says so, the rest goes on from its states."""
    states = encoder.early_states()
    outputs = {STATES: (states, DIMENSION), EARLY: (encoder.early(states), EARLY_LOGITS)}
    model = encoder.graph.finished("judge_early", outputs, INPUTS)
    _share_words(model, folder)
    graphs.save(model, folder / JUDGE_EARLY_GRAPH_FILE, JUDGE_EARLY_WEIGHTS_FILE)


class JudgeEncoder(graphs.Encoder):
    """One pair a call, without padding: nothing is masked."""

    def places(self) -> FloatArray:
        """As they were trained."""
        return self.weights["emb.pos"].reshape(-1, DIMENSION)

    def placed(self, x: str) -> str:
        """With the vector of each piece's segment."""
        rows = self.graph.add("Gather", self.graph.constant(self.weights["segments"]), "segments")
        return self.graph.add("Add", x, rows)

    def mask(self) -> str:
        """Nothing."""
        return self.graph.constant(np.float32(0))

    def early_states(self) -> str:
        """(1, sequence, width): after the first layers."""
        return self.through(self.embedded(), range(EARLY_LAYERS))

    def early(self, states: str) -> str:
        """(1, 1, early logits), of the early states."""
        seen = self._pooled(states)
        changed = self._head("early", self.graph.add("Gelu", self._head("early_hidden", seen)))
        return self.graph.add("Concat", changed, self._head("passing", seen), axis=2)

    def logits(self, states: str) -> str:
        """(1, 1, classes): of what the other layers make of the early states."""
        seen = self._pooled(self.through(states, range(EARLY_LAYERS, LAYERS)))
        return self._head("classes", self.graph.add("Gelu", self._head("hidden", seen)))

    def _pooled(self, states: str) -> str:
        """The state of `<s>` beside the mean state."""
        graph = self.graph
        first = graph.add("Gather", states, graph.constant(np.array([0])), axis=1)
        mean = graph.add("ReduceMean", states, graph.constant(np.array([1])), keepdims=1)
        return graph.add("Concat", first, mean, axis=2)

    def _head(self, name: str, x: str) -> str:
        weight, bias = (self.graph.constant(part) for part in (self.weights[f"{name}.w"].T, self.weights[f"{name}.b"]))
        return self.graph.add("Add", self.graph.add("MatMul", x, weight), bias)


def _share_words(model: ModelProto, folder: Path) -> None:
    """Lets the word table be read from the embedder's file: it is the same, and 54 MB."""
    theirs = onnx.load_model(folder / GRAPH_FILE, load_external_data=False).graph.initializer
    known = {(one.data_type, tuple(one.dims)): one for one in theirs if one.data_location == TensorProto.EXTERNAL}
    for tensor in model.graph.initializer:
        same = known.get((tensor.data_type, tuple(tensor.dims)))
        if same is not None and tensor.dims[0] > _VOCABULARY:
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.extend(same.external_data)
