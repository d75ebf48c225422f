"""What stands in a file of trained layers: matrices in int8, or by the product of two small ones that they moved by."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.embedders.building.trained_layers import ABOUT, LEFT, RIGHT, SCALES
from recollect.core.vectors import FloatArray

RANK: Final = 16
"""Of what a matrix moved by: 32 is no better where it was tried (docs/adr/0011)."""
_LARGEST = 127


def write_moves(
    path: Path,
    about: Mapping[str, Any],
    found: Mapping[str, NDArray[Any]],
    begun: Mapping[str, FloatArray],
    rank: int = RANK,
) -> None:
    """Writes layers so that `read_layers_over` reads them: vectors, and what did not begin at another's, in float16."""
    arrays: dict[str, NDArray[Any]] = {ABOUT: np.array(json.dumps(about))}
    for name, values in found.items():
        if values.ndim == 1 or name not in begun:
            arrays[name] = values.astype(np.float16)
        else:
            arrays |= _move(name, values - begun[name], rank)
    write_arrays(path, arrays)


def _move(name: str, moved: FloatArray, rank: int) -> dict[str, NDArray[Any]]:
    left, sizes, right = np.linalg.svd(moved, full_matrices=False)
    roots = np.sqrt(sizes[:rank])
    arrays: dict[str, NDArray[Any]] = {}
    for side, matrix in ((LEFT, left[:, :rank] * roots), (RIGHT, roots[:, None] * right[:rank])):
        arrays[f"{name}{side}"], arrays[f"{name}{side}{SCALES}"] = quantised(matrix.astype(np.float32))
    return arrays


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


def quantised(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix in int8, and the scale of each row."""
    scales = np.maximum(np.abs(values).max(axis=1), np.float32(1e-12)) / np.float32(_LARGEST)
    return np.rint(values / scales[:, None]).astype(np.int8), scales.astype(np.float32)
