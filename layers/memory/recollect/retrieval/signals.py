"""Signals of the ranking: pure functions over candidates, one number for each of them, in their order.

A hint is 0 for all where query or records lack what it looks for: a name, a date, an assistant. Where no candidate has
a vector nothing here needs numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import mul

from recollect.core.vectors import FloatArray
from recollect.retrieval.nomination import ASKING, Candidate
from recollect.text.dates import DateHint
from recollect.text.terms import TermStatistics, bm25_scores

NEAR = timedelta(hours=1)
"""How far apart two records of one conversation are at most to be of one exchange."""

BESIDE = 2
"""How many places apart two records stand beside each other at most, among the candidates of their exchange."""

ENOUGH_TO_SHARE = 8
"""The fewest vectors that have a mean direction worth taking out."""

_NOTHING_LEFT = 1e-3
_OF_USERS = ("user", ASKING)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of candidates as one matrix, with their lengths.

    `known` are the places, of `count`, of candidates with a vector; `matrix` is (known, dimensions), None where none
    has.
    """

    count: int
    known: tuple[int, ...]
    matrix: FloatArray | None
    lengths: FloatArray | None

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> "Vectors":
        found = [(place, c.vector) for place, c in enumerate(candidates) if c.vector is not None]
        if not found:
            return cls(len(candidates), (), None, None)
        import numpy

        matrix = numpy.array([vector for _, vector in found])
        return cls(len(candidates), tuple(place for place, _ in found), matrix, _lengths(matrix))


def similarities(vectors: Vectors, *asked: FloatArray | None) -> list[list[float | None]]:
    """For each of the given vectors the cosines of the candidates to it; None where either has no vector."""
    return [_cosines(vectors, vector) for vector in asked]


def _cosines(vectors: Vectors, vector: FloatArray | None) -> list[float | None]:
    found: list[float | None] = [None] * vectors.count
    if vector is None or vectors.matrix is None or vectors.lengths is None:
        return found
    import numpy

    norms = vectors.lengths * numpy.linalg.norm(vector)
    cosines = numpy.round((vectors.matrix @ vector / numpy.where(norms == 0, 1, norms)).astype(numpy.float64), 6)
    for place, cosine in zip(vectors.known, cosines.tolist(), strict=True):
        found[place] = cosine
    return found


def distinct_part(vectors: Vectors, vector: FloatArray | None) -> FloatArray | None:
    """The query's vector less its part along the candidates' mean direction, which tells none apart.

    Unchanged where fewer than `ENOUGH_TO_SHARE` have a vector; zero where they share all of it. Greetings and general
    talk, near every query, lie along that mean.
    """
    if vector is None or vectors.matrix is None or vectors.lengths is None or len(vectors.known) < ENOUGH_TO_SHARE:
        return vector
    import numpy

    whole = (vectors.matrix / numpy.where(vectors.lengths == 0, 1, vectors.lengths)[:, None]).sum(axis=0)
    shared = whole / (float(numpy.linalg.norm(whole)) or 1.0)
    left: FloatArray = vector - (vector @ shared) * shared
    return left if numpy.linalg.norm(left) > _NOTHING_LEFT * numpy.linalg.norm(vector) else left * 0


def _lengths(matrix: FloatArray) -> FloatArray:
    import numpy

    found: FloatArray = numpy.sqrt(numpy.einsum("ij,ij->i", matrix, matrix))
    return found


def lexical_scores(candidates: Sequence[Candidate], statistics: TermStatistics, terms: Sequence[str]) -> list[float]:
    return bm25_scores(statistics, ((c.counts, c.length) for c in candidates), terms)


