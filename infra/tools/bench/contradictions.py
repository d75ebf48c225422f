"""Contradictions: pairs of turns read without a store, LoCoMo ingested whole, BEAM's questions about what changed,
changes told with a key, and what the judge adds to the time of a projection.

Ids and counts are the figures; the two texts of each decision go to a file in build/bench for a person to read, and no
further (the data's licence).
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from infra.tools.bench.data import DataSet, Question, Turn
from infra.tools.bench.ours import TENANT, OurMemory, draft_of, drain, local_variables, open_watched, passage_of
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors
from infra.tools.judge.evaluate import changed_by
from infra.tools.judge.examples import Example, written
from infra.tools.judge.held import HELD
from recollect.adapters.judges.onnx_pairs import OnnxPairModel
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.contradictions.decisions import ARBITRATIONS, Decision, DecisionStatus, decision_in
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.memories.memory import MemoryStatus
from recollect.memories.reading import MemoryQuery
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.rules.groups import ConflictRules
from recollect.settings import Settings
from recollect.timeline.record import EventDraft

WRITTEN = Path(__file__).resolve().parents[4] / "shared/data"
CHANGED = ("knowledge_update", "contradiction_resolution")
SETTLED, OFF = "judged", "off"
_PAGE = 200
_WARM, _TIMED = 100, 200


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
            "keyed": keyed(model, WRITTEN),
            "projection": projection(locomo, model),
        }
    finally:
        embedder.live = True


def pairs(model: Path, data: Path) -> dict[str, dict[str, float]]:
    """Pairs of writers whom the judge has not learnt from: changes that it neither settles nor asks about, and near
    misses that it settles, in English and in other languages."""
    held = [one for one in written(data) if one.group in HELD]
    scores, rules = changed_by(OnnxPairModel(model), held).tolist(), ConflictRules()
    found: dict[str, dict[str, float]] = {}
    for name, english in (("English", True), ("other languages", False)):
        of = [(one, score) for one, score in zip(held, scores, strict=True) if (one.lang == "en") is english]
        changes = [score < rules.ask for one, score in of if one.label]
        near = [score >= rules.settle for one, score in of if not one.label]
        found[f"changes missed, {name}"] = {"count": len(changes), "share": sum(changes) / len(changes)}
        found[f"near misses settled, {name}"] = {"count": len(near), "share": sum(near) / len(near)}
    return found


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


def keyed(model: Path, data: Path) -> dict[str, int]:
    """Changes of the held writer, both told with one key, each by a user: whose older statement still counts."""
    changes = [one for one in written(data) if one.group in HELD and one.label]
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as home:
        app = open_app(Settings.from_environment(local_variables(Path(home), model)))
        stale = sum(_is_stale(app, Scope(TENANT, str(number)), one) for number, one in enumerate(changes))
    return {"count": len(changes), "stale": stale}


def _is_stale(app: App, scope: Scope, change: Example) -> bool:
    said_at = datetime(2026, 1, 1, tzinfo=UTC)
    for days, text in ((0, change.old), (30, change.new)):
        _say(app, scope, EventDraft(content=text, key="matter", timestamp=said_at + timedelta(days=days)))
        drain(app)
    query = MemoryQuery(status=MemoryStatus.ACTIVE)
    current = app.memories.listing.page(scope, query, _PAGE, None, datetime.now(UTC)).memories
    return any(one.content == change.old for one in current)


def projection(data: DataSet, model: Path) -> dict[str, dict[str, float]]:
    """Milliseconds that a message of LoCoMo takes to be projected, with the judge and without: p50, p95 and mean."""
    turns = [turn for turn in data.turns if turn.conversation == data.turns[0].conversation][: _WARM + _TIMED]
    return {way: _projected_in(turns, model, way) for way in ("none", "e5")}


def _projected_in(turns: Sequence[Turn], model: Path, way: str) -> dict[str, float]:
    scope, taken = Scope(TENANT, "timed"), []
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as home:
        variables = local_variables(Path(home), model) | {"RECOLLECT_JUDGE": way}
        app = open_app(Settings.from_environment(variables))
        for turn in turns:
            _say(app, scope, draft_of(turn))
            began = time.perf_counter()
            drain(app)
            taken.append(1000 * (time.perf_counter() - began))
    timed = sorted(taken[_WARM:])
    at = {"p50": timed[len(timed) // 2], "p95": timed[int(0.95 * len(timed))]}
    return {"messages": len(timed), **at, "mean": sum(timed) / len(timed)}


def _say(app: App, scope: Scope, draft: EventDraft) -> None:
    now = datetime.now(UTC)
    seed = app.ids.seed(int(now.timestamp() * 1000), 2)
    app.timeline.events.ingest(scope, "c", [draft], seed, now, app.rules.resolved(TENANT))


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
