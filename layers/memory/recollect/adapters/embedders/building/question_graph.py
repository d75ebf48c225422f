"""The ONNX graph of the encoder of questions: the embedder's upper half, trained on questions and what answers them.

It goes on from what the embedder's first layers make of a question. Passages keep their vectors: training moved a
question towards what answers it (docs/adr/0014). What a matrix moved by is the product of two narrow ones, which the
graph adds to the embedder's own: those are read from the embedder's file.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto

from recollect.adapters.embedders.building import graph as graphs
from recollect.adapters.embedders.building.trained_layers import read_moves, write_about
from recollect.adapters.embedders.building.weights import DIMENSION, EARLY_LAYERS, LAYERS, Q4Model
from recollect.adapters.embedders.model_folder import (
    GRAPH_FILE,
    QUESTION_FILE,
    QUESTION_GRAPH_FILE,
    QUESTION_WEIGHTS_FILE,
    WEIGHTS_FILE,
)
from recollect.core.vectors import FloatArray

Moves = Mapping[str, tuple[FloatArray, FloatArray]]


class QuestionEncoder(graphs.Encoder):
    """One question a call, without padding: nothing is masked."""

    def mask(self) -> str:
        """Nothing."""
        return self.graph.constant(np.float32(0))


class MovedLayers:
    """The embedder's dense layers, with what each moved by beside them."""

    def __init__(self, layers: graphs.Int8Layers, moves: Moves) -> None:
        self._layers, self._moves = layers, moves

    def dense(self, graph: graphs.GraphWriter, name: str, x: str, weight: FloatArray, bias: FloatArray) -> str:
        """The layer of the embedder, and x through the narrow matrices."""
        begun = self._layers.dense(graph, name, x, weight, bias)
        left, right = self._narrow(name)
        inner = graph.add("MatMul", x, graph.constant(right.T))
        return graph.add("Add", begun, graph.add("MatMul", inner, graph.constant(left.T)))

    def _narrow(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Of query, key and value, which are one layer, the left ones below each other, each beside zeros."""
        parts = [f"{name.removesuffix('.qkv')}.{role}.w" for role in "qkv"] if name.endswith(".qkv") else [f"{name}.w"]
        lefts, rights = zip(*(self._moves[part] for part in parts), strict=True)
        left = np.zeros((sum(len(one) for one in lefts), sum(len(one) for one in rights)), np.float32)
        row = column = 0
        for one in lefts:
            left[row : row + one.shape[0], column : column + one.shape[1]] = one
            row, column = row + one.shape[0], column + one.shape[1]
        return left, np.concatenate(rights)


def write_question(layers: Path, embedder: Q4Model, sample: Sequence[Sequence[int]], folder: Path) -> None:
    """Writes graph, constants and `question.json` beside the embedder's files, whose matrices it shares."""
    vectors, moves, about = read_moves(layers)
    begun, words = graphs.float_weights(embedder), graphs.word_table(embedder)
    floats = graphs.FloatLayers()
    ranges = graphs.input_ranges(floats, graphs.Encoder(begun, words, floats), [graphs.given(ids) for ids in sample])
    encoder = QuestionEncoder({**begun, **vectors}, words, MovedLayers(graphs.Int8Layers(ranges), moves))
    states = encoder.through(graphs.EARLY_STATES, range(EARLY_LAYERS, LAYERS))
    outputs, given = {graphs.STATES: (states, DIMENSION)}, {graphs.EARLY_STATES: DIMENSION}
    _save(encoder.graph.finished("question", outputs, (), given), folder)
    write_about(folder / QUESTION_FILE, about, layers, (QUESTION_GRAPH_FILE, QUESTION_WEIGHTS_FILE))


def _save(model: ModelProto, folder: Path) -> None:
    """What stands in the embedder's file already is read from there."""
    known = _constants_in(folder)
    for tensor in model.graph.initializer:
        same = known.get(_content(tensor.data_type, tensor.dims, tensor.raw_data))
        if same is not None:
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.extend(same.external_data)
    graphs.save(model, folder / QUESTION_GRAPH_FILE, QUESTION_WEIGHTS_FILE)


def _constants_in(folder: Path) -> dict[tuple[int, tuple[int, ...], bytes], TensorProto]:
    held = (folder / WEIGHTS_FILE).read_bytes()
    found = {}
    for tensor in onnx.load_model(folder / GRAPH_FILE, load_external_data=False).graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            where = {one.key: one.value for one in tensor.external_data}
            start, length = int(where.get("offset", 0)), int(where["length"])
            found[_content(tensor.data_type, tensor.dims, held[start : start + length])] = tensor
    return found


def _content(kind: int, dims: Iterable[int], values: bytes) -> tuple[int, tuple[int, ...], bytes]:
    return kind, tuple(dims), sha256(values).digest()
