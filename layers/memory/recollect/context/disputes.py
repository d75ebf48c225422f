"""What open conflicts and announced changes say of the best hits: what of them may have changed, and by what (P-24)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from recollect.contradictions.decisions import OpenConflict, has_passed, places_in_doubt
from recollect.contradictions.doubts import FindDoubts, NewestConflicts, OtherSide, older_sides
from recollect.contradictions.parts import Span
from recollect.core.scope import Scope
from recollect.memories.representation import EndedWords, announced, ended_words, is_told_by
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import Recalled
from recollect.retrieval.ranking import Ranked
from recollect.text.omission import says_more

_COMPARED = 14
"""Of so many of the best hits each pair is looked up: at most 91 keys."""

Sides: TypeAlias = Mapping[str, Sequence[OtherSide]]
"""What open conflicts put against an item, newest first, by its identity."""


@dataclass(frozen=True, slots=True)
class Disputes:
    """By the identities of the best hits: what stands against each, and the newer ones of it, and of what has ended of
    it, that are best hits too.

    What is announced to take a hit's place stands against it as well. `doubted` are the older sides of all conflicts
    that were read, those of hits or not. `ended` is what has ended of a hit that holds in part, `in_doubt` the words of
    it that open conflicts would end, where these are known and not all that hold; `said` are all its words, in which
    both have their places.
    """

    sides: Sides
    newer: Mapping[str, tuple[Ranked, ...]]
    doubted: frozenset[str] = frozenset()
    ended: Mapping[str, tuple[EndedWords, ...]] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    in_doubt: Mapping[str, tuple[EndedWords, ...]] = field(default_factory=dict)

    def against(self, identity: str, at_places: bool = True) -> Sequence[OtherSide]:
        """What stands against it: the newer ones; of one in no doubt the older.

        `at_places`: its words in doubt are marked at their places, and tell what they are put in doubt by.
        """
        doubted = self.in_doubt.get(identity, ()) if at_places else ()
        told, sides = {one.by for one in doubted}, self.sides.get(identity, ())
        newer = [one for one in sides if one.newer and one.id not in told]
        return newer if newer or told else sides


@dataclass(frozen=True, slots=True)
class _Side:
    id: str
    newer: bool
    holds_from: datetime | None = None
    confidence: float | None = None


def disputes(
    find: FindDoubts,
    scope: Scope,
    recalled: Recalled,
    filters: SearchFilters,
    newest: NewestConflicts,
) -> Disputes:
    """Of the first hits; what stands against one and was not found is read."""
    first = {recalled.identity(one): one for one in recalled.ranked[:_COMPARED]}
    oldest_first = sorted(first, key=lambda i: (first[i].candidate.timestamp, first[i].id))
    about = find.about(scope, oldest_first, newest)
    stored = {i: recalled.stored.get(one.id) for i, one in first.items()}
    conflicts = [one for one in about if (older := stored.get(one.older)) is None or not has_passed(one, older)]
    pairs = [pair for one in conflicts for pair in _both_ways(one) if pair[0] in first]
    pairs += _announced(recalled, first.values(), filters)
    ended = {recalled.identity(one): words for one in recalled.ranked if (words := _ended(recalled, one, filters))}
    ending = [one.by for words in ended.values() for one in words]
    known = _known(find, scope, recalled, [*(side.id for _, side in pairs), *ending], filters)
    newest_first = _against(pairs, known)
    shown = {own: tuple(first[i] for i in ids if i in first) for own, ids in _newer(newest_first, ended).items()}
    told = {own: tuple(_instead(one, known) for one in words) for own, words in ended.items()}
    said = {
        recalled.identity(one): recalled.stored[one.id].content
        for one in recalled.ranked
        if _is_told(recalled, one, ended)
    }
    read = {i: _as_said(recalled, one, said.get(i)) for i, one in first.items()}
    whole = {i: all_words for i, all_words in read.items() if all_words is not None}
    in_doubt = _in_doubt(conflicts, whole, ended, known)
    said |= {i: whole[i] for i in in_doubt}
    return Disputes(newest_first, shown, older_sides(conflicts), told, said, in_doubt)


def _against(pairs: Iterable[tuple[str, _Side]], known: Mapping[str, OtherSide]) -> dict[str, list[OtherSide]]:
    """The sides that are known, by what they stand against, newest first."""
    sides: dict[str, list[OtherSide]] = {}
    for own, side in pairs:
        if side.id in known:
            told = replace(known[side.id], newer=side.newer, holds_from=side.holds_from, confidence=side.confidence)
            sides.setdefault(own, []).append(told)
    return {own: sorted(of_one, key=_said, reverse=True) for own, of_one in sides.items()}


def _newer(sides: Sides, ended: Mapping[str, Sequence[EndedWords]]) -> dict[str, list[str]]:
    """What may have changed each, oldest first, and what has ended words of it."""
    found = {own: [side.id for side in reversed(of_one) if side.newer] for own, of_one in sides.items()}
    for own, words in ended.items():
        found[own] = list(dict.fromkeys([*found.get(own, ()), *(one.by for one in words)]))
    return found


def _ended(recalled: Recalled, hit: Ranked, filters: SearchFilters) -> tuple[EndedWords, ...]:
    """Nothing of a memory that is shown in all its words anyway."""
    memory, shown = recalled.stored.get(hit.id), recalled.memories.get(hit.id)
    if memory is None or shown is None or shown.content == memory.content:
        return ()
    return ended_words(memory, filters.moment)


def _is_told(recalled: Recalled, hit: Ranked, ended: Mapping[str, Sequence[EndedWords]]) -> bool:
    """Whether something of it has ended for good, and nothing else of it does not hold now."""
    words = ended.get(recalled.identity(hit), ())
    return bool(words) and is_told_by(recalled.stored[hit.id], words, recalled.memories[hit.id].content)


def _as_said(recalled: Recalled, hit: Ranked, told: str | None) -> str | None:
    """All words of a hit, in which its conflicts have their places; None where it is shown in others.

    `told` are those of one of which what has ended is told. Other words than its record's are an edit's or a merger's.
    """
    record, memory, shown = recalled.events[hit.id], recalled.stored.get(hit.id), recalled.memories.get(hit.id)
    if (memory is not None and not memory.is_as_said(record.content)) or hit.id in recalled.redacted:
        return None
    return told if told is not None or (shown is not None and shown.content != record.content) else record.content


def _in_doubt(
    conflicts: Iterable[OpenConflict],
    said: Mapping[str, str],
    ended: Mapping[str, Sequence[EndedWords]],
    known: Mapping[str, OtherSide],
) -> dict[str, tuple[EndedWords, ...]]:
    """By what the words are of, in their order; of those that one place has, what was said first against them first."""
    words: dict[str, list[EndedWords]] = {}
    for one in conflicts:
        if one.older in said and one.newer in known:
            over = [(each.start, each.end) for each in ended.get(one.older, ())]
            words.setdefault(one.older, []).extend(_doubted(one, said[one.older], over, known[one.newer]))
    return {i: tuple(sorted(some, key=lambda one: (one.start, one.since))) for i, some in words.items() if some}


def _doubted(conflict: OpenConflict, said: str, over: Sequence[Span], newer: OtherSide) -> list[EndedWords]:
    """The words that it would end and that hold; none where nothing else does: then all that is shown is in doubt."""
    places = places_in_doubt(conflict, said, over)
    if not says_more(said, (*places, *over)):
        return []
    return [EndedWords(said[a:b], newer.said_at, newer.id, newer.words, a) for a, b in places]


def _instead(ended: EndedWords, known: Mapping[str, OtherSide]) -> EndedWords:
    return replace(ended, instead=known[ended.by].words) if ended.by in known else ended


def _announced(recalled: Recalled, hits: Iterable[Ranked], filters: SearchFilters) -> Iterator[tuple[str, _Side]]:
    for one in hits:
        memory = recalled.stored.get(one.id)
        lapse = announced(memory, filters.moment) if memory is not None else None
        if lapse is not None:
            yield recalled.identity(one), _Side(lapse.by, True, lapse.since)


def _both_ways(conflict: OpenConflict) -> tuple[tuple[str, _Side], tuple[str, _Side]]:
    sure = conflict.confidence
    newer, older = _Side(conflict.newer, True, confidence=sure), _Side(conflict.older, False, confidence=sure)
    return (conflict.older, newer), (conflict.newer, older)


def _known(
    find: FindDoubts, scope: Scope, recalled: Recalled, ids: Sequence[str], filters: SearchFilters
) -> dict[str, OtherSide]:
    hits = {recalled.identity(one): one for one in recalled.ranked}
    found = {i: OtherSide(i, hits[i].candidate.timestamp, recalled.text(hits[i])) for i in ids if i in hits}
    return {**found, **find.sides(scope, [i for i in ids if i not in hits], filters)}


def _said(side: OtherSide) -> tuple[datetime, str]:
    return side.said_at, side.id
