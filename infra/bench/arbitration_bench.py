"""Decisions of detector and arbiter over the bare cosine of the same vectors, and the cue reader over splitting words.

Each candidate is a turn with its vector, weighed against the turns before it; no store, no encoding.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bench_data import DataSet, Turn
from bench_ours import passage_of
from bench_vectors import KeptVectors

from recollect.arbitration.arbiter import ArbitrationPolicy, weigh
from recollect.arbitration.detection import Statement
from recollect.core.vectors import FloatArray, TextKind
from recollect.domain.claim_reading import read_claims
from recollect.rules.groups import Rules
from recollect.text.terms import extract_keywords

EXISTING = 20
"""As many as the index nominates."""

_WORD = re.compile(r"\w+")


def arbitration(data: DataSet, kept: KeptVectors, rounds: int) -> dict[str, Any]:
    """The best of the rounds, the ways in turns."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    statements = [_statement(turn, kept) for turn in data.turns]
    pairs = [(statements[n], statements[n - EXISTING : n]) for n in range(EXISTING, len(statements))]
    return {"decisions": _decisions(pairs, rounds), "reading": _reading(data.turns, rounds)}


def _decisions(pairs: Sequence[tuple[Statement, list[Statement]]], rounds: int) -> dict[str, Any]:
    policy = ArbitrationPolicy()
    ways: dict[str, Callable[[], object]] = {
        "decisions": lambda: [weigh(candidate, existing, policy) for candidate, existing in pairs],
        "cosine": lambda: [[_cosine(a, b) for b in existing] for a, existing in pairs],
        "product": lambda: [_cosines(a, existing) for a, existing in pairs],
    }
    best = _best(ways, rounds)
    arbitrated = sum(weigh(candidate, existing, policy).arbitrated is not None for candidate, existing in pairs)
    return {
        "count": len(pairs),
        "existing": EXISTING,
        "arbitrated": arbitrated,
        "per_second": {name: len(pairs) / seconds for name, seconds in best.items()},
        "ratio": best["decisions"] / best["cosine"],
        "ratio_of_product": best["decisions"] / best["product"],
    }


def _reading(turns: Sequence[Turn], rounds: int) -> dict[str, Any]:
    rules = Rules().conflict.cue_rules
    ways: dict[str, Callable[[], object]] = {
        "reading": lambda: [read_claims(turn.text, turn.said_at, rules) for turn in turns],
        "splitting": lambda: [_WORD.findall(turn.text) for turn in turns],
        "keywords": lambda: [extract_keywords(turn.text) for turn in turns],
    }
    best = _best(ways, rounds)
    claims = [read_claims(turn.text, turn.said_at, rules) for turn in turns]
    return {
        "texts": len(turns),
        "bytes": sum(len(turn.text.encode()) for turn in turns),
        "strong": sum(any(claim.strong for claim in found) for found in claims),
        "microseconds": {name: 1e6 * seconds / len(turns) for name, seconds in best.items()},
        "ratio": best["reading"] / best["splitting"],
    }


def _best(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            began = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - began)
    return {name: min(seconds) for name, seconds in times.items()}


def _statement(turn: Turn, kept: KeptVectors) -> Statement:
    vector = kept.get(passage_of(turn), TextKind.PASSAGE)
    assert vector is not None
    return Statement(
        id=f"{turn.conversation}.{turn.turn_id}",
        user_id="anna",
        content=turn.text,
        embedding=vector.astype("float64"),
        importance=0.5,
        timestamp=turn.said_at,
        source="user",
        keywords=tuple(extract_keywords(turn.text)),
    )


def _cosine(a: Statement, b: Statement) -> float:
    ours, theirs = _vector(a), _vector(b)
    return float(ours @ theirs / (np.linalg.norm(ours) * np.linalg.norm(theirs)))


def _cosines(a: Statement, existing: Sequence[Statement]) -> FloatArray:
    matrix = np.stack([_vector(one) for one in existing])
    made: FloatArray = matrix @ _vector(a) / np.linalg.norm(matrix, axis=1)
    return made


def _vector(statement: Statement) -> Any:
    return statement.embedding
