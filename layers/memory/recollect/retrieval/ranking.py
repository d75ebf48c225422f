"""The order of search results: named signals over typed candidates, mixed by a policy with documented weights.

Engines only nominate; this module decides, so that SQLite and OpenSearch give one order.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import repeat
from types import MappingProxyType

from recollect.core.vectors import FloatArray, TokenVectors
from recollect.retrieval.nomination import ASKING, Candidate, rank_order
from recollect.retrieval.pooling import SimilarityScale, weighted_query_vector
from recollect.retrieval.signals import (
    BESIDE,
    Exchanges,
    Vectors,
    by_maximum,
    distinct_part,
    exchange_words,
    lexical_scores,
    named_dates,
    named_speaker,
    said_by_user,
    similarities,
    with_estimates,
)
from recollect.retrieval.timeliness import timely
from recollect.text.dates import date_hints
from recollect.text.terms import TermStatistics

QUESTION_SHARE = 0.3
"""The share of each signal that counts for a record in which a user only asks, in hybrid mode.

It is nearer to a question than any answer is, and states nothing. It lends its whole sum to what another speaker said
beside it, which may be its answer.
"""

_NO_MOMENT = datetime.max.replace(tzinfo=UTC)
_BY_VECTOR = ("weighted_similarity", "distinct_similarity")


class Mode(StrEnum):
    """How a search ranks: all signals, the cosine alone, or BM25 alone."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The query as the ranker sees it; `tokens` are those of its text, where the embedder gives them.

    `of_now` in [0, 1] is how far it asks how things are at `moment`.
    """

    text: str
    terms: tuple[str, ...]
    vector: FloatArray | None
    mode: Mode
    tokens: TokenVectors | None = None
    moment: datetime = _NO_MOMENT
    of_now: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingPolicy:
    """Weights of the signals in hybrid mode; docs/adr/0003 holds the ablation behind them.

    In the first four the best candidate has 1, the others their share of it.

    - `weighted_similarity`: the cosine of record and query, whose rarer words (in the user's records) weigh more; the
      plain cosine where the embedder gives no tokens.
    - `distinct_similarity`: the same by the part of the query that is not common to all candidates. If a record has no
      vector yet and others do, both are estimated by its words.
    - `bm25`: the record's own words.
    - `exchange_words`: its words, and those of the best record of its exchange.
    - `named_date`: it was said on a date that the query names.
    - `named_speaker`: it was said by the one person whom the query names.
    - `said_by_user`: the user's own words, where an assistant speaks too.
    - `exchange`: its share of the best sum of all these in its exchange, since an answer stands beside its question. A
      record that stands alone gets its own sum.
    - `beside`: the same among records at most two places away in its exchange.
    - `recent`, `outdone`, `renewed`: how much of the best score a candidate gains, loses and gains by these, where the
      query asks how things are now (`timeliness`).
    """

    weighted_similarity: float = 0.175
    distinct_similarity: float = 0.075
    bm25: float = 0.075
    exchange_words: float = 0.05
    named_date: float = 0.1
    named_speaker: float = 0.1
    said_by_user: float = 0.15
    exchange: float = 0.2
    beside: float = 0.2
    recent: float = 0.75
    outdone: float = 0.6
    renewed: float = 0.55


class Row(Mapping[str, float]):
    """One candidate's values out of columns that all share, less those that it does not have: most are never read."""

    __slots__ = ("_columns", "_place")

    def __init__(self, columns: Mapping[str, Sequence[float | None]], place: int) -> None:
        self._columns = columns
        self._place = place

    def __getitem__(self, name: str) -> float:
        value = self._columns[name][self._place]
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return (name for name, values in self._columns.items() if values[self._place] is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score, the raw signals, and each signal's share of the score."""

    candidate: Candidate
    score: float
    signals: Mapping[str, float]
    shares: Mapping[str, float]

    @property
    def id(self) -> str:
        return self.candidate.ref.id


def rank(
    candidates: Sequence[Candidate], query: Query, statistics: TermStatistics, policy: RankingPolicy
) -> list[Ranked]:
    """Best first; ties: newer first, then id (A-25)."""
    if query.mode is Mode.HYBRID:
        ranked = _mixed(candidates, query, statistics, policy)
    else:
        name = "similarity" if query.mode is Mode.SEMANTIC else "bm25"
        lexical = lexical_scores(candidates, statistics, query.terms)
        (similarity,) = similarities(Vectors.of(candidates), query.vector)
        both = zip(candidates, similarity, lexical, strict=True)
        ranked = [one for c, s, b in both if (one := _single(c, name, {"similarity": s, "bm25": b})) is not None]
    return sorted(ranked, key=lambda one: rank_order(one.candidate, one.score), reverse=True)


def on_scale(ranked: Sequence[Ranked], scale: SimilarityScale, mode: Mode) -> tuple[Ranked, ...]:
    """The same order with similarities instead of cosines, which stand beside them; in semantic mode as scores too."""
    if scale.slope is None:
        return tuple(ranked)
    return tuple(_on_scale(one, scale, mode) for one in ranked)


def _on_scale(ranked: Ranked, scale: SimilarityScale, mode: Mode) -> Ranked:
    cosine = ranked.signals.get("similarity")
    if cosine is None:
        return ranked
    similarity = round(scale.similarity(cosine), 6)
    signals = {**ranked.signals, "similarity": similarity, "cosine": cosine}
    return replace(ranked, signals=signals, score=similarity if mode is Mode.SEMANTIC else ranked.score)


def _single(candidate: Candidate, name: str, raw: Mapping[str, float | None]) -> Ranked | None:
    score = raw[name]
    signals = {signal: value for signal, value in raw.items() if value is not None}
    return None if score is None else Ranked(candidate, score, MappingProxyType(signals), MappingProxyType({name: 1.0}))


def _mixed(
    candidates: Sequence[Candidate], query: Query, statistics: TermStatistics, policy: RankingPolicy
) -> list[Ranked]:
    """The weighted sum of all signals, then shares of the best sums of the exchange and of its neighbours."""
    lexical = lexical_scores(candidates, statistics, query.terms)
    exchanges = Exchanges.of(candidates)
    keeps = [QUESTION_SHARE if candidate.role == ASKING else 1.0 for candidate in candidates]
    similarity, raw = _measures(candidates, query, statistics)
    raw |= {"bm25": lexical, "exchange_words": exchange_words(lexical, exchanges.best(lexical))}
    normal = {name: by_maximum(values, keeps) for name, values in raw.items()}
    known = [cosine is not None for cosine in similarity]
    normal |= {name: with_estimates(normal[name], known, normal["bm25"]) for name in _BY_VECTOR}
    hints = {
        "named_date": named_dates(candidates, date_hints(query.text)),
        "named_speaker": named_speaker(candidates, query.text),
        "said_by_user": said_by_user(candidates),
    }
    parts = {name: _weighed(values, getattr(policy, name), keeps) for name, values in (normal | hints).items()}
    sums = _sums(parts.values())
    wholes = [total / keep for total, keep in zip(sums, keeps, strict=True)]
    lifts = {"exchange": exchanges.best(wholes), "beside": exchanges.best(wholes, BESIDE)}
    lifted = {name: _weighed(values, getattr(policy, name), keeps) for name, values in lifts.items()}
    scores = _sums([sums, *lifted.values()])
    timeliness, of_time = timely_shares(candidates, scores, query, policy)
    scores = _sums([scores, *of_time.values()])
    signals = {"similarity": similarity, **raw, **hints, **lifts, **timeliness}
    return _ranked(candidates, scores, signals, parts | lifted | of_time)


def _sums(columns: Iterable[Sequence[float]]) -> list[float]:
    """The sum of each row."""
    return list(map(sum, zip(*columns, strict=True)))


def timely_shares(
    candidates: Sequence[Candidate], scores: Sequence[float], query: Query, policy: RankingPolicy
) -> tuple[Mapping[str, list[float]], dict[str, list[float]]]:
    """The signals of what holds now among candidates with these scores, and what each adds to a score."""
    signals, best = timely(candidates, scores, query.moment, query.of_now), max(scores, default=0.0)
    weights = {"recent": policy.recent, "outdone": -policy.outdone, "renewed": policy.renewed}
    return signals, {name: _times(signals[name], weight * best) for name, weight in weights.items()}


def _times(values: Sequence[float], weight: float) -> list[float]:
    return [weight * value for value in values]


def _measures(
    candidates: Sequence[Candidate], query: Query, statistics: TermStatistics
) -> tuple[Sequence[float | None], dict[str, Sequence[float | None]]]:
    weighted, vectors = query.vector, Vectors.of(candidates)
    if query.tokens is not None and weighted is not None:
        weighted = weighted_query_vector(query.tokens, query.text, statistics)
    asked = query.vector, weighted, distinct_part(vectors, weighted)
    plain, of_words, of_the_rest = similarities(vectors, *asked)
    return plain, {"weighted_similarity": of_words, "distinct_similarity": of_the_rest}


def _weighed(values: Sequence[float], weight: float, keeps: Sequence[float]) -> list[float]:
    return [weight * value * share for value, share in zip(values, keeps, strict=True)]


def _ranked(
    candidates: Sequence[Candidate],
    scores: Sequence[float],
    signals: Mapping[str, Sequence[float | None]],
    shares: Mapping[str, Sequence[float]],
) -> list[Ranked]:
    places = range(len(candidates))
    return list(map(Ranked, candidates, scores, map(Row, repeat(signals), places), map(Row, repeat(shares), places)))
