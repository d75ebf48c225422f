"""The trained layers as the product builds its judge from: `judge_layers.npz` of `adapters/embedders/building`."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from infra.tools.judge.calibration import CALIBRATED, Calibration
from infra.tools.judge.encoder import CLASSES, PARTS
from recollect.adapters.embedders.building.trained_layers import ABOUT, Tensors, packed, read_layers
from recollect.adapters.embedders.building.weights import LAYERS
from recollect.adapters.judges.pair_pieces import MOST_LENGTH

VERSION = "e5-judge.7"
RELEVANCE_VERSION = "e5-relevance.2"
_LARGEST = 127


def export(state: dict[str, Tensor], calibration: Calibration, embedder: Tensors, path: Path) -> None:
    """Writes the judge's layers, by how far they moved from the embedder's."""
    about = {"version": VERSION, **{name: getattr(calibration, name) for name in CALIBRATED}}
    _write(_named(state, calibration), about, embedder, path)


def export_relevance(state: dict[str, Tensor], embedder: Tensors, path: Path) -> None:
    """Writes those of the second stage: its layers, and a head over them."""
    heads, layers = ("early_hidden", "early"), range(_count_layers(state))
    _write(_encoder(state, heads, layers), {"version": RELEVANCE_VERSION}, embedder, path)


def shipped(path: Path, embedder: Tensors) -> dict[str, Tensor]:
    """The weights that `export` wrote, without the rows that were fitted after training."""
    import torch

    found, _ = read_layers(path, embedder)
    state = {"segments.weight": found["segments"], "places.weight": found["emb.pos"]}
    state["classes.weight"], state["classes.bias"] = found["classes.w"][:CLASSES], found["classes.b"][:CLASSES]
    for ours, theirs in (("weight", "w"), ("bias", "b")):
        state[f"norm.{ours}"] = found[f"emb.ln.{theirs}"]
        for head in ("hidden", "early_hidden", "early", "lasting"):
            state[f"{head}.{ours}"] = found[f"{head}.{theirs}"]
        for number in range(LAYERS):
            parts = [found[f"l{number}.{role}.{theirs}"] for role in "qkv"]
            state[f"layers.{number}.qkv.{ours}"] = np.concatenate(parts)
            for part, name in PARTS.items():
                state[f"layers.{number}.{part}.{ours}"] = found[f"l{number}.{name}.{theirs}"]
    return {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in state.items()}


def _count_layers(state: dict[str, Tensor]) -> int:
    return sum(name.endswith("qkv.bias") for name in state)


def _write(named: Iterable[tuple[str, Tensor]], about: dict[str, Any], embedder: Tensors, path: Path) -> None:
    """Writes matrices in int8 with a scale for each row."""
    found: dict[str, NDArray[Any]] = {}
    for name, tensor in named:
        values = tensor.float().numpy()
        if values.ndim == 1:
            found[name] = values
        else:
            found |= packed(name, *_quantised(values), embedder)
    write_arrays(path, {ABOUT: np.array(json.dumps(about)), **found})


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """As `np.savez_compressed` does, by Huffman's code alone: small moves are noise to whatever looks for matches.

    It takes 3 to 4 % less than LZMA; `np.load` reads it.
    """
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                # zipfile has no argument for zlib's strategy.
                setattr(member, "_compressor", zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_HUFFMAN_ONLY))  # noqa: B010
                np.lib.format.write_array(member, array, allow_pickle=False)


def _named(state: dict[str, Tensor], calibration: Calibration) -> Iterator[tuple[str, Tensor]]:
    """By the names of the embedder's file; the positions that no pair reaches are left out."""
    row = state["classes.weight"].new_tensor(calibration.retraction)
    yield "classes.w", _below(state["classes.weight"], row[:-1])
    yield "classes.b", _below(state["classes.bias"], row[-1])
    passing = state["early.weight"].new_tensor(calibration.passing)
    yield "passing.w", passing[None, :-1]
    yield "passing.b", passing[-1:]
    yield "lasting.w", state["lasting.weight"]
    yield "lasting.b", state["lasting.bias"]
    yield from _encoder(state, ("hidden", "early_hidden", "early"), range(_count_layers(state)))


def _encoder(state: dict[str, Tensor], heads: Iterable[str], layers: Iterable[int]) -> Iterator[tuple[str, Tensor]]:
    yield "emb.pos", state["places.weight"][:MOST_LENGTH]
    yield "segments", state["segments.weight"]
    for ours, theirs in (("weight", "w"), ("bias", "b")):
        for head in heads:
            yield f"{head}.{theirs}", state[f"{head}.{ours}"]
        yield f"emb.ln.{theirs}", state[f"norm.{ours}"]
    for number in layers:
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
