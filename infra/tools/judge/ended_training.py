"""Training of the model that tells which words end, and how well it does: PyTorch, on two cores.

The judge's upper layers are trained on, with a row over each piece's state. Its lower ones stay as they are, so that
their states are computed once.
"""

import random
import time
from collections.abc import Iterator, Sequence, Set
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from infra.tools.judge.encoder import PairEncoder
from infra.tools.judge.ended_examples import NEAR, NOT_LEARNT, PAIR
from infra.tools.judge.ended_rows import EndedRows
from infra.tools.judge.training import Course, batches, share_of_rate
from recollect.adapters.embedders.building.weights import DIMENSION, EARLY_LAYERS
from recollect.core.vectors import FloatArray

SHIPPED = Course(epochs=2.36, rate=6e-5, head_times=10.0, warm=0.0625)
"""1,000 steps on all examples; those before (`docs/adr/0011`) were 420 on half of them."""
_SMOOTHING = 0.02
_LEAST_RATE = 0.05
_SHARES = {NEAR: 0.6, PAIR: 0.5}
"""Of each kind the share that a run takes."""
_AT_ONCE = 64
_TOLD_EVERY, _SAVED_EVERY = 20, 100


class EndedLayers(nn.Module):
    """Early states (batch, length, width) and which are shown in; the logit of each piece that it ends out."""

    def __init__(self, judge: PairEncoder) -> None:
        super().__init__()
        self.layers, self.words = nn.ModuleList(list(judge.layers[EARLY_LAYERS:])), nn.Linear(DIMENSION, 1)
        nn.init.zeros_(self.words.weight)
        nn.init.zeros_(self.words.bias)

    def forward(self, states: Tensor, shown: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=self.training):
            for layer in self.layers:
                states = layer(states, shown[:, None, None, :])
        logits: Tensor = self.words(states.float())[:, :, 0]
        return logits


@torch.no_grad()
def early_states(judge: PairEncoder, rows: EndedRows) -> list[Tensor]:
    """Of each row (length, width), in half of the bits."""
    judge.eval()
    found: list[Tensor] = [torch.empty(0)] * len(rows)
    for chosen in _by_length(rows):
        most = max(len(rows.ids[row]) for row in chosen)
        ids, segments = torch.zeros(len(chosen), most, dtype=torch.long), torch.full((len(chosen), most), -1)
        for at, row in enumerate(chosen):
            length, older = len(rows.ids[row]), int(rows.older[row]) - 1
            ids[at, :length] = torch.from_numpy(rows.ids[row])
            segments[at, :older], segments[at, older:length] = 0, 1
        states = judge.early_states(ids, segments).to(torch.bfloat16)
        for at, row in enumerate(chosen):
            found[row] = states[at, : len(rows.ids[row])].clone()
    return found


