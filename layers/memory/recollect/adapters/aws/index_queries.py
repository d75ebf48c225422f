"""One nominate request as searches (the arms, the user's statistics, the tally), and their answers as nominations.

Every search filters by itself. Nominations have each record once, ranked within its arms by Recollect's own scores.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from recollect.adapters.aws.index_format import (
    FETCHED_FIELDS,
    candidate_of,
    counts_of,
    owner_of,
    sent_vector,
    vectors_of,
)
from recollect.adapters.aws.index_where import having, where_clause
from recollect.core.event import Role
from recollect.core.filter import EVERYTHING
from recollect.core.scope import Scope
from recollect.core.time import microseconds
from recollect.core.vectors import FloatArray, unit
from recollect.retrieval.filters import DropReason, SearchFilters, metadata_facets
from recollect.retrieval.nomination import MOST_STANDING, Arm, Candidate, NominationRequest, Nominations, Tally
from recollect.text.terms import TermStatistics, bm25
from recollect.timeline.timeline import COUNTED_RECORDS

Clause: TypeAlias = dict[str, Any]
Body: TypeAlias = dict[str, Any]

LEXICAL, VECTOR, CORPUS, FREQUENCIES, TALLY = "lexical", "vector", "corpus", "frequencies", "tally"
OLD_LEXICAL, OLD_VECTOR, STANDING = "old lexical", "old vector", "standing"

# The engine weighs terms over all tenants' documents, Recollect over this user's: so the engine nominates more than
# are wanted, and Recollect's BM25 cuts them.
LEXICAL_MARGIN = 1.5

# The least breadth of the graph search: with 100 it missed one of the exact top 10 for 2 questions in
# 100 at 10,000 records and for 22 at 100,000 with many equal ones; with 400 for none, as fast (docs/adr/0003).
GRAPH_BREADTH = 400
_COSINE_TOLERANCE = 5e-7


@dataclass(frozen=True, slots=True)
class NominationQuery:
    """One request; `vector` and `standing` are its own at length 1, None where no document can be found by them."""

    scope: Scope
    request: NominationRequest
    vector: FloatArray | None
    standing: FloatArray | None = None

    @classmethod
    def of(cls, scope: Scope, request: NominationRequest, has_vectors: bool) -> "NominationQuery":
        """The query of an index that has vectors, or has none."""
        vector, standing = (_usable(one) if has_vectors else None for one in (request.vector, request.standing))
        return cls(scope, request, vector, standing)

    def searches(self) -> dict[str, Body]:
        """The searches by name, for one `msearch`."""
        found = {CORPUS: self._corpus()}
        old = self.request.most_superseded
        if self.request.terms:
            found |= {LEXICAL: self._lexical(self._admitted, self.request.limit), FREQUENCIES: self._frequencies()}
        if self.request.terms and old:
            found[OLD_LEXICAL] = self._lexical(self._superseded, old)
        if self.vector is not None:
            found[VECTOR] = self._vector(self.vector, self._admitted, self.request.limit)
        if self.vector is not None and old:
            found[OLD_VECTOR] = self._vector(self.vector, self._superseded, old)
        if self.standing is not None:
            own_words = {"bool": {"must_not": [_term("role", Role.BOT)]}}
            found[STANDING] = self._vector(self.standing, [*self._admitted, own_words], MOST_STANDING)
        if self.request.count:
            found[TALLY] = self._tally()
        return found

    @property
    def _admitted(self) -> list[Clause]:
        rules = passes(self.scope, self.request.filters)
        return [_term("owner", owner_of(self.scope)), *(clause for rule in rules.values() for clause in rule)]

    @property
    def _superseded(self) -> list[Clause]:
        """The filter of those that supersession alone drops."""
        rules = passes(self.scope, self.request.filters) | {DropReason.SUPERSEDED: [_term("superseded", True)]}
        return [_term("owner", owner_of(self.scope)), *(clause for rule in rules.values() for clause in rule)]

    @property
    def _public(self) -> list[Clause]:
        return [_term("owner", owner_of(self.scope)), _term("is_private", False)]

    def _lexical(self, among: list[Clause], limit: int) -> Body:
        return {
            "size": round(limit * LEXICAL_MARGIN),
            "track_total_hits": False,
            "_source": FETCHED_FIELDS,
            "query": {"bool": {"filter": among, "must": [_any_of(self.request.terms)]}},
            "sort": [{"_score": "desc"}, {"timestamp": "desc"}, {"event_id": "desc"}],
        }

    def _vector(self, vector: FloatArray, among: list[Clause], limit: int) -> Body:
        nearest = {
            "vector": sent_vector(vector),
            "k": limit,
            "filter": _all_of(among),
            "method_parameters": {"ef_search": max(GRAPH_BREADTH, limit)},
        }
        return {
            "size": limit,
            "track_total_hits": False,
            "_source": FETCHED_FIELDS,
            "query": {"knn": {"vector": nearest}},
        }

    def _corpus(self) -> Body:
        """Without `now` or terms, so that the engine may answer it from its request cache."""
        return {
            "size": 0,
            "track_total_hits": True,
            "query": _all_of(self._public),
            "aggs": {"terms": {"sum": {"field": "length"}}},
        }

    def _frequencies(self) -> Body:
        terms = [_term("terms", term) for term in self.request.terms]
        return {
            "size": 0,
            "track_total_hits": False,
            "query": _all_of([*self._public, _any_of(self.request.terms)]),
            "aggs": {"documents": {"filters": {"filters": terms}}},
        }

    def _tally(self) -> Body:
        return {
            "size": 0,
            "track_total_hits": False,
            "terminate_after": COUNTED_RECORDS + 1,
            "query": _all_of([_term("owner", owner_of(self.scope))]),
            "aggs": self._reasons() | self._remaining(),
        }

    def _reasons(self) -> dict[str, Any]:
        """Each record under the first reason that drops it."""
        passed: list[Clause] = []
        reasons: dict[str, Clause] = {}
        for reason, rule in passes(self.scope, self.request.filters).items():
            reasons[reason.value] = {"bool": {"filter": list(passed), "must_not": [_all_of(rule)]}}
            passed.extend(rule)
        return {"reasons": {"filters": {"filters": reasons}}}

    def _remaining(self) -> dict[str, Any]:
        """The records that no reason drops, and how many of them are similar enough, where that is asked."""
        remaining: Clause = {"filter": _all_of(self._admitted)}
        if self.vector is not None and self.request.min_similarity is not None:
            remaining["aggs"] = {"similar": {"filter": _reaching(self.vector, self.request.min_similarity)}}
        return {"remaining": remaining}


def _usable(vector: FloatArray | None) -> FloatArray | None:
    return unit(vector) if vector is not None and vector.any() else None


def passes(scope: Scope, filters: SearchFilters) -> dict[DropReason, list[Clause]]:
    """The conditions of records that a reason does not drop, in the order of `filters.drop_reason`."""
    current = [] if filters.admits_superseded else [_term("superseded", False)]
    rules = {
        DropReason.SCOPE: _equal(persona_id=scope.persona_id, household_id=scope.household_id),
        DropReason.PRIVATE: [_term("is_private", False)],
        DropReason.EXPIRED: [{"bool": {"must_not": [_range("expires_at", latest=filters.now)]}}],
        DropReason.SUPERSEDED: current,
        DropReason.WINDOW: _in_time(filters),
        DropReason.FILTER: _fitting(filters),
    }
    return {reason: rule for reason, rule in rules.items() if rule}


def _in_time(filters: SearchFilters) -> list[Clause]:
    found = []
    if filters.window.start is not None or filters.latest is not None:
        found.append(_range("timestamp", filters.window.start, filters.latest))
    if filters.recorded_as_of is not None:
        found.append(_range("recorded_at", latest=filters.recorded_as_of))
    return found


def _fitting(filters: SearchFilters) -> list[Clause]:
    named = _equal(
        conversation_id=filters.conversation_id,
        event_type=filters.event_type,
        key=filters.key,
        space_id=filters.space_id,
        source=filters.source,
    )
    tags = [_term("tags", tag) for tag in filters.tags]
    facets = [_term("facets", facet) for facet in metadata_facets(filters.metadata)]
    where = [] if filters.where == EVERYTHING else [where_clause(filters.where)]
    return [*named, *tags, *facets, *map(having, filters.labels), *where]


def _reaching(vector: FloatArray, cosine: float) -> Clause:
    """Exactly the vectors of that cosine and more.

    By distance: the scale of the cosine's own score changed between OpenSearch 2 and 3, 1 / (1 + d²) has not.
    """
    squared_distance = max(0.0, 2 - 2 * (cosine - _COSINE_TOLERANCE))
    params = {"field": "vector", "query_value": sent_vector(vector), "space_type": "l2"}
    return {
        "script_score": {
            "query": {"exists": {"field": "vector"}},
            "script": {"lang": "knn", "source": "knn_score", "params": params},
            "min_score": 1 / (1 + squared_distance),
        }
    }


def _any_of(terms: Sequence[str]) -> Clause:
    return {"bool": {"should": [_term("terms", term) for term in terms], "minimum_should_match": 1}}


def _all_of(clauses: Sequence[Clause]) -> Clause:
    return {"bool": {"filter": list(clauses)}}


def _equal(**asked: str | None) -> list[Clause]:
    return [_term(name, value) for name, value in asked.items() if value is not None]


def _term(name: str, value: str | bool) -> Clause:
    return {"term": {name: {"value": value}}}


def _range(name: str, earliest: datetime | None = None, latest: datetime | None = None) -> Clause:
    ends = {"gte": earliest, "lte": latest}
    return {"range": {name: {end: microseconds(moment) for end, moment in ends.items() if moment is not None}}}


Sources: TypeAlias = dict[str, Mapping[str, Any]]  # as fetched, by event id


def nominations_of(query: NominationQuery, answers: Mapping[str, Any]) -> Nominations:
    """The nominations in the answers of a query's searches, by their names."""
    statistics = _statistics(query, answers)
    found, old = _arms(answers, LEXICAL, VECTOR), _arms(answers, OLD_LEXICAL, OLD_VECTOR)
    standing = replace(query, vector=query.standing)
    return Nominations(
        _candidates(query, statistics, *found, query.request.limit),
        statistics,
        _tally(query, answers[TALLY]) if TALLY in answers else None,
        superseded=_candidates(query, statistics, *old, query.request.most_superseded),
        standing=_candidates(standing, statistics, {}, _sources(answers.get(STANDING)), MOST_STANDING),
    )


