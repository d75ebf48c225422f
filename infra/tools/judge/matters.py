"""Pairs of messages that hold several matters: the months', and others' with another matter put beside them."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from infra.tools.judge.examples import LABELS, LASTING, Example, Month, Part, begins_in
from infra.tools.judge.held import CHOSEN_LASTING
from infra.tools.judge.nearest import Nearest
from recollect.contradictions.trained import NEWER_TOKENS, OLDER_TOKENS, parts_read

_PARTS_NEAR = 6
_LONGEST = {True: (90, 70), False: (240, 180)}
"""Characters of a newer and an older statement with others beside them, in scripts without spaces and in others: so
much a judge reads."""
_BETWEEN = {True: ("。", ",", " "), False: (". ", ", ", " ", "\n")}
_TRIES = 8
_TALK_SHARE = 0.25
_WEIGHT = 0.7
Pools = dict[str, tuple[list[str], list[str]]]


def beside_others(examples: Sequence[Example], rng: random.Random, share: float) -> Iterator[Example]:
    """A share of the pairs again, with another matter before or after: in the newer message, the older, or both."""
    pools = _pools(examples)
    for one in examples:
        own = share if one.label or one.kind != "talk" else share * _TALK_SHARE
        if one.old and rng.random() < own:
            found = _with_others(one, pools, rng)
            if (found.new, found.old) != (one.new, one.old):
                yield found


def of_month(month: Month, nearest: Nearest, most: int) -> Iterator[Example]:
    """Of messages and the nearest older ones a part each as the product reads them, and the words of changes against
    others, as far as they are not labelled; then messages alone, in parts."""
    texts, rng = list(month.messages.values()), random.Random(month.id)
    newer, older = ([parts_read(text, tokens) for text in texts] for tokens in (NEWER_TOKENS, OLDER_TOKENS))
    for at in range(1, len(texts)):
        for place in nearest.of(texts[at], texts[:at], most):
            new, old = rng.choice(newer[at]), rng.choice(older[place])
            if not month.touches(new, old):
                yield Example(month.group, month.lang, new, old, 0, "month")
    yield from _parts_of(month, nearest)
    changing, kept = {new for new, _ in month.changes}, {one.id for one in month.lasting}
    for (name, text), parts in zip(month.messages.items(), newer, strict=True):
        for part in parts:
            told = any(one.id == name and begins_in(one, part) for one in changing)
            yield Example(month.group, month.lang, part, "", int(told), "alone")
        if month.group not in CHOSEN_LASTING:
            yield Example(month.group, month.lang, text, "", int(name in kept), LASTING)


def _pools(examples: Sequence[Example]) -> Pools:
    """By language the newer and the older texts there are."""
    found: Pools = {}
    for lang in sorted({one.lang for one in examples}):
        own = [one for one in examples if one.lang == lang and one.old]
        found[lang] = sorted({one.new for one in own}), sorted({one.old for one in own})
    return found


def _with_others(one: Example, pools: Pools, rng: random.Random) -> Example:
    newer, older = pools[one.lang]
    where = rng.choice(("new", "old", "both"))
    new = one.new if where == "old" else _beside(one.new, newer, one.lang, 0, rng)
    old = one.old if where == "new" else _beside(one.old, older, one.lang, 1, rng)
    label = LABELS["part"] if one.label and old != one.old else one.label
    return replace(one, new=new, old=old, label=label, kind="beside", weight=_WEIGHT * one.weight)


def _beside(text: str, pool: Sequence[str], lang: str, which: int, rng: random.Random) -> str:
    """The text with one of the pool that has room before or after it; the text alone where none has."""
    dense = lang[:2] in ("zh", "ja")
    room = _LONGEST[dense][which] - len(text)
    others = [one for one in rng.sample(pool, min(_TRIES, len(pool))) if len(one) <= room and one != text]
    if not others:
        return text
    between, other = rng.choice(_BETWEEN[dense]), others[0]
    one, two = (text, other) if rng.random() < 0.5 else (other, text)
    return f"{one}{' ' if between == '. ' and one[-1:] in '.!?…' else between}{two}"


def _parts_of(month: Month, nearest: Nearest) -> Iterator[Example]:
    """The words of each change against the nearest of what was said before and is not labelled with them."""
    place = {name: at for at, name in enumerate(month.messages)}
    olds = sorted({*month.lasting, *(old for _, old in month.changes)}, key=lambda one: (place[one.id], one.words))
    for new in sorted({new for new, _ in month.changes}, key=lambda one: (place[one.id], one.words)):
        against = [old for one, old in month.changes if one == new]
        others = [one for one in olds if place[one.id] < place[new.id] and not _touched(one, against)]
        for at in nearest.of(new.words, [one.words for one in others], _PARTS_NEAR):
            yield Example(month.group, month.lang, new.words, others[at].words, 0, "month")


def _touched(part: Part, against: Sequence[Part]) -> bool:
    """Whether these words are, or lie around or within, others that are labelled."""
    return any(one.id == part.id and (one.words in part.words or part.words in one.words) for one in against)