def train(
    model: EndedLayers, rows: EndedRows, states: Sequence[Tensor], course: Course, out: Path, without: Set[str]
) -> None:
    """Writes `ended.pt` into `out`, on the way a checkpoint. `without`: kinds and groups that are left out."""
    torch.manual_seed(course.seed)
    told = learnt(rows, without, random.Random(course.seed))
    steps = round(course.epochs * (len(told) // course.batch))
    optimizer, checkpoint = _optimizer(model, course), out / "ended.checkpoint.pt"
    rates = [group["lr"] for group in optimizer.param_groups]
    first, losses, began = _resume(checkpoint, model, optimizer), list[float](), time.monotonic()
    lengths = [len(rows.ids[row]) for row in told]
    model.train()
    for step, chosen in enumerate(islice(batches(lengths, course), steps), start=1):
        if step <= first:
            continue
        share = _LEAST_RATE + (1 - _LEAST_RATE) * share_of_rate(step, steps, course.warm)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * share
        losses.append(_step(model, optimizer, rows, states, [told[at] for at in chosen]))
        if step % _TOLD_EVERY == 0:
            each = (time.monotonic() - began) / (step - first)
            print(f"step {step} of {steps}: loss {np.mean(losses[-_TOLD_EVERY:]):.4f}, {each:.2f} s each", flush=True)
        if step % _SAVED_EVERY == 0:
            saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(saved, checkpoint)
    torch.save(model.state_dict(), out / "ended.pt")
    checkpoint.unlink(missing_ok=True)


def learnt(rows: EndedRows, without: Set[str], rng: random.Random) -> list[int]:
    """The rows of a run: none of what is held, and of some kinds a share."""
    found = []
    for row, (kind, group) in enumerate(zip(rows.kinds.tolist(), rows.groups.tolist(), strict=True)):
        left_out = group in NOT_LEARNT or {kind, group} & without or not len(rows.ended[row])
        if not left_out and rng.random() <= _SHARES.get(kind, 1.0):
            found.append(row)
    return found


def figure_lines(model: EndedLayers, rows: EndedRows, states: Sequence[Tensor]) -> Iterator[str]:
    """Of what is held, by kind: how well the pieces that end are told from the others, and which are marked."""
    held = [row for row, group in enumerate(rows.groups.tolist()) if group in NOT_LEARNT]
    for kind in sorted(set(rows.kinds[held].tolist())):
        own = [row for row in held if rows.kinds[row] == kind and len(rows.ended[row])]
        scores = list(_logits(model, rows, states, own))
        ended = [rows.ended[row] for row in own]
        told = [f"{len(own)} pairs"]
        if any(wanted.any() for wanted in ended):
            told.append(f"area under the curve {area_under_curve(np.concatenate(scores), np.concatenate(ended)):.3f}")
        caught = [np.mean(one[wanted] > 0) for one, wanted in zip(scores, ended, strict=True) if wanted.any()]
        lost = [np.mean(one[~wanted] > 0) for one, wanted in zip(scores, ended, strict=True) if not wanted.all()]
        told += [f"{name} {np.mean(some):.3f}" for name, some in (("caught", caught), ("lost", lost)) if some]
        yield f"{kind}: " + ", ".join(told)


def area_under_curve(scores: FloatArray, wanted: NDArray[np.bool_]) -> float:
    """The share of pairs of a wanted one and another in which the wanted one scores more; ties go by place."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    most = int(wanted.sum())
    others = len(scores) - most
    return float((ranks[wanted].sum() - most * (most + 1) / 2) / max(1, most * others))


@torch.no_grad()
def _logits(
    model: EndedLayers, rows: EndedRows, states: Sequence[Tensor], chosen: Sequence[int]
) -> Iterator[FloatArray]:
    model.eval()
    for at in range(0, len(chosen), _AT_ONCE):
        part = chosen[at : at + _AT_ONCE]
        logits = model(*_padded([states[row] for row in part])).numpy()
        for one, row in zip(logits, part, strict=True):
            first = int(rows.older[row])
            yield one[first : first + len(rows.ended[row])]


def _step(
    model: EndedLayers,
    optimizer: torch.optim.Optimizer,
    rows: EndedRows,
    states: Sequence[Tensor],
    chosen: Sequence[int],
) -> float:
    given, shown = _padded([states[row] for row in chosen])
    wanted, weights = torch.zeros(shown.shape), torch.zeros(shown.shape)
    for at, row in enumerate(chosen):
        ended, first = rows.ended[row], int(rows.older[row])
        wanted[at, first : first + len(ended)] = torch.from_numpy(ended.astype(np.float32))
        weights[at, first : first + len(ended)] = float(rows.weights[row]) / len(ended)
    smoothed = wanted * (1 - 2 * _SMOOTHING) + _SMOOTHING
    each = functional.binary_cross_entropy_with_logits(model(given, shown), smoothed, reduction="none")
    loss = (each * weights).sum() / len(chosen)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return float(loss.detach())


def _padded(states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """States of several rows in one tensor, and which of its places are of a row."""
    lengths = torch.tensor([len(one) for one in states])
    shown = torch.arange(int(lengths.max()))[None] < lengths[:, None]
    return nn.utils.rnn.pad_sequence([one.float() for one in states], batch_first=True), shown


def _by_length(rows: EndedRows) -> Iterator[list[int]]:
    order = sorted(range(len(rows)), key=lambda row: len(rows.ids[row]))
    return (order[at : at + _AT_ONCE] for at in range(0, len(order), _AT_ONCE))


def _optimizer(model: EndedLayers, course: Course) -> torch.optim.Optimizer:
    known = list(model.layers.parameters())
    return torch.optim.AdamW(
        [
            {"params": [one for one in known if one.ndim > 1], "lr": course.rate, "weight_decay": 0.01},
            {"params": [one for one in known if one.ndim == 1], "lr": course.rate},
            {"params": model.words.parameters(), "lr": course.rate * course.head_times},
        ],
        weight_decay=0.0,
    )


def _resume(checkpoint: Path, model: EndedLayers, optimizer: torch.optim.Optimizer) -> int:
    if not checkpoint.exists():
        return 0
    saved = torch.load(checkpoint)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return int(saved["step"])
