"""Which hits `messages` show: what the question needs, best first, cut where relevance ends and not at a count."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest

from recollect.context.disputes import Disputes
from recollect.context.rendering import memory_note
from recollect.context.selection import ContextItem, Section, Selected, search_reason
from recollect.contradictions.doubts import OtherSide
from recollect.core.event import Role
from recollect.core.vectors import FloatArray, unit
from recollect.memories.representation import EndedWords
from recollect.retrieval.nomination import ASKING
from recollect.retrieval.ranking import Ranked
from recollect.text.sentences import count_tokens, words_said

MEMORY_TOKENS = 800
"""How many tokens the memories of `messages` may take where a request says nothing."""

MOST_MEMORY_TOKENS = 32_000
_LEAST_TOKENS_A_LINE = 34  # 24 records for 800 tokens: with 40 natural-dev's messages are no better, with 20 worse
_MOST_LINES = 200
_STANDING_WISH = "a standing wish"
_SHARE_OF_WISHES = 0.25
_NEARLY_EQUAL = 0.65
"""The cosine of two questions, and of an assistant's line and what it restates.

Of the default embedder "Where do I live?" and "Do you know which city I live in?" have 0.70, and so do questions of one
form, "Where do I live?" and "Where do I work?".
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """What the messages show besides: the input, the raw window's identities, the input's own ids."""

    input: str
    raw_window: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()


