"""Which events a sentence of a summary comes from, by our own matching: what a model says of its sources is not asked.

Deleting and rejecting go by these ids, so the matching leans to naming one event too many. Of each sentence:

1. every event that holds at least half of its content words by weight (a word that few events hold weighs more), or
   nearly as much as the best event does;
2. then, for what of it is not accounted for yet, the event that holds most of that, as long as it holds a seventh of
   the sentence, or a number or a name;
3. where no event holds any of its words (a free paraphrase, another language), the events with the most similar
   letters, at least the newest; such a sentence is marked as not supported, and so is one of which the best event
   holds less than a quarter.

A sentence of the summary before stands as one more text to match, and hands on the sources that it had.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recollect.domain.lexical import terms
from recollect.domain.sentences import split_said_by
from recollect.domain.summary import SummarySentence

MOST_SOURCES = 24
_MOST_SOURCES_OF_ALL = 3000

_HALF = 0.5
_NEARLY_BEST = 0.8
_WORTH_ADDING = 1 / 7
_SUPPORTED_FROM = 0.25
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z]\w+")
_GUESSES = 3
_GRAM = 3
_GRAM_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Witness:
    """A text that a sentence may come from, and the events that it stands for, at least one."""

    text: str
    event_ids: tuple[str, ...]
    supported: bool = True


def witness_of(sentence: SummarySentence) -> Witness:
    """A sentence of an earlier summary, with the sources that it had."""
    return Witness(sentence.text, sentence.source_event_ids, sentence.supported)


class SentenceSources:
    """Matches texts against what was covered: `witnesses`, oldest first, at least one."""

    def __init__(self, witnesses: Sequence[Witness]) -> None:
        self._witnesses = witnesses
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for position, witness in enumerate(witnesses):
            for term in _terms(witness.text):
                self._holders[term].append(position)

    def attribute(self, sentences: Sequence[str]) -> tuple[SummarySentence, ...]:
        """The sentences with their sources; fewer each where there are very many sentences."""
        most = max(1, min(MOST_SOURCES, _MOST_SOURCES_OF_ALL // max(1, len(sentences))))
        return tuple(self._attributed(sentence, most) for sentence in sentences)

    def strongest(self, text: str) -> tuple[str, ...]:
        """The events that hold a text by themselves, by rule 1; none where none does."""
        weights = self._weights(text)
        scores, total = self._scores(weights), sum(weights.values())
        best = max(scores.values(), default=0.0)
        if not total or best < _SUPPORTED_FROM * total:
            return ()
        return self._ids(_strong(scores, total), MOST_SOURCES)

    def _attributed(self, sentence: str, most: int) -> SummarySentence:
        said = (split_said_by(sentence) or ("", sentence))[1]
        weights = self._weights(said)
        scores, total = self._scores(weights), sum(weights.values())
        if not scores:
            return SummarySentence(sentence, self._ids(self._guessed(said), most), supported=False)
        chosen = _strong(scores, total)
        chosen |= self._rest(weights, chosen, total, _marked(said))
        ids = self._ids(chosen, MOST_SOURCES * 100)
        whole = len(ids) <= most and all(self._witnesses[position].supported for position in chosen)
        return SummarySentence(sentence, ids[:most], whole and max(scores.values()) >= _SUPPORTED_FROM * total)

    def _weights(self, text: str) -> dict[str, float]:
        """As BM25 weighs terms: what nearly all hold tells next to nothing; what none holds weighs as if one did."""
        count = len(self._witnesses)
        holders = {term: len(self._holders.get(term, ())) or 1 for term in _terms(text)}
        return {term: math.log(1 + (count - held + 0.5) / (held + 0.5)) for term, held in holders.items()}

    def _scores(self, weights: Mapping[str, float]) -> dict[int, float]:
        scores: defaultdict[int, float] = defaultdict(float)
        for term, weight in weights.items():
            for position in self._holders.get(term, ()):
                scores[position] += weight
        return scores

    def _rest(self, weights: Mapping[str, float], chosen: set[int], total: float, marked: frozenset[str]) -> set[int]:
        """Rule 2: more events, until nothing that is left is worth one."""
        added: set[int] = set()
        left = {term: weight for term, weight in weights.items() if not self._held(term, chosen)}
        while worthy := self._worthy(left, total, marked):
            added.add(max(worthy, key=lambda position: (worthy[position], -position)))
            left = {term: weight for term, weight in left.items() if not self._held(term, added)}
        return added

    def _worthy(self, left: Mapping[str, float], total: float, marked: frozenset[str]) -> dict[int, float]:
        named = {position for term in marked & left.keys() for position in self._holders.get(term, ())}
        scores = self._scores(left)
        return {at: score for at, score in scores.items() if at in named or score >= _WORTH_ADDING * total}

    def _held(self, term: str, positions: set[int]) -> bool:
        return not positions.isdisjoint(self._holders.get(term, ()))

    def _guessed(self, sentence: str) -> set[int]:
        """Rule 3: by runs of three letters; without any in common the newest."""
        wanted = _grams(sentence)
        scores = {at: len(wanted & _grams(one.text)) for at, one in enumerate(self._witnesses)}
        likely = sorted(scores, key=lambda at: (-scores[at], -at))[:_GUESSES]
        return {at for at in likely if scores[at]} or {len(self._witnesses) - 1}

    def _ids(self, positions: Iterable[int], most: int) -> tuple[str, ...]:
        ids = (event_id for position in sorted(positions) for event_id in self._witnesses[position].event_ids)
        return tuple(dict.fromkeys(ids))[:most]


def _strong(scores: Mapping[int, float], total: float) -> set[int]:
    """Rule 1. Without an event that holds half, those nearly as good as the best."""
    best = max(scores.values())
    bound = min(_HALF * total, _NEARLY_BEST * best) if best >= _HALF * total else _NEARLY_BEST * best
    return {position for position, score in scores.items() if score >= bound}


def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text)) | frozenset(_NUMBER.findall(text))


def _marked(sentence: str) -> frozenset[str]:
    """Numbers and names: what must not be left without its event."""
    names = (term for name in _NAME.findall(sentence) for term in terms(name))
    return frozenset((*_NUMBER.findall(sentence), *names))


def _grams(text: str) -> frozenset[str]:
    folded = "".join(filter(str.isalnum, text[:_GRAM_CHARACTERS].casefold()))
    return frozenset(folded[at : at + _GRAM] for at in range(len(folded) - _GRAM + 1))
