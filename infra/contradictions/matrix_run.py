"""Says every case's two turns to a fresh store, and asks in four states of it what is current."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from matrix_store import Store
from matrix_trials import Trial, trials_of
from matrix_verdicts import Verdict, judge, past_kept

from contradictions.cases import Case
from recollect.adapters.embedders.build import build_model
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.adapters.embedders.pooled import pooled
from recollect.bootstrap.embedding import model_folder, model_recipe
from recollect.core.errors import RecollectError
from recollect.ports import Embedder
from recollect.settings import Settings

AS_IS, RESTART, VECTORS, EVENTS = "as is", "after a restart", "reindexed from vectors", "reindexed from events"
STATES: dict[str, Callable[[Store], None]] = {
    AS_IS: lambda _: None,
    RESTART: Store.restart,
    VECTORS: lambda store: store.reindex("vectors"),
    EVENTS: lambda store: store.reindex("events"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One trial in one state. `past`: whether `as_of` an instant between the turns answers as it did then."""

    case: str
    shape: str
    twin: bool
    keyed: bool
    state: str
    verdict: str
    why: str
    left: str
    past: bool | None


@dataclass(frozen=True, slots=True)
class CaseRun:
    """All that was seen of a case, and what its unkeyed trial showed before and after."""

    outcomes: tuple[Outcome, ...]
    example: dict[str, Any]


def run_case(case: Case, embedder: Embedder) -> CaseRun:
    """A store of its own, its trials as users of it, through all states."""
    with tempfile.TemporaryDirectory(prefix="recollect-matrix-") as home:
        store = Store(Path(home), embedder)
        try:
            trials = [trial.told(store) for trial in trials_of(case)]
            outcomes = [one for state in STATES for one in _in_state(store, trials, state)]
            return CaseRun(tuple(outcomes), _example(store, trials[0]))
        finally:
            store.close()


def run_cases(cases: Sequence[Case], workers: int, hashing: bool = False) -> Iterator[CaseRun]:
    """In their order; `workers` are processes, each with an embedder of its own."""
    if workers == 1:
        embedder = embedder_of(hashing)
        yield from (run_case(case, embedder) for case in cases)
        return
    with get_context("spawn").Pool(workers, _begin, (hashing,)) as pool:
        yield from pool.imap(_run, cases)


def embedder_of(hashing: bool) -> Embedder:
    """The default model, built where it is missing; the hashing one where it cannot be, or where it is asked for."""
    if hashing:
        return HashingEmbedder()
    settings = Settings.from_environment({})
    folder = model_folder(settings)
    try:
        build_model(folder, model_recipe(settings))
        return pooled(OnnxEmbedder(folder))
    except (RecollectError, OSError):
        return HashingEmbedder()


def document(runs: Sequence[CaseRun]) -> dict[str, Any]:
    """What is kept of a run."""
    return {
        "outcomes": [asdict(one) for run in runs for one in run.outcomes],
        "examples": [run.example for run in runs],
    }


_kept: list[Embedder] = []


def _begin(hashing: bool) -> None:
    _kept.append(embedder_of(hashing))


def _run(case: Case) -> CaseRun:
    return run_case(case, _kept[0])


def _in_state(store: Store, trials: Sequence[Trial], state: str) -> Iterator[Outcome]:
    STATES[state](store)
    for trial in trials:
        past = past_kept(store, trial) if state == AS_IS else None
        yield _outcome(trial, state, judge(store, trial), past)


def _outcome(trial: Trial, state: str, verdict: Verdict, past: bool | None) -> Outcome:
    case = trial.case
    seen = (verdict.verdict, verdict.why, verdict.left)
    return Outcome(case.id, case.shape, trial.twin, trial.keyed, state, *seen, past)


def _example(store: Store, trial: Trial) -> dict[str, Any]:
    """What a search for the attribute answers at each instant."""
    case, bound = trial.case, trial.case.bound
    instants = {"before": trial.between, "after": trial.asked_at} | ({"later on": bound.after} if bound else {})
    shown = {
        name: [_shown(one) for one in store.search(trial.user, case.attribute, at, at if name == "before" else None)]
        for name, at in instants.items()
    }
    known = {one["id"]: one["status"] for one in store.memories(trial.user, trial.asked_at)}
    return {
        "case": case.id,
        "attribute": case.attribute,
        "earlier": case.earlier.text,
        "later": case.later.text,
        "shown": shown,
        "statuses": [known.get(one, "") for one in trial.ids],
    }


def _shown(result: dict[str, Any]) -> str:
    return str(result["content"])
