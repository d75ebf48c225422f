"""Contradictions: pairs of turns read without a store, LoCoMo ingested whole, and BEAM's questions about what changed.

Ids and counts are the figures; the two texts of each decision go to a file in build/bench for a person to read, and no
further (the data's licence).
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.tools.bench.data import DataSet, Question
from infra.tools.bench.ours import TENANT, OurMemory, local_variables, open_watched, passage_of
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors
from infra.tools.judge.evaluate import HELD, changed_by
from infra.tools.judge.examples import relation_pairs
from recollect.adapters.judges.onnx_pairs import OnnxPairModel
from recollect.contradictions.decisions import ARBITRATIONS, Decision, DecisionStatus, decision_in
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.rules.groups import ConflictRules

WRITTEN = Path(__file__).resolve().parents[4] / "shared/data"
CHANGED = ("knowledge_update", "contradiction_resolution")
SETTLED, OFF = "judged", "off"
_PAGE = 200


def contradictions(
    locomo: DataSet, beam: DataSet, embedder: BenchEmbedder, kept: StoredVectors, model: Path, printed: Path
) -> dict[str, Any]:
    """All three; `printed` is the file of the decisions' texts."""
    for data in (locomo, beam):
        kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
        kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    embedder.live = False
    try:
        return {
            "pairs": pairs(model, WRITTEN),
            "superseded": superseded(locomo, embedder, model, printed),
            "changed": changed(beam, embedder, model),
        }
    finally:
        embedder.live = True


def pairs(model: Path, data: Path) -> dict[str, dict[str, float]]:
    """Pairs of a writer whom the judge has not learnt from: the shares of changes missed and near misses hidden."""
    held = [one for one in relation_pairs(data / "relation-pairs") if one.group in HELD]
    scores = changed_by(OnnxPairModel(model), held)
    settle = ConflictRules().settle
    changes = [score for one, score in zip(held, scores.tolist(), strict=True) if one.label]
    near = [score for one, score in zip(held, scores.tolist(), strict=True) if not one.label]
    return {
        "changes missed": {"count": len(changes), "share": sum(score < settle for score in changes) / len(changes)},
        "near misses hidden": {"count": len(near), "share": sum(score >= settle for score in near) / len(near)},
    }


def superseded(data: DataSet, embedder: BenchEmbedder, model: Path, printed: Path) -> dict[str, Any]:
    """Every decision on people who contradict themselves little, each conversation a user: all count as false."""
    texts = {(turn.conversation, turn.turn_id): f"{turn.speaker}: {turn.text}" for turn in data.turns}
    users = list(dict.fromkeys(turn.conversation for turn in data.turns))
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as home:
        memory = OurMemory(open_watched(local_variables(Path(home), model), embedder))
        memory.load(data.turns)
        made = [(user, one) for user in users for one in _decisions(memory, user)]
        lines = [_printed(memory, user, one, texts) for user, one in made]
        memory.close()
    printed.write_text("\n\n".join(lines), "utf-8")
    rules = Counter(one.rule for _, one in made)
    return {"turns": len(data.turns), "decisions": len(made), "share": len(made) / len(data.turns), "by_rule": rules}


def _decisions(memory: OurMemory, user: str) -> Iterator[Decision]:
    """Those that hold, of the judge and the arbiter."""
    after: str | None = None
    while True:
        page = memory.app.parts.items.page(Scope(TENANT, user), ARBITRATIONS, _PAGE, after)
        decisions = (decision_in(item.value) for item in page.items)
        yield from (one for one in decisions if one.status is DecisionStatus.APPLIED)
        after = page.more
        if after is None:
            return


def _printed(memory: OurMemory, user: str, decision: Decision, texts: Mapping[tuple[str, str], str]) -> str:
    older, newer = ((user, memory.turn_id(one)) for one in (decision.loser, decision.winner))
    return f"{user} {decision.outcome.value} by {decision.rule}\n  - {texts[older]}\n  + {texts[newer]}"


def changed(data: DataSet, embedder: BenchEmbedder, model: Path) -> dict[str, Any]:
    """Questions with more than one gold turn of which the newest comes first, with settling and without."""
    questions = [one for one in data.questions if one.category in CHANGED and len(one.evidence) > 1]
    first = {way: _newest_first(data, questions, embedder, model, way) for way in (SETTLED, OFF)}
    return {"questions": len(questions), "newest_first": first}


def _newest_first(data: DataSet, questions: Sequence[Question], embedder: BenchEmbedder, model: Path, way: str) -> int:
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        rules = Path(name) / "rules.json"
        rules.write_text(json.dumps({"conflict": {"auto_apply": way}}), "utf-8")
        variables = local_variables(Path(name) / "store", model) | {"RECOLLECT_RULES": str(rules)}
        memory = OurMemory(open_watched(variables, embedder))
        memory.load(data.turns)
        places = {(turn.conversation, turn.turn_id): place for place, turn in enumerate(data.turns)}
        count = sum(_is_newest_first(memory, question, places) for question in questions)
        memory.close()
    return count


def _is_newest_first(memory: OurMemory, question: Question, places: Mapping[tuple[str, str], int]) -> bool:
    """The newest gold turn is found, and no older one before it."""
    newest = max(question.evidence, key=lambda turn: places[(question.conversation, turn)])
    for sources, current in _results(memory, question):
        if newest in sources:
            return True
        if current in question.evidence:
            return False
    return False


def _results(memory: OurMemory, question: Question) -> Iterator[tuple[set[str], str]]:
    """Of each result the turns it is made of, and the one that it is."""
    filters = SearchFilters(now=question.asked_at)
    request = RecallRequest(text=question.text, vector=None, mode=Mode.HYBRID, filters=filters, wanted=100)
    for result in memory.app.retrieval.memory.search(Scope(TENANT, question.conversation), request).results:
        sources = result.memory.source_event_ids if result.memory else (result.event.id,)
        yield {memory.turn_id(one) for one in sources}, memory.turn_id(result.event.id)
