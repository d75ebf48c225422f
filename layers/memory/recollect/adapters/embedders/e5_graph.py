"""The ONNX model of multilingual-e5-small from its 4-bit weights. Needs `onnx` and `onnxruntime`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import onnx

from recollect.adapters.embedders import multilingual_e5 as e5
from recollect.adapters.embedders.bert_graph import BertEncoder, BertShape
from recollect.adapters.embedders.calibration import input_ranges
from recollect.adapters.embedders.dense_layers import DenseLayers, Int8Layers, Smoothing
from recollect.adapters.embedders.four_bit_rows import four_bit_rows
from recollect.adapters.embedders.q4_file import FourBitTable, Q4Model
from recollect.core.vectors import FloatArray

_SHAPE = BertShape(e5.LAYERS, e5.HEADS, e5.DIMENSION)
# 8 channels of 384 and 32 of 1536 in float32. Loss of cosine to the float graph, on 20 texts of 15 languages and 12 of
# chats: .0004; without them .0012, with half as many .0004, with twice as many .00036.
_SMOOTHING = Smoothing(migration=0.4, loud_share=1 / 48)
_LARGE_BYTES = 100_000
_EMBEDDINGS: Final = {
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_OF_A_LAYER: Final = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def write_model(model: Q4Model, sample: Sequence[Sequence[int]], path: Path, weights_file: str) -> None:
    """Writes the int8 graph; its output last_hidden_state is (batch, sequence, 384).

    The large constants go to `weights_file` beside it, which the runtime maps into memory instead of reading it: of
    the word table (54 MB) only rows that occur are ever loaded. `sample` are texts in ids, to measure activations over.
    """
    weights = bert_weights(model)
    ranges = input_ranges(lambda layers: _encoder(model, weights, layers), e5.DIMENSION, sample)
    encoder = _encoder(model, weights, Int8Layers(ranges, _SMOOTHING))
    states = encoder.write()
    graph = encoder.graph.finished("e5", {"last_hidden_state": (states, e5.DIMENSION)})
    onnx.save_model(graph, path, save_as_external_data=True, location=weights_file, size_threshold=_LARGE_BYTES)
    # `onnx` writes that file for its owner alone; in a layer it is read by another user.
    (path.parent / weights_file).chmod(path.stat().st_mode)


def bert_weights(model: Q4Model) -> dict[str, FloatArray]:
    """Everything but the word table, by the names of a `BertModel`, in float32. Raises KeyError where one lacks."""
    tensors = model.tensors
    found = {theirs: _floats(tensors[ours]) for ours, theirs in _EMBEDDINGS.items()}
    for layer in range(e5.LAYERS):
        for ours, theirs in _OF_A_LAYER.items():
            for short, part in (("w", "weight"), ("b", "bias")):
                found[f"encoder.layer.{layer}.{theirs}.{part}"] = _floats(tensors[f"l{layer}.{ours}.{short}"])
    for name in ("position", "token_type"):
        table = f"embeddings.{name}_embeddings.weight"
        found[table] = found[table].reshape(-1, e5.DIMENSION)
    return found


def _floats(tensor: "FloatArray | FourBitTable") -> FloatArray:
    return tensor.floats() if isinstance(tensor, FourBitTable) else tensor


def _encoder(model: Q4Model, weights: Mapping[str, FloatArray], layers: DenseLayers) -> BertEncoder:
    words = model.tensors["emb.word"]
    if not isinstance(words, FourBitTable):
        raise ValueError("the word table is not in 4 bits")
    return BertEncoder(weights, _SHAPE, layers, four_bit_rows(words))
