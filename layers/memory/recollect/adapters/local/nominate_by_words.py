"""One nominate request by words alone, in SQL: filters, the lexical arm, and the tally; nothing is held in memory.

So searches a file whose process has no embedder (`nominate` does with one). The lexical arm reads posting lists of FTS5
(`fts5vocab`) and scores them by BM25 with the statistics of this user alone: FTS5's own `bm25()` weighs by all rows of
its table, so that another user's writes would change a user's ranks.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any, NamedTuple

from recollect.adapters.index_filters import admitted, only_superseded, reasons
from recollect.adapters.local.filter_sql import Sql
from recollect.adapters.local.rows import User, chunked_in, term_prefix
from recollect.core.event import EventRef
from recollect.core.filter import Operator
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds
from recollect.core.vectors import FloatArray
from recollect.retrieval.attributes import Asked, Span
from recollect.retrieval.filters import DropReason
from recollect.retrieval.nomination import Arm, Candidate, NominationRequest, Nominations, Tally
from recollect.text.terms import TermStatistics, bm25
from recollect.timeline.timeline import COUNTED_RECORDS

READ_ENOUGH = 5_000
"""Posting lists are read from the rarest term on, up to this many documents in all, the first one always: about 2 ms.
The commoner terms then nominate no document; ranking counts them, since every candidate has all its counts."""
READ_MOST = 50_000
"""The bound where filters leave fewer candidates than the limit."""

_LABELLED = "SELECT label, row FROM labels WHERE scope = ? AND label >= ? AND label < ?"
_LAST = "\U0010ffff"
_DOCUMENTS = (
    "SELECT row, id, timestamp, conversation, length, role, speaker, importance FROM documents WHERE row IN ({})"
)
_FREQUENCIES = "SELECT term, doc FROM word_frequencies WHERE term IN ({})"
# FTS5 stores the columns of `words` in `words_content`: reading it directly takes half the time.
_WORDS = "SELECT id, c0 FROM words_content WHERE id IN ({})"
_POSTINGS = """SELECT w.doc, count(*), d.length, d.timestamp, d.id FROM word_places w CROSS JOIN documents d
    ON d.row = w.doc WHERE w.term = ? AND {} GROUP BY w.doc"""
_BEYOND = "SELECT row FROM documents WHERE scope = ? ORDER BY row DESC LIMIT 1 OFFSET ?"
_TALLY = "SELECT CASE {} END, count(*) FROM documents d WHERE d.scope = ? AND d.row > ? GROUP BY 1"
_HAVING = "d.row IN (SELECT rowid FROM words WHERE words MATCH ? AND rowid > ?)"
_SCORE_DIGITS = 9


class WordQuery:
    """One request by words, inside one read transaction. A vector that it has is not looked at."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope, user: User, request: NominationRequest) -> None:
        self._connection = connection
        self._user = user
        self._request = request
        self._documents = SqlDocuments(connection, user.number)
        self._reasons = list(reasons(self._documents, scope, request.filters))
        self._statistics = user_statistics(connection, user, request.terms)

    def nominations(self) -> Nominations:
        """Candidates, statistics, and the tally if asked for; durable events count, projected or not."""
        request = self._request
        hits = self._candidates(admitted(self._documents, self._reasons), request.limit, READ_MOST)
        old: tuple[Candidate, ...] = ()
        if request.most_superseded:
            besides = only_superseded(self._documents, self._reasons)
            old = self._candidates(besides, request.most_superseded, READ_ENOUGH)
        counted = self._tally() if request.count else None
        return Nominations(hits, self._statistics, counted, includes_tail=True, superseded=old)

    def _candidates(self, among: Sql, limit: int, read_most: int) -> tuple[Candidate, ...]:
        scored, unread = self._scored(among, limit, read_most)
        best = nlargest(limit, scored.values(), key=lambda one: (self._score(one), one.timestamp, one.id))
        ranks = {one.row: rank for rank, one in enumerate(best, start=1)}
        counts = {one.row: one.counts for one in best}
        count_words(self._connection, self._user, unread, counts)
        found = found_at(self._connection, list(ranks))
        return tuple(
            candidate(found[row], {Arm.LEXICAL: rank}, counts[row], None) for row, rank in ranks.items() if row in found
        )

    def _scored(self, among: Sql, limit: int, read_most: int) -> tuple[dict[int, "_Scored"], Sequence[str]]:
        """Of these documents those with a term that was read, by row; and the terms that were not read."""
        found: dict[int, _Scored] = {}
        terms, read = rarest_first(self._statistics), 0
        for place, term in enumerate(terms):
            having = self._statistics.document_frequency[term]
            if read and read + having > (READ_ENOUGH if len(found) >= limit else read_most):
                return found, terms[place:]
            read += having
            for row, count, *rest in self._postings(term, among):
                found.setdefault(row, _Scored(row, {}, *rest)).counts[term] = count
        return found, ()

    def _postings(self, term: str, among: Sql) -> Iterable[tuple[Any, ...]]:
        parameters = (term_prefix(self._user.number) + term, *among.parameters)
        return self._connection.execute(_POSTINGS.format(among.text), parameters)

    def _score(self, one: "_Scored") -> float:
        return round(bm25(self._statistics, one.counts, one.length, list(one.counts)), _SCORE_DIGITS)

    def _tally(self) -> Tally:
        """Over the last 10,000 documents: the first reason that drops each, having no term the last of them."""
        beyond = self._connection.execute(_BEYOND, (self._user.number, COUNTED_RECORDS)).fetchone()
        first = beyond[0] if beyond else 0
        passing = [*self._reasons, (DropReason.THRESHOLD, self._having_any(first))]
        cases = " ".join(f"WHEN NOT {one.text} THEN {number}" for number, (_, one) in enumerate(passing))
        parameters = [value for _, one in passing for value in one.parameters]
        rows = self._connection.execute(_TALLY.format(cases), (*parameters, self._user.number, first)).fetchall()
        dropped = Counter[DropReason]()
        for number, count in rows:
            if number is not None:
                dropped[passing[number][0]] += count
        return Tally(sum(count for _, count in rows), dict(dropped), exact=beyond is None)

    def _having_any(self, first: int) -> Sql:
        prefix, terms = term_prefix(self._user.number), self._request.terms
        return Sql(_HAVING, (" OR ".join(f'"{prefix}{term}"' for term in terms), first)) if terms else _NONE


