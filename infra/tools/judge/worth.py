"""Fits what of a message's early states says that it is worth keeping, once the judge is trained and built.

    .venv/bin/python -m infra.tools.judge.worth --model ~/.cache/recollect/models/e5-small.int8.1 [--write]

A row over the states of the built judge, as it reads a message alone. The judge has learnt from most of these
messages, so that it tells them apart too easily: those that it has not seen weigh most. Each set's figures are by the
fit of the others.
"""

from __future__ import annotations

import argparse
import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy

from infra.tools.judge.__main__ import LASTING, MONTHS
from infra.tools.judge.examples import lasting, months
from infra.tools.judge.held import CHOSEN_LASTING, HELD
from infra.tools.ranking.curves import Floats, logistic_regression
from recollect.adapters.judges.onnx_pairs import WORTH_FILE, OnnxPairModel
from recollect.core.learned_share import LearnedShare
from recollect.memories.worth_keeping import LEAST_LASTING

_DECAY, _LEAST_DECAY = 0.01, 1e-9
_LEARNT, _UNSEEN, _MONTHS = 1.0, 4.0, 0.2
"""The weight of a message that the judge has learnt from, of one that it has not, and of one of a month."""
_UNSEEN_SETS = frozenset({"kd", "ke", "kf"})


@dataclass(frozen=True, slots=True)
class Message:
    """`group`: who wrote it."""

    group: str
    lang: str
    text: str
    keep: bool
    weight: float


def messages() -> Iterator[Message]:
    """All that are labelled; of a month a message is worth keeping where a part of it lasts."""
    for one in lasting(LASTING):
        weight = _UNSEEN if one.group in _UNSEEN_SETS else _LEARNT
        yield Message(one.group, one.lang, one.new, bool(one.label), weight)
    for month in (one for one in months(MONTHS) if one.group not in CHOSEN_LASTING):
        kept = {part.id for part in month.lasting}
        for name, text in month.messages.items():
            group = month.group if month.group in HELD else "months"
            yield Message(group, month.lang, text, name in kept, _MONTHS)


def fitted(states: Floats, told: Floats, weights: Floats, decay: float = _DECAY) -> LearnedShare:
    """The curve; weights decay alike, whatever the spread of what they stand before."""
    mean = numpy.average(states, axis=0, weights=weights)
    spread = numpy.sqrt(numpy.average((states - mean) ** 2, axis=0, weights=weights)) + 1e-9
    features = numpy.hstack([(states - mean) / spread, numpy.ones((len(states), 1))])
    decays = numpy.append(numpy.full(states.shape[1], decay), _LEAST_DECAY)
    found = logistic_regression(features, told, decays, weights / weights.mean())
    row = found[:-1] / spread
    return LearnedShare(row.astype(numpy.float32), float(found[-1] - mean @ row))


def main() -> None:
    """Prints the figures, and with `--write` stores the row for the judge's version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    told, model = list(messages()), OnnxPairModel(given.model)
    states = numpy.stack([model.early_states(one.text) for one in told]).astype(numpy.float64)
    _report(told, states)
    if given.write:
        store_row(WORTH_FILE, model.version, _curve(told, states))


def _curve(told: list[Message], states: Floats) -> LearnedShare:
    keep, weights = (numpy.array([float(getattr(one, name)) for one in told]) for name in ("keep", "weight"))
    return fitted(states, keep, weights)


def _report(told: list[Message], states: Floats) -> None:
    groups = numpy.array([one.group for one in told])
    for group in sorted(set(groups)):
        curve = _curve([one for one in told if one.group != group], states[groups != group])
        own = [one for one in told if one.group == group]
        shares = numpy.array([curve.of(one) for one in states[groups == group].astype(numpy.float32)])
        for english in (True, False):
            chosen = numpy.array([(one.lang == "en") is english for one in own])
            if chosen.any():
                keep = numpy.array([one.keep for one in own])[chosen]
                print(f"{group}, {'English' if english else 'other languages'}: {_figures(keep, shares[chosen])}")


def _figures(keep: numpy.ndarray, shares: numpy.ndarray) -> str:
    promoted = shares >= LEAST_LASTING
    right = keep[promoted].mean() if promoted.any() else 1.0
    return f"{len(keep)} messages, {keep.mean():.2f} worth keeping; promoted {promoted.sum()}, right {right:.3f}, " + (
        f"of those worth keeping {promoted[keep].mean():.3f}"
    )


def store_row(file: Path, version: str, curve: LearnedShare) -> None:
    """Where the judge's adapter reads it, for the judge of this version."""
    packed = base64.b64encode(curve.weights.astype("<f4").tobytes()).decode("ascii")
    stored = {"judge": version, "weights": packed, "bias": round(curve.bias, 4)}
    file.write_text(json.dumps(stored) + "\n", "ascii")


if __name__ == "__main__":
    main()
