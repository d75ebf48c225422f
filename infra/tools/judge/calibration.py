"""After training: what a probability means in talk, and which changes say that it never was so.

`scale` and `shift` are fitted on the pairs of held-out conversations, where nearly all stand: the model learns from
pairs of which a sixth are changes. Two rows are fitted on frozen features: one tells a retraction from an end, the
other, of what the early layers make of a message alone, what holds for a while only.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from infra.tools.judge.encoder import PairEncoder
from infra.tools.judge.examples import Example
from infra.tools.judge.pieces import batch_of, encode
from recollect.adapters.embedders.unigram import Unigram
from recollect.rules.groups import ConflictRules

_RETRACTED = frozenset(
    {"retraction", "retracted", "never", "never_was", "rule_never", "mistake", "mistaken", "misdiagnosis"}
    | {"took_back", "joke_revealed"}
)
"""Kinds of ends that say so, of `relation-pairs` and of the project's own cases."""
_STEPS = 200
_DECAY = 1e-3
_LEAST_SPREAD = 1e-6
_AT_ONCE = 64


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


def calibrated(
    model: PairEncoder,
    tokenizer: Unigram,
    talk: Sequence[Example],
    changes: Sequence[Example],
    for_a_while: Mapping[str, bool],
) -> Calibration:
    """Of held-out pairs of talk, of all pairs that are changes, of messages by whether they hold for a while only."""
    seen = _see(model, tokenizer, talk)
    scale, shift = _fitted(seen.logits[:, None], torch.tensor([float(one.label > 0) for one in talk]), decay=0.0)
    asked = torch.sigmoid(scale * seen.logits + shift) >= _ASKED
    news = sorted({one.new for one, ask in zip(talk, asked.tolist(), strict=True) if ask})
    messages = _see(model, tokenizer, [replace(talk[0], new=new, old="") for new in news])
    told = [one for one in changes if one.label]
    never = torch.tensor([float(one.kind in _RETRACTED) for one in told])
    *row, bias = _fitted(_see(model, tokenizer, told).features, never, decay=_DECAY)
    return Calibration(
        scale=scale,
        shift=shift,
        message_from=float(messages.early.quantile(1 - _MESSAGES_KEPT)),
        pair_from=float(seen.early[asked].quantile(1 - _PAIRS_KEPT)),
        passing_from=math.log(_PASSING / (1 - _PASSING)),
        retraction=(*row, bias),
        passing=_passing(model, tokenizer, talk[0], for_a_while),
    )


def _passing(
    model: PairEncoder, tokenizer: Unigram, any_pair: Example, for_a_while: Mapping[str, bool]
) -> tuple[float, ...]:
    """The row over the early features of a message alone, and its bias."""
    first = _see(model, tokenizer, [replace(any_pair, new=new, old="") for new in for_a_while]).first
    mean, spread = first.mean(0), first.std(0) + _LEAST_SPREAD
    *row, bias = _fitted((first - mean) / spread, torch.tensor([float(one) for one in for_a_while.values()]), _DECAY)
    scaled = torch.tensor(row) / spread
    return (*scaled.tolist(), bias - float(scaled @ mean))


def read(folder: Path) -> Calibration:
    """What `write` wrote."""
    found = json.loads((folder / "calibration.json").read_text("ascii"))
    numbers = {name: found[name] for name in CALIBRATED}
    return Calibration(**numbers, retraction=tuple(found["retraction"]), passing=tuple(found["passing"]))


def write(calibration: Calibration, folder: Path) -> None:
    """As calibration.json."""
    (folder / "calibration.json").write_text(json.dumps(asdict(calibration)) + "\n", "ascii")


def _see(model: PairEncoder, tokenizer: Unigram, examples: Sequence[Example]) -> _Seen:
    model.eval()
    with torch.no_grad():
        return _seen(model, tokenizer, examples)


def _seen(model: PairEncoder, tokenizer: Unigram, examples: Sequence[Example]) -> _Seen:
    rows = [encode(tokenizer, one) for one in examples]
    order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
    features, early = torch.zeros(len(rows), model.hidden.out_features), torch.zeros(len(rows))
    pooled = torch.zeros(len(rows), model.early_hidden.in_features)
    for at in range(0, len(order), _AT_ONCE):
        chosen = order[at : at + _AT_ONCE]
        ids, segments = (torch.from_numpy(one) for one in batch_of([rows[one] for one in chosen]))
        with torch.autocast("cpu", torch.bfloat16):
            whole, first = model.seen(ids, segments)
            features[chosen] = model.read(whole).float()
            early[chosen] = model.read_early(first).float()
            pooled[chosen] = first.float()
    classes = model.classes(features)
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
