"""The training loop: reproducible from a seed, and going on from a checkpoint where one lies."""

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from infra.tools.judge.encoder import PairEncoder
from infra.tools.judge.examples import LASTING, Example
from infra.tools.judge.pieces import Encoded, batch_of, encode
from recollect.adapters.embedders.unigram import Unigram
from recollect.core.vectors import FloatArray

_SMOOTHING = 0.05
_CHANGED_SHARE = 0.7
_EARLY_SHARE = 0.3
_CHUNK = 40
_TOLD_EVERY, _SAVED_EVERY = 100, 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """AdamW with a warm-up and a cosine; what is new learns `head_times` as fast."""

    epochs: float = 3.0
    batch: int = 32
    rate: float = 8e-5
    head_times: float = 8.0
    warm: float = 0.06
    seed: int = 1

    def share(self, step: int, steps: int) -> float:
        """The share of the rate at a step."""
        return share_of_rate(step, steps, self.warm)


def share_of_rate(step: int, steps: int, warm_share: float) -> float:
    """In [0, 1]: it rises over the first steps, a share of all, and falls along a cosine."""
    warm = max(1.0, warm_share * steps)
    if step < warm:
        return step / warm
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warm) / max(1.0, steps - warm))))


def train(model: PairEncoder, examples: Sequence[Example], tokenizer: Unigram, course: Course, out: Path) -> None:
    """Writes `judge.pt` into `out`, and on the way a checkpoint."""
    rows = [encode(tokenizer, one) for one in examples]
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    labels = torch.tensor([one.label for one in examples])
    weights = torch.tensor([_weights(one) for one in examples])
    optimizer = _optimizer(model, course)
    rates = [group["lr"] for group in optimizer.param_groups]
    steps = round(course.epochs * math.ceil(len(rows) / course.batch))
    checkpoint = out / "checkpoint.pt"
    out.mkdir(parents=True, exist_ok=True)
    first = _resume(checkpoint, model, optimizer)
    torch.manual_seed(course.seed + first)
    losses, began = [], time.monotonic()
    for step, chosen in enumerate(_batches(rows, course), start=1):
        if step > steps:
            break
        if step <= first:
            continue
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * course.share(step, steps)
        losses.append(_step(model, optimizer, [rows[at] for at in chosen], labels[chosen], weights[chosen]))
        if step % _TOLD_EVERY == 0:
            each = (time.monotonic() - began) / (step - first)
            print(f"step {step} of {steps}: loss {np.mean(losses[-_TOLD_EVERY:]):.4f}, {each:.2f} s each", flush=True)
        if step % _SAVED_EVERY == 0:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, checkpoint)
    torch.save(model.cpu().state_dict(), out / "judge.pt")
    checkpoint.unlink(missing_ok=True)


def _weights(one: Example) -> tuple[float, float, float]:
    """Of the early layers, of the whole, which no message alone is given to, and of what is worth keeping."""
    lasting = one.kind == LASTING
    return one.weight * (not lasting), one.weight * bool(one.old), one.weight * lasting


@torch.no_grad()
def probabilities(model: PairEncoder, rows: Sequence[Encoded], size: int = 64) -> FloatArray:
    """(rows, 4): stands, replaced, ended, partly changed."""
    model.eval()
    order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
    found = np.zeros((len(rows), 4), np.float32)
    for at in range(0, len(order), size):
        chosen = order[at : at + size]
        found[chosen] = torch.softmax(_logits(model, [rows[place] for place in chosen])[0], 1).cpu().numpy()
    return found


def _logits(model: PairEncoder, rows: Sequence[Encoded]) -> tuple[Tensor, Tensor, Tensor]:
    device = model.words.device
    ids, segments = (torch.from_numpy(one).to(device) for one in batch_of(rows))
    with torch.autocast(device.type, torch.bfloat16):
        logits, early, lasting = model(ids, segments)
    return logits, early, lasting


def _step(
    model: PairEncoder, optimizer: torch.optim.Optimizer, rows: Sequence[Encoded], labels: Tensor, weights: Tensor
) -> float:
    model.train()
    device = model.words.device
    loss = _loss(_logits(model, rows), labels.to(device), weights.to(device))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return float(loss.detach())


def _loss(logits: tuple[Tensor, Tensor, Tensor], labels: Tensor, weights: Tensor) -> Tensor:
    """Most of it on changed or not, the rest on the class; beside that what the early layers say. By `_weights`."""
    classes, early, lasting = logits
    target = (labels > 0).float() * (1 - 2 * _SMOOTHING) + _SMOOTHING
    changed = _binary(torch.logsumexp(classes[:, 1:], 1) - classes[:, 0], target)
    kind = functional.cross_entropy(classes, labels, reduction="none", label_smoothing=_SMOOTHING)
    whole = (_CHANGED_SHARE * changed + (1 - _CHANGED_SHARE) * kind) * weights[:, 1]
    first = _binary(early, target) * weights[:, 0] + _binary(lasting, target) * weights[:, 2]
    return (whole + _EARLY_SHARE * first).mean()


def _binary(logits: Tensor, target: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, target, reduction="none")


def _optimizer(model: PairEncoder, course: Course) -> torch.optim.Optimizer:
    new = model.new_parameters()
    known = {id(one) for one in new}
    old = [one for one in model.parameters() if id(one) not in known]
    groups = [{"params": old, "lr": course.rate}, {"params": new, "lr": course.rate * course.head_times}]
    return torch.optim.AdamW(groups, weight_decay=0.01)


def _resume(checkpoint: Path, model: PairEncoder, optimizer: torch.optim.Optimizer) -> int:
    if not checkpoint.exists():
        return 0
    saved = torch.load(checkpoint)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return int(saved["step"])


def _batches(rows: Sequence[Encoded], course: Course) -> Iterator[list[int]]:
    """Rows of like length together, in random order, for ever."""
    rng = random.Random(course.seed)
    while True:
        order = list(range(len(rows)))
        rng.shuffle(order)
        found = []
        for at in range(0, len(order), course.batch * _CHUNK):
            chunk = sorted(order[at : at + course.batch * _CHUNK], key=lambda one: len(rows[one].ids))
            found += [chunk[start : start + course.batch] for start in range(0, len(chunk), course.batch)]
        rng.shuffle(found)
        yield from found
