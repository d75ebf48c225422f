"""How well the product tells which words of an older message of several things end, by the built model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from infra.tools.judge.ended_examples import PART, WHOLE, ListPair
from recollect.contradictions.judge import Relation, RelationKind, Said
from recollect.contradictions.parts import Span
from recollect.contradictions.trained import TrainedJudge
from recollect.ports import PairModel
from recollect.rules.groups import ConflictRules
from recollect.text.omission import left_of

_OLDER_AT, _NEWER_AT = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
SETTLED, REWORDED, ASKED, STANDS = "settled", "reworded", "asked", "stand"
"""What becomes of a pair. Reworded: a value was put in the place of another, so that nothing ends."""
_MOST_OF_IT, _SHORT_WORD, _LITTLE = 0.7, 6, 0.05
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Marking:
    """A pair, what became of it, and by character of the older what ends and what should."""

    kind: str
    became: str
    ended: Flags
    wanted: Flags


def ended_lines(pairs: Sequence[ListPair], model: PairModel) -> Iterator[str]:
    """Of changes of a part, of whole ones and of what ends nothing: what became of them, and of what they end."""
    judge = TrainedJudge(model)
    found = [marking(judge, pair) for pair in pairs]
    for name, own in (
        ("changes of a part", [one for one in found if one.kind == PART]),
        ("whole changes", [one for one in found if one.kind == WHOLE]),
        ("what ends nothing", [one for one in found if one.kind not in (PART, WHOLE)]),
    ):
        counts = Counter(one.became for one in own)
        told = ", ".join(f"{counts[became]} {became}" for became in (SETTLED, REWORDED, ASKED, STANDS))
        yield f"{name}: {len(own)}, {told}" + _shares(
            [one for one in own if one.became == SETTLED and one.wanted.any()]
        )


def _shares(settled: Sequence[Marking]) -> str:
    if not settled:
        return ""
    caught = np.mean([one.ended[one.wanted].mean() for one in settled])
    lost = np.mean([one.ended[~one.wanted].mean() if not one.wanted.all() else 0.0 for one in settled])
    whole, right = np.mean([one.ended.all() for one in settled]), np.mean([_is_right(one) for one in settled])
    return (
        f"; of the settled {caught:.3f} of the ended characters end, {lost:.3f} of the others, {whole:.3f} as a whole, "
        f"{right:.3f} just the right words"
    )


def _is_right(one: Marking) -> bool:
    """At least seven tenths of what should end does, and of the rest no more than a short word or a twentieth."""
    lost = int(one.ended[~one.wanted].sum())
    return bool(one.ended[one.wanted].mean() >= _MOST_OF_IT and lost <= max(_SHORT_WORD, _LITTLE * (~one.wanted).sum()))


def marking(judge: TrainedJudge, pair: ListPair) -> Marking:
    """What the product's judge makes of a pair."""
    rules = ConflictRules()
    newer = Said(id="newer", text=pair.newer, at=_NEWER_AT, speaker="")
    older = Said(id="older", text=pair.older, at=_OLDER_AT, speaker="")
    relation = judge.judge(newer, [older], rules.ask)[0] if judge.states(newer) else None
    ended = relation.ended if relation else ()
    whole = bool(ended) and left_of(pair.older, ended) is None
    spans = [(0, len(pair.older))] if whole else ended
    return Marking(pair.kind, _became(relation, rules), _flags(pair.older, spans), _flags(pair.older, pair.spans))


def _became(relation: Relation | None, rules: ConflictRules) -> str:
    if relation is None or relation.confidence < rules.ask:
        return STANDS
    if relation.confidence < rules.settle or relation.kind is RelationKind.UNDECIDED:
        return ASKED
    return REWORDED if relation.kind is RelationKind.CHANGES_PART else SETTLED


def _flags(text: str, spans: Sequence[Span]) -> Flags:
    found = np.zeros(len(text), np.bool_)
    for start, end in spans:
        found[start:end] = True
    return found
