"""An answer without a model: what was recalled and is closest to the input, quoted, best first (K-78).

It says that it is one. Nothing that could read as a tool call is quoted, no question, and no earlier answer of this
kind. How close a message is and which is best the search has found; where it has found nothing, shared words tell.
Besides: the texts of a DuckDuckGo instant answer (K-82).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from recollect.context.model_call import Evidence
from recollect.contradictions.doubts import OtherSide
from recollect.core.event import Role
from recollect.core.time import written_day
from recollect.memories.representation import EndedWords
from recollect.text.phrases import one_line
from recollect.text.sentences import count_words, is_question, split_sentences
from recollect.text.terms import TermStatistics, bm25, inverse_document_frequency, query_terms, terms

OPENING = "From our earlier conversations:"
NEAREST = "I am not sure that this answers it; the nearest that I have in memory:"
CLOSING = "(Quoted from memory: this is the extractive provider, which answers without a language model.)"
NOTHING = (
    "What you said is remembered, and there is nothing in memory on it from before. (This is the extractive provider, "
    "which answers from memory only, without a language model.)"
)
_FORMER = ("I have nothing on that in memory yet; this is the", "I remember that now, and have nothing to quote on it;")
MOST_TOPICS = 3
LONGEST_TEXT = 1_000
_MOST_QUOTES = 3
_CLOSE = 0.6
_FAINTLY_CLOSE = 0.37
_LEAST_SHARE_OF_CLOSEST = 0.85
_LIKELY = 0.5
_UNREAD = 0.5
_MOST_WORDS_OF_A_MESSAGE = 50
_LONGEST_TEXT = 8_000
_LONGEST_QUOTE = 400
_LEAST_SHARE_OF_QUERY = 0.4
_LEAST_SHARE_OF_BEST = 0.5
_LIKE_A_CALL = re.compile(r"\[\[|\]\]|<<<|>>>|「始」|「末」|ABP_TOOL|TOOL_REQUEST", re.IGNORECASE)
_COMMAS = re.compile("[,،、，]")
_LONGEST_TAG = 2
_LOOSE = " ,;:"
_SPACES = re.compile(r"\s+")
_REMOVED = frozenset({"Cc", "Cs"})
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class _Sentence:
    said: Evidence
    text: str
    counts: Counter[str]
    place: int = 0


def answer_from(evidence: Sequence[Evidence], text: str, max_words: int) -> str:
    """One to three quotes, best first, each with its speaker and day (UTC), or that there are none.

    First the messages that are close to the input, in the order in which the search ranks them; of those that no search
    compared with it, the sentences that share enough words with it; else, for a question, the nearest message, with a
    word of doubt. The quotes have at most `max_words` words together, but for a single one, which is cut at 400
    characters. A change and what it may have changed stand on one line (P-24). Deterministic; any text is taken.
    """
    sentences, query = list(_sentences(evidence)), query_terms(text)
    messages = _messages(sentences, query)
    unread = [one for one in sentences if closeness(one.said) is None]
    quoted = _within(_closest(messages, _CLOSE) or _best(unread, query), max_words)
    if quoted:
        return _quoting(OPENING, quoted, messages)
    nearest = _closest(messages, _FAINTLY_CLOSE)[:1] if is_question(text) else []
    if nearest:
        return _quoting(NEAREST, nearest, messages)
    return NOTHING


def closeness(one: Evidence) -> float | None:
    """The mean of similarity and relevance; None where no search compared the text with the input."""
    if one.similarity is None:
        return None
    return (one.similarity + (_UNREAD if one.relevance is None else one.relevance)) / 2


def _quoting(opening: str, quoted: Sequence[_Sentence], messages: Sequence[_Sentence]) -> str:
    """Each on a line, in their order; of a change and what it may have changed the likelier, the other behind it."""
    known = {one.said.event_id: one for one in messages}
    firsts: dict[str, _Sentence] = {}
    behind: dict[str, list[_Sentence]] = {}
    for one in quoted:
        first = _likeliest(one, known)
        firsts.setdefault(first.said.event_id, first)
        behind.setdefault(first.said.event_id, []).extend([one] if first is not one else [])
    told = {first.said.against.id for first in firsts.values() if first.said.against is not None}
    lines = [_line(one) + _before(behind[i]) + _marks(one.said) for i, one in firsts.items() if i not in told]
    return "\n".join([opening, *lines, CLOSING])


def _likeliest(one: _Sentence, known: Mapping[str, _Sentence]) -> _Sentence:
    """The quote, or the newest of what likely changed it: as the judge finds, or as the search ranks the two."""
    passed: set[str] = set()
    while (side := one.said.against) is not None and side.holds_from is None and side.id not in passed:
        passed.add(side.id)
        newer = known.get(side.id)
        likely = (side.confidence or 0.0) >= _LIKELY or (newer is not None and _worth(newer) > _worth(one))
        if not likely or _LIKE_A_CALL.search(side.words):
            break
        one = newer or _of_other_side(one, side)
    return one


def _of_other_side(one: _Sentence, side: OtherSide) -> _Sentence:
    said = replace(one.said, event_id=side.id, text=side.words, timestamp=side.said_at, against=None)
    return _Sentence(said, side.words, one.counts)


def is_extractive_answer(text: str) -> bool:
    """Whether the text is an answer of this kind; it is no evidence for the next one."""
    return text.startswith((OPENING, NEAREST, NOTHING, *_FORMER))


def _sentences(evidence: Iterable[Evidence]) -> Iterator[_Sentence]:
    seen: set[str] = set()
    for one in evidence:
        if is_extractive_answer(one.text) or _LIKE_A_CALL.search(one.text):
            continue
        for place, sentence in _told(split_sentences(one.text[:_LONGEST_TEXT])):
            wording = " ".join(sentence.casefold().split())
            if wording not in seen:
                seen.add(wording)
                yield _Sentence(one, sentence, Counter(terms(sentence)), place)


def _told(sentences: Sequence[str]) -> list[tuple[int, str]]:
    """Those that tell something, with their places; beside one that asks nothing, "It rains, right?" tells too."""
    plain = [(place, one) for place, one in enumerate(sentences) if not is_question(one)]
    tagged = [(place, one) for place, one in enumerate(sentences) if is_question(one) and _is_tagged(one)]
    return sorted([*plain, *tagged]) if plain else []


def _is_tagged(question: str) -> bool:
    """Whether only a word or two ask, behind a comma."""
    *told, asked = _COMMAS.split(question)
    return count_words(asked) <= _LONGEST_TAG < sum(map(count_words, told))


def _messages(sentences: Sequence[_Sentence], query: tuple[str, ...]) -> list[_Sentence]:
    """One quote a message, of those that a search compared with the input: what it tells, or its best part."""
    told: dict[str, list[_Sentence]] = {}
    for one in sentences:
        if closeness(one.said) is not None:
            told.setdefault(one.said.event_id, []).append(one)
    statistics = _statistics(sentences, query)
    return [_excerpt(of_one, lambda s: _share_of_query(statistics, s.counts, query)) for of_one in told.values()]


def _excerpt(told: Sequence[_Sentence], worth: Callable[[_Sentence], float]) -> _Sentence:
    """The sentence that shares most with the input, with as many after and before it as there is room for."""
    start = max(range(len(told)), key=lambda at: (worth(told[at]), -at))
    end = start + 1
    room = _MOST_WORDS_OF_A_MESSAGE - count_words(told[start].text)
    for at in (*range(end, len(told)), *reversed(range(start))):
        room -= count_words(told[at].text)
        if room < 0:
            break
        start, end = min(start, at), max(end, at + 1)
    return _joined(told[start:end])


def _joined(parts: Sequence[_Sentence]) -> _Sentence:
    text = parts[0].text
    for before, after in pairwise(parts):
        text += _between(before, after) + after.text
    return replace(parts[0], text=text)


def _between(before: _Sentence, after: _Sentence) -> str:
    """An ellipsis where something was left out; between sentences of Chinese or Japanese no space."""
    if after.place != before.place + 1:
        return " … "
    return "" if before.text + after.text in before.said.text else " "


def _closest(messages: Sequence[_Sentence], least: float) -> list[_Sentence]:
    """The best three that are close, best first, not far behind the first; of the same the newer."""
    close = [(_worth(one), one) for one in messages if (closeness(one.said) or 0.0) >= least]
    ranked = sorted(close, key=lambda pair: (pair[0], pair[1].said.timestamp), reverse=True)
    return [one for worth, one in ranked if worth >= _LEAST_SHARE_OF_CLOSEST * ranked[0][0]][:_MOST_QUOTES]


def _worth(one: _Sentence) -> float:
    """The search's score, which knows what is recent and what only asks; where there is none, how close it is."""
    return one.said.score if one.said.score is not None else closeness(one.said) or 0.0


