"""What the model learns from that tells which words end: parts of two messages, and the marked words of the older.

Most are lists, or several facts in one breath, of which a newer message ends one, all, or none (`lists`); the rest are
the months' and the pairs' whose older statement is one clause, which then ends as a whole.
"""

import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.tools.judge.examples import LABELS, Example, Month, Part, Talk
from infra.tools.judge.held import HELD, HELD_LIST_GROUPS, PLAIN
from recollect.adapters.judges.pair_pieces import SplitPieces
from recollect.contradictions.parts import Span, clause_spans
from recollect.contradictions.trained import NEWER_TOKENS, OLDER_TOKENS, parts_read, placed_parts

LISTS: Final = Path(__file__).with_name("lists")
PART, WHOLE = "part", "whole"
KINDS: Final = frozenset({PART, WHOLE, "adds", "confirms", "near"})
LIST, MONTH, NEAR, PAIR, NOTHING = "list", "month", "month_near", "pair", "nothing"
"""The kinds of examples."""
_WEIGHTS: Final = {MONTH: 1.0, NEAR: 0.5, PAIR: 0.7, NOTHING: 0.6}
_LIST_WEIGHTS: Final = {True: 1.5, False: 0.8}
"""By whether any of its words ends."""
NOT_LEARNT: Final = HELD | PLAIN | HELD_LIST_GROUPS
"""Writers that the model in the repository has not learnt from."""
_MOST_ENDING, _MOST_STANDING, _MOST_HELD = 2200, 1200, 400
_MONTH_MESSAGES, _TALK_TURNS = 12, 18
_FIRST_MONTH_MESSAGE, _FIRST_TURN = 5, 3
_KNOWN_BY = 12
"""Characters by which a part is known to hold labelled words, which may go on into the next part."""


@dataclass(frozen=True, slots=True)
class ListPair:
    """A newer message and an older one of several things; `ended` are the words of the older that no longer hold."""

    writer: str
    lang: str
    group: str
    newer: str
    older: str
    kind: str
    ended: tuple[str, ...]

    @property
    def spans(self) -> list[Span]:
        """Where the ended words are."""
        return [(self.older.index(words), self.older.index(words) + len(words)) for words in self.ended]


@dataclass(frozen=True, slots=True)
class Marked:
    """A part of a newer message, one of an older, and where the words of the older are that no longer hold."""

    newer: str
    older: str
    ended: tuple[Span, ...]
    group: str
    kind: str
    weight: float


def list_pairs(folder: Path) -> Iterator[ListPair]:
    """Those of a folder, by writer."""
    for path in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            yield _list_pair(path.stem, row)


def _list_pair(writer: str, row: dict[str, Any]) -> ListPair:
    texts = row["newer"], row["older"]
    return ListPair(writer, row["lang"], row["group"], *texts, row["kind"], tuple(row["ended"]))


def of_lists(pairs: Sequence[ListPair]) -> Iterator[Marked]:
    """Each part of the newer against each of the older."""
    for pair in pairs:
        for newer in parts_read(pair.newer, NEWER_TOKENS):
            for older, start in placed_parts(pair.older):
                ended = tuple(_within(pair.spans, start, start + len(older)))
                yield Marked(newer, older, ended, f"{LIST}-{pair.writer}", LIST, _LIST_WEIGHTS[bool(ended)])


