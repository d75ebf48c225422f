"""The trained layers as the product builds its judge from: `judge_layers.npz` of `adapters/embedders/building`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from infra.tools.judge.calibration import CALIBRATED, Calibration
from infra.tools.judge.encoder import PARTS
from recollect.adapters.judges.pair_pieces import MOST_LENGTH

VERSION = "e5-judge.3"
_LARGEST = 127


def export(state: dict[str, Tensor], calibration: Calibration, path: Path) -> None:
    """Writes matrices in int8 with a scale for each row; the positions that no pair reaches are left out."""
    found: dict[str, NDArray[Any]] = {}
    for name, tensor in _named(state, calibration):
        values = tensor.float().numpy()
        if values.ndim == 1:
            found[name] = values
        else:
            found[name], found[f"{name}.scales"] = _quantised(values)
    about = {"version": VERSION, **{name: getattr(calibration, name) for name in CALIBRATED}}
    np.savez_compressed(path, allow_pickle=False, about=np.array(json.dumps(about)), **found)


def _named(state: dict[str, Tensor], calibration: Calibration) -> Iterator[tuple[str, Tensor]]:
    """By the names of the embedder's file."""
    yield "emb.pos", state["places.weight"][:MOST_LENGTH]
    yield "segments", state["segments.weight"]
    row = state["classes.weight"].new_tensor(calibration.retraction)
    yield "classes.w", _below(state["classes.weight"], row[:-1])
    yield "classes.b", _below(state["classes.bias"], row[-1])
    passing = state["early.weight"].new_tensor(calibration.passing)
    yield "passing.w", passing[None, :-1]
    yield "passing.b", passing[-1:]
    for ours, theirs in (("weight", "w"), ("bias", "b")):
        for head in ("hidden", "early_hidden", "early"):
            yield f"{head}.{theirs}", state[f"{head}.{ours}"]
        yield f"emb.ln.{theirs}", state[f"norm.{ours}"]
    for number in range(sum(name.endswith("qkv.bias") for name in state)):
        yield from _layer(state, number)


def _layer(state: dict[str, Tensor], number: int) -> Iterator[tuple[str, Tensor]]:
    for ours, theirs in (("weight", "w"), ("bias", "b")):
        for role, part in zip("qkv", state[f"layers.{number}.qkv.{ours}"].chunk(3), strict=True):
            yield f"l{number}.{role}.{theirs}", part
        for part_of, name in PARTS.items():
            yield f"l{number}.{name}.{theirs}", state[f"layers.{number}.{part_of}.{ours}"]


def _below(rows: Tensor, row: Tensor) -> Tensor:
    import torch

    return torch.cat([rows, row[None]])


def _quantised(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    scales = np.maximum(np.abs(values).max(axis=1), np.float32(1e-12)) / np.float32(_LARGEST)
    return np.rint(values / scales[:, None]).astype(np.int8), scales.astype(np.float32)
