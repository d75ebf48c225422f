"""MiniLM's forward pass in plain numpy, written from the BERT paper: what the ONNX graph is held against."""

from math import erf

import numpy as np
from numpy.typing import NDArray

from recollect.core.vectors import FloatArray

Doubles = NDArray[np.float64]
Weights = dict[str, Doubles]
_HEADS, _LAYERS = 12, 6
_erf = np.vectorize(erf, otypes=[np.float64])


def states_of(weights: dict[str, FloatArray], token_ids: list[int]) -> FloatArray:
    """(tokens, 384), the last layer, of one text without padding."""
    w: Weights = {name: tensor.astype(np.float64) for name, tensor in weights.items()}
    x = w["embeddings.word_embeddings.weight"][token_ids] + w["embeddings.token_type_embeddings.weight"][0]
    x = _norm(w, "embeddings.LayerNorm", x + w["embeddings.position_embeddings.weight"][: len(token_ids)])
    for layer in range(_LAYERS):
        name = f"encoder.layer.{layer}"
        x = _norm(w, f"{name}.attention.output.LayerNorm", x + _attention(w, name, x))
        inner = _linear(w, f"{name}.intermediate.dense", x)
        inner = inner * 0.5 * (1 + _erf(inner / np.sqrt(2)))
        x = _norm(w, f"{name}.output.LayerNorm", x + _linear(w, f"{name}.output.dense", inner))
    return x.astype(np.float32)


def _attention(w: Weights, name: str, x: Doubles) -> Doubles:
    query, key, value = (
        np.split(_linear(w, f"{name}.attention.self.{role}", x), _HEADS, axis=1) for role in ("query", "key", "value")
    )
    heads = []
    for q, k, v in zip(query, key, value, strict=True):
        weights = np.exp(q @ k.T / np.sqrt(q.shape[1]))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ v)
    return _linear(w, f"{name}.attention.output.dense", np.concatenate(heads, axis=1))


def _linear(w: Weights, name: str, x: Doubles) -> Doubles:
    y: Doubles = x @ w[f"{name}.weight"].T + w[f"{name}.bias"]
    return y


def _norm(w: Weights, name: str, x: Doubles) -> Doubles:
    centred = x - x.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
    normal: Doubles = centred / deviation * w[f"{name}.weight"] + w[f"{name}.bias"]
    return normal
