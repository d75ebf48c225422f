"""Layers beside the embedder's: whatever moved, and however far, is read as it was before it was packed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.adapters.embedders.building.trained_layers import Tensors, packed, read_layers
from recollect.adapters.embedders.building.weights import BLOCK, FourBitTable
from recollect.core.vectors import FloatArray

ROWS = 3


def embedder(seed: int) -> Tensors:
    random = np.random.default_rng(seed)
    pairs = random.integers(0, 256, (ROWS, BLOCK // 2)).astype(np.uint8)
    scales = random.uniform(0.001, 0.1, (ROWS, 1)).astype(np.float16)
    return {"l0.q.w": FourBitTable(pairs, scales), "l0.q.b": np.ones(ROWS, np.float32)}


def layers(seed: int, columns: int = BLOCK) -> tuple[NDArray[np.int8], FloatArray]:
    random = np.random.default_rng(seed)
    integers = random.integers(-127, 128, (ROWS, columns)).astype(np.int8)
    return integers, random.uniform(1e-6, 0.1, ROWS).astype(np.float32)


def written(path: Path, of: dict[str, NDArray[Any]]) -> Path:
    np.savez_compressed(path, allow_pickle=False, about=np.array(json.dumps({"version": "v"})), **of)
    return path


@given(seed=st.integers(0, 10_000))
def test_a_matrix_is_read_as_it_was_to_the_bit(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    integers, scales = layers(seed)
    stored = packed("l0.q.w", integers, scales, embedder(seed + 1))
    assert set(stored) == {"l0.q.w.moved", "l0.q.w.scales"}
    found, about = read_layers(written(tmp_path_factory.mktemp("layers") / "one.npz", stored), embedder(seed + 1))
    assert about == {"version": "v"}
    assert found["l0.q.w"].tobytes() == (integers.astype(np.float32) * scales[:, None]).tobytes()


def test_what_the_embedder_has_not_or_has_otherwise_stands_as_it_is(tmp_path: Path) -> None:
    integers, scales = layers(1, columns=BLOCK * 2)
    bias = np.arange(ROWS, dtype=np.float32)
    stored = packed("l0.q.w", integers, scales, embedder(1)) | packed("hidden.w", integers, scales, embedder(1))
    assert {name for name in stored if name.endswith(".moved")} == set()
    found, _ = read_layers(written(tmp_path / "one.npz", {**stored, "l0.q.b": bias}), embedder(1))
    for name in ("l0.q.w", "hidden.w"):
        assert found[name].tolist() == (integers.astype(np.float32) * scales[:, None]).tolist()
    assert found["l0.q.b"].tolist() == bias.tolist()


def test_trained_little_it_takes_a_third_less_than_the_integers(tmp_path: Path) -> None:
    """Why it is done; the shipped layers take half."""
    random = np.random.default_rng(3)
    pairs = random.integers(0, 256, (300, BLOCK // 2)).astype(np.uint8)
    before = FourBitTable(pairs, np.full((300, 1), 0.01, np.float16))
    scales = np.full(300, 0.0008, np.float32)
    trained = np.rint(before.floats() / scales[:, None] + random.normal(0, 2, (300, BLOCK))).astype(np.int8)
    files = (
        written(tmp_path / "moved.npz", packed("w", trained, scales, {"w": before})),
        written(tmp_path / "whole.npz", packed("w", trained, scales, {})),
    )
    moved, whole = (one.stat().st_size for one in files)
    assert moved < whole * 2 / 3
