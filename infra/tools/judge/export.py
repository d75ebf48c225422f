"""The trained layers as the product builds its judge from: `judge_layers.npz` of `adapters/embedders/building`."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from infra.tools.judge.calibration import CALIBRATED, Calibration
from infra.tools.judge.encoder import CLASSES, PARTS, PairEncoder, started
from infra.tools.judge.layer_files import quantised, write_arrays, write_moves
from recollect.adapters.embedders.building.trained_layers import ABOUT, Tensors, packed, read_layers
from recollect.adapters.embedders.building.weights import EARLY_LAYERS, LAYERS, FourBitTable
from recollect.adapters.judges.pair_pieces import MOST_LENGTH

VERSION = "e5-judge.9"
RELEVANCE_VERSION = "e5-relevance.2"
ENDED_VERSION = "e5-ended.5"
QUESTION_VERSION = "e5-question.2"
_QUESTION_RANK = 8
"""Of what moved in the encoder of questions. With 10 (64 % of its squares), 16 (71 %) and all of it questions find the
same; with 10 a bare installation had 60.04 MB, where it is to stay below 60."""


def export(state: dict[str, Tensor], calibration: Calibration, embedder: Tensors, path: Path) -> None:
    """Writes the judge's layers, by how far they moved from the embedder's."""
    about = {"version": VERSION, **{name: getattr(calibration, name) for name in CALIBRATED}}
    _write(_named(state, calibration), about, embedder, path)


def export_relevance(state: dict[str, Tensor], embedder: Tensors, path: Path) -> None:
    """Writes those of the second stage: its layers, and a head over them."""
    heads, layers = ("early_hidden", "early"), range(_count_layers(state))
    _write(_encoder(state, heads, layers), {"version": RELEVANCE_VERSION}, embedder, path)


def export_ended(state: dict[str, Tensor], judge: Path, embedder: Tensors, path: Path) -> None:
    """Writes those of the model that tells which words end, by how far they moved from the judge's upper ones."""
    begun, _ = read_layers(judge, embedder)
    named = [one for number in range(_count_layers(state)) for one in _layer(state, number, EARLY_LAYERS)]
    heads = [("words.w", state["words.weight"]), ("words.b", state["words.bias"])]
    found = {name: tensor.detach().float().numpy() for name, tensor in (*named, *heads)}
    write_moves(path, {"version": ENDED_VERSION}, found, begun)


def shipped_judge(path: Path, embedder: Tensors) -> PairEncoder:
    """The judge of the weights that `export` wrote."""
    model, state = started(embedder), shipped(path, embedder)
    places = model.state_dict()["places.weight"]
    places[: len(state["places.weight"])] = state["places.weight"]
    model.load_state_dict({**model.state_dict(), **state, "places.weight": places})
    return model


def export_question(state: dict[str, Tensor], embedder: Tensors, path: Path) -> None:
    """Writes those of the encoder of questions: of the upper half of the layers how far they moved."""
    named = (one for number in range(EARLY_LAYERS, LAYERS) for one in _layer(state, number))
    found = {name: tensor.detach().float().numpy() for name, tensor in named}
    shapes = {name: np.float16 if values.ndim == 1 else np.float32 for name, values in found.items()}
    begun = {name: one.floats() for name in found if isinstance(one := embedder[name], FourBitTable)}
    kept = {name: values.astype(shapes[name]) for name, values in found.items()}
    write_moves(path, {"version": QUESTION_VERSION}, kept, begun, _QUESTION_RANK)


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
            found |= packed(name, *quantised(values), embedder)
    write_arrays(path, {ABOUT: np.array(json.dumps(about)), **found})


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


def _layer(state: dict[str, Tensor], number: int, first: int = 0) -> Iterator[tuple[str, Tensor]]:
    """`first`: the layer of the embedder that number 0 is."""
    for ours, theirs in (("weight", "w"), ("bias", "b")):
        for role, part in zip("qkv", state[f"layers.{number}.qkv.{ours}"].chunk(3), strict=True):
            yield f"l{first + number}.{role}.{theirs}", part
        for part_of, name in PARTS.items():
            yield f"l{first + number}.{name}.{theirs}", state[f"layers.{number}.{part_of}.{ours}"]


def _below(rows: Tensor, row: Tensor) -> Tensor:
    import torch

    return torch.cat([rows, row[None]])
