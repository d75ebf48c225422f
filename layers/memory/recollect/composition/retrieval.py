"""Search, and search by intent."""

from functools import cached_property

from recollect.composition.deployment import Deployment
from recollect.composition.search_index import SearchIndexUseCases
from recollect.retrieval.pipeline import SearchPipeline
from recollect.retrieval.ranking import RankingPolicy
from recollect.retrieval.search import SearchMemory


class RetrievalUseCases:
    """`app.retrieval`."""

    def __init__(self, deployment: Deployment, search_index: SearchIndexUseCases) -> None:
        self._parts = deployment.parts
        self._search_index = search_index

    @cached_property
    def pipeline(self) -> SearchPipeline:
        """What search and context share."""
        parts = self._parts
        index, policy = self._search_index.in_use, RankingPolicy()
        return SearchPipeline(parts.timeline, parts.items, index, parts.embedder, parts.concurrency, policy)

    @cached_property
    def search(self) -> SearchMemory:
        """`POST /v1/search`."""
        return SearchMemory(self.pipeline)
