"""An answer without a model: the recalled sentences that best match the input, quoted (K-78).

It says that it is one. Nothing that could read as a tool call is quoted, no question, and no earlier answer of this
kind. Besides: the texts of a DuckDuckGo instant answer (K-82).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from recollect.context.model_call import Evidence
from recollect.core.event import Role
from recollect.core.time import written_day
from recollect.retrieval.pooling import RELATED
from recollect.text.phrases import one_line
from recollect.text.sentences import count_words, is_question, split_sentences
from recollect.text.terms import TermStatistics, bm25, inverse_document_frequency, query_terms, terms

OPENING = "From our earlier conversations:"
NEAREST = "I am not sure that this answers it; the nearest that I have in memory:"
CLOSING = "(Quoted from memory: this is the extractive provider, which answers without a language model.)"
NOTHING = (
    "I have nothing on that in memory yet; this is the extractive provider, which answers from memory only, without "
    "a language model."
)
REMEMBERED = (
    "I remember that now, and have nothing to quote on it; this is the extractive provider, which answers from memory "
    "only, without a language model."
)
MOST_TOPICS = 3
LONGEST_TEXT = 1_000
_MOST_QUOTES = 3
_FAINTLY_ALIKE = 0.2
_LONGEST_TEXT = 8_000
_LONGEST_QUOTE = 400
_LEAST_SHARE_OF_QUERY = 0.4
_LEAST_SHARE_OF_BEST = 0.5
_LIKE_A_CALL = re.compile(r"\[\[|\]\]|<<<|>>>|「始」|「末」|ABP_TOOL|TOOL_REQUEST", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_REMOVED = frozenset({"Cc", "Cs"})
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class _Sentence:
    said: Evidence
    text: str
    counts: Counter[str]


def answer_from(evidence: Sequence[Evidence], text: str, max_words: int) -> str:
    """One to three quotes in the order they were said, each with its speaker and day (UTC), or that there are none.

    First the sentences that share enough words with the input; else those of records that the search finds related;
    else, for a question, the nearest one, with a word of doubt. The quotes have at most `max_words` words together, but
    for a single one, which is cut at 400 characters. Deterministic; any text is taken.
    """
    sentences = list(_sentences(evidence))
    quoted = _within(_best(sentences, query_terms(text)) or _alike(sentences, RELATED)[:_MOST_QUOTES], max_words)
    if quoted:
        return _quoting(OPENING, quoted)
    nearest = _alike(sentences, _FAINTLY_ALIKE)[:1] if is_question(text) else []
    if nearest:
        return _quoting(NEAREST, nearest)
    return NOTHING if is_question(text) else REMEMBERED


def _quoting(opening: str, quoted: Sequence[_Sentence]) -> str:
    in_order = sorted(quoted, key=lambda one: (one.said.timestamp, one.said.event_id))
    return "\n".join([opening, *map(_line, in_order), CLOSING])


def is_extractive_answer(text: str) -> bool:
    """Whether the text is an answer of this kind; it is no evidence for the next one."""
    return text.startswith((OPENING, NEAREST, NOTHING, REMEMBERED))


def _sentences(evidence: Iterable[Evidence]) -> Iterator[_Sentence]:
    seen: set[str] = set()
    for one in evidence:
        if is_extractive_answer(one.text) or _LIKE_A_CALL.search(one.text):
            continue
        for sentence in split_sentences(one.text[:_LONGEST_TEXT]):
            wording = " ".join(sentence.casefold().split())
            if wording not in seen and not is_question(sentence):
                seen.add(wording)
                yield _Sentence(one, sentence, Counter(terms(sentence)))


def _best(sentences: Sequence[_Sentence], query: tuple[str, ...]) -> list[_Sentence]:
    """The best three, best first: those with enough of the query's words, and not far behind the first."""
    statistics = _statistics(sentences, query)
    enough = [s for s in sentences if _share_of_query(statistics, s.counts, query) >= _LEAST_SHARE_OF_QUERY]
    scored = [(bm25(statistics, one.counts, one.counts.total(), query), one) for one in enough]
    ranked = sorted(scored, key=lambda pair: (pair[0], pair[1].said.timestamp), reverse=True)
    return [one for score, one in ranked if score >= _LEAST_SHARE_OF_BEST * ranked[0][0]][:_MOST_QUOTES]


def _alike(sentences: Sequence[_Sentence], least: float) -> list[_Sentence]:
    first = {one.said.event_id: one for one in reversed(sentences) if (one.said.similarity or 0.0) >= least}
    return sorted(first.values(), key=lambda one: (one.said.similarity or 0.0, one.said.timestamp), reverse=True)


def _statistics(sentences: Sequence[_Sentence], query: tuple[str, ...]) -> TermStatistics:
    frequency = {term: sum(1 for one in sentences if term in one.counts) for term in query}
    return TermStatistics(len(sentences), sum(one.counts.total() for one in sentences), frequency)


def _share_of_query(statistics: TermStatistics, counts: Mapping[str, int], query: tuple[str, ...]) -> float:
    """How much of the query the sentence holds, 0 to 1, words weighted by rarity.

    A word that no sentence holds weighs as one that a single sentence holds.
    """
    least = replace(statistics, document_frequency={t: max(1, n) for t, n in statistics.document_frequency.items()})
    weights = {term: inverse_document_frequency(least, term) for term in query}
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in counts) / total if total else 0.0


def _within(sentences: Sequence[_Sentence], max_words: int) -> list[_Sentence]:
    kept, words = list(sentences[:1]), count_words(sentences[0].text) if sentences else 0
    for sentence in sentences[1:]:
        words += count_words(sentence.text)
        if words > max_words:
            break
        kept.append(sentence)
    return kept


def _line(sentence: _Sentence) -> str:
    quote = _shortened(one_line(sentence.text))
    return f"- on {written_day(sentence.said.timestamp)} {_said_by(sentence.said)}: “{quote}”"


def _said_by(said: Evidence) -> str:
    if said.role == Role.USER:
        return f"{one_line(said.speaker)} said" if said.speaker else "you said"
    return "I answered" if said.role == Role.BOT else "I noted"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1].rstrip() + "…"


def texts_of(answer: object) -> tuple[str, ...]:
    """The texts of an answer parsed from JSON, of whatever form; none where it has none.

    `AbstractText` alone where there is one; else up to 3 texts of `RelatedTopics` and of its groups (`Topics`), in
    order. Each is one line of at most 1,000 characters, without control characters.
    """
    if not isinstance(answer, dict):
        return ()
    abstract = plain_text(answer.get("AbstractText"))
    return (abstract,) if abstract else tuple(islice(_topics(answer.get("RelatedTopics")), MOST_TOPICS))


def plain_text(value: object) -> str:
    """One line, cut, without control and bidirectional characters; empty for what is no text."""
    if not isinstance(value, str):
        return ""
    spaced = _SPACES.sub(" ", value[: 2 * LONGEST_TEXT])
    kept = "".join(c for c in spaced if c not in _BIDIRECTIONAL and unicodedata.category(c) not in _REMOVED).strip()
    return kept if len(kept) <= LONGEST_TEXT else kept[: LONGEST_TEXT - 1].rstrip() + "…"


def _topics(related: object) -> Iterator[str]:
    """Depth first, without recursion: an answer may nest as it likes."""
    waiting: list[object] = [*_listed(related)][::-1]
    while waiting:
        topic = waiting.pop()
        if isinstance(topic, dict):
            if text := plain_text(topic.get("Text")):
                yield text
            waiting += [*_listed(topic.get("Topics"))][::-1]


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
