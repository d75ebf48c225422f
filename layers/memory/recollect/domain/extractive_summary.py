"""A summary without a model: the sentences that together hold the most of what a conversation keeps coming back to.

Each content word weighs by the number of messages that hold it; a sentence is worth the words that no chosen one has
yet, for its length. So what repeats counts once (diversity), small talk costs more than it brings, and long
sentences have no advantage. Sentences stand as they were said, in that order, with speaker and day before them.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.domain.extractive_answer import is_extractive_answer
from recollect.domain.extractive_goals import extract_goals
from recollect.domain.lexical import terms
from recollect.domain.model_call import EARLIER_SUMMARY, KEPT_GOAL, Evidence
from recollect.domain.sentences import count_words, first_words, split_said_by, split_sentences

__all__ = ["extract_goals", "extractive_summary"]

_MOST_CHARACTERS = 8_000
_FEWEST_WORDS, _MOST_WORDS = 5, 40
_FIXED_COST = 4
_BOT_SHARE = 0.6
_QUESTION_SHARE = 0.5
_FACT_BONUS = 1.25
_EARLIER_SHARE = 0.5
_FEWEST_LETTERS = 0.8
_FACT = re.compile(
    r"\b(?:i|we|my|our)\b.*\b(?:am|are|is|was|were|have|had|live|work|prefer|love|like|hate|want|need|plan|went|got"
    r"|started|moved|bought|met|never|always)\b|\d",
    re.IGNORECASE,
)
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = re.compile(r"[{}<>;=\\|]|\w\(|\w_\w|\)\.|^\W*(?:import|from|def|class|return|if|for|const|let|var|pip|npm)\b")
_MARKUP = re.compile(r"^(?:[\s>#*•\-]|\d+[.)]\s)+|[*`#]+")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Candidate:
    order: tuple[int, int]
    said_by: str
    text: str
    terms: frozenset[str]
    share: float
    words: int

    @property
    def cost(self) -> int:
        """Its words, and those before it."""
        return self.words + count_words(self.said_by)


def extractive_summary(evidence: Sequence[Evidence], previous: str | None, max_words: int) -> str:
    """A text of at most `max_words` ≥ 1 words made of sentences of the evidence and of the summary before it.

    That summary is `previous`, or evidence of that role; up to half of the words go to its sentences. The
    same input gives the same text. Empty only where nothing has a word in it.
    """
    old = _earlier([*split_sentences(previous or ""), *(e.text.strip() for e in evidence if e.role == EARLIER_SUMMARY)])
    said = [one for one in evidence if one.role not in (EARLIER_SUMMARY, KEPT_GOAL)]
    said = [one for one in said if not is_extractive_answer(one.text)] or said  # they repeat what was said
    fresh = [candidate for position, one in enumerate(said) for candidate in _candidates(one, position)]
    weights = _weights(said, old)
    kept = _chosen(old, weights, math.floor(max_words * _EARLIER_SHARE) if fresh else max_words, [])
    for pool in ([one for one in fresh if _FEWEST_WORDS <= one.words <= _MOST_WORDS], fresh):
        kept += _chosen(pool, weights, max_words - sum(one.cost for one in kept), kept)
    return _written(kept) or first_words(" ".join(one.text for one in said), max_words)


def _candidates(one: Evidence, position: int) -> Iterable[_Candidate]:
    said_by = _said_by(one)
    prose = _CODE_BLOCK.sub("\n", one.text[:_MOST_CHARACTERS])
    for number, sentence in enumerate(split_sentences(prose)):
        text = " ".join(_MARKUP.sub(" ", sentence).split())
        if _is_prose(text):
            words = count_words(text)
            yield _Candidate((position, number), said_by, text, _content(text), _share(one, text), words)


def _earlier(texts: Sequence[str]) -> list[_Candidate]:
    """The sentences of the summary before; one without speaker and day goes on from the one before it."""
    found: list[_Candidate] = []
    said_by = ""
    for position, text in enumerate(texts, start=-len(texts)):
        said_by, said = split_said_by(text) or (said_by, text)
        found.append(_Candidate((position, 0), said_by, said, _content(said), 1.0, count_words(said)))
    return found


def _said_by(one: Evidence) -> str:
    """`Anna (8 May 2023): `, as passages are embedded."""
    who = one.speaker or ("Assistant" if one.role == "bot" else "User")
    day = one.timestamp
    return f"{who} ({day.day} {_MONTHS[day.month - 1]} {day.year}): "


def _is_prose(text: str) -> bool:
    """No code, no table, no path: mostly letters."""
    letters = sum(1 for character in text if character.isalpha() or character.isspace())
    return bool(text) and letters >= _FEWEST_LETTERS * len(text) and not _CODE.search(text)


def _share(one: Evidence, text: str) -> float:
    """How much a sentence counts: a user's own word more than an assistant's, a fact more than a question."""
    share = _BOT_SHARE if one.role == "bot" else 1.0
    if text.endswith(("?", "？")):
        return share * _QUESTION_SHARE
    return share * _FACT_BONUS if _FACT.search(text) else share


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _weights(said: Sequence[Evidence], earlier: Sequence[_Candidate]) -> dict[str, float]:
    """By how many messages hold a word; what the summary before holds was held by several already."""
    counts: Counter[str] = Counter()
    for one in said:
        counts.update(_content(one.text[:_MOST_CHARACTERS]))
    for old in earlier:
        counts.update(dict.fromkeys(old.terms, 2))
    return {term: math.log(1 + count) for term, count in counts.items()}


def _chosen(
    candidates: Sequence[_Candidate], weights: dict[str, float], room: int, before: Sequence[_Candidate]
) -> list[_Candidate]:
    """Greedily the sentence that brings the most for its length, while one fits and brings anything."""
    held = {term for one in before for term in one.terms}
    left, chosen = [one for one in candidates if one not in before], list[_Candidate]()
    while left := [one for one in left if one.cost <= room and _worth(one, weights, held)]:
        best = max(left, key=lambda one: (_worth(one, weights, held), one.order))
        room -= best.cost
        held |= best.terms
        chosen.append(best)
    return chosen


def _worth(one: _Candidate, weights: dict[str, float], held: set[str]) -> float:
    gain = sum(weights.get(term, 0.0) for term in one.terms if term not in held)
    return one.share * gain / (one.words + _FIXED_COST)


def _written(chosen: Sequence[_Candidate]) -> str:
    """In the order said; speaker and day once for what stands together."""
    parts, last = [], ""
    for one in sorted(chosen, key=lambda one: one.order):
        parts.append(one.text if one.said_by == last else one.said_by + one.text)
        last = one.said_by
    return " ".join(part if part[-1:] in ".!?。！？…" else f"{part}." for part in parts)