def _arms(answers: Mapping[str, Any], lexical: str, vector: str) -> tuple[Sources, Sources]:
    return _sources(answers.get(lexical)), _sources(answers.get(vector))


def _sources(answer: Mapping[str, Any] | None) -> Sources:
    found = answer.get("hits", {}).get("hits", []) if answer else []
    return {hit["_source"]["event_id"]: hit["_source"] for hit in found}


def _statistics(query: NominationQuery, answers: Mapping[str, Any]) -> TermStatistics:
    corpus = answers[CORPUS]
    terms = query.request.terms
    buckets = answers[FREQUENCIES]["aggregations"]["documents"]["buckets"] if terms else []
    frequency = {term: bucket["doc_count"] for term, bucket in zip(terms, buckets, strict=True)}
    return TermStatistics(corpus["hits"]["total"]["value"], round(corpus["aggregations"]["terms"]["value"]), frequency)


def _candidates(
    query: NominationQuery, statistics: TermStatistics, lexical: Sources, vector: Sources, limit: int
) -> tuple[Candidate, ...]:
    """Features are read once for each record, whatever arms found it."""
    sources = lexical | vector
    counts = {event_id: counts_of(source, query.request.terms) for event_id, source in sources.items()}
    vectors = vectors_of(sources)
    ranks: dict[str, dict[Arm, int]] = {}
    for arm, best in (
        (Arm.LEXICAL, _by_bm25(query, statistics, lexical, counts)),
        (Arm.VECTOR, _by_cosine(query, vector, vectors)),
    ):
        for rank, event_id in enumerate(best[:limit], start=1):
            ranks.setdefault(event_id, {})[arm] = rank
    return tuple(candidate_of(sources[i], arms, counts[i], vectors.get(i)) for i, arms in ranks.items())


