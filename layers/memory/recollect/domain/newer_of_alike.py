"""Of two results that are alike the newer one first, where a question asks how things are now.

"What is the deadline?" is answered by what was said of it last. No word of the question tells the two apart, and what
no rule could settle keeps both; so the order does. A question about the past keeps the order of the signals.
"""

import re
from collections.abc import Sequence
from heapq import nlargest

from recollect.domain.candidate import Candidate, rank_order
from recollect.domain.embedding import cosine

AMONG = 15
"""How many of the best are looked at."""

ALIKE = 0.6
"""The cosine from which two records count as alike: the measure of the default embedder's centred vectors."""

_JUST_ABOVE = 1e-8
_NOW = re.compile(r"\b(?:is|are|am|do|does|have|has|should|can|(?:what|who|where|how|when)'s)\b", re.IGNORECASE)
_THEN = re.compile(
    r"\b(?:did|was|were|had|would|ago|first|last|originally|previously|initially|earlier|used to|when (?:i|he|she)"
    r"|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)


def asks_of_now(text: str) -> bool:
    """Whether a question is in the present tense and names no time before; English alone is known."""
    return _NOW.search(text) is not None and _THEN.search(text) is None


def lifts_of_newer(candidates: Sequence[Candidate], scores: Sequence[float], text: str, lacking: float) -> list[float]:
    """What raises each candidate just above the older one before it: 0 for most.

    Both are of one speaker and alike, and the newer's score lacks at most the share `lacking` of the older's.
    """
    lifts = [0.0] * len(candidates)
    if lacking <= 0 or not asks_of_now(text):
        return lifts
    places = range(len(candidates))
    order = nlargest(AMONG, places, key=lambda place: rank_order(candidates[place], scores[place]))
    for behind in range(1, len(order)):
        first, second = order[behind - 1], order[behind]
        near = scores[second] >= (1 - lacking) * scores[first]
        if near and _is_newer_alike(candidates[first], candidates[second]):
            lifts[second] = scores[first] - scores[second] + _JUST_ABOVE
            order[behind - 1], order[behind] = second, first
    return lifts


def _is_newer_alike(first: Candidate, second: Candidate) -> bool:
    newer = (second.timestamp, second.ref.id) > (first.timestamp, first.ref.id)
    return newer and first.speaker == second.speaker and first.role == second.role and _are_alike(first, second)


def _are_alike(first: Candidate, second: Candidate) -> bool:
    if first.vector is None or second.vector is None:
        return False
    return round(cosine(first.vector, second.vector), 6) > ALIKE
