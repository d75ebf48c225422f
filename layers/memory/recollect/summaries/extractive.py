"""A summary without a model, and goals by cue phrases.

Each content word weighs by the number of messages that hold it; a sentence is worth the words that no chosen one has
yet, for its length. So what repeats counts once, small talk costs more than it brings, and long sentences have no
advantage. Sentences stand as they were said, by their days, with speaker and day before them.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from recollect.context.extractive_answer import is_extractive_answer
from recollect.context.model_call import EARLIER_SUMMARY, STORED_GOAL, Evidence
from recollect.core.time import written_day
from recollect.summaries.goals import LONGEST_GOAL, GoalStatus, same_goal
from recollect.text.phrases import fold
from recollect.text.sentences import count_words, day_said, first_words, split_said_by, split_sentences
from recollect.text.terms import terms

_MOST_GOALS = 10
_MOST_CHARACTERS = 8_000
_FEWEST_TERMS = 1
_SHARED = 0.5
_FEWEST_TOLD = 3
"""A sentence of fewer words ("oh great") tells nothing by itself."""
_FEWEST_WORDS = 5
_MOST_WORDS = 40
_FIXED_COST = 4
_BOT_SHARE = 0.6
_QUESTION_SHARE = 0.5
_FACT_BONUS = 1.25
_EARLIER_SHARE = 0.5
_FEWEST_LETTERS = 0.8
_PLAN = re.compile(
    r"\bmy (?:new )?(?:goal|aim|resolution|plan) (?:is|for [\w ]{1,30}? is) (?:to )?(?P<goal>.+)"
    r"|\bi(?:'m| am| have been|'ve been)? (?:still )?(?:plan|planning|aim|aiming|intend|intending)"
    r" (?:to|on) (?P<plan>.+)"
    r"|\bi(?:'ve| have) (?:decided|committed|promised myself) to (?P<decided>.+)"
    r"|\bi(?:'m| am)(?: currently)? (?P<training>training for .+)"
    r"|\bi(?:'ll| will| want to| would like to|'d like to|'m going to| am going to|'m trying to| am trying to)"
    r" (?P<habit>.+)",
)
_FREQUENCY = re.compile(
    r"\b(?:(?:every (?:single |other )?|each )(?:day|morning|evening|night|week|weekend|month|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday)|(?:once|twice|(?:three|four|five|six|\d{1,3}) (?:times|days|hours|minutes))"
    r" (?:a|per) (?:day|week|month)|(?:daily|weekly|monthly)(?! \w))\b"
)
_REACHED = re.compile(
    r"\b(?:finished|completed|achieved|reached|accomplished|managed to|did it|passed|succeeded|graduated)\b"
)
_GIVEN_UP = re.compile(
    r"\b(?:gave up|given up|giving up|quit|stopped|no longer|abandoned|cancelled|canceled|dropped out|not going to)\b"
)
_NOT_SURE = re.compile(r"\b(?:don't|do not|never|maybe|might|not sure)\b")
_CLAUSE_END = re.compile(
    r"[!?;…。！？]|\.(?:\s|$)| - | – |,? (?:but|because|so that)\b"
    r"|, (?:and i|i|so|can you|which|considering|as i)\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\b(?:i|we|my|our)\b.*\b(?:am|are|is|was|were|have|had|live|work|prefer|love|like|hate|want|need|plan|went|got"
    r"|started|moved|bought|met|never|always)\b|\d",
    re.IGNORECASE,
)
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = re.compile(r"[{}<>;=\\|]|\w\(|\w_\w|\)\.|^\W*(?:import|from|def|class|return|if|for|const|let|var|pip|npm)\b")
_MARKUP = re.compile(r"^(?:[\s>#*•\-]|\d+[.)]\s)+|[*`#]+")


def extract_goals(evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """At most ten goals in the form asked of a model: `{goal, status, check_in_frequency?}`, in the order said.

    Of users only; and of the stored goals those that were reached or given up. An intention alone counts where it has a
    frequency ("I want to run every day"); a plan, a goal or a training by itself.
    """
    kept = [{"goal": one.text, "status": GoalStatus.ACTIVE.value} for one in evidence if one.role == STORED_GOAL]
    goals = [dict(goal) for goal in kept]
    for one in evidence:
        for sentence in split_sentences(one.text[:_MOST_CHARACTERS]) if one.role == "user" else ():
            _take(sentence, goals)
    return [goal for goal in goals if goal not in kept][-_MOST_GOALS:]


def _take(sentence: str, goals: list[dict[str, Any]]) -> None:
    folded = fold(sentence)
    ended = _end(folded)
    meant = next((goal for goal in goals if ended and _speaks_of(folded, goal["goal"])), None)
    if meant is not None and ended is not None:
        meant["status"] = ended.value
        return
    found = _plan(sentence, folded)
    if found is not None and not any(same_goal(goal["goal"], found["goal"]) for goal in goals):
        goals.append(found)


def _end(folded: str) -> GoalStatus | None:
    if _GIVEN_UP.search(folded):
        return GoalStatus.ABANDONED
    return GoalStatus.COMPLETED if _REACHED.search(folded) else None


def _speaks_of(folded: str, goal: str) -> bool:
    wanted = set(terms(_FREQUENCY.sub(" ", fold(goal))))
    return bool(wanted) and len(wanted & set(terms(folded))) >= _SHARED * len(wanted)


def _plan(sentence: str, folded: str) -> dict[str, Any] | None:
    match = _PLAN.search(folded)
    if match is None or folded.endswith("?") or _NOT_SURE.search(folded[: match.end()][:200]):
        return None
    group = str(match.lastgroup)
    text = _clause(sentence if len(folded) == len(sentence) else folded, match.start(group))
    frequency = _FREQUENCY.search(fold(text))
    if (group == "habit" and frequency is None) or len(terms(text)) < _FEWEST_TERMS:
        return None
    known: dict[str, Any] = {"goal": text, "status": GoalStatus.ACTIVE.value}
    return {**known, "check_in_frequency": frequency.group()} if frequency else known


def _clause(sentence: str, start: int) -> str:
    rest = sentence[start:]
    end = _CLAUSE_END.search(rest)
    clause = " ".join(rest[: end.start() if end else None].split())[:LONGEST_GOAL].strip(" ,:")
    return clause[:1].upper() + clause[1:]


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
        return self.words + count_words(self.said_by)


def extractive_summary(evidence: Sequence[Evidence], previous: str | None, max_words: int) -> str:
    """A text of at most `max_words` ≥ 1 words, of sentences of the evidence and of the summary before it.

    That summary is `previous`, or evidence of that role; up to half of the words go to its sentences. Deterministic.
    Empty only where nothing has a word in it.
    """
    old = _earlier([*split_sentences(previous or ""), *(e.text.strip() for e in evidence if e.role == EARLIER_SUMMARY)])
    said = [one for one in evidence if one.role not in (EARLIER_SUMMARY, STORED_GOAL)]
    said = [one for one in said if not is_extractive_answer(one.text)] or said  # they repeat what was said
    fresh = [candidate for position, one in enumerate(said) for candidate in _candidates(one, position)]
    weights = _weights(said, old)
    kept = _chosen(old, weights, math.floor(max_words * _EARLIER_SHARE) if fresh else max_words, [])
    told = [one for one in fresh if one.words >= _FEWEST_TOLD] or ([] if kept else fresh)
    for pool in ([one for one in told if _FEWEST_WORDS <= one.words <= _MOST_WORDS], told):
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
    """A sentence without speaker and day takes those of the one before it."""
    found: list[_Candidate] = []
    said_by = ""
    for position, text in enumerate(texts, start=-len(texts)):
        said_by, said = split_said_by(text) or (said_by, text)
        found.append(_Candidate((position, 0), said_by, said, _content(said), 1.0, count_words(said)))
    return found


def _said_by(one: Evidence) -> str:
    """`Anna (8 May 2023): `, as passages are embedded."""
    who = one.speaker or ("Assistant" if one.role == "bot" else "User")
    return f"{who} ({written_day(one.timestamp)}): "


def _is_prose(text: str) -> bool:
    letters = sum(1 for character in text if character.isalpha() or character.isspace())
    return bool(text) and letters >= _FEWEST_LETTERS * len(text) and not _CODE.search(text)


def _share(one: Evidence, text: str) -> float:
    """A user's own word counts more than an assistant's, a fact more than a question."""
    share = _BOT_SHARE if one.role == "bot" else 1.0
    if text.endswith(("?", "？")):
        return share * _QUESTION_SHARE
    return share * _FACT_BONUS if _FACT.search(text) else share


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _weights(said: Sequence[Evidence], earlier: Sequence[_Candidate]) -> dict[str, float]:
    """By how many messages hold a word; words of the summary before count as held by two."""
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
    """Those of the summary before first, unless all have days: what came late may have been said before them."""
    parts, last = [], ""
    ordered = sorted(chosen, key=lambda one: one.order)
    days = [day_said(one.said_by) for one in ordered]
    known = [day for day in days if day is not None]
    if len(known) == len(days):
        ordered = [one for _, one in sorted(zip(known, ordered, strict=True), key=lambda pair: pair[0])]
    for one in ordered:
        parts.append(one.text if one.said_by == last else one.said_by + one.text)
        last = one.said_by
    return " ".join(part if part[-1:] in ".!?。！？…" else f"{part}." for part in parts)
