"""The ONNX graph of multilingual-e5-small, written from its 4-bit weights. Needs `onnx` and `onnxruntime`.

The encoder of BERT: token ids in, the last layer's states out. Dense layers are in int8 by dynamic quantisation, with
7 bits for each weight and one scale for each output: without VNNI instructions x86 adds products in 16 bits, where
8-bit weights saturate (cosine to the same graph with VNNI .984 to .993 on emulated Haswell; with 7 bits .9999).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from recollect.adapters.embedders.building.weights import (
    BLOCK,
    DIMENSION,
    EARLY_LAYERS,
    HEADS,
    LAYERS,
    FourBitTable,
    Q4Model,
)
from recollect.core.vectors import FloatArray

INPUTS: Final = ("input_ids", "attention_mask")
STATES, EARLY_STATES = "last_hidden_state", "early_states"
"""The outputs: what the last layer makes of a text, and what the first ones do."""
_OPSET, _IR_VERSION = 20, 10
_EPSILON = 1e-12
_HIDDEN_FROM_ATTENTION = np.float32(-1e4)
_LARGE_BYTES = 100_000
_WORDS = "emb.word"

_LARGEST_WEIGHT = 63
_STEPS_PER_OCTAVE = 16
# How much of a channel's range is moved into the weights (0 to 1), and the share of the channels, those of the largest
# ranges, that stay in float32 as a second, small product: 8 of 384 and 32 of 1536. Loss of cosine to the float graph,
# on 20 texts of 15 languages and 12 of chats: .0004; without loud channels .0012, with half as many .0004, with twice
# as many .00036.
_MIGRATION, _LOUD_SHARE = 0.4, 1 / 48
# The output of attention has no loud channels; smoothing it would cost a multiplication for nothing.
_NOT_SMOOTHED = ".ao"

CALIBRATION_SENTENCES: Final = (
    "I adopted a puppy last Saturday and named her Luna.",
    "What did the doctor say about your knee?",
    "Reminder: dentist appointment on 14 March at 9:30.",
    "My sister moved to Lisbon in 2019 because of her job at the bank.",
    "That's amazing! Congratulations on the promotion, you deserve it.",
    "for i in range(10): print(items[i]['price'] * 1.19)",
    "The train was late again, so we missed the first half of the concert.",
    "ok",
    "Can you recommend a vegetarian restaurant near the harbour?",
    "We painted the kitchen yellow; Tom would have preferred a light grey.",
    "He is allergic to peanuts and shellfish, please keep that in mind.",
    "https://example.org/orders?id=4711&lang=en",
    "Yesterday I ran 12 km in 1:05:33, my best time so far this year!",
    "Honestly, I feel tired and a bit lonely since the children left for college.",
    "Please summarise the meeting notes and send them to the whole team by Friday evening.",
    "Je voudrais réserver une table pour quatre personnes demain soir.",
    "¿Dónde está la estación de autobuses más cercana?",
    "我明天要去北京出差。",
    "The quarterly revenue rose by 8 % to 3.2 million euros, mostly thanks to new customers in Poland and Spain.",
    "She is learning to play the violin and practises every morning before school.",
)
"""The sentences on which the input ranges of each dense layer are measured."""


def write_model(model: Q4Model, sample: Sequence[Sequence[int]], path: Path, weights_file: str) -> None:
    """Writes the int8 graph; its outputs are (batch, sequence, 384).

    The large constants go to `weights_file` beside it, which the runtime maps into memory instead of reading it: of
    the word table (54 MB) only rows that occur are ever loaded. `sample` are texts in ids, to measure activations over.
    """
    weights, words = float_weights(model), word_table(model)
    floats = FloatLayers()
    ranges = input_ranges(floats, Encoder(weights, words, floats), [given(ids) for ids in sample])
    encoder = Encoder(weights, words, Int8Layers(ranges))
    early = encoder.through(encoder.embedded(), range(EARLY_LAYERS))
    states = encoder.through(early, range(EARLY_LAYERS, LAYERS))
    outputs = {STATES: (states, DIMENSION), EARLY_STATES: (early, DIMENSION)}
    save(encoder.graph.finished("e5", outputs), path, weights_file)


def save(model: ModelProto, path: Path, weights_file: str) -> None:
    """Writes the graph, and its large constants to `weights_file` beside it."""
    onnx.save_model(model, path, save_as_external_data=True, location=weights_file, size_threshold=_LARGE_BYTES)
    # `onnx` writes that file for its owner alone; in a layer it is read by another user.
    (path.parent / weights_file).chmod(path.stat().st_mode)


def given(ids: Sequence[int]) -> dict[str, NDArray[np.int64]]:
    """A text in ids as inputs of the graph."""
    batch = np.array([ids], np.int64)
    return dict(zip(INPUTS, (batch, np.ones_like(batch)), strict=True))


def float_weights(model: Q4Model) -> dict[str, FloatArray]:
    """Everything but the word table in float32, by the names of the file."""
    tensors = {name: tensor for name, tensor in model.tensors.items() if name != _WORDS}
    return {name: one.floats() if isinstance(one, FourBitTable) else one for name, one in tensors.items()}


def word_table(model: Q4Model) -> FourBitTable:
    """The embeddings of the word pieces, in 4 bits."""
    words = model.tensors[_WORDS]
    if not isinstance(words, FourBitTable):
        raise ValueError("the word table is not in 4 bits")
    return words


def input_ranges(
    layers: "FloatLayers", encoder: "Encoder", sample: Sequence[Mapping[str, NDArray[np.int64]]]
) -> dict[str, FloatArray]:
    """{dense layer: largest magnitude of each channel that enters it}, of the encoder, which writes these layers."""
    encoder.write()
    observed = {name: tensor for name, tensor in layers.inputs.items() if not name.endswith(_NOT_SMOOTHED)}
    widths = {name: 4 * DIMENSION if name.endswith(".fo") else DIMENSION for name in observed}
    shown = {name: (tensor, widths[name]) for name, tensor in observed.items()}
    model = encoder.graph.finished("observed", shown, list(sample[0]))
    return _largest(bytes(model.SerializeToString()), list(observed), sample)


def _largest(
    model: bytes, outputs: Sequence[str], sample: Sequence[Mapping[str, NDArray[np.int64]]]
) -> dict[str, FloatArray]:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    ranges: dict[str, FloatArray] = {}
    for given in sample:
        states = session.run(list(outputs), dict(given))
        for layer, state in zip(outputs, states, strict=True):
            seen = np.abs(state[0]).max(axis=0)
            ranges[layer] = np.maximum(ranges.get(layer, seen), seen)
    return ranges


class GraphWriter:
    """Collects nodes and constants; every method returns the name of what it added."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def constant(self, values: "NDArray[Any] | np.generic") -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.add_many(operator, 1, *inputs, **attributes)[0]

    def add_many(self, operator: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        names = [f"{operator}_{len(self._nodes)}_{index}" for index in range(outputs)]
        self._nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def as_float(self, x: str) -> str:
        return self.add("Cast", x, to=TensorProto.FLOAT)

    def finished(
        self,
        name: str,
        outputs: dict[str, tuple[str, int]],
        inputs: Sequence[str] = INPUTS,
        states: Mapping[str, int] = MappingProxyType({}),
    ) -> ModelProto:
        """The model of these inputs, each (batch, sequence) of ids, and of `states` by their width.

        `outputs` is {name: (tensor, width)}; each comes out as (batch, sequence, width), as `states` come in.
        """
        nodes = [*self._nodes, *(helper.make_node("Identity", [tensor], [out]) for out, (tensor, _) in outputs.items())]
        axes = ["batch", "sequence"]
        given = [helper.make_tensor_value_info(x, TensorProto.INT64, axes) for x in inputs]
        given += [helper.make_tensor_value_info(x, TensorProto.FLOAT, [*axes, w]) for x, w in states.items()]
        shown = [helper.make_tensor_value_info(x, TensorProto.FLOAT, [*axes, w]) for x, (_, w) in outputs.items()]
        graph = helper.make_graph(nodes, name, given, shown, self._constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)


class DenseLayers(Protocol):
    """Writes x @ weight.T + bias into a graph; `name` is the weights' prefix."""

    def dense(self, graph: GraphWriter, name: str, x: str, weight: FloatArray, bias: FloatArray) -> str: ...


class FloatLayers:
    """The weights as they are. `inputs` has afterwards which tensor went into which dense layer."""

    def __init__(self) -> None:
        self.inputs: dict[str, str] = {}

    def dense(self, graph: GraphWriter, name: str, x: str, weight: FloatArray, bias: FloatArray) -> str:
        self.inputs[name] = x
        return graph.add("Add", graph.add("MatMul", x, graph.constant(weight.T)), graph.constant(bias))


class Int8Layers:
    """Weights in int8; activations get one scale a call, computed as they come (DynamicQuantizeLinear).

    `ranges` has the largest magnitude seen of each input channel of a layer. Channels far larger than the rest would
    leave few steps for the others, so a layer's input is divided by a smoothing factor and its weight multiplied by it
    (SmoothQuant).
    """

    def __init__(self, ranges: dict[str, FloatArray]) -> None:
        self._ranges = ranges

    def dense(self, graph: GraphWriter, name: str, x: str, weight: FloatArray, bias: FloatArray) -> str:
        if name not in self._ranges:
            return graph.add("Add", _int8_product(graph, x, weight), graph.constant(bias))
        loud = _loudest_channels(self._ranges[name])
        factors = _smoothing_factors(self._ranges[name], weight, loud)
        shown = np.where(np.isin(np.arange(len(factors)), loud), np.float32(0), 1 / factors)
        quiet = _int8_product(graph, graph.add("Mul", x, graph.constant(shown)), weight * factors * (shown > 0))
        total = graph.add("Add", quiet, graph.constant(bias))
        picked = graph.add("Gather", x, graph.constant(loud), axis=-1)
        return graph.add("Add", total, graph.add("MatMul", picked, graph.constant(weight[:, loud].T)))


def _int8_product(graph: GraphWriter, x: str, weight: FloatArray) -> str:
    integers, scales = _quantised_rows(weight)
    quantised, input_scale, zero_point = graph.add_many("DynamicQuantizeLinear", 3, x)
    no_offset = graph.constant(np.zeros(len(integers), np.int8))
    product = graph.add("MatMulInteger", quantised, graph.constant(integers.T), zero_point, no_offset)
    scale = graph.add("Mul", input_scale, graph.constant(scales))
    return graph.add("Mul", graph.as_float(product), scale)


def _quantised_rows(weight: FloatArray) -> tuple[NDArray[np.int8], FloatArray]:
    """Integers, and the scale of each row."""
    scales = np.maximum(np.abs(weight).max(axis=1), np.float32(1e-12)) / _LARGEST_WEIGHT
    return np.rint(weight / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def _loudest_channels(channel_ranges: FloatArray) -> NDArray[np.int64]:
    steps = -np.rint(np.log2(np.maximum(channel_ranges, 1e-6)) * _STEPS_PER_OCTAVE)
    return np.sort(np.argsort(steps, kind="stable")[: round(_LOUD_SHARE * len(steps))])


def _smoothing_factors(channel_ranges: FloatArray, weight: FloatArray, loud: NDArray[np.int64]) -> FloatArray:
    """For each input channel, range^m / largest weight^(1 - m) over its median, between 1/64 and 256; 1 for loud ones.

    In steps of a sixteenth of an octave: the last bits of a range differ from CPU to CPU, the model built should not.
    """
    magnitudes = np.maximum(np.abs(weight).max(axis=0), 1e-6)
    raw = np.maximum(channel_ranges, 1e-6) ** _MIGRATION / magnitudes ** (1 - _MIGRATION)
    octaves = np.clip(np.log2(raw / np.median(np.delete(raw, loud))), -6, 8)
    factors: FloatArray = np.exp2(np.rint(octaves * _STEPS_PER_OCTAVE) / _STEPS_PER_OCTAVE).astype(np.float32)
    factors[loud] = 1
    return factors


class Encoder:
    """Writes the encoder; token types are all zero.

    Weights have the names of the file: `emb` and of each layer `l0`: `q`, `k`, `v`, the output of attention `ao` with
    its norm `aln`, the inner layer `fi`, the outer `fo` with its norm `oln`; `w` is a matrix or a norm's scale, `b` a
    bias.
    """

    def __init__(self, weights: Mapping[str, FloatArray], words: FourBitTable, layers: DenseLayers) -> None:
        self.graph = GraphWriter()
        self.weights, self._words, self._layers = weights, words, layers

    def write(self) -> str:
        """Write all of it; returns the tensor of the last layer's states, (batch, sequence, width)."""
        return self.through(self.embedded(), range(LAYERS))

    def through(self, x: str, layers: Iterable[int]) -> str:
        """The states after these layers."""
        mask = self.mask()
        for index in layers:
            x = self._layer(f"l{index}", x, mask)
        return x

    def embedded(self) -> str:
        """The states before the first layer."""
        graph = self.graph
        words = _word_rows(graph, self._words, "input_ids")
        length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.constant(np.array([1])))
        zero = graph.constant(np.array([0]))
        used = graph.add("Slice", graph.constant(self.places()), zero, length, zero)
        return self.normalised("emb.ln", self.placed(graph.add("Add", words, used)))

    def places(self) -> FloatArray:
        """What is added at each place, (places, width)."""
        places, types = (self.weights[f"emb.{table}"].reshape(-1, DIMENSION) for table in ("pos", "type"))
        found: FloatArray = places + types[0]
        return found

    def placed(self, x: str) -> str:
        """What else is added to words and places: nothing."""
        return x

    def mask(self) -> str:
        """What is added to the scores of attention."""
        graph = self.graph
        shown = graph.as_float(graph.add("Unsqueeze", "attention_mask", graph.constant(np.array([1, 2]))))
        padded = graph.add("Sub", graph.constant(np.float32(1)), shown)
        return graph.add("Mul", padded, graph.constant(_HIDDEN_FROM_ATTENTION))

    def _layer(self, name: str, x: str, mask: str) -> str:
        heard = self._dense(f"{name}.ao", self._attention(name, x, mask))
        x = self.normalised(f"{name}.aln", self.graph.add("Add", heard, x))
        inner = self.graph.add("Gelu", self._dense(f"{name}.fi", x))
        outer = self._dense(f"{name}.fo", inner)
        return self.normalised(f"{name}.oln", self.graph.add("Add", outer, x))

    def _attention(self, name: str, x: str, mask: str) -> str:
        graph, size = self.graph, DIMENSION // HEADS
        weight, bias = (self._joined(name, part) for part in ("w", "b"))
        joined = self._layers.dense(graph, f"{name}.qkv", x, weight, bias)
        query, key, value = graph.add_many("Split", 3, joined, axis=-1, num_outputs=3)
        scores = graph.add("MatMul", self._heads(query, [0, 2, 1, 3]), self._heads(key, [0, 2, 3, 1]))
        scaled = graph.add("Mul", scores, graph.constant(np.float32(size**-0.5)))
        shares = graph.add("Softmax", graph.add("Add", scaled, mask), axis=-1)
        mixed = graph.add("Transpose", graph.add("MatMul", shares, self._heads(value, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
        return graph.add("Reshape", mixed, graph.constant(np.array([0, 0, DIMENSION])))

    def _heads(self, x: str, order: list[int]) -> str:
        shape = np.array([0, 0, HEADS, DIMENSION // HEADS])
        return self.graph.add("Transpose", self.graph.add("Reshape", x, self.graph.constant(shape)), perm=order)

    def _joined(self, name: str, part: str) -> FloatArray:
        return np.concatenate([self.weights[f"{name}.{role}.{part}"] for role in "qkv"])

    def _dense(self, name: str, x: str) -> str:
        return self._layers.dense(self.graph, name, x, self.weights[f"{name}.w"], self.weights[f"{name}.b"])

    def normalised(self, name: str, x: str) -> str:
        """The norm of this name."""
        scale, shift = (self.graph.constant(self.weights[f"{name}.{part}"]) for part in ("w", "b"))
        return self.graph.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=_EPSILON)


def _word_rows(graph: GraphWriter, table: FourBitTable, ids: str) -> str:
    """The rows at a tensor of ids (batch, sequence) as (batch, sequence, width) float32.

    The table stays in 4 bits inside the graph: a number takes half a byte on disk and in memory.
    """
    blocks = table.scales.shape[1]
    pairs = graph.add("Gather", graph.constant(table.pairs), ids)
    split = graph.add("Reshape", pairs, graph.constant(np.array([0, 0, blocks, BLOCK // 2])))
    low = graph.add("BitwiseAnd", split, graph.constant(np.uint8(0x0F)))
    high = graph.add("BitShift", split, graph.constant(np.uint8(4)), direction="RIGHT")
    both = graph.as_float(graph.add("Concat", low, high, axis=3))
    integers = graph.add("Sub", both, graph.constant(np.float32(8)))
    scales = graph.as_float(graph.add("Gather", graph.constant(table.scales[:, :, None]), ids))
    numbers = graph.add("Mul", integers, scales)
    return graph.add("Reshape", numbers, graph.constant(np.array([0, 0, blocks * BLOCK])))
