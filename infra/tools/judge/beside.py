"""Fits how sure a change is beside the other candidates, once the judge is trained and built.

    .venv/bin/python -m infra.tools.judge.beside --model ~/.cache/recollect/models/e5-small.int8.1 [--write]

A curve over what the built judge says of each message and its nearest older ones, in months and conversations that the
judge has not learnt from; the two sets weigh alike. Each writer's figures are by the fit of the others.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy

from infra.tools.judge.__main__ import MONTHS, ROOT, TALKS
from infra.tools.judge.examples import Month, Talk, months, talks
from infra.tools.judge.held import HELD
from infra.tools.judge.nearest import Nearest
from infra.tools.ranking.curves import Floats, logistic_regression
from recollect.adapters.judges.onnx_pairs import BESIDE_FILE, OnnxPairModel
from recollect.contradictions.beside import FARTHEST, BesideOthers, logit_of, place_among
from recollect.contradictions.candidates import JUDGED
from recollect.contradictions.judge import Said
from recollect.contradictions.trained import TrainedJudge
from recollect.rules.groups import ConflictRules

SOURCES = ("months", "talks")
_BEGIN = datetime(2025, 3, 1, 9, tzinfo=UTC)
_DECAY = 1e-4
_RULES = ConflictRules()
_RIGHT, _LOWER, _MOST_LOWERED = 0.9, 0.05, 20
"""Of what is settled so much has to be right in both sources: the bias is lowered in steps until it is."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One message against its nearest older ones, the nearest first: probabilities, and whether it changes each.

    `missed`: changes of statements that are not among them. A label of None is unsure.
    """

    source: str
    writer: str
    changed: tuple[float, ...]
    labels: tuple[bool | None, ...]
    missed: int


def judged(judge: TrainedJudge, nearest: Nearest) -> Iterator[Judged]:
    """Of all months and conversations of writers that the judge has not learnt from."""
    for month in (one for one in months(MONTHS) if HELD & {one.group, one.id}):
        yield from _judged(SOURCES[0], month.group, list(month.messages.values()), _of_month(month), judge, nearest)
    for talk in (one for one in talks(TALKS) if HELD & {one.group, one.id}):
        texts = [talk.turns[place][1] for place in talk.users]
        yield from _judged(SOURCES[1], talk.group, texts, _of_talk(talk), judge, nearest)


Labels = dict[tuple[int, int], bool | None]


def _of_month(month: Month) -> Labels:
    place = {name: at for at, name in enumerate(month.messages)}
    return {(place[new.id], place[old.id]): True for new, old in month.changes}


def _of_talk(talk: Talk) -> Labels:
    place = {turn: at for at, turn in enumerate(talk.users)}
    told: dict[tuple[int, int], bool | None] = dict.fromkeys(talk.changes, True) | dict.fromkeys(talk.unsure)
    return {(place[new], place[old]): label for (new, old), label in told.items() if {new, old} <= place.keys()}


def _judged(
    source: str, writer: str, texts: Sequence[str], labels: Labels, judge: TrainedJudge, nearest: Nearest
) -> Iterator[Judged]:
    said = [Said(id=str(at), text=text, at=_BEGIN + timedelta(days=at), speaker="") for at, text in enumerate(texts)]
    for at, newer in enumerate(said[1:], start=1):
        near = nearest.of(newer.text, texts[:at], JUDGED)
        older = [said[place] for place in near]
        changed = judge.probabilities(newer, older) if judge.states(newer) else [0.0] * len(near)
        told = tuple(labels.get((at, place), False) for place in near)
        missed = sum(labels.get((at, place)) is True for place in range(at) if place not in near)
        yield Judged(source, writer, tuple(changed), told, missed)


def rows(told: Sequence[Judged]) -> tuple[Floats, Floats, Floats]:
    """Of all that passes the first look what the curve reads, the labels, and weights: both sources weigh alike."""
    found: list[tuple[str, float, tuple[float, ...]]] = []
    for one in told:
        logits = [logit_of(share) for share in one.changed]
        for at, label in enumerate(one.labels):
            if label is not None and logits[at] > -FARTHEST:
                found.append((one.source, float(label), (logits[at], *place_among(at, logits), 1.0)))
    sources = [source for source, _, _ in found]
    weights = numpy.array([len(sources) / sources.count(source) for source in sources])
    return numpy.array([row for _, _, row in found]), numpy.array([label for _, label, _ in found]), weights


def fitted(told: Sequence[Judged]) -> BesideOthers:
    """The curve of these."""
    features, labels, weights = rows(told)
    decays = numpy.full(features.shape[1], _DECAY)
    found = logistic_regression(features, labels, decays, weights / weights.mean())
    own, behind, ahead, place, bias = (round(float(one), 4) for one in found)
    lowered = (
        BesideOthers(own, behind, ahead, place, round(bias - step * _LOWER, 4), JUDGED) for step in range(_MOST_LOWERED)
    )
    return next(one for one in lowered if all(right_of_settled(one, told, source) >= _RIGHT for source in SOURCES))


def right_of_settled(curve: BesideOthers, told: Sequence[Judged], source: str) -> float:
    """The share of what this curve settles that is a change; 1 of nothing."""
    settled = [
        label
        for one in told
        if one.source == source
        for label, share in zip(one.labels, curve.of(one.changed), strict=True)
        if label is not None and share >= _RULES.settle
    ]
    return sum(settled) / len(settled) if settled else 1.0


def main() -> None:
    """Prints the figures, and with `--write` stores the curve for the judge's version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "build/judge")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    model, nearest = OnnxPairModel(given.model), Nearest(given.model, given.out / "vectors.npz")
    told = list(judged(TrainedJudge(model), nearest))
    nearest.save()
    for source in SOURCES:
        print("\n".join(figures(source, told)))
    curve = fitted(told)
    print(curve)
    if given.write:
        stored = {"judge": model.version, "weights": asdict(curve)}
        BESIDE_FILE.write_text(json.dumps(stored) + "\n", "ascii")


def figures(source: str, told: Sequence[Judged]) -> Iterator[str]:
    """What is settled, and what is settled or asked about, of each pair by itself and beside the others."""
    own = [one for one in told if one.source == source]
    curves = {name: fitted([one for one in told if one.writer != name]) for name in {one.writer for one in own}}
    labels = [label for one in own for label in one.labels]
    changes = sum(label is True for label in labels) + sum(one.missed for one in own)
    alone = [share for one in own for share in one.changed]
    beside = [share for one in own for share in curves[one.writer].of(one.changed)]
    for name, shares in (("alone", alone), ("beside the others", beside)):
        for what, least in (("settled", _RULES.settle), ("settled or asked", _RULES.ask)):
            made = [label for label, share in zip(labels, shares, strict=True) if label is not None and share >= least]
            yield f"{source}, {name}, {what}: {sum(made)} right of {len(made)}, of {changes} changes"


if __name__ == "__main__":
    main()
