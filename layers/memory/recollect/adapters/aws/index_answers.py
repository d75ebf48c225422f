"""What the engine answered, as nominations: each record once, ranked within its arms by the domain's own scores."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from recollect.adapters.aws.index_documents import counts_of, hit_of, vectors_of
from recollect.adapters.aws.index_queries import (
    CORPUS,
    FREQUENCIES,
    LEXICAL,
    OLD_LEXICAL,
    OLD_VECTOR,
    TALLY,
    VECTOR,
    Wave,
)
from recollect.domain.candidate import Arm, Candidate
from recollect.domain.embedding import FloatArray
from recollect.domain.filters import DropReason
from recollect.domain.lexical import TermStatistics, bm25
from recollect.domain.nomination import Nominations, Tally
from recollect.domain.timeline import COUNTED_RECORDS

Sources: TypeAlias = dict[str, Mapping[str, Any]]  # as fetched, by event id


def nominations_of(wave: Wave, answers: Mapping[str, Any]) -> Nominations:
    """Reads the answers to a wave's searches, by their names."""
    statistics = _statistics(wave, answers)
    found, old = _arms(answers, LEXICAL, VECTOR), _arms(answers, OLD_LEXICAL, OLD_VECTOR)
    return Nominations(
        _hits(wave, statistics, *found, wave.request.limit),
        statistics,
        _tally(wave, answers[TALLY]) if TALLY in answers else None,
        superseded=_hits(wave, statistics, *old, wave.request.most_superseded),
    )


def _arms(answers: Mapping[str, Any], lexical: str, vector: str) -> tuple[Sources, Sources]:
    return _sources(answers.get(lexical)), _sources(answers.get(vector))


def _sources(answer: Mapping[str, Any] | None) -> Sources:
    found = answer.get("hits", {}).get("hits", []) if answer else []
    return {hit["_source"]["event_id"]: hit["_source"] for hit in found}


def _statistics(wave: Wave, answers: Mapping[str, Any]) -> TermStatistics:
    corpus = answers[CORPUS]
    terms = wave.request.terms
    buckets = answers[FREQUENCIES]["aggregations"]["documents"]["buckets"] if terms else []
    frequency = {term: bucket["doc_count"] for term, bucket in zip(terms, buckets, strict=True)}
    return TermStatistics(corpus["hits"]["total"]["value"], round(corpus["aggregations"]["terms"]["value"]), frequency)


def _hits(
    wave: Wave, statistics: TermStatistics, lexical: Sources, vector: Sources, limit: int
) -> tuple[Candidate, ...]:
    """Features are read once for each record, whatever arms found it."""
    sources = lexical | vector
    counts = {event_id: counts_of(source, wave.request.terms) for event_id, source in sources.items()}
    vectors = vectors_of(sources)
    ranks: dict[str, dict[Arm, int]] = {}
    for arm, best in (
        (Arm.LEXICAL, _by_bm25(wave, statistics, lexical, counts)),
        (Arm.VECTOR, _by_cosine(wave, vector, vectors)),
    ):
        for rank, event_id in enumerate(best[:limit], start=1):
            ranks.setdefault(event_id, {})[arm] = rank
    return tuple(hit_of(sources[i], arms, counts[i], vectors.get(i)) for i, arms in ranks.items())


def _by_bm25(
    wave: Wave, statistics: TermStatistics, found: Sources, counts: Mapping[str, Mapping[str, int]]
) -> list[str]:
    terms = wave.request.terms
    scores = (round(bm25(statistics, counts[i], source["length"], terms), 9) for i, source in found.items())
    return _best_first(found, scores)


def _by_cosine(wave: Wave, found: Sources, vectors: Mapping[str, FloatArray]) -> list[str]:
    if wave.vector is None or not found:
        return []
    import numpy as np

    matrix = np.stack([vectors[event_id] for event_id in found])
    cosines = matrix @ wave.vector / np.linalg.norm(matrix, axis=1)
    return _best_first(found, (round(cosine, 6) for cosine in cosines.tolist()))


def _best_first(found: Sources, scores: Iterable[float]) -> list[str]:
    """Ties: the newer first, then the later id."""
    places = zip(scores, found.items(), strict=True)
    order = sorted(((score, source["timestamp"], event_id) for score, (event_id, source) in places), reverse=True)
    return [event_id for _, _, event_id in order]


def _tally(wave: Wave, answer: Mapping[str, Any]) -> Tally:
    """Counted from the same pass over the records, so that the figures add up where the engine stopped early, too."""
    found = answer["aggregations"]
    dropped = {DropReason(reason): bucket["doc_count"] for reason, bucket in found["reasons"]["buckets"].items()}
    kept = found["kept"]["doc_count"]
    considered = kept + sum(dropped.values())
    similar = found["kept"].get("similar")
    if similar is not None:
        dropped[DropReason.THRESHOLD] = kept - similar["doc_count"]
    told = wave.request.min_similarity is None or similar is not None
    exact = told and considered <= COUNTED_RECORDS and not answer.get("terminated_early")
    return Tally(considered, {reason: count for reason, count in dropped.items() if count}, exact)
