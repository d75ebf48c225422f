"""Candidates: from an index's hit, or from an event that no index shows yet."""

from collections import Counter
from collections.abc import Mapping, Sequence

from recollect.domain.candidate import Candidate
from recollect.domain.embedding import FloatArray
from recollect.domain.event import Event
from recollect.domain.lexical import TermStatistics, terms
from recollect.domain.nomination import Arm, IndexHit


def candidate_of_hit(hit: IndexHit) -> Candidate:
    """What the index says of a record."""
    return Candidate(
        ref=hit.ref,
        arms=hit.arms,
        conversation_id=hit.conversation_id,
        counts=hit.counts,
        length=hit.length,
        vector=hit.vector,
        role=hit.role,
        speaker=hit.speaker,
        importance=hit.importance,
    )


def candidate_of_event(
    event: Event, query: Sequence[str], vector: FloatArray | None, arms: Mapping[Arm, int]
) -> Candidate:
    """The same features, made from the record itself."""
    counted = Counter(terms(event.searchable_text))
    return Candidate(
        ref=event.ref,
        arms=arms,
        conversation_id=event.conversation_id,
        counts={term: counted[term] for term in query if counted[term]},
        length=counted.total(),
        vector=vector,
        role=event.role,
        speaker=event.speaker,
        importance=event.importance,
    )


def statistics_of(candidates: Sequence[Candidate], query: Sequence[str]) -> TermStatistics:
    """Term statistics of the candidates alone, where no engine has better ones."""
    frequency = {term: sum(1 for c in candidates if c.counts.get(term)) for term in query}
    return TermStatistics(len(candidates), sum(c.length for c in candidates), frequency)
