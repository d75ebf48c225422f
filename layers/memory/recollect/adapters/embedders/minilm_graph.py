"""The ONNX models of MiniLM from its published weights. Needs `onnx`, `onnxruntime` and `tokenizers`."""

from collections.abc import Mapping

from tokenizers import Tokenizer

from recollect.adapters.embedders import minilm
from recollect.adapters.embedders.bert_graph import BertEncoder, BertShape
from recollect.adapters.embedders.calibration import SENTENCES, input_ranges
from recollect.adapters.embedders.dense_layers import FloatLayers, Int8Layers
from recollect.adapters.embedders.minilm import Precision
from recollect.core.vectors import FloatArray

Weights = Mapping[str, FloatArray]

_SHAPE = BertShape(minilm.LAYERS, minilm.HEADS, minilm.DIMENSION)


def model_bytes(weights: Weights, tokenizer: Tokenizer, precision: Precision) -> bytes:
    """The serialised graph; its output last_hidden_state is (batch, sequence, 384)."""
    layers = FloatLayers() if precision is Precision.FP32 else Int8Layers(_ranges(weights, tokenizer))
    encoder = BertEncoder(weights, _SHAPE, layers)
    states = encoder.write()
    return bytes(
        encoder.graph.finished("minilm", {"last_hidden_state": (states, minilm.DIMENSION)}).SerializeToString()
    )


def _ranges(weights: Weights, tokenizer: Tokenizer) -> dict[str, FloatArray]:
    ids = [tokenizer.encode(sentence).ids for sentence in SENTENCES]
    return input_ranges(lambda layers: BertEncoder(weights, _SHAPE, layers), minilm.DIMENSION, ids)
