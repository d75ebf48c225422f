"""Measures of search and context over gold questions: evidence recall, and what is needed, stale or filler.

A question names the turns that its answer needs and the turns that are stale by then. Every measure is over sets of
turns, so that no wording decides it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import fmean

ALL = "all"
"""The group of all questions."""


class Needs(StrEnum):
    """Whether an answer needs every turn of the evidence, or any one of them."""

    ALL = "all"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class TalkQuestion:
    """A question at an instant. `evidence` and `stale` are turn ids; without evidence nothing answers it."""

    id: str
    kind: str
    text: str
    at: datetime
    evidence: frozenset[str]
    needs: Needs
    stale: frozenset[str]

    def answered_by(self, turns: Iterable[str]) -> bool:
        """Whether these turns hold what the answer needs; False for a question without evidence."""
        held = self.evidence.intersection(turns)
        return held == self.evidence and bool(held) if self.needs is Needs.ALL else bool(held)


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One line that a reader sees: the turns that it is made of, and whether it is marked as no longer true."""

    turns: frozenset[str]
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """The lines of one answer, best or oldest first, and the tokens of all that is sent."""

    lines: tuple[ShownLine, ...]
    tokens: int = 0

    def turns(self, first: int | None = None) -> frozenset[str]:
        """The turns behind the first lines, or behind all."""
        return frozenset().union(*(line.turns for line in self.lines[:first]))


@dataclass(frozen=True, slots=True)
class ContextQuality:
    """Means over the questions of one kind; None where no question applies.

    `right`: the needed turns are shown. `stale`: of questions with stale turns, one is shown without a mark; `misled`:
    the same, without the needed turns. `precise`: needed lines among the lines shown.
    """

    questions: int
    right: float | None
    misled: float | None
    stale: float | None
    precise: float | None
    lines: float
    tokens: float


@dataclass(frozen=True, slots=True)
class SearchQuality:
    """Means over questions with evidence: the needed turns are among the first k; a stale turn is above all needed."""

    questions: int
    right_at: Mapping[int, float | None]
    stale_first: float | None


def context_quality(questions: Sequence[TalkQuestion], shown: Sequence[Shown]) -> dict[str, ContextQuality]:
    """Over all questions with evidence, then by kind."""
    return {kind: _quality([(questions[p], shown[p]) for p in places]) for kind, places in _kinds(questions).items()}


def search_quality(
    questions: Sequence[TalkQuestion], shown: Sequence[Shown], cuts: Sequence[int]
) -> dict[str, SearchQuality]:
    """As `context_quality`, of the results of a search, best first."""
    kinds = _kinds(questions)
    return {kind: _search([(questions[p], shown[p]) for p in places], cuts) for kind, places in kinds.items()}


def _kinds(questions: Sequence[TalkQuestion]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {ALL: [p for p, one in enumerate(questions) if one.evidence]}
    for place, question in enumerate(questions):
        groups.setdefault(question.kind, []).append(place)
    return {kind: places for kind, places in groups.items() if places}


def _quality(asked: Sequence[tuple[TalkQuestion, Shown]]) -> ContextQuality:
    answerable = [(question, shown) for question, shown in asked if question.evidence]
    outdated = [(question, shown) for question, shown in asked if question.stale]
    return ContextQuality(
        questions=len(asked),
        right=_share(answerable, lambda question, shown: question.answered_by(shown.turns())),
        misled=_share(outdated, lambda question, shown: _is_stale(question, shown) and not _is_right(question, shown)),
        stale=_share(outdated, _is_stale),
        precise=fmean(_precision(*one) for one in answerable) if answerable else None,
        lines=fmean(len(shown.lines) for _, shown in asked),
        tokens=fmean(shown.tokens for _, shown in asked),
    )


def _search(asked: Sequence[tuple[TalkQuestion, Shown]], cuts: Sequence[int]) -> SearchQuality:
    answerable = [(question, shown) for question, shown in asked if question.evidence]
    outdated = [(question, shown) for question, shown in answerable if question.stale]
    at = {k: _share(answerable, lambda question, shown, k=k: question.answered_by(shown.turns(k))) for k in cuts}
    return SearchQuality(len(asked), at, _share(outdated, _stale_first))


def _share(asked: Sequence[tuple[TalkQuestion, Shown]], holds: Callable[..., bool]) -> float | None:
    return fmean(float(holds(question, shown)) for question, shown in asked) if asked else None


def _is_right(question: TalkQuestion, shown: Shown) -> bool:
    return question.answered_by(shown.turns())


def _is_stale(question: TalkQuestion, shown: Shown) -> bool:
    return any(line.turns & question.stale and not line.marked for line in shown.lines)


def _precision(question: TalkQuestion, shown: Shown) -> float:
    needed = sum(1 for line in shown.lines if line.turns & question.evidence)
    return needed / len(shown.lines) if shown.lines else 0.0


def _stale_first(question: TalkQuestion, shown: Shown) -> bool:
    for line in shown.lines:
        if line.turns & question.evidence:
            return False
        if line.turns & question.stale and not line.marked:
            return True
    return False


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question to one conversation; `evidence` names the turns that answer it, one at least."""

    conversation_id: str
    text: str
    category: str
    evidence: frozenset[str]


def evidence_recall(found: Sequence[str], evidence: frozenset[str], k: int) -> float:
    """Gold turns among the first k, over gold turns."""
    return len(evidence.intersection(found[:k])) / len(evidence)


def recall_by_category(
    questions: Sequence[GoldQuestion], found: Sequence[Sequence[str]], cuts: Sequence[int]
) -> Mapping[str, Mapping[int, float]]:
    """Mean recall at each k over all questions (`all`), then over those of each category, in the order met."""
    groups: dict[str, list[int]] = {ALL: list(range(len(questions)))}
    for position, question in enumerate(questions):
        groups.setdefault(question.category, []).append(position)
    return {
        group: {k: fmean(evidence_recall(found[p], questions[p].evidence, k) for p in positions) for k in cuts}
        for group, positions in groups.items()
        if positions
    }
