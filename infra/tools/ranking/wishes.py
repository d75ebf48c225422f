"""Fits which messages say how their user wants to be answered from then on: "two lines at most", "no pep talk".

    .venv/bin/python -m infra.tools.ranking.wishes [--write] [--data FOLDER]

Learnt from `wishes/told.jsonl`, messages of people who were asked for such wishes and for what looks like them (a form
for one answer, others' wishes, likes, resolutions), and from what the people of the judge's talks and months say, whose
wishes `wishes/found.json` names. Those were found by reading all that an earlier fit gave a share of .12, so that some
are missed; what is unsure, and what was not read, is left out. What two people of LoCoMo dev say to each other, also to
somebody who shall answer ("great talking to you, stay safe"), is none. Printed are the figures of writers who were left
out, a sixth of them at a time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy

from infra.tools.bench.__main__ import DATA, LOCOMO, Bench
from infra.tools.judge.__main__ import MONTHS, TALKS
from infra.tools.ranking.curves import Chosen, Curve, Floats, curve_over, shares_of_left_out, store
from infra.tools.ranking.passages import default_embedder, passage_of, vectors_of
from recollect.adapters.embedders.onnx_embedder import WISHES_FILE
from recollect.core.event import Role
from recollect.core.learned_share import SURELY_WISHES

FOLDER = Path(__file__).with_name("wishes")
_TOLD, _TALKED, _BETWEEN_PEOPLE = "told", "talked", "between people"
_DECAY = 1e-4
_WEIGHTS = {_TOLD: 1.0, _TALKED: 0.3, _BETWEEN_PEOPLE: 0.1}
_WISH_AMONG_TALK = 5.0
"""How much more a wish among talk counts than what is none, of which there are fifty times as many."""
_FOLDS = 6
_ALSO_AT = (0.5, 0.7, 0.8, 0.85, 0.9)


@dataclass(frozen=True, slots=True)
class Said:
    """A message: what it is of, who wrote it, what is encoded of it, and whether it is such a wish."""

    source: str
    writer: str
    passage: str
    wish: bool

    @property
    def weight(self) -> float:
        """How much a fit heeds it."""
        return _WEIGHTS[self.source] * (_WISH_AMONG_TALK if self.wish and self.source == _TALKED else 1.0)


def told() -> Iterator[Said]:
    """What people wrote who were asked for wishes, and for what looks like them."""
    for line in (FOLDER / "told.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        yield Said(_TOLD, f"{_TOLD} {one['writer']}", passage_of(one["text"]), one["wish"])


def talked() -> Iterator[Said]:
    """What the people of talks and months say."""
    found = json.loads((FOLDER / "found.json").read_text("utf-8"))
    for file in (*sorted(TALKS.glob("*.json")), *sorted(MONTHS.glob("*.json"))):
        talk = json.loads(file.read_bytes())
        of_it = found.get(talk["id"], {})
        wishes, unsure = (frozenset(of_it.get(kind, ())) for kind in ("wishes", "unsure"))
        for turn in talk.get("turns") or talk["messages"]:
            if turn.get("role", Role.USER) == Role.USER and turn["id"] not in unsure:
                passage = passage_of(turn["text"])
                yield Said(_TALKED, talk.get("writer") or file.stem[0], passage, turn["id"] in wishes)


def between_people(data: Path) -> Iterator[Said]:
    """What people say to each other; a conversation is a writer."""
    for turn in Bench(data, quick=False).set(LOCOMO).turns:
        yield Said(_BETWEEN_PEOPLE, turn.conversation, passage_of(turn.text), wish=False)


def main() -> None:
    """Prints the figures, and with `--write` stores the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data sets (%(default)s)")
    options = parser.parse_args()
    embedder = default_embedder()
    said = [*told(), *talked(), *between_people(options.data)]
    vectors = vectors_of(embedder, [one.passage for one in said])
    _report(said, vectors)
    if options.write:
        store(WISHES_FILE, embedder.generation, *fitted(said, vectors, numpy.ones(len(said), dtype=numpy.bool_)))


def fitted(said: list[Said], vectors: Floats, chosen: Chosen) -> Curve:
    """Learnt from the chosen ones."""
    wishes = numpy.array([float(one.wish) for one in said])[chosen]
    weights = numpy.array([one.weight for one in said])[chosen]
    return curve_over(vectors[chosen], wishes, _DECAY, weights / weights.mean())


def _report(said: list[Said], vectors: Floats) -> None:
    writers = sorted({one.writer for one in said})
    folds = numpy.array([writers.index(one.writer) % _FOLDS for one in said])
    shares = shares_of_left_out(vectors, folds, lambda left_out: fitted(said, vectors, ~left_out))
    wishes = numpy.array([one.wish for one in said])
    for source in _WEIGHTS:
        of_it = numpy.array([one.source == source for one in said])
        for least in sorted({*_ALSO_AT, SURELY_WISHES}):
            reached = of_it & (shares >= least)
            there, others = int((of_it & wishes).sum()), int((reached & ~wishes).sum())
            print(f"{source}: {int((reached & wishes).sum())} of {there} wishes reach {least}, {others} others")


if __name__ == "__main__":
    main()