def _within(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    for first, last in spans:
        if first < end and last > start:
            yield max(first - start, 0), min(last, end) - start


def of_months(months: Sequence[Month]) -> Iterator[Marked]:
    """The parts that tell a change against those that hold words which it ends."""
    for month in months:
        by: dict[tuple[str, str], list[tuple[Part, Part]]] = {}
        for new, old in month.changes:
            by.setdefault((new.id, old.id), []).append((new, old))
        for (newer_id, older_id), changes in by.items():
            for newer in parts_read(month.messages[newer_id], NEWER_TOKENS):
                words = [old.words for new, old in changes if new.words[:_KNOWN_BY] in newer]
                for older in parts_read(month.messages[older_id], OLDER_TOKENS):
                    ended = tuple((older.index(one), older.index(one) + len(one)) for one in words if one in older)
                    if ended:
                        yield _marked(newer, older, ended, month.group, MONTH)


def of_near(months: Sequence[Month]) -> Iterator[Marked]:
    """What only sounds like a change, of which nothing ends."""
    for month in months:
        changed = {(new.id, old.id) for new, old in month.changes}
        for new, old in month.near:
            newer = _holding(new, parts_read(month.messages[new.id], NEWER_TOKENS))
            older = _holding(old, parts_read(month.messages[old.id], OLDER_TOKENS))
            if (new.id, old.id) not in changed and newer and older:
                yield _marked(newer, older, (), month.group, NEAR)


def of_pairs(pairs: Sequence[Example], seed: int = 5) -> list[Marked]:
    """Written pairs of which the older is one clause, that ends; of which nothing ends; and held ones that do."""
    rng = random.Random(seed)
    told = [one for one in pairs if one.old]
    known = [one for one in told if one.group not in NOT_LEARNT]
    ending = [one for one in known if _ends_whole(one) and one.weight == 1]
    standing = [one for one in known if not one.label]
    held = [one for one in told if one.group in NOT_LEARNT and _ends_whole(one)]
    found = []
    for some, most in ((ending, _MOST_ENDING), (standing, _MOST_STANDING), (held, _MOST_HELD)):
        rng.shuffle(some)
        found += [_of_pair(one) for one in some[:most]]
    return found


def _ends_whole(one: Example) -> bool:
    return one.label in (LABELS["replaces"], LABELS["ends"]) and len(clause_spans(one.old)) == 1


def _of_pair(one: Example) -> Marked:
    return _marked(one.new, one.old, ((0, len(one.old)),) if one.label else (), one.group, PAIR)


def of_nothing(months: Sequence[Month], talks: Sequence[Talk], split: SplitPieces, seed: int = 7) -> list[Marked]:
    """Messages against the most alike of those before, where neither is labelled with the other: nothing ends."""
    rng = random.Random(seed)
    found = []
    for month in months:
        ids, texts = list(month.messages), list(month.messages.values())
        labelled = {(ids.index(new.id), ids.index(old.id)) for new, old in month.changes}
        places = rng.sample(range(_FIRST_MONTH_MESSAGE, len(ids)), _MONTH_MESSAGES)
        found += [_marked(*one, (), month.group, NOTHING) for one in _alike(texts, places, labelled, split, rng)]
    for talk in talks:
        if talk.group in NOT_LEARNT:
            continue
        users = {turn: place for place, turn in enumerate(talk.users)}
        texts = [talk.turns[turn][1] for turn in users]
        pairs = {*talk.changes, *talk.unsure}
        labelled = {(users[new], users[old]) for new, old in pairs if new in users and old in users}
        most = min(_TALK_TURNS, max(0, len(texts) - _FIRST_TURN))
        places = rng.sample(range(_FIRST_TURN, len(texts)), most)
        found += [_marked(*one, (), talk.group, NOTHING) for one in _alike(texts, places, labelled, split, rng)]
    return found


def _alike(
    texts: Sequence[str],
    places: Sequence[int],
    labelled: set[tuple[int, int]],
    split: SplitPieces,
    rng: random.Random,
) -> Iterator[tuple[str, str]]:
    """A part of each of these and a part of the older text that shares most rare pieces with it."""
    pieces = [frozenset(split(text)) for text in texts]
    for place in places:
        older = [at for at in range(place) if (place, at) not in labelled]
        if older:
            held_by = Counter(piece for at in range(place) for piece in pieces[at])
            best = max(older, key=lambda at: (_likeness(pieces[place], pieces[at], held_by), at))
            yield (
                rng.choice(parts_read(texts[place], NEWER_TOKENS)),
                rng.choice(parts_read(texts[best], OLDER_TOKENS)),
            )


def _likeness(one: frozenset[int], other: frozenset[int], held_by: Counter[int]) -> float:
    return sum(1 / (1 + held_by[piece]) for piece in one & other) / math.sqrt(len(other) + 1)


def _holding(words: Part, parts: Sequence[str]) -> str | None:
    return next((part for part in parts if words.words[:_KNOWN_BY] in part), None)


def _marked(newer: str, older: str, ended: tuple[Span, ...], group: str, kind: str) -> Marked:
    return Marked(newer, older, ended, group, kind, _WEIGHTS[kind])
