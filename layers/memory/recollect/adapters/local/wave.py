"""One wave of the index: both arms, the hits that they name, and the tally."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from recollect.adapters.local.admission import Mask, admitted, labelled_rows, superseded_only, tests
from recollect.adapters.local.columns import Columns
from recollect.adapters.local.documents import term_prefix
from recollect.adapters.local.lexical_arm import READ_ENOUGH, READ_MOST, LexicalArm, user_statistics
from recollect.adapters.local.many import rows_among
from recollect.adapters.local.users import User
from recollect.adapters.local.vectors import VectorArm
from recollect.domain.candidate import Arm, Candidate
from recollect.domain.embedding import FloatArray
from recollect.domain.event import EventRef
from recollect.domain.filters import DropReason
from recollect.domain.instants import from_microseconds
from recollect.domain.nomination import NominationRequest, Nominations, Tally
from recollect.domain.scope import Scope
from recollect.domain.timeline import COUNTED_RECORDS

_SELECT = "SELECT row, id, timestamp, conversation, length, role, speaker, importance FROM documents WHERE row IN ({})"
# `words_content` is the table in which FTS5 keeps the columns of `words`: read directly it takes half the time.
_WORDS = "SELECT id, c0 FROM words_content WHERE id IN ({})"


class _Found(NamedTuple):
    """A document as the file has it."""

    row: int
    id: str
    timestamp: int
    conversation: str
    length: int
    role: str
    speaker: str | None
    importance: float


class Wave:
    """One request against one user's columns, inside one read transaction."""

    def __init__(
        self, connection: sqlite3.Connection, scope: Scope, user: User, columns: Columns, request: NominationRequest
    ) -> None:
        self._connection = connection
        self._user = user
        self._columns = columns
        self._request = request
        self._tests = list(
            tests(columns, scope, request.filters, labelled_rows(connection, user.number, request.filters))
        )
        self._admitted = admitted(columns, self._tests)
        self._statistics = user_statistics(connection, user, request.terms)
        self._vectors = None if request.vector is None else VectorArm(columns, request.vector)

    def nominations(self) -> Nominations:
        """Hits, statistics, and the tally if asked for; what is durable is counted, projected or not."""
        tally = self._tally() if self._request.count else None
        hits = self._hits(self._admitted, self._request.limit, READ_MOST)
        return Nominations(hits, self._statistics, tally, includes_tail=True, superseded=self._superseded())

    def _superseded(self) -> tuple[Candidate, ...]:
        limit = self._request.most_superseded
        mask = superseded_only(self._columns, self._tests) if limit else None
        return self._hits(mask, limit, READ_ENOUGH) if mask is not None and mask.any() else ()

    def _hits(self, among: Mask, limit: int, read_most: int) -> tuple[Candidate, ...]:
        lexical = LexicalArm(self._connection, self._user, self._columns, self._statistics)
        leaders = self._leaders(among, limit, lexical, read_most)
        found = self._read(sorted({place for arm in leaders.values() for place in arm}))
        ranks: dict[int, dict[Arm, int]] = {}
        for arm, scores in leaders.items():
            order = sorted(
                ((s, found[p].timestamp, found[p].id, p) for p, s in scores.items() if p in found), reverse=True
            )
            for rank, (_, _, _, place) in enumerate(order[:limit], start=1):
                ranks.setdefault(place, {})[arm] = rank
        places = list(ranks)
        hits = zip(ranks.items(), self._counts(places, lexical), self._vectors_at(places), strict=True)
        return tuple(_hit(found[place], arms, counts, vector) for (place, arms), counts, vector in hits)

    def _vectors_at(self, places: list[int]) -> list[FloatArray | None]:
        """Those of these positions, in their order; None where there is none."""
        embedded = self._columns["embedded"][places].tolist()
        return [
            vector if there else None for vector, there in zip(self._columns.vectors[places], embedded, strict=True)
        ]

    def _leaders(self, among: Mask, limit: int, lexical: LexicalArm, read_most: int) -> dict[Arm, dict[int, float]]:
        leaders: dict[Arm, dict[int, float]] = {}
        if self._request.terms:
            leaders[Arm.LEXICAL] = lexical.leading(among, limit, read_most)
        if self._vectors is not None:
            leaders[Arm.VECTOR] = self._vectors.leading(among, limit)
        return leaders

    def _read(self, places: Sequence[int]) -> dict[int, _Found]:
        """The documents at these positions, as far as this transaction sees them."""
        rows = dict(zip(self._columns["row"][places].tolist(), places, strict=True))
        return {rows[row[0]]: _Found(*row) for row in rows_among(self._connection, _SELECT, list(rows))}

    def _counts(self, places: list[int], lexical: LexicalArm) -> list[dict[str, int]]:
        """How often each term is in the documents at these positions: from the lists that the arm has read anyway."""
        counted: list[dict[str, int]] = [{} for _ in places]
        for term, counts in lexical.counts(np.array(places, dtype=np.int64)):
            for index in np.flatnonzero(counts):
                counted[index][term] = int(counts[index])
        unread = lexical.unread
        if unread:
            self._count_words(places, unread, counted)
        return counted

    def _count_words(self, places: list[int], terms: Sequence[str], counted: list[dict[str, int]]) -> None:
        """The terms too common for their lists to be read are counted in the documents' own words."""
        prefix = term_prefix(self._user.number)
        wanted = {prefix + term: term for term in terms}
        rows = {int(self._columns["row"][place]): index for index, place in enumerate(places)}
        for row, words in rows_among(self._connection, _WORDS, list(rows)):
            found = Counter(wanted[word] for word in words.split() if word in wanted)
            counted[rows[row]].update(found)

    def _tally(self) -> Tally:
        """Over the last 10,000 to arrive: why each is left out, by the first reason that applies."""
        alive = np.flatnonzero(self._columns["alive"])
        counted = alive[-COUNTED_RECORDS:]
        dropped: Counter[DropReason] = Counter()
        left = np.ones(len(counted), dtype=np.bool_)
        for reason, mask in [*self._tests, *self._threshold(counted)]:
            failing = left & ~mask[counted]
            dropped[reason] += int(np.count_nonzero(failing))
            left &= ~failing
        return Tally(len(counted), {r: n for r, n in dropped.items() if n}, exact=len(counted) == len(alive))

    def _threshold(self, counted: Any) -> Iterator[tuple[DropReason, Mask]]:
        request = self._request
        if self._vectors is None:
            mask = np.zeros(len(self._columns), dtype=np.bool_)
            first = int(self._columns["row"][counted[0]]) if len(counted) else 0
            lexical = LexicalArm(self._connection, self._user, self._columns, self._statistics)
            mask[lexical.having_any(request.terms, first)] = True
            yield DropReason.THRESHOLD, mask
        elif request.min_similarity is not None:
            yield DropReason.THRESHOLD, self._vectors.reaching(request.min_similarity)


def _hit(found: _Found, arms: dict[Arm, int], counts: dict[str, int], vector: FloatArray | None) -> Candidate:
    return Candidate(
        ref=EventRef(found.id, from_microseconds(found.timestamp)),
        arms=arms,
        conversation_id=found.conversation,
        counts=counts,
        length=found.length,
        vector=vector,
        role=found.role,
        speaker=found.speaker,
        importance=found.importance,
    )
