"""Fits which questions ask how things are now, and stores it in the package for the default embedder.

    .venv/bin/python -m infra.tools.ranking [--data ../shared/data] [--write]

Learnt from the talks of `infra/tools/judge/talks` and from the development sets. Each source's figures are by the fit
of the other folds: other writers, other conversations. The weights of the signals are printed, `RankingPolicy` has them
rounded; so is where relevance ends, for `RelevanceCut`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy
from numpy.typing import NDArray

from infra.tools.judge.__main__ import ROOT, TALKS
from infra.tools.ranking.curves import store
from infra.tools.ranking.cut import relevance_ends
from infra.tools.ranking.fit import SHARES, fitted
from infra.tools.ranking.gathering import DATA_SETS, of_data_set, of_talks
from infra.tools.ranking.lists import RankedList, ranked_lists
from recollect.adapters.embedders.onnx_embedder import OF_NOW_FILE
from recollect.bootstrap.providers import Embedding, model_folder
from recollect.entrypoints.cli.console import settings_of_environment
from recollect.retrieval.timeliness import SIGNALS

VECTORS = ROOT / "build/bench"
_FOLDS = 5
_AMONG = 10
Order = NDArray[numpy.int64]


def main() -> None:
    """Prints the figures, and with `--write` stores the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    settings = settings_of_environment()
    embedder, model = Embedding(settings).embedder, model_folder(settings)
    if embedder is None:
        raise SystemExit("the default embedder is not built: run `make demo` first")
    asked = chain(of_talks(TALKS, model), *(of_data_set(options.data / name, model, VECTORS) for name in DATA_SETS))
    lists = [one for question in asked for one in ranked_lists(question, embedder)]
    _report(lists)
    found = fitted(lists)
    print("all:", {name: round(float(weight), 2) for name, weight in zip(SIGNALS, found.weights, strict=True)})
    share, least = relevance_ends(lists, found)
    print(f"one hit in a hundred is needed at a score of {least:.3f} and {share:.3f} of the best one's")
    if options.write:
        store(OF_NOW_FILE, embedder.generation, found.direction, found.bias)


def _report(lists: Sequence[RankedList]) -> None:
    folds = sorted({one.fold for one in lists})
    orders: dict[int, Order] = {}
    for fold in range(_FOLDS):
        out = set(folds[fold::_FOLDS])
        found = fitted([one for one in lists if one.fold not in out])
        orders |= {id(one): found.order(one) for one in lists if one.fold in out}
    before: dict[int, Order] = {id(one): numpy.argsort(-one.first, kind="stable") for one in lists}
    for name in SHARES:
        own = [one for one in lists if one.source == name]
        recall = " -> ".join(f"{_recall(own, by):.3f}" for by in (before, orders))
        stale = " -> ".join(f"{_stale_first(own, by):.3f}" for by in (before, orders))
        print(f"{name}: {len(own)} lists, recall@{_AMONG} {recall}, stale first {stale}")


def _recall(lists: Sequence[RankedList], orders: Mapping[int, Order]) -> float:
    """Of the evidence that is among the hits at all."""
    return float(numpy.mean([one.gold[orders[id(one)][:_AMONG]].sum() / one.gold.sum() for one in lists]))


def _stale_first(lists: Sequence[RankedList], orders: Mapping[int, Order]) -> float:
    """Of the lists with a stale hit those where one stands above all evidence; NaN without one."""
    both = [(one.stale[orders[id(one)]], one.gold[orders[id(one)]]) for one in lists if one.stale.any()]
    return sum(bool(stale.argmax() < gold.argmax()) for stale, gold in both) / len(both) if both else math.nan


if __name__ == "__main__":
    main()