def _by_bm25(
    query: NominationQuery, statistics: TermStatistics, found: Sources, counts: Mapping[str, Mapping[str, int]]
) -> list[str]:
    terms = query.request.terms
    scores = (round(bm25(statistics, counts[i], source["length"], terms), 9) for i, source in found.items())
    return _best_first(found, scores)


def _by_cosine(query: NominationQuery, found: Sources, vectors: Mapping[str, FloatArray]) -> list[str]:
    if query.vector is None or not found:
        return []
    import numpy as np

    matrix = np.stack([vectors[event_id] for event_id in found])
    cosines = matrix @ query.vector / np.linalg.norm(matrix, axis=1)
    return _best_first(found, (round(cosine, 6) for cosine in cosines.tolist()))


def _best_first(found: Sources, scores: Iterable[float]) -> list[str]:
    """Ties: the newer first, then the later id."""
    places = zip(scores, found.items(), strict=True)
    order = sorted(((score, source["timestamp"], event_id) for score, (event_id, source) in places), reverse=True)
    return [event_id for _, _, event_id in order]


def _tally(query: NominationQuery, answer: Mapping[str, Any]) -> Tally:
    """All from one pass over the records, so that the figures add up where the engine stopped early, too."""
    found = answer["aggregations"]
    dropped = {DropReason(reason): bucket["doc_count"] for reason, bucket in found["reasons"]["buckets"].items()}
    remaining = found["remaining"]["doc_count"]
    considered = remaining + sum(dropped.values())
    similar = found["remaining"].get("similar")
    if similar is not None:
        dropped[DropReason.THRESHOLD] = remaining - similar["doc_count"]
    counted = query.request.min_similarity is None or similar is not None
    exact = counted and considered <= COUNTED_RECORDS and not answer.get("terminated_early")
    return Tally(considered, {reason: count for reason, count in dropped.items() if count}, exact)
