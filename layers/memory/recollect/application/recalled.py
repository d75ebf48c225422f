"""The question that a recall answers, the answer, and the rules between them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.application.candidates import statistics_of
from recollect.application.read_memories import NewestMemories
from recollect.application.slots_then import SlotsThen
from recollect.application.value_gate import Rejections
from recollect.domain.candidate import Candidate
from recollect.domain.embedding import FloatArray
from recollect.domain.event import Event, EventRef
from recollect.domain.filters import DropReason, SearchFilters
from recollect.domain.lexical import TermStatistics
from recollect.domain.memory import Memory
from recollect.domain.nomination import NominationRequest, Nominations
from recollect.domain.ranking import Mode, Query, Ranked
from recollect.domain.scope import Scope
from recollect.domain.timeline import Tail
from recollect.ports import Pending

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A question put to memory: its text or a vector, how to rank, what may be shown, how many are wanted.

    `newest_memories` are read in one piece beforehand, which spares their look-ups: as many as are worth it.
    `near_misses` is how many of those just behind what is shown are told too; what is shown does not depend on it.
    """

    text: str
    vector: FloatArray | None
    mode: Mode
    filters: SearchFilters
    wanted: int
    min_similarity: float | None = None
    count: bool = False
    newest_memories: int = 32
    near_misses: int = 0


@dataclass(slots=True)
class OpenRecall:
    """A recall under way, after its first wave was begun; `missing` names parts that did not answer.

    `nomination` is what the index was asked.
    """

    scope: Scope
    request: RecallRequest
    query: Query
    nomination: NominationRequest
    nominations: Pending[Nominations]
    tail: Pending[Tail]
    rejections: Pending[Rejections]
    memories: Pending[NewestMemories]
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What may be shown, best first, with each record as it is now; what was dropped at read-back, and why.

    `memories` has the memory of each record that has one, as it is seen: several records may have the same, and are
    ranked once; `kept` has them as they are. `replaces` says for which older records something ranked stands, by the
    id of what is shown; `returned` how many the counts take for dropped and are ranked all the same. `slots` is how
    keyed events were judged. `near_misses` are those just behind, below the threshold too, that may be shown.
    `pending` is how many of the user's events wait to be projected; where `tail_cut`, an engine may know no more than
    that it is at least the tail.
    `tail_alike` counts those of the tail that rank by a vector which the index does not have, `tail_unlike` those that
    do not rank, though the filters admit them.
    """

    ranked: tuple[Ranked, ...]
    events: Mapping[str, Event]
    memories: Mapping[str, Memory]
    kept: Mapping[str, Memory] = field(repr=False)
    dropped: Mapping[str, DropReason]
    replaces: Mapping[str, tuple[EventRef, ...]]
    returned: int
    slots: SlotsThen = field(repr=False)
    nominations: Nominations | None
    tail_events: tuple[Event, ...]
    tail_cut: bool
    pending: int
    tail_alike: int
    tail_unlike: int
    missing: tuple[str, ...]
    fallback: str | None
    near_misses: tuple[Ranked, ...] = ()


def without_rejected_values(recalled: Recalled, rejections: Rejections) -> Recalled:
    """What was read, less the sentences that were rejected, and less what says nothing else (P-22)."""
    if not rejections:
        return recalled
    memories, kept = _redacted(recalled.memories, rejections), _redacted(recalled.kept, rejections)
    gone = recalled.memories.keys() - memories.keys()
    found = rejections.shown_of(event for event in recalled.events.values() if event.id not in gone)
    tail = rejections.shown_of(event for event in recalled.tail_events if event.id not in gone)
    events = {event.id: event for event in found}
    return replace(recalled, events=events, memories=memories, kept=kept, tail_events=tuple(tail))


def _redacted(memories: Mapping[str, Memory], rejections: Rejections) -> dict[str, Memory]:
    return {i: one for i, memory in memories.items() if (one := rejections.shown_memory(memory)) is not None}


def as_asked(events: Mapping[str, Event], filters: SearchFilters, shown: Iterable[str]) -> dict[str, Event]:
    """The events, without successors that came only after the instant that is asked about (api.md, *Time*).

    What may be shown was its slot's value then, unless superseded ones are asked for.
    """
    current = set() if filters.include_superseded or not filters.looks_back else set(shown)
    return {i: _current(event) if i in current or _later(event, filters) else event for i, event in events.items()}


def _later(event: Event, filters: SearchFilters) -> bool:
    return filters.as_of is not None and event.superseded_at is not None and event.superseded_at > filters.as_of


def _current(event: Event) -> Event:
    return event if event.superseded_by is None else replace(event, superseded_by=None, superseded_at=None)


def effective_query(opened: OpenRecall) -> Query:
    """A semantic question without a vector is ranked by its words: said so in `fallback`."""
    query = opened.query
    if query.mode is Mode.SEMANTIC and query.vector is None:
        return replace(query, mode=Mode.LEXICAL)
    if query.mode is Mode.SEMANTIC and "vectors" in opened.missing:
        return replace(query, mode=Mode.HYBRID)
    return query


def fallback_of(opened: OpenRecall, nominations: Nominations | None) -> str | None:
    """What was used instead of what the question asked for; None where nothing was."""
    if nominations is None:
        return "timeline"
    by_words = opened.query.vector is None or "vectors" in opened.missing
    return "lexical" if by_words and opened.query.mode is not Mode.LEXICAL else None


def reaching(ranked: Iterable[Ranked], opened: OpenRecall) -> list[Ranked]:
    """Those that meet the threshold (cosine, inclusive, A-28), and in lexical mode have a term of the query."""
    least, wordy = opened.request.min_similarity, effective_query(opened).mode is Mode.LEXICAL
    alike = (one for one in ranked if least is None or one.signals.get("similarity", -2.0) >= least - _TOLERANCE)
    return [one for one in alike if not wordy or one.signals.get("bm25", 0.0) > 0]


def statistics_for(
    opened: OpenRecall, candidates: Sequence[Candidate], nominations: Nominations | None
) -> TermStatistics:
    """The scope's statistics; those of the candidates themselves where the engine has fewer documents."""
    known = nominations.statistics if nominations else TermStatistics(0, 0, {})
    return known if known.documents >= len(candidates) else statistics_of(candidates, opened.query.terms)
