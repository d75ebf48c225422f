"""What a search engine is asked, and what it answers: candidates with the features that the domain ranks by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from recollect.core.event import EventRef
from recollect.core.vectors import FloatArray
from recollect.retrieval.filters import DropReason, SearchFilters
from recollect.text.terms import TermStatistics

ASKING = "question"
"""The ranker's role of a record in which a user only asks."""

MOST_STANDING = 12
"""How many records an index names that lie farthest in a direction (`NominationRequest.standing`)."""


class Arm(StrEnum):
    """Which arm nominated a candidate."""

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
        return self.ref.timestamp


def rank_order(candidate: Candidate, score: float) -> tuple[float, datetime, str]:
    """The sort key of candidates, greatest first: score to nine digits; ties: newer first, then id (A-25)."""
    return round(score, 9), candidate.ref.timestamp, candidate.ref.id


@dataclass(frozen=True, slots=True, kw_only=True)
class NominationRequest:
    """One wave of an engine: the lexical arm where there are terms, the vector arm where there is a vector.

    `limit` counts per arm. `count` asks for the tally. `min_similarity` serves the tally alone: how many of the
    filtered records reach that cosine. `superseded` asks each arm for as many superseded records besides, where the
    filters do not admit those anyway: their successors take their places. `standing` is a direction: the admitted
    records of the user's own words that lie farthest in it are named apart, whatever is asked.
    """

    filters: SearchFilters
    limit: int
    superseded: int = 0
    terms: tuple[str, ...] = ()
    vector: FloatArray | None = None
    standing: FloatArray | None = None
    min_similarity: float | None = None
    count: bool = False

    @property
    def most_superseded(self) -> int:
        """How many superseded records an arm nominates besides: none where the filters admit them."""
        return 0 if self.filters.admits_superseded else self.superseded


@dataclass(frozen=True, slots=True)
class Tally:
    """How many records of the user the engine considered, and why it left records out.

    `exact` is False where it stopped counting (10,000 records) or could not tell.
    """

    considered: int
    dropped: Mapping[DropReason, int]
    exact: bool


@dataclass(frozen=True, slots=True)
class Nominations:
    """Hits (each record once, whatever arms name it), the user's term statistics, the tally if asked for.

    `superseded` are hits that the filters drop for that reason alone, with ranks of their own; the tally counts them as
    dropped. `standing` are the records nearest to the direction of that name, at most `MOST_STANDING`, with their ranks
    in the vector arm. `includes_tail`: statistics and tally count events that are not projected yet too, since the
    index is part of the timeline's own transaction.
    """

    hits: tuple[Candidate, ...]
    statistics: TermStatistics
    tally: Tally | None = None
    includes_tail: bool = False
    superseded: tuple[Candidate, ...] = ()
    standing: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexCount:
    """What an index shows of an owner: documents, private ones too, and those that can be found by a vector."""

    documents: int
    vectors: int


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """Records of a user that the index has a document of, by id; `more` is where the next page goes on."""

    refs: tuple[EventRef, ...]
    more: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDocument:
    """What the index holds of an event: features and filters, no readable content.

    `terms` is in the order of the text; `attributes` are tokens (`retrieval.attributes`). `vector` is None where there
    is no embedder, and for private events, which are indexed bare so that counts are right.
    """

    tenant: str
    user_id: str
    persona_id: str | None
    household_id: str | None
    ref: EventRef
    version: int
    recorded_at: datetime
    conversation_id: str
    role: str
    speaker: str | None
    event_type: str
    source: str
    key: str | None
    space_id: str | None
    tags: tuple[str, ...]
    importance: float
    is_private: bool
    superseded: bool
    expires_at: datetime | None
    terms: tuple[str, ...] = field(repr=False)
    facets: tuple[str, ...] = field(repr=False)
    attributes: tuple[str, ...] = field(repr=False)
    vector: FloatArray | None = field(repr=False)
