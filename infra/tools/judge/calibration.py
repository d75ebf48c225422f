"""After training: what a probability means in talk, and which changes say that it never was so.

`scale` and `shift` are fitted on the pairs of held-out conversations, where nearly all stand: the model learns from
pairs of which a sixth are changes. The row that tells a retraction from an end is fitted on the frozen features.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from infra.tools.judge.encoder import PairEncoder
from infra.tools.judge.examples import Example
from infra.tools.judge.pieces import Encoded, batch_of, encode
from recollect.adapters.embedders.unigram import Unigram

_RETRACTED = frozenset(
    {"retraction", "retracted", "never", "never_was", "rule_never", "mistake", "mistaken", "misdiagnosis"}
    | {"took_back", "joke_revealed"}
)
"""Kinds of ends that say so, of `relation-pairs` and of the project's own cases."""
_STEPS = 200
_DECAY = 1e-3
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Calibration:
    """p(changed) = sigmoid(scale * logit + shift); `retraction` is a row over the features, its bias last."""

    scale: float
    shift: float
    retraction: tuple[float, ...]


def calibrated(
    model: PairEncoder, tokenizer: Unigram, talk: Sequence[Example], changes: Sequence[Example]
) -> Calibration:
    """Of held-out pairs of talk, and of all pairs that are changes."""
    with torch.no_grad():
        logits = _logits(model.classes(_features(model, tokenizer, talk)).float())
    scale, shift = _fitted(logits[:, None], torch.tensor([float(one.label > 0) for one in talk]), decay=0.0)
    told = [one for one in changes if one.label]
    never = torch.tensor([float(one.kind in _RETRACTED) for one in told])
    *row, bias = _fitted(_features(model, tokenizer, told), never, decay=_DECAY)
    return Calibration(scale, shift, (*row, bias))


def read(folder: Path) -> Calibration:
    """What `write` wrote."""
    found = json.loads((folder / "calibration.json").read_text("ascii"))
    return Calibration(found["scale"], found["shift"], tuple(found["retraction"]))


def write(calibration: Calibration, folder: Path) -> None:
    """As calibration.json."""
    (folder / "calibration.json").write_text(json.dumps(asdict(calibration)) + "\n", "ascii")


def _logits(classes: Tensor) -> Tensor:
    """That of changed or not."""
    return torch.logsumexp(classes[:, 1:], 1) - classes[:, 0]


def _features(model: PairEncoder, tokenizer: Unigram, examples: Sequence[Example]) -> Tensor:
    model.eval()
    rows = [encode(tokenizer, one) for one in examples]
    order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
    found = torch.zeros(len(rows), model.hidden.out_features)
    for at in range(0, len(order), _AT_ONCE):
        chosen = order[at : at + _AT_ONCE]
        found[chosen] = _features_of(model, [rows[one] for one in chosen])
    return found


def _features_of(model: PairEncoder, rows: Sequence[Encoded]) -> Tensor:
    ids, segments = (torch.from_numpy(one) for one in batch_of(rows))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        features: Tensor = model.features(ids, segments)
    return features.float()


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
