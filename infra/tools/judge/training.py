"""The training loop: reproducible from a seed, on a GPU or on two cores, there going on from a checkpoint."""

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from infra.tools.judge.bundle import Bundle, Pairs
from infra.tools.judge.encoder import CLASSES, PairEncoder
from infra.tools.judge.examples import LASTING, TURNED
from infra.tools.judge.rows import Rows
from infra.tools.judge.steps import GraphedSteps, PlainSteps
from recollect.core.vectors import FloatArray

_SMOOTHING = 0.05
_CHANGED_SHARE = 0.7
_EARLY_SHARE = 0.3
_CHUNK = 40
_TOLD_EVERY, _SAVED_EVERY = 100, 100
_BY_KIND = frozenset(
    {"month", "month_near", "talk", "near", "beside", "crossed", "unlabelled", "alone", LASTING, TURNED}
)
"""The kinds of examples that have a weight of their own; all others are pairs that were written side by side."""
_WRITTEN = "written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """AdamW with a warm-up and a cosine; what is new learns `head_times` as fast.

    `weigh`: by kind of example, and by group, a factor of its weight. `taught`: the share of a teacher's
    probabilities in what is learnt. `graphs`: whether a GPU runs its steps as CUDA graphs. `upper`: only the layers
    above the first look learn, so that what was fitted over the early states still holds.
    """

    epochs: float = 3.0
    batch: int = 32
    rate: float = 8e-5
    head_times: float = 8.0
    warm: float = 0.06
    seed: int = 1
    weigh: Mapping[str, float] = field(default_factory=dict)
    taught: float = 0.0
    graphs: bool = True
    upper: bool = False


def share_of_rate(step: int, steps: int, warm_share: float) -> float:
    """In [0, 1]: it rises over the first steps, a share of all, and falls along a cosine."""
    warm = max(1.0, warm_share * steps)
    if step < warm:
        return step / warm
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warm) / max(1.0, steps - warm))))


def train(model: PairEncoder, bundle: Bundle, course: Course, out: Path, teacher: FloatArray | None = None) -> None:
    """Writes `judge.pt` into `out`, and on the way, without a GPU, a checkpoint. `teacher`: (pairs, classes)."""
    told = bundle.sets["train"]
    rows = Rows.of(bundle, told, targets(told, course, teacher)).to("cuda" if torch.cuda.is_available() else "cpu")
    model.to(rows.device).train()
    for one in model.early_parameters() if course.upper else ():
        one.requires_grad_(False)
    graphs = rows.on_gpu and course.graphs
    optimizer = _optimizer(model, course, capturable=graphs)
    torch.manual_seed(course.seed)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / "checkpoint.pt"
    parts = model, optimizer, rows, loss_of
    run = GraphedSteps(*parts, course.batch) if graphs else PlainSteps(*parts)
    first = 0 if rows.on_gpu else _resume(checkpoint, model, optimizer)
    steps = round(course.epochs * (len(told) // course.batch))
    losses, began = [], time.monotonic()
    for step, chosen in enumerate(islice(batches(rows.lengths.tolist(), course), steps), start=1):
        if step <= first:
            continue
        losses.append(run(chosen, share_of_rate(step, steps, course.warm)))
        if step % _TOLD_EVERY == 0:
            mean, each = float(torch.stack(losses[-_TOLD_EVERY:]).mean()), (time.monotonic() - began) / (step - first)
            print(f"step {step} of {steps}: loss {mean:.4f}, {each * 1000:.1f} ms each", flush=True)
        if not rows.on_gpu and step % _SAVED_EVERY == 0:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, checkpoint)
    torch.save(model.cpu().state_dict(), out / "judge.pt")
    checkpoint.unlink(missing_ok=True)


def targets(told: Pairs, course: Course, teacher: FloatArray | None) -> FloatArray:
    """(pairs, classes + 4): the classes' shares, changed or not, and the weights of whole, early layers and lasting.

    No message alone counts for the whole; what is worth keeping counts for nothing else.
    """
    hard = np.full((len(told), CLASSES), _SMOOTHING / CLASSES, np.float32)
    hard[np.arange(len(told)), told.labels] += 1 - _SMOOTHING
    changed = (told.labels > 0).astype(np.float32) * (1 - 2 * _SMOOTHING) + _SMOOTHING
    pair, lasting = told.texts[:, 1] >= 0, told.kinds == LASTING
    if teacher is not None:
        share = np.where(pair, course.taught, 0.0).astype(np.float32)
        hard = hard * (1 - share[:, None]) + teacher * share[:, None]
        changed = changed * (1 - share) + (1 - teacher[:, 0]) * share
    weight = told.weights * factors(told, course.weigh)
    return np.column_stack([hard, changed, weight * pair, weight * ~lasting, weight * lasting]).astype(np.float32)


def factors(told: Pairs, weigh: Mapping[str, float]) -> FloatArray:
    """Of each pair, (pairs,), by its kind and its group."""
    kinds = (kind if kind in _BY_KIND else _WRITTEN for kind in told.kinds.tolist())
    found = (
        weigh.get(kind, 1.0) * weigh.get(group, 1.0) for kind, group in zip(kinds, told.groups.tolist(), strict=True)
    )
    return np.fromiter(found, np.float32, len(told))


def loss_of(model: PairEncoder, ids: Tensor, segments: Tensor, wanted: Tensor) -> Tensor:
    """Most of it on changed or not, the rest on the class; beside that what the early layers say. By `targets`."""
    with torch.autocast(ids.device.type, torch.bfloat16, cache_enabled=False):
        classes, early, lasting = model(ids, segments)
    changed = wanted[:, CLASSES]
    whole_weight, early_weight, lasting_weight = wanted[:, CLASSES + 1 :].unbind(1)
    by_class = -(functional.log_softmax(classes, 1) * wanted[:, :CLASSES]).sum(1)
    by_change = _binary(torch.logsumexp(classes[:, 1:], 1) - classes[:, 0], changed)
    whole = (_CHANGED_SHARE * by_change + (1 - _CHANGED_SHARE) * by_class) * whole_weight
    first = _binary(early, changed) * early_weight + _binary(lasting, changed) * lasting_weight
    return (whole + _EARLY_SHARE * first).mean()


@torch.no_grad()
def logits_of(model: PairEncoder, bundle: Bundle, told: Pairs, size: int = 256) -> FloatArray:
    """(pairs, classes)."""
    rows = Rows.of(bundle, told, np.zeros((len(told), CLASSES + 4), np.float32)).to(model.words.device)
    model.eval()
    order = np.argsort(rows.lengths.numpy(), kind="stable")
    found = np.zeros((len(told), CLASSES), np.float32)
    for at in range(0, len(order), size):
        chosen = order[at : at + size]
        ids, segments, _ = rows.batch(torch.from_numpy(chosen).to(rows.device), int(rows.lengths[chosen].max()))
        with torch.autocast(ids.device.type, torch.bfloat16):
            found[chosen] = model(ids, segments)[0].float().cpu().numpy()
    return found


def batches(lengths: Sequence[int], course: Course) -> Iterator[list[int]]:
    """Rows of like length together, in random order, for ever; each batch is whole."""
    rng = random.Random(course.seed)
    while True:
        order = list(range(len(lengths)))
        rng.shuffle(order)
        found = []
        for at in range(0, len(order), course.batch * _CHUNK):
            chunk = sorted(order[at : at + course.batch * _CHUNK], key=lambda one: lengths[one])
            whole = len(chunk) - len(chunk) % course.batch
            found += [chunk[start : start + course.batch] for start in range(0, whole, course.batch)]
        rng.shuffle(found)
        yield from found


def _binary(logits: Tensor, target: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, target, reduction="none")


def _optimizer(model: PairEncoder, course: Course, capturable: bool) -> torch.optim.Optimizer:
    new = model.new_parameters()
    known = {id(one) for one in new}
    old = [one for one in model.parameters() if id(one) not in known]
    groups = [
        {"params": [one for one in part if one.requires_grad], "lr": rate}
        for part, rate in ((old, course.rate), (new, course.rate * course.head_times))
    ]
    return torch.optim.AdamW(groups, weight_decay=0.01, capturable=capturable)


def _resume(checkpoint: Path, model: PairEncoder, optimizer: torch.optim.Optimizer) -> int:
    if not checkpoint.exists():
        return 0
    saved = torch.load(checkpoint)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return int(saved["step"])
