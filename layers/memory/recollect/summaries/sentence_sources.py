"""Which events a sentence of a summary, or a goal, comes from, by our own matching: a model is not asked for sources.

Deleting and rejecting go by these ids. They must name every event that the sentence says something of, and no other
one, so that deleting one of three plans takes that plan alone. Of each sentence:

1. the event that holds the most of its content words by weight (a word that few events hold weighs more; a word that
   only frames what is said, such as "plans to", next to nothing), and every event that holds the same of what marks
   the sentence: its numbers, its names and its rare words;
2. then, for what of it is not accounted for yet, the event that holds most of that, as long as it holds a seventh of
   the sentence, or a number or a name;
3. where no event holds any of its words (a free paraphrase, another language), the events with the most similar
   letters, at least the newest; such a sentence is marked as not supported, and so is one of which the best event
   holds less than a quarter.

A sentence of the summary before stands as one more text to match, and hands on the sources that it had. A goal that
one event holds by itself has each event by rule 1 as a source; one that is put together of several has them all, and
goes with the first of them.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recollect.summaries.goals import GoalSources
from recollect.summaries.summary import SummarySentence
from recollect.text.sentences import first_word_in, names_in, numbers_in, split_said_by
from recollect.text.terms import terms

MOST_SOURCES = 24
_MOST_SOURCES_OF_ALL = 3000

_WORTH_ADDING = 1 / 7
_RARE_FROM = 0.5
_FRAME_SHARE = 0.1
# What a summary says around the facts: who it is about, that it is said, planned or wanted, and units of time.
_FRAME = frozenset(
    terms(
        "user users person assistant bot conversation mention mentioned say said says tell told talk discuss discussed "
        "state stated share shared express expressed report ask asked plan plans planned planning want wants wish hope "
        "hopes aim aims intend intends try tries like likes would decide decided commit committed goal goals start "
        "started keep get also currently recently still go going trip travel visit do make take day week weekend month "
        "year today tomorrow yesterday morning afternoon evening night time"
    )
)
_SUPPORTED_FROM = 0.25
_GUESSES = 3
_GRAM = 3
_GRAM_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Witness:
    """A text that a sentence may come from, and the events that it stands for, at least one."""

    text: str
    event_ids: tuple[str, ...]
    supported: bool = True


@dataclass(frozen=True, slots=True)
class _Found:
    """Positions of witnesses: `alike` by rule 1, `rest` by rule 2."""

    alike: set[int]
    rest: set[int]
    supported: bool


def witness_of(sentence: SummarySentence) -> Witness:
    """A sentence of an earlier summary, with its sources."""
    return Witness(sentence.text, sentence.source_event_ids, sentence.supported)


class SentenceSources:
    """Matches texts against what was covered: `witnesses`, oldest first, at least one."""

    def __init__(self, witnesses: Sequence[Witness]) -> None:
        self._witnesses = witnesses
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        self._names: set[str] = set()
        for position, witness in enumerate(witnesses):
            self._names |= names_in(witness.text)
            for term in _terms(witness.text):
                self._holders[term].append(position)

    def attribute(self, sentences: Sequence[str]) -> tuple[SummarySentence, ...]:
        """The sentences with their sources; fewer each where there are very many sentences."""
        most = max(1, min(MOST_SOURCES, _MOST_SOURCES_OF_ALL // max(1, len(sentences))))
        return tuple(self._attributed(sentence, most) for sentence in sentences)

    def of_goal(self, goal: str) -> GoalSources:
        found = self._found(goal)
        if found is None or not found.supported:
            return GoalSources(supported=False)
        ids = self._ids(found.alike | found.rest, MOST_SOURCES * 100)
        together = bool(found.rest)
        return GoalSources(ids[:MOST_SOURCES], together, supported=not together or len(ids) <= MOST_SOURCES)

    def of_stored_goal(self, goal: str) -> GoalSources:
        """The events that hold all content words of a stored goal; its other sources are unknown here."""
        wanted = _terms(goal)
        holders = [set(self._holders.get(term, ())) for term in wanted - _FRAME or wanted]
        whole = set.intersection(*holders) if holders else set()
        ids = self._ids((at for at in whole if self._witnesses[at].supported), MOST_SOURCES)
        return GoalSources(ids, supported=bool(ids))

    def _attributed(self, sentence: str, most: int) -> SummarySentence:
        said = (split_said_by(sentence) or ("", sentence))[1]
        found = self._found(said)
        if found is None:
            return SummarySentence(sentence, self._ids(self._guessed(said), most), supported=False)
        ids = self._ids(found.alike | found.rest, MOST_SOURCES * 100)
        return SummarySentence(sentence, ids[:most], found.supported and len(ids) <= most)

    def _found(self, text: str) -> "_Found | None":
        weights = self._weights(text)
        scores, total = self._scores(weights), sum(weights.values())
        if not scores:
            return None
        named = self._named(text)
        alike = self._alike(weights, scores, named)
        rest = self._rest(weights, alike, total, named)
        supported = all(self._witnesses[position].supported for position in alike | rest)
        return _Found(alike, rest, supported and max(scores.values()) >= _SUPPORTED_FROM * total)

    def _named(self, text: str) -> frozenset[str]:
        """Numbers and names must not be left without their event. A first word counts if an event has it as a name."""
        return numbers_in(text) | names_in(text) | (first_word_in(text) & self._names)

    def _alike(self, weights: Mapping[str, float], scores: Mapping[int, float], named: frozenset[str]) -> set[int]:
        """Rule 1."""
        best = max(scores, key=lambda position: (scores[position], -position))
        held = {term: weight for term, weight in weights.items() if term in self._holders}
        bound = _RARE_FROM * max(held.values())
        marks = [term for term, weight in held.items() if weight >= bound or term in named]
        shared = [self._holders[term] for term in marks if self._held(term, {best})]
        return set.intersection(*map(set, shared)) if shared else {best}

    def _weights(self, text: str) -> dict[str, float]:
        """As BM25 weighs terms; a term that none holds weighs as if one did."""
        count = len(self._witnesses)
        holders = {term: len(self._holders.get(term, ())) or 1 for term in _terms(text)}
        return {
            term: math.log(1 + (count - held + 0.5) / (held + 0.5)) * (_FRAME_SHARE if term in _FRAME else 1.0)
            for term, held in holders.items()
        }

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


def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text)) | numbers_in(text)


def _grams(text: str) -> frozenset[str]:
    folded = "".join(filter(str.isalnum, text[:_GRAM_CHARACTERS].casefold()))
    return frozenset(folded[at : at + _GRAM] for at in range(len(folded) - _GRAM + 1))
