"""The order of search results: named signals over typed candidates, mixed by a policy with documented weights.

Engines only nominate; this module decides, so that SQLite and OpenSearch give one order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

import numpy

from recollect.domain.embedding import FloatArray
from recollect.domain.event import EventRef
from recollect.domain.lexical import TermStatistics, bm25
from recollect.domain.nomination import Arm


class Mode(StrEnum):
    """How a search ranks: both signals, the cosine alone, or BM25 alone."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A record that may be shown, with what is known of it for this query."""

    ref: EventRef
    arms: Mapping[Arm, int]
    counts: Mapping[str, int]
    length: int
    vector: FloatArray | None
    role: str
    speaker: str | None
    importance: float

    @property
    def timestamp(self) -> datetime:
        """When it was said."""
        return self.ref.timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The question as the ranker sees it."""

    text: str
    terms: tuple[str, ...]
    vector: FloatArray | None
    mode: Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingPolicy:
    """Weights of the normalised signals in hybrid mode; docs/benchmarks.md holds the ablation behind them.

    `vector` and `lexical` are the two arms' shares, `named_speaker` goes to what the one person said whom the
    question names, `said_by_user` to the user's own words where an assistant speaks too.
    """

    vector: float = 0.5
    lexical: float = 0.3
    named_speaker: float = 0.1
    said_by_user: float = 0.2


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score, the raw signals, and each signal's share of the score."""

    candidate: Candidate
    score: float
    signals: Mapping[str, float]
    shares: Mapping[str, float]


def rank(
    candidates: Sequence[Candidate], query: Query, statistics: TermStatistics, policy: RankingPolicy
) -> list[Ranked]:
    """Best first; ties: newer first, then id (A-25)."""
    similarity = similarities(candidates, query.vector)
    lexical = [bm25(statistics, c.counts, c.length, query.terms) for c in candidates]
    if query.mode is Mode.HYBRID:
        ranked = _mixed(candidates, query, similarity, lexical, policy)
    else:
        name = "similarity" if query.mode is Mode.SEMANTIC else "bm25"
        both = zip(candidates, similarity, lexical, strict=True)
        ranked = [one for c, s, b in both if (one := _single(c, name, {"similarity": s, "bm25": b})) is not None]
    return sorted(ranked, key=_order, reverse=True)


def similarities(candidates: Sequence[Candidate], vector: FloatArray | None) -> list[float | None]:
    """The cosine of each candidate to the query's vector; None where either has none."""
    known = [index for index, c in enumerate(candidates) if vector is not None and c.vector is not None]
    found: list[float | None] = [None] * len(candidates)
    if vector is None or not known:
        return found
    matrix = numpy.stack([v for index in known if (v := candidates[index].vector) is not None])
    norms = numpy.linalg.norm(matrix, axis=1) * numpy.linalg.norm(vector)
    cosines = matrix @ vector / numpy.where(norms == 0, 1, norms)
    for index, cosine in zip(known, cosines, strict=True):
        found[index] = round(float(cosine), 6)
    return found


def _single(candidate: Candidate, name: str, raw: Mapping[str, float | None]) -> Ranked | None:
    """Ranked by one signal alone; None where the candidate has no such signal. The others are there to be read."""
    score = raw[name]
    signals = {signal: value for signal, value in raw.items() if value is not None}
    return None if score is None else Ranked(candidate, score, MappingProxyType(signals), MappingProxyType({name: 1.0}))


def _mixed(
    candidates: Sequence[Candidate],
    query: Query,
    similarity: Sequence[float | None],
    lexical: Sequence[float],
    policy: RankingPolicy,
) -> list[Ranked]:
    normal = {
        "similarity": by_maximum([max(0.0, value or 0.0) for value in similarity]),
        "bm25": by_maximum(lexical),
        "named_speaker": named_speaker(candidates, query.text),
        "said_by_user": said_by_user(candidates),
    }
    weights = {
        "similarity": policy.vector,
        "bm25": policy.lexical,
        "named_speaker": policy.named_speaker,
        "said_by_user": policy.said_by_user,
    }
    raw = {**normal, "similarity": similarity, "bm25": lexical}
    return [
        _ranked(c, {n: weights[n] * normal[n][i] for n in weights}, {n: raw[n][i] for n in raw})
        for i, c in enumerate(candidates)
    ]


def _ranked(candidate: Candidate, parts: Mapping[str, float], raw: Mapping[str, float | None]) -> Ranked:
    signals = {name: value for name, value in raw.items() if value is not None}
    return Ranked(candidate, sum(parts.values()), MappingProxyType(signals), MappingProxyType(dict(parts)))


def named_speaker(candidates: Sequence[Candidate], text: str) -> list[float]:
    """1 for what the one person said whom the question names; all 0 where it names none or several."""
    asked = text.casefold()
    speakers = {c.speaker for c in candidates if c.speaker}
    named = {speaker for speaker in speakers if _mentions(asked, speaker.casefold())}
    return [1.0 if len(named) == 1 and c.speaker in named else 0.0 for c in candidates]


def _mentions(text: str, name: str) -> bool:
    position = text.find(name)
    while position >= 0:
        before, after = text[position - 1 : position], text[position + len(name) : position + len(name) + 1]
        if not before.isalnum() and not after.isalnum():
            return True
        position = text.find(name, position + 1)
    return False


def said_by_user(candidates: Sequence[Candidate]) -> list[float]:
    """1 for the user's own words, where an assistant is among the candidates; else all 0."""
    if all(c.role == "user" for c in candidates):
        return [0.0] * len(candidates)
    return [1.0 if c.role == "user" else 0.0 for c in candidates]


def by_maximum(values: Sequence[float]) -> list[float]:
    """Each value as a share of the greatest; all 0 where none is above 0.

    The scale's zero is "not alike at all" and "no such word", not the weakest nomination: so it does not depend on how
    far down an engine happened to read, and on the dev sets it beat the span between weakest and best by .036 and .007.
    """
    high = max(values, default=0.0)
    return [value / high if high > 0 else 0.0 for value in values]


def _order(ranked: Ranked) -> tuple[float, datetime, str]:
    return round(ranked.score, 9), ranked.candidate.ref.timestamp, ranked.candidate.ref.id
