"""BEAM's questions about what has changed: is the newest gold turn above the older ones, and does settling help?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_data import DataSet, Question
from bench_ours import TENANT, OurMemory, local_variables, open_watched, passage_of
from bench_vectors import BenchEmbedder, KeptVectors

from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode

CATEGORIES = ("knowledge_update", "contradiction_resolution")
WANTED = 100
SETTLED, OFF = "cues", "off"


def updates(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> dict[str, Any]:
    """The same turns in a store with the default rules and in one that settles by keys alone."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    questions = [one for one in data.questions if one.category in CATEGORIES and len(one.evidence) > 1]
    kept.prepare([question.text for question in questions], TextKind.QUERY)
    embedder.live = False
    try:
        asked = {way: _asked(data, questions, embedder, model, way) for way in (SETTLED, OFF)}
    finally:
        embedder.live = True
    return {
        "questions": {category: _of(questions, category) for category in CATEGORIES},
        "first": {way: _counts(questions, answers) for way, answers in asked.items()},
        "differ": [q.text for q, a, b in zip(questions, asked[SETTLED], asked[OFF], strict=True) if a != b],
    }


def _asked(data: DataSet, questions: Sequence[Question], embedder: BenchEmbedder, model: Path, way: str) -> list[bool]:
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        home = Path(name)
        rules = home / "rules.json"
        rules.write_text(json.dumps({"conflict": {"auto_apply": way}}), "utf-8")
        variables = local_variables(home / "store", model) | {"RECOLLECT_RULES": str(rules)}
        memory = OurMemory(open_watched(variables, embedder))
        memory.load(data.turns)
        places = {(turn.conversation, turn.turn_id): place for place, turn in enumerate(data.turns)}
        try:
            return [_newest_first(memory, question, places) for question in questions]
        finally:
            memory.close()


def _newest_first(memory: OurMemory, question: Question, places: dict[tuple[str, str], int]) -> bool:
    """The newest gold turn is found, and no older one before it."""
    newest = max(question.evidence, key=lambda turn: places[(question.conversation, turn)])
    for sources, current in _found(memory, question):
        if newest in sources:
            return True
        if current in question.evidence:
            return False
    return False


def _found(memory: OurMemory, question: Question) -> list[tuple[set[str], str]]:
    """Of each result the turns it is made of, and the one that it is."""
    filters = SearchFilters(now=question.asked_at)
    request = RecallRequest(text=question.text, vector=None, mode=Mode.HYBRID, filters=filters, wanted=WANTED)
    answer = memory.app.retrieval.search(Scope(TENANT, question.conversation), request)
    return [
        (
            {memory.turn_id(one) for one in (result.memory.source_event_ids if result.memory else (result.event.id,))},
            memory.turn_id(result.event.id),
        )
        for result in answer.results
    ]


def _of(questions: Sequence[Question], category: str) -> int:
    return sum(question.category == category for question in questions)


def _counts(questions: Sequence[Question], answers: Sequence[bool]) -> dict[str, int]:
    return {
        category: sum(right for one, right in zip(questions, answers, strict=True) if one.category == category)
        for category in CATEGORIES
    }
