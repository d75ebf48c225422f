"""After training: what a probability means in talk, and which changes say that it never was so.

`scale` and `shift` are fitted on the pairs of held-out conversations, where nearly all stand: the model learns from
pairs of which a sixth are changes. Two rows are fitted on frozen features: one tells a retraction from an end, the
other, of what the early layers make of a message alone, what holds for a while only.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from infra.tools.judge.bundle import Bundle, Pairs
from infra.tools.judge.encoder import CLASSES, PairEncoder
from infra.tools.judge.rows import Rows
from recollect.rules.groups import ConflictRules

TALKS, CHANGES, FOR_A_WHILE = "talks", "changes", "for_a_while"
"""The sets of a bundle that are fitted on."""

_RETRACTED = frozenset(
    {"retraction", "retracted", "never", "never_was", "rule_never", "mistake", "mistaken", "misdiagnosis"}
    | {"took_back", "joke_revealed"}
)
"""Kinds of ends that say so, of `relation-pairs` and of the project's own cases."""
_STEPS = 200
_DECAY = 1e-3
_LEAST_SPREAD = 1e-6
_AT_ONCE = 256


_PASSING = 0.3
"""From which probability on a message may hold for a while only: a date must be read in it as well."""

CALIBRATED = ("scale", "shift", "message_from", "pair_from", "passing_from")
_PAIRS_KEPT, _MESSAGES_KEPT = 0.995, 0.995
"""Of what the whole model would ask about: so much passes the first look."""

_ASKED = ConflictRules().ask


@dataclass(frozen=True, slots=True)
class Calibration:
    """p(changed) = sigmoid(scale * logit + shift); `retraction` is a row over the features, its bias last, `passing`
    one over the early ones.

    From `pair_from` and `message_from` on, logits of the early layers, a pair and a message alone pass the first look;
    from `passing_from` on a message may hold for a while only.
    """

    scale: float
    shift: float
    message_from: float
    pair_from: float
    passing_from: float
    retraction: tuple[float, ...]
    passing: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """Of each example: what the classes are read from, the logit of changed or not, that of the early layers, and what
    they read it from."""

    features: Tensor
    logits: Tensor
    early: Tensor
    first: Tensor


def calibrated(model: PairEncoder, bundle: Bundle) -> Calibration:
    """Of held-out pairs of talk, of all pairs that are changes, of messages by whether they hold for a while only."""
    talk, told = bundle.sets[TALKS], bundle.sets[CHANGES]
    seen = _see(model, bundle, talk)
    scale, shift = _fitted(seen.logits[:, None], _tensor(talk.labels > 0), decay=0.0)
    asked = torch.sigmoid(scale * seen.logits + shift) >= _ASKED
    messages = _see(model, bundle, _alone(np.unique(talk.texts[asked.numpy(), 0])))
    never = _tensor(np.isin(told.kinds, [*_RETRACTED]))
    *row, bias = _fitted(_see(model, bundle, told).features, never, decay=_DECAY)
    return Calibration(
        scale=scale,
        shift=shift,
        message_from=float(messages.early.quantile(1 - _MESSAGES_KEPT)),
        pair_from=float(seen.early[asked].quantile(1 - _PAIRS_KEPT)),
        passing_from=math.log(_PASSING / (1 - _PASSING)),
        retraction=(*row, bias),
        passing=_passing(model, bundle),
    )


def _passing(model: PairEncoder, bundle: Bundle) -> tuple[float, ...]:
    """The row over the early features of a message alone, and its bias."""
    told = bundle.sets[FOR_A_WHILE]
    first = _see(model, bundle, told).first
    mean, spread = first.mean(0), first.std(0) + _LEAST_SPREAD
    *row, bias = _fitted((first - mean) / spread, _tensor(told.labels > 0), _DECAY)
    scaled = torch.tensor(row) / spread
    return (*scaled.tolist(), bias - float(scaled @ mean))


def _alone(texts: NDArray[np.int32]) -> Pairs:
    nothing = np.zeros(len(texts))
    pairs = np.column_stack([texts, np.full_like(texts, -1)])
    return Pairs(pairs, nothing.astype(np.int8), nothing.astype(np.float32), nothing.astype(str), nothing.astype(str))


def _tensor(labels: NDArray[np.bool_]) -> Tensor:
    return torch.from_numpy(labels.astype(np.float32))


def read(folder: Path) -> Calibration:
    """What `write` wrote."""
    found = json.loads((folder / "calibration.json").read_text("ascii"))
    numbers = {name: found[name] for name in CALIBRATED}
    return Calibration(**numbers, retraction=tuple(found["retraction"]), passing=tuple(found["passing"]))


def write(calibration: Calibration, folder: Path) -> None:
    """As calibration.json."""
    (folder / "calibration.json").write_text(json.dumps(asdict(calibration)) + "\n", "ascii")


@torch.no_grad()
def _see(model: PairEncoder, bundle: Bundle, told: Pairs) -> _Seen:
    model.eval()
    rows = Rows.of(bundle, told, np.zeros((len(told), CLASSES + 4), np.float32)).to(model.words.device)
    order = np.argsort(rows.lengths.numpy(), kind="stable")
    features, early = torch.zeros(len(told), model.hidden.out_features), torch.zeros(len(told))
    pooled = torch.zeros(len(told), model.early_hidden.in_features)
    for at in range(0, len(order), _AT_ONCE):
        chosen = torch.from_numpy(order[at : at + _AT_ONCE])
        ids, segments, _ = rows.batch(chosen.to(rows.device), int(rows.lengths[chosen].max()))
        with torch.autocast(ids.device.type, torch.bfloat16):
            whole, first = model.seen(ids, segments)
            features[chosen] = model.read(whole).float().cpu()
            early[chosen] = model.read_early(first).float().cpu()
            pooled[chosen] = first.float().cpu()
    classes = functional.linear(features, model.classes.weight.cpu(), model.classes.bias.cpu())
    return _Seen(features, torch.logsumexp(classes[:, 1:], 1) - classes[:, 0], early, pooled)


def _fitted(features: Tensor, targets: Tensor, decay: float) -> list[float]:
    """A logistic regression: its weights, and the bias last."""
    row = torch.zeros(features.shape[1] + 1, requires_grad=True)
    optimizer = torch.optim.LBFGS([row], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        guess = features @ row[:-1] + row[-1]
        found = functional.binary_cross_entropy_with_logits(guess, targets) + decay * row[:-1].square().sum()
        found.backward()
        return found

    with torch.enable_grad():
        optimizer.step(loss)
    return [float(one) for one in row.detach()]
