"""How good a trained judge is: on pairs of writers that it has not learnt from, and in whole conversations."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from infra.tools.judge.examples import Example, Talk, stale_turns
from infra.tools.judge.in_use import relations
from infra.tools.judge.nearest import Nearest
from recollect.contradictions.judge import Said
from recollect.contradictions.pairs import StatementPair
from recollect.core.vectors import FloatArray
from recollect.ports import PairModel
from recollect.rules.groups import ConflictRules

ASKED, SETTLED = ConflictRules().ask, ConflictRules().settle
THRESHOLDS = (0.15, 0.3, 0.4, 0.55, 0.65, 0.7, 0.75, 0.8, 0.85)
STEPS = (0.0, 0.1, 0.3, 0.4, 0.55, 0.65, 0.75, 0.85, 0.9)
Scores = Mapping[tuple[int, int], float]
_BEGIN = datetime(2025, 3, 1, 9, tzinfo=UTC)


def changed_by(model: PairModel, examples: Sequence[Example]) -> FloatArray:
    """The probability of each that the newer changes the older; 0 where the first look stops the newer, as in use."""
    looked = model.may_change([one.new for one in examples])
    pairs = [StatementPair(one.new, one.old) for one, passed in zip(examples, looked, strict=True) if passed]
    scores = iter(model.relate(pairs))
    return np.array([next(scores).changed if passed else 0.0 for passed in looked], np.float32)


def scores_of(model: PairModel, talk: Talk, nearest: Nearest) -> Scores:
    """How sure the judge is of each pair of which it says something, by the places of newer and older, as in use.

    Without what is unsure.
    """
    texts = ((place, talk.turns[place][1]) for place in talk.users)
    said = [Said(id=str(place), text=text, at=_BEGIN + timedelta(hours=place)) for place, text in texts]
    judged = relations(said, model, nearest, ASKED)
    found = {(int(newer.id), int(older.id)): relation.confidence for newer, older, relation in judged}
    return {pair: score for pair, score in found.items() if pair not in talk.unsure}


def pair_lines(examples: Sequence[Example], scores: FloatArray) -> Iterator[str]:
    """Changes missed and standing statements hidden, in English and in other languages; then what is wrong by kind."""
    labels = np.array([one.label > 0 for one in examples])
    for name, chosen in _by_language(examples):
        if chosen.any():
            yield f"{name}: {int(chosen.sum())} pairs, {int((chosen & labels).sum())} changes"
            yield from (f"  {at}: {_missed(scores, labels, chosen, at)}" for at in THRESHOLDS)
    for name in ("lang", "kind"):
        yield _wrong_by(examples, scores, name)


def standing_line(examples: Sequence[Example], scores: FloatArray) -> str:
    """Of pairs of which none is a change: how many are hidden, in English and in other languages."""
    told = []
    for name, chosen in _by_language(examples):
        shares = ", ".join(f"{np.mean(scores[chosen] >= at):.3f} from {at} on" for at in (ASKED, SETTLED))
        told.append(f"{name}: {int(chosen.sum())} pairs, hidden {shares}")
    return "; ".join(told)


def talk_lines(talks: Sequence[Talk], scores: Sequence[Scores]) -> Iterator[str]:
    """Of labelled conversations: how many decisions are right, how many of the stale turns are caught."""
    stale = sum(len({old for _, old in talk.changes if talk.turns[old][0] == "user"}) for talk in talks)
    for threshold in THRESHOLDS:
        made = [(talk, pair) for talk, own in zip(talks, scores, strict=True) for pair in _above(own, threshold)]
        right = sum(pair in talk.changes for talk, pair in made)
        caught = len({(talk.id, pair[1]) for talk, pair in made if pair in talk.changes})
        yield f"{threshold}: {right} right of {len(made)} decisions, {caught} caught of {stale} stale turns"


def calibration_lines(talks: Sequence[Talk], scores: Sequence[Scores]) -> Iterator[str]:
    """Of labelled conversations, by language: how often what is scored within each step is a change."""
    found: dict[tuple[str, float], list[bool]] = defaultdict(list)
    for talk, own in zip(talks, scores, strict=True):
        for pair, score in own.items():
            step = max((at for at in STEPS if at <= score), default=None)
            if step is not None:
                for lang in ("all", talk.lang):
                    found[lang, step].append(pair in talk.changes)
    for lang in ("all", *sorted({lang for lang, _ in found} - {"all"})):
        told = (f"{step}: {np.mean(right):.2f} of {len(right)}" for step in STEPS if (right := found[lang, step]))
        yield f"changes by score, {lang}: " + ", ".join(told)


def natural_lines(folder: Path, talks: Sequence[Talk], scores: Sequence[Scores], shown: float) -> Iterator[str]:
    """Of natural-dev: what its questions call stale that is caught; then each decision, to be read."""
    stale = {talk.id: stale_turns(folder / f"{talk.id}.json") for talk in talks}
    total = sum(map(len, stale.values()))
    for threshold in THRESHOLDS:
        made = [(talk.id, pair) for talk, own in zip(talks, scores, strict=True) for pair in _above(own, threshold)]
        caught = len({(name, pair[1]) for name, pair in made if pair[1] in stale[name]})
        yield f"{threshold}: {len(made)} decisions, {caught} caught of {total} stale turns"
    for talk, own in zip(talks, scores, strict=True):
        for new, old in sorted(_above(own, shown)):
            mark = "stale" if old in stale[talk.id] else "-"
            yield f"{talk.id} {own[new, old]:.2f} {mark} | {talk.turns[old][1]} | {talk.turns[new][1]}"


def _by_language(examples: Sequence[Example]) -> tuple[tuple[str, NDArray[np.bool_]], ...]:
    english = np.array([one.lang == "en" for one in examples])
    return ("English", english), ("other languages", ~english)


def _above(scores: Scores, threshold: float) -> list[tuple[int, int]]:
    return [pair for pair, score in scores.items() if score >= threshold]


def _missed(scores: FloatArray, labels: NDArray[np.bool_], chosen: NDArray[np.bool_], threshold: float) -> str:
    missed = np.mean(scores[chosen & labels] < threshold)
    return f"missed {missed:.3f}, hidden {np.mean(scores[chosen & ~labels] >= threshold):.3f}"


def _wrong_by(examples: Sequence[Example], scores: FloatArray, name: str) -> str:
    groups: dict[str, list[bool]] = defaultdict(list)
    for one, score in zip(examples, scores.tolist(), strict=True):
        groups[getattr(one, name)].append((score >= ASKED) != (one.label > 0))
    told = (f"{key} {np.mean(wrong):.2f} of {len(wrong)}" for key, wrong in sorted(groups.items()))
    return f"wrong at {ASKED} by {name}: " + ", ".join(told)
