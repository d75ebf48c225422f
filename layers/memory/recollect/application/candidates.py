"""Candidates from events that no index shows yet."""

from collections import Counter
from collections.abc import Mapping, Sequence

from recollect.domain.candidate import Arm, Candidate
from recollect.domain.documents import voice_of
from recollect.domain.embedding import FloatArray
from recollect.domain.event import Event
from recollect.domain.lexical import TermStatistics, terms


def candidate_of_event(
    event: Event, query: Sequence[str], vector: FloatArray | None, arms: Mapping[Arm, int]
) -> Candidate:
    """The features that an index would tell, made from the record itself."""
    counted = Counter(terms(event.searchable_text))
    return Candidate(
        ref=event.ref,
        arms=arms,
        conversation_id=event.conversation_id,
        counts={term: counted[term] for term in query if counted[term]},
        length=counted.total(),
        vector=vector,
        role=voice_of(event),
        speaker=event.speaker,
        importance=event.importance,
    )


def statistics_of(candidates: Sequence[Candidate], query: Sequence[str]) -> TermStatistics:
    """Term statistics of the candidates alone, where no engine has better ones."""
    frequency = {term: sum(1 for c in candidates if c.counts.get(term)) for term in query}
    return TermStatistics(len(candidates), sum(c.length for c in candidates), frequency)
