"""The pairs of one training run. Negatives decide: most are what a service meets, pairs that mean nothing."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from infra.tools.judge.ended_examples import LIST, PART, WHOLE, list_pairs
from infra.tools.judge.examples import (
    LABELS,
    OTHER_MATTER,
    TURNED,
    Example,
    Month,
    Talk,
    cases,
    lasting,
    months,
    relation_pairs,
    stale_turns,
    talks,
)
from infra.tools.judge.held import PERSONS, PLAIN
from infra.tools.judge.matters import beside_others, of_month
from infra.tools.judge.nearest import Nearest
from recollect.contradictions.candidates import JUDGED

_CROSSED_AMONG, _CROSSED_FROM = 60, 15
_LISTED = {PART: LABELS["part"], WHOLE: LABELS["replaces"]}
_TURNED_WEIGHTS: Final = {"other_person": 1.0, "other_thing": 0.7, "unrelated_same_words": 0.7}
"""By the kind that the older one was written as, what such a pair weighs."""
_WRITTEN_BY_A_MODEL = ("assistant", "bot", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Which pairs, and how many of each sort.

    `held`: groups and talks that are left out. `candidates`: the nearest older turns of each message of a talk. Shares
    are of the project's own cases, of the messages of conversations without labels, of the changes that are crossed, of
    the written pairs whose newer message is given alone, of the pairs that are given again beside other matters.
    """

    data: Path
    cases: Path
    talks: Path
    pairs: tuple[Path, ...]
    months: Path
    lasting: Path
    lists: Path
    held: frozenset[str] = frozenset()
    candidates: int = JUDGED
    cases_share: float = 0.5
    unlabelled_share: float = 0.12
    crossed_share: float = 0.6
    alone_share: float = 0.4
    beside_share: float = 0.5
    seed: int = 1


def sampled(sampling: Sampling, nearest: Nearest) -> list[Example]:
    """All pairs of a run, the same for the same seed."""
    rng = random.Random(sampling.seed)
    written = [one for folder in sampling.pairs for one in relation_pairs(folder) if one.group not in sampling.held]
    found = [*written, *(one for one in cases(sampling.cases) if rng.random() < sampling.cases_share)]
    found += [*crossed(written, nearest, rng, sampling.crossed_share), *turned(written)]
    for name in ("locomo-dev", "madial-zh-dev"):
        found += unlabelled(sampling.data / name, nearest, rng, sampling.unlabelled_share)
    for talk in talks(sampling.talks):
        if not sampling.held & {talk.group, talk.id}:
            found += [*of_talk(talk, nearest, sampling.candidates), *map(alone, messages_of(talk))]
    found += beside_others([one for one in found if one.kind != "unlabelled"], rng, sampling.beside_share)
    for month in months(sampling.months):
        if not sampling.held & {month.group, month.id}:
            found += _pairs_of(month, nearest, sampling.candidates)
    found += (one for one in lasting(sampling.lasting) if one.group not in sampling.held)
    found += (one for one in listed(sampling.lists) if one.group not in sampling.held)
    told = (one for one in written if one.kind != OTHER_MATTER)
    return [*found, *(alone(one) for one in told if rng.random() < sampling.alone_share)]


def turned(examples: Sequence[Example]) -> Iterator[Example]:
    """What an item says of another person or thing, and its changes of the user's own: those leave the former alone."""
    items: dict[tuple[str, str], list[Example]] = defaultdict(list)
    for one in examples:
        items[one.group, one.old].append(one)
    for own in items.values():
        changes = [one for one in own if one.label in (LABELS["replaces"], LABELS["ends"])]
        for other in (one for one in own if not one.label and one.kind in _TURNED_WEIGHTS):
            for change in changes:
                weight = _TURNED_WEIGHTS[other.kind]
                yield Example(other.group, other.lang, change.new, other.new, 0, TURNED, weight)


def listed(folder: Path) -> Iterator[Example]:
    """Older messages of several things with newer ones that end some, all or none of these."""
    for one in list_pairs(folder):
        label = _LISTED.get(one.kind, 0)
        yield Example(f"{LIST}-{one.writer}", one.lang, one.newer, one.older, label, one.kind)


