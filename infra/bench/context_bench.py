"""What a context costs and what it holds: assembly as a share of the call, gold turns and tokens over the last 20."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench_clock import Times
from bench_data import DataSet, Question, Turn
from bench_ours import TENANT, OurMemory, local_variables, open_watched, passage_of
from bench_scores import quantiles
from bench_vectors import BenchEmbedder, KeptVectors

from recollect.application.build_context import ContextAnswer, ContextRequest, assemble
from recollect.application.context_sources import ContextQuestion
from recollect.application.look_up import LookUp
from recollect.domain.embedding import TextKind
from recollect.domain.filters import SearchFilters
from recollect.domain.messages import fence_for
from recollect.domain.scope import Scope
from recollect.domain.tokens import count_tokens

LAST = 20
TIMED = 100
_FENCE = fence_for("0123456789abcdef")
_RUNS = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model would see of a conversation: the turns' ids, and the size of all of it with the question."""

    turn_ids: frozenset[str]
    tokens: int


def context_bench(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> dict[str, Any]:
    """All questions of the data, at the end of their conversations; the times of the first hundred of them."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        embedder.live = False
        memory = OurMemory(open_watched(local_variables(Path(name), model), embedder))
        memory.load(data.turns)
        evidence = _evidence(memory, data)
        embedder.live = True
        times = _times(memory, embedder, data.questions[:TIMED])
        memory.close()
    return {"evidence": evidence, "times": times}


def _request(question: Question) -> ContextRequest:
    asked = ContextQuestion(
        text=question.text, filters=SearchFilters(now=question.asked_at), conversation_id=question.conversation
    )
    return ContextRequest(question=asked, fence=_FENCE)


def _context(memory: OurMemory, question: Question) -> ContextAnswer:
    rules = memory.app.begin_rules(TENANT)
    return memory.app.context(Scope(TENANT, question.conversation), _request(question), rules)


def _evidence(memory: OurMemory, data: DataSet) -> dict[str, Any]:
    shown: dict[str, list[Shown]] = {"last 20 messages": [], "prompt": [], "messages": []}
    for question in data.questions:
        answer = _context(memory, question)
        shown["last 20 messages"].append(_last(data.turns, question))
        shown["prompt"].append(Shown(_ids(memory, _of_prompt(answer)), answer.prompt.tokens))
        shown["messages"].append(Shown(_ids(memory, _of_messages(answer)), answer.messages.tokens))
    return {name: _summed(data.questions, found) for name, found in shown.items()}


def _last(turns: Sequence[Turn], question: Question) -> Shown:
    """The plain baseline: the newest messages as they are, and the question."""
    own = [turn for turn in turns if turn.conversation == question.conversation][-LAST:]
    tokens = sum(count_tokens(turn.text) for turn in own) + count_tokens(question.text)
    return Shown(frozenset(turn.turn_id for turn in own), tokens)


def _of_prompt(answer: ContextAnswer) -> Iterable[str]:
    return (event_id for one in answer.prompt.memories for event_id in one.item.source_event_ids)


def _of_messages(answer: ContextAnswer) -> Iterable[str]:
    parts = answer.messages.parts
    items = [*(one.item for one in parts.memories), *parts.raw_window]
    return (event_id for item in items for event_id in item.source_event_ids)


def _ids(memory: OurMemory, event_ids: Iterable[str]) -> frozenset[str]:
    return frozenset(memory.turn_id(event_id) for event_id in event_ids)


def _summed(questions: Sequence[Question], shown: Sequence[Shown]) -> dict[str, float]:
    """Share of questions with any and with all of their gold turns in view, and mean tokens."""
    pairs = list(zip(questions, shown, strict=True))
    return {
        "any": statistics.fmean(bool(question.evidence & one.turn_ids) for question, one in pairs),
        "all": statistics.fmean(question.evidence <= one.turn_ids for question, one in pairs),
        "tokens": statistics.fmean(one.tokens for one in shown),
    }


def _times(memory: OurMemory, embedder: BenchEmbedder, questions: Sequence[Question]) -> dict[str, Any]:
    """The whole call, and of the same call's findings the deciding, choosing, rendering and fitting again."""
    whole, assembly = Times(), list[float]()
    for question in questions:
        answer = whole.measure(embedder, lambda q=question: _context(memory, q))  # type: ignore[misc]
        assembly.append(min(_assembly_seconds(memory, question, answer) for _ in range(_RUNS)))
    figures = whole.figures()
    assembled = quantiles(assembly)
    return {
        **figures,
        "assembly": assembled,
        "share": {part: assembled["p50_ms"] / figures[part]["p50_ms"] for part in ("whole", "rest")},
    }


def _assembly_seconds(memory: OurMemory, question: Question, answer: ContextAnswer) -> float:
    rules = memory.app.rules(TENANT)
    began = perf_counter()
    looking = LookUp(None, question.text, "auto")
    looking.begin(rules)
    assemble(answer.gathered, looking.result(), _request(question), rules)
    return perf_counter() - began
