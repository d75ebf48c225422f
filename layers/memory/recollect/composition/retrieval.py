"""Search, and search by intent."""

from dataclasses import dataclass
from functools import cached_property

from recollect.composition.deployment import UseCases
from recollect.composition.search_index import SearchIndexUseCases
from recollect.retrieval.pipeline import SearchPipeline
from recollect.retrieval.ranking import RankingPolicy
from recollect.retrieval.search import SearchMemory
from recollect.retrieval.second_stage import SecondStage
from recollect.usage import SEARCH

_RANKING = RankingPolicy()


@dataclass(eq=False)
class RetrievalUseCases(UseCases):
    """`app.retrieval`."""

    _search_index: SearchIndexUseCases

    @cached_property
    def pipeline(self) -> SearchPipeline:
        """The retrieval that search and context share."""
        parts = self._parts
        index = self._search_index.in_use
        return SearchPipeline(parts.timeline, parts.items, index, parts.embedder, parts.concurrency, _RANKING)

    @cached_property
    def memory(self) -> SearchMemory:
        """`POST /v1/search`."""
        return SearchMemory(self.pipeline, self.second_stage, self._deployment.usage.of(SEARCH))

    @cached_property
    def uncounted(self) -> SearchMemory:
        """The same for a page of the console, which nobody has asked to search."""
        return SearchMemory(self.pipeline, self.second_stage)

    @cached_property
    def second_stage(self) -> SecondStage:
        """What reads question and hit together; without a model it changes nothing."""
        return SecondStage(self._parts.relevance_model, _RANKING)
