"""Goals without a model: what users say they plan, by cue phrases; and that they reached it, or gave it up."""

import re
from collections.abc import Sequence
from typing import Any

from recollect.domain.goals import LONGEST_GOAL, GoalStatus, same_goal
from recollect.domain.lexical import terms
from recollect.domain.model_call import KEPT_GOAL, Evidence
from recollect.domain.phrases import fold
from recollect.domain.sentences import split_sentences

_MOST_GOALS = 10
_MOST_CHARACTERS = 8_000
_FEWEST_TERMS = 1
_SHARED = 0.5

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
    r"|, (?:and i|so i|so can|can you|which|considering|as i)\b",
    re.IGNORECASE,
)


def extract_goals(evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """At most ten goals, as a model is asked for them: `{goal, status, check_in_frequency?}`, in the order said.

    Of users only, and of the goals that are kept already those which were reached or given up. An intention alone
    counts where it comes with a frequency ("I want to run every day"); a plan, a goal or a training by itself.
    """
    kept = [_kept(one) for one in evidence if one.role == KEPT_GOAL]
    goals = [dict(goal) for goal in kept]
    for one in evidence:
        for sentence in split_sentences(one.text[:_MOST_CHARACTERS]) if one.role == "user" else ():
            _take(sentence, goals)
    return [goal for goal in goals if goal not in kept][-_MOST_GOALS:]


def _kept(one: Evidence) -> dict[str, Any]:
    return {"goal": one.text, "status": GoalStatus.ACTIVE.value}


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
    """The goal that a sentence states; None for none, a doubt, or a question."""
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
    """From there to the end of the clause, with a capital."""
    rest = sentence[start:]
    end = _CLAUSE_END.search(rest)
    clause = " ".join(rest[: end.start() if end else None].split())[:LONGEST_GOAL].strip(" ,:")
    return clause[:1].upper() + clause[1:]
