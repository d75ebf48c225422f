"""Fits what of a message's early states says that it tells of something done, not of what is to come.

    .venv/bin/python -m infra.tools.judge.tenses --model ~/.cache/recollect/models/e5-small.int8.1 [--write]

A row over the states of the built judge, as `worth.py` fits one. Each language's figures are by the fit of the others,
once with what is neither left out and once with it as ahead; stored is the first, of all languages.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy

from infra.tools.judge.worth import fitted, store_row
from infra.tools.ranking.curves import Floats
from recollect.adapters.judges.onnx_pairs import DONE_FILE, OnnxPairModel
from recollect.contradictions.trained import LEAST_DONE
from recollect.core.learned_share import LearnedShare
from recollect.text.coming_dates import coming_date

TENSES: Final = Path(__file__).with_name("tenses.jsonl")
_DECAY = 0.1
_SAID_AT: Final = datetime(2026, 11, 18, tzinfo=UTC)
_MOST_WRONG = 0.05
_SURE = 0.5
_KINDS = ("done", "ahead", "neither")


@dataclass(frozen=True, slots=True)
class Tenses:
    """What is told, row by row: `states` (messages, 2 width), languages, and "done", "ahead" or "neither".

    `asked`: whether the row decides of it: the first day that it names may be past as well.
    """

    states: Floats
    langs: numpy.ndarray
    when: numpy.ndarray
    asked: numpy.ndarray

    def of(self, chosen: numpy.ndarray) -> Tenses:
        """Those that are chosen."""
        return Tenses(self.states[chosen], self.langs[chosen], self.when[chosen], self.asked[chosen])


def main() -> None:
    """Prints the figures, and with `--write` stores the row for the judge's version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    model = OnnxPairModel(given.model)
    told = _read(model)
    for neither_is_ahead in (False, True):
        _report(told, neither_is_ahead)
    if given.write:
        store_row(DONE_FILE, model.version, _curve(told))


def _read(model: OnnxPairModel) -> Tenses:
    rows = [json.loads(line) for line in TENSES.read_text("utf-8").splitlines()]
    states = numpy.stack([model.early_states(row["text"]) for row in rows]).astype(numpy.float64)
    days = [coming_date(row["text"], _SAID_AT) for row in rows]
    asked = [day is not None and day.open for day in days]
    langs, when = (numpy.array([row[name] for row in rows]) for name in ("lang", "when"))
    return Tenses(states, langs, when, numpy.array(asked))


def _curve(told: Tenses, *, neither_is_ahead: bool = False) -> LearnedShare:
    used = told if neither_is_ahead else told.of(told.when != "neither")
    done = (used.when == "done").astype(numpy.float64)
    return fitted(used.states, done, numpy.ones(len(done)), _DECAY)


def _report(told: Tenses, neither_is_ahead: bool) -> None:
    print("neither as ahead" if neither_is_ahead else "neither left out")
    shares = numpy.zeros(len(told.when))
    for lang in sorted(set(told.langs)):
        own = told.langs == lang
        curve = _curve(told.of(~own), neither_is_ahead=neither_is_ahead)
        shares[own] = [curve.of(one) for one in told.states[own].astype(numpy.float32)]
        print(f"{lang}: {_figures(told.when[own], shares[own])}")
    print(f"that the row decides of: {_figures(told.when[told.asked], shares[told.asked])}")
    ahead = numpy.sort(shares[told.when == "ahead"])[::-1]
    print(f"all: {_figures(told.when, shares)}; the bar above {ahead[int(_MOST_WRONG * len(ahead))]:.3f}")


def _figures(when: numpy.ndarray, shares: numpy.ndarray) -> str:
    clear = when != "neither"
    right = ((shares >= _SURE) == (when == "done"))[clear].mean()
    called = [f"{kind} {(shares[when == kind] >= LEAST_DONE).sum()} of {(when == kind).sum()}" for kind in _KINDS]
    return f"{clear.sum()} messages, right {right:.3f}; called done: {', '.join(called)}"


if __name__ == "__main__":
    main()