def _best(sentences: Sequence[_Sentence], query: tuple[str, ...]) -> list[_Sentence]:
    """The best three, best first: those with enough of the query's words, and not far behind the first."""
    statistics = _statistics(sentences, query)
    enough = [s for s in sentences if _share_of_query(statistics, s.counts, query) >= _LEAST_SHARE_OF_QUERY]
    scored = [(bm25(statistics, one.counts, one.counts.total(), query), one) for one in enough]
    ranked = sorted(scored, key=lambda pair: (pair[0], pair[1].said.timestamp), reverse=True)
    return [one for score, one in ranked if score >= _LEAST_SHARE_OF_BEST * ranked[0][0]][:_MOST_QUOTES]


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


def _before(older: Sequence[_Sentence]) -> str:
    """What a quote may have changed (P-24)."""
    told = [f"on {written_day(one.said.timestamp)}: “{_shortened(one_line(one.text))}”" for one in older]
    return f" (before, and perhaps still, {'; '.join(told)})" if told else ""


def _marks(said: Evidence) -> str:
    """What may have changed it, and which of its words have ended, with what ended them (P-24)."""
    return _doubt(said) + "".join(map(_ended, said.ended))


def _ended(ended: EndedWords) -> str:
    if _LIKE_A_CALL.search(f"{ended.words} {ended.instead}"):
        return ""
    then = f"; then: “{_shortened(one_line(ended.instead))}”" if ended.instead else ""
    return f" (until {written_day(ended.since)}: “{_shortened(one_line(ended.words.strip(_LOOSE)))}”{then})"


def _doubt(said: Evidence) -> str:
    """What a quote that may not hold, or not for long, has behind it: the words that say so (P-24)."""
    against = said.against
    if against is None:
        return ""
    words = _shortened(one_line(against.words))
    if against.holds_from is not None:
        return f" (until {written_day(against.holds_from)}; then: “{words}”)"
    of_it = [f"“{_shortened(one_line(one.words.strip(_LOOSE)))}”" for one in said.in_doubt if one.by == against.id]
    return f" ({' and '.join(of_it) or 'this'} may have changed; on {written_day(against.said_at)}: “{words}”)"


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
