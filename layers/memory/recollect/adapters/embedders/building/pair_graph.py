"""The ONNX graph of an encoder of two texts: the embedder's encoder with trained layers over its own word table.

The trained layers are in a file of their own (`trained_layers`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto

from recollect.adapters.embedders.building import graph as graphs
from recollect.adapters.embedders.building.weights import DIMENSION, EARLY_LAYERS
from recollect.adapters.embedders.model_folder import GRAPH_FILE
from recollect.core.vectors import FloatArray

INPUTS: Final = ("input_ids", "segments")

Sample = Sequence[tuple[Sequence[int], Sequence[int]]]
"""Pairs in ids and segments, to measure activations over."""

_VOCABULARY = 100_000
"""Only the word table has so many rows."""


def given(sample: Sample) -> list[dict[str, NDArray[np.int64]]]:
    """The sample as inputs of a graph, one pair each."""
    return [dict(zip(INPUTS, (np.array([one], np.int64) for one in pair), strict=True)) for pair in sample]


class PairEncoder(graphs.Encoder):
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

    def pooled(self, states: str) -> str:
        """(1, 1, 2 width): the state of `<s>` beside the mean state."""
        graph = self.graph
        first = graph.add("Gather", states, graph.constant(np.array([0])), axis=1)
        mean = graph.add("ReduceMean", states, graph.constant(np.array([1])), keepdims=1)
        return graph.add("Concat", first, mean, axis=2)

    def read(self, hidden: str, head: str, x: str) -> str:
        """A head over one hidden layer."""
        return self.row(head, self.graph.add("Gelu", self.row(hidden, x)))

    def row(self, name: str, x: str) -> str:
        """The linear layer of this name."""
        weight, bias = (self.graph.constant(part) for part in (self.weights[f"{name}.w"].T, self.weights[f"{name}.b"]))
        return self.graph.add("Add", self.graph.add("MatMul", x, weight), bias)


def save_sharing_words(model: ModelProto, folder: Path, name: str, weights_file: str) -> None:
    """Writes a graph whose word table is read from the embedder's file: it is the same, and 54 MB."""
    theirs = onnx.load_model(folder / GRAPH_FILE, load_external_data=False).graph.initializer
    known = {(one.data_type, tuple(one.dims)): one for one in theirs if one.data_location == TensorProto.EXTERNAL}
    for tensor in model.graph.initializer:
        same = known.get((tensor.data_type, tuple(tensor.dims)))
        if same is not None and tensor.dims[0] > _VOCABULARY:
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.extend(same.external_data)
    graphs.save(model, folder / name, weights_file)
