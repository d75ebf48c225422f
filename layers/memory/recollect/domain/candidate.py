"""A record that may be shown, with what is known of it for one question: what signals are computed from."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.embedding import FloatArray
from recollect.domain.event import EventRef

ASKING = "question"
"""The role, to ranking, of a record in which a user only asks."""


class Arm(StrEnum):
    """Who nominated a candidate."""

    LEXICAL = "lexical"
    VECTOR = "vector"
    TAIL = "tail"
    TIMELINE = "timeline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """`arms` gives the rank (from 1) in each arm that nominated it; `counts` are of the question's terms in it.

    `role` is `user` or `bot`, or `ASKING`. `length` is in terms; `vector` is None where the record has none.
    """

    ref: EventRef
    arms: Mapping[Arm, int]
    conversation_id: str
    counts: Mapping[str, int]
    length: int
    vector: FloatArray | None
    role: str
    speaker: str | None
    importance: float

    @property
    def timestamp(self) -> datetime:
        """When it was said."""
        return self.ref.timestamp


def rank_order(candidate: Candidate, score: float) -> tuple[float, datetime, str]:
    """What candidates are ordered by, greatest first: the score to nine digits; ties: newer first, then id (A-25)."""
    return round(score, 9), candidate.timestamp, candidate.ref.id
