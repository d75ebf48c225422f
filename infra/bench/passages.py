"""What to embed of a turn: recall of the model alone, by what stands before the text."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from bench_data import DataSet, Question, Turn
from bench_ours import passage_of
from bench_scores import recall
from bench_vectors import KeptVectors

from recollect.core.vectors import FloatArray, TextKind

K = 10
FORMS: dict[str, Callable[[Turn], str]] = {
    "the text alone": lambda turn: turn.text,
    "`Anna: …`": lambda turn: f"{turn.speaker}: {turn.text}",
    "`[8 May 2023] Anna: …`": lambda turn: f"[{_day(turn)}] {turn.speaker}: {turn.text}",
    "`Anna (8 May 2023): …`": lambda turn: turn.dated_text,
    "`Anna on 8 May 2023: …`": passage_of,
}
BUILT = "`Anna on 8 May 2023: …`, of the text's own tokens less the model's mean, as built"


def passages(data: DataSet, plain: KeptVectors, pooled: KeptVectors) -> dict[str, Any]:
    """Mean recall@10 by cosine alone, for each form by the model's own pooling, then for ours."""
    for kept in (plain, pooled):
        kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    found = {name: _recall(data, plain, form) for name, form in FORMS.items()}
    return found | {BUILT: _recall(data, pooled, passage_of)}


def _day(turn: Turn) -> str:
    return f"{turn.said_at.day} {turn.said_at:%B %Y}"


def _recall(data: DataSet, kept: KeptVectors, form: Callable[[Turn], str]) -> float:
    kept.prepare([form(turn) for turn in data.turns], TextKind.PASSAGE)
    vectors = {
        conversation: np.stack([_kept(kept, form(turn), TextKind.PASSAGE) for turn in turns])
        for conversation, turns in _by_conversation(data).items()
    }
    ids = {conversation: [turn.turn_id for turn in turns] for conversation, turns in _by_conversation(data).items()}
    return statistics.fmean(_recall_of(question, kept, vectors, ids) for question in data.questions)


def _recall_of(
    question: Question, kept: KeptVectors, vectors: dict[str, FloatArray], ids: dict[str, list[str]]
) -> float:
    cosines = vectors[question.conversation] @ _kept(kept, question.text, TextKind.QUERY)
    nearest = [ids[question.conversation][place] for place in np.argsort(-cosines, kind="stable")[:K]]
    return recall(nearest, question.evidence, K)


def _by_conversation(data: DataSet) -> dict[str, list[Turn]]:
    grouped: dict[str, list[Turn]] = {}
    for turn in data.turns:
        grouped.setdefault(turn.conversation, []).append(turn)
    return grouped


def _kept(kept: KeptVectors, text: str, kind: TextKind) -> FloatArray:
    vector = kept.get(text, kind)
    if vector is None:
        raise RuntimeError("a text was not prepared")
    return vector
