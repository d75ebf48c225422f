"""The encoder of BERT as an ONNX graph: token ids in, the last layer's states out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from recollect.adapters.embedders.dense_layers import DenseLayers
from recollect.adapters.embedders.graph_writer import GraphWriter
from recollect.core.vectors import FloatArray

_EPSILON = 1e-12
_HIDDEN_FROM_ATTENTION = np.float32(-1e4)


@dataclass(frozen=True, slots=True)
class BertShape:
    """Layers, attention heads, and the width of a token's state."""

    layers: int
    heads: int
    width: int


class BertEncoder:
    """Writes the encoder with the weights of a `BertModel`; token types are all zero.

    `words` writes the rows of a word table that is not among the weights, given the graph and the ids' tensor.
    """

    def __init__(
        self,
        weights: Mapping[str, FloatArray],
        shape: BertShape,
        layers: DenseLayers,
        words: Callable[[GraphWriter, str], str] | None = None,
    ) -> None:
        self.graph = GraphWriter()
        self._weights, self._shape, self._layers = weights, shape, layers
        self._words = words or self._word_rows

    def write(self) -> str:
        """Write all of it; returns the tensor of the last layer's states, (batch, sequence, width)."""
        x, mask = self._embeddings(), self._mask()
        for index in range(self._shape.layers):
            x = self._layer(f"encoder.layer.{index}", x, mask)
        return x

    def _embeddings(self) -> str:
        graph, of = self.graph, "embeddings"
        places, types = (self._weights[f"{of}.{x}_embeddings.weight"] for x in ("position", "token_type"))
        words = self._words(graph, "input_ids")
        length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.constant(np.array([1])))
        zero = graph.constant(np.array([0]))
        used = graph.add("Slice", graph.constant(places + types[0]), zero, length, zero)
        return self._normalised(f"{of}.LayerNorm", graph.add("Add", words, used))

    def _word_rows(self, graph: GraphWriter, ids: str) -> str:
        return self._layers.rows(graph, self._weights["embeddings.word_embeddings.weight"], ids)

    def _mask(self) -> str:
        graph = self.graph
        shown = graph.as_float(graph.add("Unsqueeze", "attention_mask", graph.constant(np.array([1, 2]))))
        padded = graph.add("Sub", graph.constant(np.float32(1)), shown)
        return graph.add("Mul", padded, graph.constant(_HIDDEN_FROM_ATTENTION))

    def _layer(self, name: str, x: str, mask: str) -> str:
        heard = self._dense(f"{name}.attention.output.dense", self._attention(f"{name}.attention.self", x, mask))
        x = self._normalised(f"{name}.attention.output.LayerNorm", self.graph.add("Add", heard, x))
        inner = self.graph.add("Gelu", self._dense(f"{name}.intermediate.dense", x))
        outer = self._dense(f"{name}.output.dense", inner)
        return self._normalised(f"{name}.output.LayerNorm", self.graph.add("Add", outer, x))

    def _attention(self, name: str, x: str, mask: str) -> str:
        graph, size = self.graph, self._shape.width // self._shape.heads
        joined = self._dense_of(name, x, *(self._joined(name, part) for part in ("weight", "bias")))
        query, key, value = graph.add_many("Split", 3, joined, axis=-1, num_outputs=3)
        scores = graph.add("MatMul", self._heads(query, [0, 2, 1, 3]), self._heads(key, [0, 2, 3, 1]))
        scaled = graph.add("Mul", scores, graph.constant(np.float32(size**-0.5)))
        shares = graph.add("Softmax", graph.add("Add", scaled, mask), axis=-1)
        mixed = graph.add("Transpose", graph.add("MatMul", shares, self._heads(value, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
        return graph.add("Reshape", mixed, graph.constant(np.array([0, 0, self._shape.width])))

    def _heads(self, x: str, order: list[int]) -> str:
        shape = np.array([0, 0, self._shape.heads, self._shape.width // self._shape.heads])
        return self.graph.add("Transpose", self.graph.add("Reshape", x, self.graph.constant(shape)), perm=order)

    def _joined(self, name: str, part: str) -> FloatArray:
        return np.concatenate([self._weights[f"{name}.{role}.{part}"] for role in ("query", "key", "value")])

    def _dense(self, name: str, x: str) -> str:
        return self._dense_of(name, x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _dense_of(self, name: str, x: str, weight: FloatArray, bias: FloatArray) -> str:
        return self._layers.dense(self.graph, name, x, weight, bias)

    def _normalised(self, name: str, x: str) -> str:
        scale, shift = (self.graph.constant(self._weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.graph.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=_EPSILON)
