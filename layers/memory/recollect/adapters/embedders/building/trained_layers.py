"""The trained layers of a model beside the embedder, as `infra/tools` export them.

A matrix is in int8 with a scale for each row, a vector in float32, by the names of the embedder's file; `about` is JSON
with the version and what was fitted. Training begins with the embedder's matrices and moves their numbers by a few
steps, so what is stored of such a matrix is how far each integer moved (`.moved`, modulo 256): compressed, half of what
the integers take.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.embedders.building.weights import FourBitTable
from recollect.adapters.embedders.model_folder import describe_file
from recollect.core.vectors import FloatArray

ABOUT, MOVED, SCALES, LEFT, RIGHT = "about", ".moved", ".scales", ".left", ".right"
_STEPS: Final = 256

Tensors = Mapping[str, FloatArray | FourBitTable]
"""Of the embedder, by name (`weights.Q4Model`)."""


def read_layers(path: Path, embedder: Tensors) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """The weights in float32 by name, and what is said about them."""
    with np.load(path, allow_pickle=False) as stored:
        about: dict[str, Any] = json.loads(stored[ABOUT].item())
        names = [name.removesuffix(MOVED) for name in stored.files if name != ABOUT and not name.endswith(SCALES)]
        return {name: _floats(stored, name, embedder) for name in names}, about


def read_layers_over(path: Path, begun: Mapping[str, FloatArray]) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """The same of layers of which a matrix moved by the product of two small ones (`.left`, `.right`)."""
    with np.load(path, allow_pickle=False) as stored:
        about: dict[str, Any] = json.loads(stored[ABOUT].item())
        sides = (ABOUT, SCALES, LEFT, RIGHT)
        found = {name: stored[name].astype(np.float32) for name in stored.files if not name.endswith(sides)}
        for name in (one.removesuffix(LEFT) for one in stored.files if one.endswith(LEFT)):
            left, right = (_floats(stored, f"{name}{side}", {}) for side in (LEFT, RIGHT))
            found[name] = begun[name] + left @ right
        return found, about


def read_moves(path: Path) -> tuple[dict[str, FloatArray], dict[str, tuple[FloatArray, FloatArray]], dict[str, Any]]:
    """Of such layers the vectors, the two small matrices of each that moved, and what is said about them."""
    with np.load(path, allow_pickle=False) as stored:
        about: dict[str, Any] = json.loads(stored[ABOUT].item())
        sides = (ABOUT, SCALES, LEFT, RIGHT)
        vectors = {name: stored[name].astype(np.float32) for name in stored.files if not name.endswith(sides)}
        names = [one.removesuffix(LEFT) for one in stored.files if one.endswith(LEFT)]
        moves = {name: (_floats(stored, name + LEFT, {}), _floats(stored, name + RIGHT, {})) for name in names}
        return vectors, moves, about


def write_about(path: Path, about: Mapping[str, Any], layers: Path, names: Sequence[str]) -> None:
    """What the folder says of a model that was built from these layers, with the files of these names beside it."""
    files = [asdict(describe_file(path.parent / name)) for name in names]
    told = {**about, "layers_sha256": describe_file(layers).sha256, "files": files}
    path.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def packed(name: str, integers: NDArray[np.int8], scales: FloatArray, embedder: Tensors) -> dict[str, NDArray[Any]]:
    """What stands in the file for a matrix."""
    begun = _begun(embedder.get(name), scales)
    if begun is None or begun.shape != integers.shape:
        return {name: integers, f"{name}{SCALES}": scales}
    return {f"{name}{MOVED}": integers.view(np.uint8) - begun, f"{name}{SCALES}": scales}


def _floats(stored: Mapping[str, NDArray[Any]], name: str, embedder: Tensors) -> FloatArray:
    if f"{name}{SCALES}" not in stored:
        return stored[name].astype(np.float32)
    scales: FloatArray = stored[f"{name}{SCALES}"]
    return _integers(stored, name, scales, embedder).astype(np.float32) * scales[:, None]


def _integers(stored: Mapping[str, NDArray[Any]], name: str, scales: FloatArray, embedder: Tensors) -> NDArray[np.int8]:
    if f"{name}{MOVED}" not in stored:
        return stored[name]
    begun = _begun(embedder[name], scales)
    if begun is None:
        raise ValueError(f"{name} is no matrix of the embedder")
    found: NDArray[np.uint8] = stored[f"{name}{MOVED}"] + begun
    return found.view(np.int8)


def _begun(matrix: FloatArray | FourBitTable | None, scales: FloatArray) -> NDArray[np.uint8] | None:
    """The embedder's numbers in steps of these scales. Every machine rounds them alike: each is one IEEE division."""
    if not isinstance(matrix, FourBitTable) or len(matrix.scales) != len(scales):
        return None
    begun: NDArray[np.uint8] = (np.rint(matrix.floats() / scales[:, None]).astype(np.int64) % _STEPS).astype(np.uint8)
    return begun