@dataclass(frozen=True, slots=True)
class Exchanges:
    """Which candidates stand in one exchange: the same conversation, at most `NEAR` apart.

    Only candidates are compared. Reading two turns either side moved recall on the dev sets by less than their noise.
    `said` are the candidates' places in the order said, of which an exchange is a stretch: `spans` has start and end
    for each, `voices` a number for who speaks. `asking` are the places in that order of those that only ask. Ids order
    records of one instant.
    """

    said: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    voices: tuple[int, ...]
    asking: tuple[int, ...]

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> "Exchanges":
        order = sorted((c.conversation_id, c.ref.timestamp, c.ref.id, place) for place, c in enumerate(candidates))
        spans: list[tuple[int, int]] = []
        for _, talk in groupby(order, key=lambda one: one[0]):
            spans += _stretches([moment for _, moment, _, _ in talk], len(spans))
        ordered = [candidates[place] for _, _, _, place in order]
        asking = tuple(here for here, candidate in enumerate(ordered) if candidate.role == ASKING)
        return cls(tuple(place for *_, place in order), tuple(spans), tuple(numbered_voices(ordered)), asking)

    def best(self, values: Sequence[float], within: int | None = None) -> list[float]:
        """The greatest of these values that each candidate may take from its exchange, at least 0.

        It takes from itself too, and at most `within` places away, which are counted among the candidates. From a
        record that only asks it takes only if that is another speaker's.
        """
        found, lent = [0.0] * len(values), self._lent(values)
        known: dict[tuple[int, int, int], float] = {}
        for here, (place, voice, (start, end)) in enumerate(zip(self.said, self.voices, self.spans, strict=True)):
            if within is not None:
                start, end = max(start, here - within), min(end, here + within + 1)
            if (voice, start, end) not in known:  # most of an exchange have the same stretch
                known[voice, start, end] = max(lent[voice][start:end])
            found[place] = known[voice, start, end]
        return found

    def _lent(self, values: Sequence[float]) -> list[list[float]]:
        """For each voice the values in the order said, at least 0, and 0 for what lends nothing to it."""
        ordered = [max(0.0, values[place]) for place in self.said]
        lent = [ordered.copy() for _ in range(max(self.voices, default=-1) + 1)]
        for here in self.asking:
            lent[self.voices[here]][here] = 0.0
        return lent


def _stretches(moments: Sequence[datetime], before: int) -> list[tuple[int, int]]:
    """Start and end, by places after `before`, of what is at most `NEAR` away from each of these moments in order."""
    found = []
    start = end = 0
    for moment in moments:
        while moment - moments[start] > NEAR:
            start += 1
        while end < len(moments) and moments[end] - moment <= NEAR:
            end += 1
        found.append((before + start, before + end))
    return found


def numbered_voices(candidates: Sequence[Candidate]) -> list[int]:
    """A number from 0 for who speaks in each: an assistant is one, and each user who has a name."""
    numbers: dict[tuple[bool, str | None], int] = {}
    return [numbers.setdefault((one.role == "bot", one.speaker), len(numbers)) for one in candidates]


def exchange_words(lexical: Sequence[float], lent: Sequence[float]) -> list[float]:
    """BM25 of the candidate and of the best of its exchange, which may be itself."""
    return [own + other for own, other in zip(lexical, lent, strict=True)]


def named_dates(candidates: Sequence[Candidate], hints: Sequence[DateHint]) -> list[float]:
    """How narrow a date of the query the record falls into: 1 for a day, less for a month or a year."""
    if not hints:
        return [0.0] * len(candidates)
    return [max((hint.weight for hint in hints if hint.holds(c.timestamp)), default=0.0) for c in candidates]


def named_speaker(candidates: Sequence[Candidate], text: str) -> list[float]:
    """1 for records of the one speaker whom the query names; all 0 where it names none or several."""
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
    if all(c.role in _OF_USERS for c in candidates):
        return [0.0] * len(candidates)
    return [1.0 if c.role in _OF_USERS else 0.0 for c in candidates]


def by_maximum(values: Sequence[float | None], counted: Sequence[float]) -> list[float]:
    """Each value as a share of the greatest, from 0 to 1; 0 for one that is absent, all 0 where none is above 0.

    A value sets the scale by the share of it that counts: a question is no full measure of statements. 0 means "not
    alike" or "no such word", not the weakest nomination, so that shares do not depend on how far an engine read.
    """
    known = [value if value and value > 0 else 0.0 for value in values]
    high = max(map(mul, known, counted), default=0.0)
    return [1.0 if value > high else value / high for value in known] if high > 0 else known


def with_estimates(shares: Sequence[float], known: Sequence[bool], words: Sequence[float]) -> list[float]:
    """The shares of a similarity; unknown ones are estimated by the words.

    Of a record whose vector is not made yet: the mean of the known shares, and of the rest to 1 the share `words`, its
    share of the best BM25. Unchanged where all are known, or none is.
    """
    if all(known) or not any(known):
        return list(shares)
    usual = sum(share for share, is_known in zip(shares, known, strict=True) if is_known) / sum(known)
    both = zip(shares, known, words, strict=True)
    return [share if is_known else usual + (1 - usual) * word for share, is_known, word in both]
