"""How a dense layer of the graph is written down: in float32, or in int8 by dynamic quantisation.

Int8 means 7 bits for each weight, one scale for each output: without VNNI instructions x86 adds products in 16 bits,
where 8-bit weights saturate (cosine to the same graph with VNNI .984 to .993 on emulated Haswell; with 7 bits .9999).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.embedders.graph_writer import GraphWriter
from recollect.core.vectors import FloatArray

_LARGEST_WEIGHT = 63
_STEPS_PER_OCTAVE = 16


@dataclass(frozen=True, slots=True)
class Smoothing:
    """How a layer's input is made even before it is quantised.

    `migration`: how much of a channel's range is moved into the weights, 0 to 1. `loud_share`: the share of channels,
    those of the largest ranges, that stay in float32 altogether, as a second, small product.
    """

    migration: float
    loud_share: float


DEFAULT_SMOOTHING = Smoothing(migration=0.7, loud_share=0.0)


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
    (SmoothQuant): cosine to float32 .996 in the mean instead of .992, and between CPUs .9999 instead of .995 (MiniLM).
    """

    def __init__(self, ranges: dict[str, FloatArray], smoothing: Smoothing = DEFAULT_SMOOTHING) -> None:
        self._ranges, self._smoothing = ranges, smoothing

    def dense(self, graph: GraphWriter, name: str, x: str, weight: FloatArray, bias: FloatArray) -> str:
        if name not in self._ranges:
            return graph.add("Add", self._product(graph, x, weight), graph.constant(bias))
        loud = loudest_channels(self._ranges[name], self._smoothing.loud_share)
        factors = smoothing_factors(self._ranges[name], weight, self._smoothing.migration, loud)
        shown = np.where(np.isin(np.arange(len(factors)), loud), np.float32(0), 1 / factors)
        quiet = self._product(graph, graph.add("Mul", x, graph.constant(shown)), weight * factors * (shown > 0))
        total = graph.add("Add", quiet, graph.constant(bias))
        return graph.add("Add", total, self._loud(graph, x, weight, loud)) if len(loud) else total

    @staticmethod
    def _product(graph: GraphWriter, x: str, weight: FloatArray) -> str:
        integers, scales = quantised_rows(weight, _LARGEST_WEIGHT)
        quantised, input_scale, zero_point = graph.add_many("DynamicQuantizeLinear", 3, x)
        no_offset = graph.constant(np.zeros(len(integers), np.int8))
        product = graph.add("MatMulInteger", quantised, graph.constant(integers.T), zero_point, no_offset)
        scale = graph.add("Mul", input_scale, graph.constant(scales))
        return graph.add("Mul", graph.as_float(product), scale)

    @staticmethod
    def _loud(graph: GraphWriter, x: str, weight: FloatArray, loud: NDArray[np.int64]) -> str:
        picked = graph.add("Gather", x, graph.constant(loud), axis=-1)
        return graph.add("MatMul", picked, graph.constant(weight[:, loud].T))

    def rows(self, graph: GraphWriter, table: FloatArray, indices: str) -> str:
        integers, scales = quantised_rows(table, 127)
        picked = graph.as_float(graph.add("Gather", graph.constant(integers), indices))
        return graph.add("Mul", picked, graph.add("Gather", graph.constant(scales[:, None]), indices))


def quantised_rows(weight: FloatArray, largest: int) -> tuple[NDArray[np.int8], FloatArray]:
    """Integers of magnitude up to `largest`, and the scale of each row that gives the numbers back."""
    scales = np.maximum(np.abs(weight).max(axis=1), np.float32(1e-12)) / largest
    return np.rint(weight / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def loudest_channels(channel_ranges: FloatArray, share: float) -> NDArray[np.int64]:
    """Which input channels have the largest ranges, that share of all; ascending."""
    steps = -np.rint(_octaves(channel_ranges) * _STEPS_PER_OCTAVE)
    return np.sort(np.argsort(steps, kind="stable")[: round(share * len(steps))])


def smoothing_factors(
    channel_ranges: FloatArray, weight: FloatArray, migration: float, loud: NDArray[np.int64]
) -> FloatArray:
    """For each input channel, range^m / largest weight^(1 - m) over its median, between 1/64 and 256; 1 for loud ones.

    In steps of a sixteenth of an octave: the last bits of a range differ from CPU to CPU, the model built should not.
    """
    magnitudes = np.maximum(np.abs(weight).max(axis=0), 1e-6)
    raw = np.maximum(channel_ranges, 1e-6) ** migration / magnitudes ** (1 - migration)
    octaves = np.clip(np.log2(raw / np.median(np.delete(raw, loud))), -6, 8)
    factors: FloatArray = np.exp2(np.rint(octaves * _STEPS_PER_OCTAVE) / _STEPS_PER_OCTAVE).astype(np.float32)
    factors[loud] = 1
    return factors


def _octaves(values: FloatArray) -> FloatArray:
    octaves: FloatArray = np.log2(np.maximum(values, 1e-6))
    return octaves