class _Scored(NamedTuple):
    """A document with a term that was read: how often it has each, and what orders it."""

    row: int
    counts: dict[str, int]
    length: int
    timestamp: int
    id: str


_ALL, _NONE = Sql("1"), Sql("0")
_SIGNS = {Operator.GT: ">", Operator.GTE: ">=", Operator.LT: "<", Operator.LTE: "<="}


@dataclass(frozen=True, slots=True)
class SqlDocuments:
    """`index_filters.Documents` as conditions on a row `d` of `documents`, each of which is true or false, not null."""

    connection: sqlite3.Connection
    user_number: int

    def named(self, column: str, name: str) -> Sql:
        return Sql(f"(d.{column} IS ?)", (name,))

    def flagged(self, column: str) -> Sql:
        return Sql(f"d.{column}")

    def unexpired(self, now: int) -> Sql:
        return Sql("(d.expires_at IS NULL OR d.expires_at > ?)", (now,))

    def timed(self, column: str, operator: Operator, times: Sequence[int]) -> Sql:
        if operator is Operator.EXISTS:
            return Sql(f"(d.{column} IS NOT NULL)")
        if operator in _SIGNS:
            return Sql(f"(d.{column} IS NOT NULL AND d.{column} {_SIGNS[operator]} ?)", (times[0],))
        return Sql(f"(d.{column} IS NOT NULL AND d.{column} IN ({', '.join('?' * len(times))}))", tuple(times))

    def valued(self, column: str, suits: Callable[[Any], bool]) -> Sql:
        """Asked once for each value of the column."""
        query = f"SELECT row, {column} FROM documents WHERE scope = ?"  # noqa: S608
        known: dict[Any, bool] = {}
        rows = []
        for row, value in self.connection.execute(query, (self.user_number,)):
            if value not in known:
                known[value] = suits(value)
            if known[value]:
                rows.append(row)
        return _among(rows)

    def labelled(self, asked: Asked) -> Sql:
        return _among(labelled_rows(self.connection, self.user_number, asked))

    def every(self, sets: Sequence[Sql]) -> Sql:
        return _joined(sets, " AND ") if sets else _ALL

    def some(self, sets: Sequence[Sql]) -> Sql:
        return _joined(sets, " OR ") if sets else _NONE

    def other(self, one: Sql) -> Sql:
        return Sql(f"(NOT {one.text})", one.parameters)


def _joined(sets: Sequence[Sql], between: str) -> Sql:
    return Sql(f"({between.join(one.text for one in sets)})", tuple(value for one in sets for value in one.parameters))


def _among(rows: Sequence[int]) -> Sql:
    return Sql("(d.row IN (SELECT value FROM json_each(?)))", (json.dumps(rows),))


def labelled_rows(connection: sqlite3.Connection, user_number: int, asked: Asked) -> list[int]:
    """The user's documents that have a label which is asked for."""
    near = [*(Span(one, one + "\0") for one in asked.exact), *asked.spans]
    near += [Span(one.start, one.start + _LAST) for one in asked.parts]
    found = [pair for span in near for pair in connection.execute(_LABELLED, (user_number, *span))]
    return [row for label, row in found if not asked.parts or asked.met_by(label)]


def user_statistics(connection: sqlite3.Connection, user: User, terms: Sequence[str]) -> TermStatistics:
    """The user's documents, terms in all, and the documents of each term."""
    prefix = term_prefix(user.number)
    found = dict(chunked_in(connection, _FREQUENCIES, [prefix + term for term in terms]))
    return TermStatistics(user.documents, user.terms, {term: found.get(prefix + term, 0) for term in terms})


def rarest_first(statistics: TermStatistics) -> list[str]:
    """The terms that some document has."""
    frequency = statistics.document_frequency
    return sorted((term for term in frequency if frequency[term]), key=lambda term: (frequency[term], term))


def count_words(
    connection: sqlite3.Connection, user: User, terms: Sequence[str], counts: Mapping[int, dict[str, int]]
) -> None:
    """Adds to these documents' counts those of terms whose lists are too long to read, from the documents' words."""
    prefix = term_prefix(user.number)
    wanted = {prefix + term: term for term in terms}
    for row, words in chunked_in(connection, _WORDS, list(counts)) if wanted else ():
        counts[row].update(Counter(wanted[word] for word in words.split() if word in wanted))


class Found(NamedTuple):
    """A document as candidates need it."""

    row: int
    id: str
    timestamp: int
    conversation: str
    length: int
    role: str
    speaker: str | None
    importance: float


def found_at(connection: sqlite3.Connection, rows: Sequence[int]) -> dict[int, Found]:
    """The documents of these rows that this transaction sees."""
    return {found.row: found for found in map(Found._make, chunked_in(connection, _DOCUMENTS, rows))}


def candidate(found: Found, arms: Mapping[Arm, int], counts: Mapping[str, int], vector: FloatArray | None) -> Candidate:
    """The document with what a query found of it."""
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
