"""A record that may be shown, with what is known of it for one question: what signals are computed from."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.embedding import FloatArray
from recollect.domain.event import EventRef
from recollect.domain.nomination import Arm


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """`counts` are of the question's terms, `length` is in terms; `vector` is None where the record has none."""

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
