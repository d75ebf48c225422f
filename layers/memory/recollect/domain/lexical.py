"""Terms and BM25: our own tokenizer and the statistics of one scope, so that every engine gives one order."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.domain.keywords import extract_keywords
from recollect.domain.stemming import stem
from recollect.domain.stop_words import BY_LANGUAGE

MAX_TERM_CHARACTERS = 64
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_STOP_WORDS = BY_LANGUAGE["en"]
K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """What BM25 needs to know of a scope: documents, their terms in all, and for each query term its documents."""

    documents: int
    total_terms: int
    document_frequency: Mapping[str, int]

    def plus(self, others: Sequence[Counter[str]]) -> "TermStatistics":
        """The same with more documents, each given by its term counts: the tail that no index shows yet."""
        frequency = {
            term: count + sum(1 for other in others if term in other) for term, count in self.document_frequency.items()
        }
        added = sum(other.total() for other in others)
        return TermStatistics(self.documents + len(others), self.total_terms + added, frequency)


def terms(text: str) -> list[str]:
    """The terms of a text in order: folded, stemmed, without stop words; runs of CJK become bigrams."""
    found: list[str] = []
    for word in extract_keywords(text.casefold()):
        found.extend(_terms_of_word(word[: 4 * MAX_TERM_CHARACTERS]))
    return found


def query_terms(text: str, limit: int = 64) -> tuple[str, ...]:
    """The distinct terms of a query, at most `limit` of them."""
    return tuple(dict.fromkeys(terms(text)))[:limit]


@lru_cache(maxsize=65536)
def _terms_of_word(word: str) -> tuple[str, ...]:
    if _CJK.search(word) is None:
        return () if word in _STOP_WORDS else (stem(word)[:MAX_TERM_CHARACTERS],)
    found: list[str] = []
    position = 0
    for run in _CJK.finditer(word):
        found.extend(_terms_of_word(word[position : run.start()]) if run.start() > position else ())
        found.extend(_bigrams(run.group()))
        position = run.end()
    found.extend(_terms_of_word(word[position:]) if position < len(word) else ())
    return tuple(found)


def _bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def inverse_document_frequency(statistics: TermStatistics, term: str) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): never negative; a term that is in no document weighs the most."""
    count = min(statistics.document_frequency.get(term, 0), statistics.documents)
    return math.log(1 + (statistics.documents - count + 0.5) / (count + 0.5))


def bm25(statistics: TermStatistics, counts: Mapping[str, int], length: int, query: Sequence[str]) -> float:
    """The BM25 score (k1 1.2, b 0.75) of a document with these term counts and length, in terms."""
    return bm25_scores(statistics, [(counts, length)], query)[0]


def bm25_scores(
    statistics: TermStatistics, documents: Iterable[tuple[Mapping[str, int], int]], query: Sequence[str]
) -> list[float]:
    """The BM25 scores of documents, each given by its term counts and its length in terms."""
    average = (statistics.total_terms / statistics.documents if statistics.documents else 0.0) or 1.0
    weights = [(term, inverse_document_frequency(statistics, term) * (K1 + 1)) for term in query]
    return [_bm25(weights, counts, K1 * (1 - B + B * length / average)) for counts, length in documents]


def _bm25(weights: Sequence[tuple[str, float]], counts: Mapping[str, int], penalty: float) -> float:
    found = ((weight, count) for term, weight in weights if (count := counts.get(term)))
    return sum(weight * count / (count + penalty) for weight, count in found)
