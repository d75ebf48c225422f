"""How a dense layer of the graph is written down: in float32, or in int8 by dynamic quantisation.

Int8 means 7 bits for each weight, one scale for each output: without VNNI instructions x86 adds products in 16 bits,
where 8-bit weights saturate (cosine to the same graph with VNNI .984 to .993 on emulated Haswell; with 7 bits .9999).
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.embedders.graph_writer import GraphWriter
from recollect.domain.embedding import FloatArray

_LARGEST_WEIGHT = 63
_MIGRATION = 0.7


class DenseLayers(Protocol):
    """Writes x @ weight.T + bias into a graph, and rows of a table; `name` is the weights' prefix."""

    def dense(self, graph: GraphWriter, name: str, x: str, weight: FloatArray, bias: FloatArray) -> str: ...

    def rows(self, graph: GraphWriter, table: FloatArray, indices: str) -> str: ...


class FloatLayers:
    """The weights as they are. `inputs` tells afterwards which tensor went into which dense layer."""

    def __init__(self) -> None:
        self.inputs: dict[str, str] = {}

    def dense(self, graph: GraphWriter, name: str, x: str, weight: FloatArray, bias: FloatArray) -> str:
        self.inputs[name] = x
        return graph.add("Add", graph.add("MatMul", x, graph.constant(weight.T)), graph.constant(bias))

    def rows(self, graph: GraphWriter, table: FloatArray, indices: str) -> str:
        return graph.add("Gather", graph.constant(table), indices)


class Int8Layers:
    """Weights in int8; activations get one scale a call, computed as they come (DynamicQuantizeLinear).

    `ranges` has the largest magnitude seen of each input channel of a layer. Channels far larger than the rest would
    leave few steps for the others, so a layer's input is divided by a smoothing factor and its weight multiplied by it
    (SmoothQuant): cosine to float32 .996 in the mean instead of .992, and between CPUs .9999 instead of .995.
    """

    def __init__(self, ranges: dict[str, FloatArray]) -> None:
        self._ranges = ranges

    def dense(self, graph: GraphWriter, name: str, x: str, weight: FloatArray, bias: FloatArray) -> str:
        if name in self._ranges:
            factors = smoothing_factors(self._ranges[name], weight)
            x, weight = graph.add("Mul", x, graph.constant(1 / factors)), weight * factors
        integers, scales = quantised_rows(weight, _LARGEST_WEIGHT)
        quantised, input_scale, zero_point = graph.add_many("DynamicQuantizeLinear", 3, x)
        no_offset = graph.constant(np.zeros(len(integers), np.int8))
        product = graph.add("MatMulInteger", quantised, graph.constant(integers.T), zero_point, no_offset)
        scale = graph.add("Mul", input_scale, graph.constant(scales))
        return graph.add("Add", graph.add("Mul", graph.as_float(product), scale), graph.constant(bias))

    def rows(self, graph: GraphWriter, table: FloatArray, indices: str) -> str:
        integers, scales = quantised_rows(table, 127)
        picked = graph.as_float(graph.add("Gather", graph.constant(integers), indices))
        return graph.add("Mul", picked, graph.add("Gather", graph.constant(scales[:, None]), indices))


def quantised_rows(weight: FloatArray, largest: int) -> tuple[NDArray[np.int8], FloatArray]:
    """Integers of magnitude up to `largest`, and the scale of each row that gives the numbers back."""
    scales = np.maximum(np.abs(weight).max(axis=1), np.float32(1e-12)) / largest
    return np.rint(weight / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def smoothing_factors(channel_ranges: FloatArray, weight: FloatArray) -> FloatArray:
    """For each input channel, range^0.7 / largest weight^0.3 over its median, between 1/64 and 256.

    In steps of a sixteenth of an octave: the last bits of a range differ from CPU to CPU, the model built should not.
    """
    magnitudes = np.maximum(np.abs(weight).max(axis=0), 1e-6)
    raw = np.maximum(channel_ranges, 1e-6) ** _MIGRATION / magnitudes ** (1 - _MIGRATION)
    octaves = np.clip(np.log2(raw / np.median(raw)), -6, 8)
    factors: FloatArray = np.exp2(np.rint(octaves * 16) / 16).astype(np.float32)
    return factors