def held_out(sampling: Sampling, nearest: Nearest) -> dict[str, list[Example]]:
    """By name what is measured on: pairs in English, in other languages and plain ones, the candidates of talks,
    months' pairs.

    `natural` has the candidates of natural-dev, labelled by what its questions call stale beside the turn they name.
    """
    pairs = [one for folder in sampling.pairs for one in relation_pairs(folder) if one.group in sampling.held]
    own = [talk for talk in talks(sampling.talks) if sampling.held & {talk.group, talk.id}]
    told = [month for month in months(sampling.months) if sampling.held & {month.group, month.id}]
    side_by_side = [one for one in pairs if one.group not in PLAIN | PERSONS]
    return {
        "english": [one for one in side_by_side if one.lang == "en"],
        "others": [one for one in side_by_side if one.lang != "en"],
        "plain": [one for one in pairs if one.group in PLAIN],
        "turned": list(turned(pairs)),
        "talks": [one for talk in own for one in of_talk(talk, nearest, sampling.candidates)],
        "months": [one for month in told for one in _pairs_of(month, nearest, sampling.candidates) if one.old],
        "natural": list(_natural(sampling.data / "natural-dev", nearest, sampling.candidates)),
    }


def _pairs_of(month: Month, nearest: Nearest, most: int) -> list[Example]:
    return [*month.labelled(), *of_month(month, nearest, most)]


def _natural(folder: Path, nearest: Nearest, most: int) -> Iterator[Example]:
    for talk in talks(folder):
        stale = stale_turns(folder / f"{talk.id}.json")
        for new, old in candidate_pairs(talk, nearest, most):
            yield replace(talk.example(new, old), label=int(new in stale.get(old, ())))


def messages_of(talk: Talk) -> Iterator[Example]:
    """Each message of the user, labelled by whether it changes anything."""
    changing = {new for new, _ in talk.changes}
    for place in talk.users[1:]:
        yield replace(talk.example(place, place), label=int(place in changing))


def alone(one: Example) -> Example:
    """The newer message by itself: whether it changes anything."""
    return replace(one, old="", kind="alone")


def of_talk(talk: Talk, nearest: Nearest, most: int) -> list[Example]:
    """Each message of the user against the nearest older ones, and all labelled pairs of the user's own turns."""
    users, labelled = set(talk.users), {*talk.changes, *talk.near}
    pairs = {pair for pair in labelled if set(pair) <= users} | set(candidate_pairs(talk, nearest, most))
    return [talk.example(new, old) for new, old in sorted(pairs - talk.unsure)]


def candidate_pairs(talk: Talk, nearest: Nearest, most: int) -> list[tuple[int, int]]:
    """(newer, older) places of the pairs that a service would ask about."""
    found = []
    for new in talk.users:
        older = [place for place in talk.users if place < new]
        near = nearest.of(talk.turns[new][1], [talk.turns[place][1] for place in older], most)
        found += [(new, older[at]) for at in sorted(near)]
    return found


def unlabelled(folder: Path, nearest: Nearest, rng: random.Random, share: float) -> list[Example]:
    """Pairs of conversations without labels: nearly all stand, so that each weighs half."""
    lang = "zh" if "zh" in folder.name else "en"
    found = []
    for texts in _said(folder / "turns.jsonl"):
        for new in range(8, len(texts)):
            near = nearest.of(texts[new], texts[:new], 4) if rng.random() < share else []
            pairs = ((texts[new], texts[old]) for old in near)
            told = [Example(folder.name, lang, *pair, 0, "unlabelled", weight=0.5) for pair in pairs]
            found += [*told, *map(alone, told[:1])]
    return found


def _said(path: Path) -> Iterator[list[str]]:
    """The texts of each speaker who is a person."""
    by: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["speaker"] not in _WRITTEN_BY_A_MODEL:
            by[row["conversation"], row["speaker"]].append(row["text"])
    yield from by.values()


def crossed(examples: Sequence[Example], nearest: Nearest, rng: random.Random, share: float) -> list[Example]:
    """A change against a similar statement of another item in its language.

    Not against the most similar ones: those may be of the same matter, and then the change does change them.
    """
    olds = {lang: sorted({one.old for one in examples if one.lang == lang}) for lang in {one.lang for one in examples}}
    found = []
    for one in examples:
        others = olds[one.lang]
        if one.label and len(others) > _CROSSED_AMONG and rng.random() < share:
            other = others[rng.choice(nearest.of(one.new, others, _CROSSED_AMONG)[_CROSSED_FROM:])]
            if other != one.old:
                found.append(Example(one.group, one.lang, one.new, other, 0, "crossed", weight=0.7))
    return found
