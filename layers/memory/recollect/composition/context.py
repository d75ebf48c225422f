"""The context of the next model call, and a turn with a model."""

from dataclasses import dataclass
from functools import cached_property

from recollect.composition.contradictions import ContradictionUseCases
from recollect.composition.deployment import TimelineUseCases, UseCases
from recollect.composition.retrieval import RetrievalUseCases
from recollect.composition.summaries import SummaryUseCases
from recollect.context.build import BuildContext
from recollect.context.sources import ContextSources, ReadBackground
from recollect.context.turn import TakeTurn
from recollect.knowledge.use_cases import KnowledgeStore
from recollect.usage import CONTEXT, TURN, Counted, uncounted


@dataclass(eq=False)
class ContextUseCases(UseCases):
    """`app.context`."""

    _timeline: TimelineUseCases
    _summaries: SummaryUseCases
    _knowledge: KnowledgeStore
    _retrieval: RetrievalUseCases
    _contradictions: ContradictionUseCases

    @cached_property
    def model_call(self) -> BuildContext:
        """`POST /v1/context`."""
        return self._building(self._deployment.usage.of(CONTEXT))

    def _building(self, counted: Counted) -> BuildContext:
        parts, summaries = self._parts, self._summaries
        behind = ReadBackground(summaries.stored, summaries.goals, self._knowledge, parts.concurrency)
        sources = ContextSources(parts.timeline, self._retrieval.pipeline, behind, parts.concurrency)
        stage, doubts = self._retrieval.second_stage, self._contradictions.doubts
        return BuildContext(sources, stage, doubts, parts.concurrency, parts.web_search, counted)

    @cached_property
    def turn(self) -> TakeTurn:
        """`POST /v1/turns`: counted as one thing, its messages and its context not by themselves."""
        parts, deployment = self._parts, self._deployment
        asks = parts.embedder.learned.asks if parts.embedder is not None else None
        inner = (self._timeline.ingest(uncounted), self._building(uncounted), parts.timeline)
        return TakeTurn(*inner, lambda: deployment.model, asks, counted=deployment.usage.of(TURN))
