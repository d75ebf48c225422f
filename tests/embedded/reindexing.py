"""Another embedder over the same memory, and jobs run to their end."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from embedded.setting import Memory, with_parts
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.core.learned_share import NOTHING_LEARNED
from recollect.core.vectors import Encoding, FloatArray, TextKind
from recollect.jobs.job import Job, JobStatus
from recollect.jobs.run import JobOrder
from recollect.retrieval.pooling import COSINE

OTHER = "other.1"


class OtherEmbedder:
    """Its vectors are shorter, and `encoded` tells what it was asked for."""

    generation = OTHER
    dimension = 128
    similarity_scale = question_scale = COSINE
    learned = NOTHING_LEARNED

    def __init__(self) -> None:
        self._hashing = HashingEmbedder()
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        """Folds the vectors of the hashing embedder."""
        if kind is TextKind.PASSAGE:
            self.encoded += texts
        found = self._hashing.encode(texts, kind, with_tokens=with_tokens)
        return [Encoding(folded(encoding.vector), None) for encoding in found]


def folded(vector: FloatArray) -> FloatArray:
    """128 numbers of unit length."""
    sums: FloatArray = vector.reshape(3, 128).sum(axis=0).astype(np.float32)
    return (sums / (np.linalg.norm(sums) or 1.0)).astype(np.float32)


def with_embedder(memory: Memory, embedder: OtherEmbedder | HashingEmbedder | None) -> Memory:
    """The same memory in a process that has this embedder, or none because its model is missing."""
    database = memory.app.parts._database  # type: ignore[attr-defined] # of the laptop's parts only
    generation = embedder.generation if embedder else None
    index = SqliteSearchIndex(database, generation, embedder.dimension if embedder else None)
    return with_parts(memory, embedder=embedder, index=index)


def run_job(memory: Memory, kind: str, tenant: str = "acme", **parameters: Any) -> Job:
    """Starts a job and runs it to its end."""
    now = datetime.now(UTC)
    order = JobOrder(kind=kind, parameters=parameters, now=memory.now, real_now=now)
    job = memory.app.jobs.start(tenant, order, memory.app.ids.seed(int(now.timestamp() * 1000)))
    ended = memory.app.job_runs.one(tenant, job.id, lambda: datetime.now(UTC), lambda: 100.0)
    assert ended.finished, ended
    return ended


def reindexed(memory: Memory, tenant: str = "acme", **parameters: Any) -> Mapping[str, int]:
    """The counts of a reindex that went well."""
    job = run_job(memory, "reindex", tenant, **parameters)
    assert (job.status, dict(job.errors)) == (JobStatus.DONE, {})
    return job.counts


def stepped(memory: Memory, tenant: str, between: Callable[[Mapping[str, Any]], None], **parameters: Any) -> None:
    """A reindex, a step at a time without any time left, with something done between the steps."""
    state: Mapping[str, Any] = parameters
    for _ in range(10_000):
        progress = memory.app.reindexing.reindex.step(tenant, state, memory.now, lambda: 0.0)
        assert not progress.errors
        if progress.done:
            return
        state = progress.state
        between(state)
    raise AssertionError("it never ends")
