"""How much of what answers questions a search finds: recall of evidence, by category."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

ALL = "all"


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