def lines_wanted(memory_tokens: int) -> int:
    """How many records a search is asked for, to fill so many tokens: at most 200."""
    return min(-(-memory_tokens // _LEAST_TOKENS_A_LINE), _MOST_LINES)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceCut:
    """Where relevance ends, by the scores alone.

    A hit's score is at least `least`, and at least `share` of the best one's less `slack`; for the first ones
    `share_of_first` of the best one's is enough. `share` is fitted to the questions of our own talks and months and of
    the development sets; the others find as much as they can of what eight conversations of three writers ask for,
    with 15 % of the lines needed.
    """

    share: float = 0.83
    slack: float = 0.26
    least: float = 0.03
    first: int = 2
    share_of_first: float = 0.5

    def of(self, items: Sequence[ContextItem]) -> list[ContextItem]:
        """Those that pass, in their order."""
        scores = [item.score or 0.0 for item in items]
        best_first = sorted(scores, reverse=True)
        best = max(scores, default=0.0)
        first = max(self.share_of_first * best, *best_first[self.first - 1 : self.first], 0.0)
        least = max(self.least, min(self.share * best - self.slack, first))
        return [item for item, score in zip(items, scores, strict=True) if score >= least]


EVERY_HIT = RelevanceCut(share=0.0, slack=0.0, least=0.0)
"""Cuts nothing: where a part of the search did not answer, its scores mean something else."""


def wishes_besides(
    wishes: Sequence[ContextItem], needed: Sequence[ContextItem], setting: Setting
) -> tuple[ContextItem, ...]:
    """Those that are shown neither as hits nor by the raw window, and are not the input, in their order.

    Of several in the same words the newest is taken.
    """
    there = {item.identity for item in needed} | setting.raw_window | setting.own
    said_already = {words_said(item.content) for item in needed} if wishes else set()
    distinct: dict[tuple[str, ...], ContextItem] = {}
    for item in wishes:
        words = words_said(item.content)
        if item.identity not in there and words not in said_already:
            distinct[words] = max(item, distinct.get(words, item), key=lambda one: one.timestamp)
            there |= {item.identity}
    return tuple(distinct.values())


def those_that_fit(
    relevant: Sequence[ContextItem], memory_tokens: int, now: datetime, wishes: Sequence[ContextItem] = ()
) -> tuple[Selected, ...]:
    """The wishes, in a quarter of the tokens, and of the relevant, best first, all that fit; answered oldest first.

    One too long leaves room for the next. Which words of a relevant one have ended, or are in doubt, is told where
    there is room left when all that holds is in; that it is in doubt is told at once.
    """
    wished: list[Selected] = []
    room = int(memory_tokens * _SHARE_OF_WISHES)
    for item in wishes:
        if (size := _size(item, now)) <= room:
            wished.append(Selected(item, Section.SEMANTIC, _STANDING_WISH))
            room -= size
    left = memory_tokens - sum(_size(one.item, now) for one in wished)
    chosen: dict[int, ContextItem] = {}
    for rank, item in enumerate(relevant, start=1):
        without = _without_places(item)
        if (size := _size(without, now)) <= left:
            chosen[rank], left = without, left - size
    for rank in [rank for rank, item in chosen.items() if item is not relevant[rank - 1]]:
        whole = relevant[rank - 1]
        if (more := _size(whole, now) - _size(chosen[rank], now)) <= left:
            chosen[rank], left = whole, left - more
    hits = (Selected(item, Section.SEMANTIC, search_reason(item, rank)) for rank, item in chosen.items())
    return tuple(sorted((*wished, *hits), key=lambda one: (one.item.timestamp, one.item.id)))


def _without_places(item: ContextItem) -> ContextItem:
    """What holds of it, and that it is in doubt, if it is."""
    if item.said is None and not item.ended:
        return item
    against = item.against or next(map(_said_by, item.in_doubt), None)
    return replace(item, ended=(), in_doubt=(), said=None, against=against)


def _said_by(doubted: EndedWords) -> OtherSide:
    return OtherSide(doubted.by, doubted.since, doubted.instead or "", newer=True)


def _size(item: ContextItem, now: datetime) -> int:
    return count_tokens(memory_note(item, now) + "\n")


def beside_what_is_shown(chosen: Sequence[Selected], setting: Setting, told: Disputes) -> tuple[Selected, ...]:
    """Each with the date of the newest that is shown and may have changed it; where none is, with what is not shown.

    What may have changed another one is in no doubt by that: it tells of it only where the other is not shown.
    """
    shown = {one.item.identity for one in chosen} | setting.raw_window

    def marked(item: ContextItem) -> ContextItem:
        others = told.against(item.identity, at_places=bool(item.in_doubt))
        if not others and item.against is None and item.said is None and not item.ended:
            return item
        beside = [one for one in others if one.id in shown]
        newer = (one.said_at for one in beside or others if one.newer)
        against = next(iter(() if beside else others), None)
        until = next((one.holds_from for one in beside or others if one.holds_from), None)
        marked = replace(item, doubted_at=next(newer, None), against=against, holds_until=until)
        return replace(marked, ended=without_shown(item.ended), in_doubt=without_shown(item.in_doubt))

    def without_shown(words: Sequence[EndedWords]) -> tuple[EndedWords, ...]:
        return tuple(replace(one, instead=None) if one.by in shown else one for one in words)

    return tuple(Selected(marked(one.item), one.section, one.reason, one.because) for one in chosen)


def without_repeated_questions(best_first: Iterable[Ranked]) -> tuple[Ranked, ...]:
    """Without a user's question that nearly equals a better one: it states nothing, and one tells that it was asked."""
    asked: list[FloatArray] = []
    kept: list[Ranked] = []
    for one in best_first:
        if one.candidate.role != ASKING or one.candidate.vector is None:
            kept.append(one)
            continue
        vector = unit(one.candidate.vector)
        if all(float(vector @ other) < _NEARLY_EQUAL for other in asked):
            kept.append(one)
            asked.append(vector)
    return tuple(kept)


def without_echoes(best_first: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """An assistant's line that nearly equals what the user said is one with it: the user's stands in its place.

    "Noted: you live in Leith" has a cosine of 0.69 with "I live in Leith", what only is about it 0.43 and less.
    """
    answers = {one.id: one.candidate.vector for one in best_first if one.candidate.role == Role.BOT}
    own = _own_words(best_first) if answers else []
    kept: dict[str, Ranked] = {}
    for one in best_first:
        original = _echoed(answers.get(one.id), own)
        shown = one if original is None else replace(original, score=max(one.score, original.score))
        kept.setdefault(shown.id, shown)
    return tuple(kept.values())


def _own_words(best_first: Sequence[Ranked]) -> list[tuple[Ranked, FloatArray]]:
    told = ((one, one.candidate.vector) for one in best_first if one.candidate.role == Role.USER)
    return [(one, unit(vector)) for one, vector in told if vector is not None]


def _echoed(vector: FloatArray | None, own: Sequence[tuple[Ranked, FloatArray]]) -> Ranked | None:
    """The user's line that an assistant's of this vector is most alike, where it is nearly that."""
    if vector is None or not own:
        return None
    answer = unit(vector)
    likeness, original = max(((float(answer @ other), each) for each, other in own), key=lambda pair: pair[0])
    return original if likeness >= _NEARLY_EQUAL else None


def not_shown_yet(found: Iterable[ContextItem], setting: Setting) -> list[ContextItem]:
    """Without what repeats the input, what the raw window shows, what is found twice, and what does not match."""
    asked = "".join(_letters(setting.input))
    distinct: dict[str, ContextItem] = {}
    for item in found:
        shown = not setting.own.isdisjoint((item.id, item.identity)) or item.identity in setting.raw_window
        if not shown and (item.score or 0.0) > 0 and not _repeats(item.content, asked):
            distinct.setdefault(item.identity, item)
    return list(distinct.values())


def _repeats(text: str, letters: str) -> bool:
    # Reads no further than the two agree: a found text may be long.
    return all(one == other for one, other in zip_longest(_letters(text), letters))


def _letters(text: str) -> Iterator[str]:
    """Letters and digits alone: marks and spaces make no difference."""
    return filter(str.isalnum, text.casefold())
