"""How good the judge is on months of messages with several matters each, by message and by clause, as in use."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from infra.tools.judge.examples import Month
from infra.tools.judge.in_use import relations
from infra.tools.judge.nearest import Nearest
from recollect.contradictions.judge import Relation, RelationKind, Said
from recollect.ports import PairModel
from recollect.rules.groups import ConflictRules

_BEGIN = datetime(2025, 3, 1, 9, tzinfo=UTC)
_MOSTLY = 0.5
"""A statement is lost where more than this share of its words ended."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair of messages that the judge says something of, or that changed. `words`: those of the older that ended.

    `others`: what else the older message says that is worth keeping.
    """

    older: str
    words: tuple[str, ...]
    others: tuple[str, ...]
    relation: Relation | None

    def ended(self, text: str) -> bool:
        """Whether these words of the older message end."""
        at = self.older.index(text)
        on = [0] * len(self.older)
        for start, end in (self.relation.ended if self.relation else ()) or ((0, len(self.older)),):
            on[start:end] = [1] * (end - start)
        return sum(on[at : at + len(text)]) > _MOSTLY * len(text)


def judged(month: Month, model: PairModel, nearest: Nearest) -> Iterator[Judged]:
    """What the product's judge makes of each message and the nearest older ones."""
    days = enumerate(month.messages.items())
    said = [Said(id=name, text=text, at=_BEGIN + timedelta(days=day)) for day, (name, text) in days]
    found = {(newer.id, older.id): relation for newer, older, relation in relations(said, model, nearest)}
    for place, newer in enumerate(said):
        for older in said[:place]:
            one = _judged(month, newer.id, older.id, found.get((newer.id, older.id)))
            if one.words or one.relation:
                yield one


def month_lines(months: Sequence[Month], model: PairModel, nearest: Nearest) -> Iterator[str]:
    """By what is settled and what is asked about: right decisions, changes caught; other statements that are lost."""
    found = [one for month in months for one in judged(month, model, nearest)]
    changes = sum(bool(one.words) for one in found)
    right: list[Judged] = []
    for name, least in (("settled", ConflictRules().settle), ("settled or asked", ConflictRules().ask)):
        made = [one for one in found if one.relation and one.relation.confidence >= least]
        right = [one for one in made if one.words]
        yield f"{name}: {len(right)} right of {len(made)}, {len(right) / changes:.2f} of {changes} changes caught"
    ended = [one for one in right if one.relation and one.relation.kind is not RelationKind.UNDECIDED]
    words = [one.ended(text) for one in ended for text in one.words]
    lost = [one.ended(text) for one in ended for text in one.others]
    yield f"of those {np.mean(words):.2f} of the changed statements end, and {np.mean(lost):.2f} of {len(lost)} others"


def _judged(month: Month, newer: str, older: str, relation: Relation | None) -> Judged:
    words = tuple(old.words for new, old in month.changes if (new.id, old.id) == (newer, older))
    kept = [one.words for one in month.lasting if one.id == older]
    others = tuple(one for one in sorted(kept) if not any(one in text or text in one for text in words))
    return Judged(month.messages[older], words, others, relation)
