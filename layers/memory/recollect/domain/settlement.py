"""What becomes of a memory by what newer texts do to it: a fold, the same in whatever order they come (P-24).

Of several that supersede it the first in event time counts, as with the values of a key. A retraction goes before
them: what was never true was superseded by nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.claims import Claim, Relation, RelationKind
from recollect.domain.memory import Lapse, Memory, MemoryStatus
from recollect.domain.memory_time import left_of

BY_KEY = "key"
_SETTLED = (MemoryStatus.EXPIRED, MemoryStatus.REJECTED)
_ENDED = (MemoryStatus.SUPERSEDED, MemoryStatus.MERGED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one newer record does to a memory: its id, its time, and how the two are related."""

    by: str
    at: datetime
    relation: Relation

    @property
    def order(self) -> tuple[datetime, str]:
        """Of equal instants the one that arrived first."""
        return self.at, self.by


def settled(memory: Memory, verdicts: Iterable[Verdict]) -> Memory:
    """The memory after them all; the same object where none changes it. Its version stays."""
    for verdict in sorted(verdicts, key=lambda one: one.order):
        memory = _after(memory, verdict)
    return memory


def bounded(memory: Memory, claims: Iterable[Claim]) -> Memory:
    """The memory with the bounds that its own words set ("until Friday"): as a whole, or the clause that has one."""
    for claim in claims:
        if claim.until is None or claim.until <= memory.valid_from:
            continue
        if left_of(memory.content, [claim.span]) is None:
            memory = memory if memory.valid_to is not None else replace(memory, valid_to=claim.until)
        else:
            memory = _lapsed(memory, memory.id, [claim.span], claim.until, None, claim.rule)
    return memory


def reopened(memory: Memory, by: str) -> Memory:
    """The memory without what one record did to it: that was withdrawn."""
    lapses = tuple(lapse for lapse in memory.lapses if lapse.by != by)
    if memory.superseded_by != by:
        return memory if lapses == memory.lapses else replace(memory, lapses=lapses)
    return replace(
        memory, status=MemoryStatus.ACTIVE, superseded_by=None, valid_to=None, settled_by=None, lapses=lapses
    )


def _after(memory: Memory, verdict: Verdict) -> Memory:
    relation = verdict.relation
    if memory.status in _SETTLED or relation.kind is RelationKind.UNDECIDED:
        return memory
    whole = left_of(memory.content, relation.ended) is None
    if relation.kind is RelationKind.OVERRIDES:
        spans = [(0, len(memory.content))] if whole else relation.ended
        return _lapsed(memory, verdict.by, spans, verdict.at, relation.until, relation.rule)
    if relation.kind is RelationKind.RETRACTS:
        return _retracted(memory, verdict) if whole else _ended_in_part(memory, verdict, memory.valid_from)
    if relation.kind is RelationKind.CHANGES_PART:
        return _superseded(memory, verdict, MemoryStatus.MERGED)
    return (
        _superseded(memory, verdict, MemoryStatus.SUPERSEDED) if whole else _ended_in_part(memory, verdict, verdict.at)
    )


def _ended_in_part(memory: Memory, verdict: Verdict, since: datetime) -> Memory:
    return _lapsed(memory, verdict.by, verdict.relation.ended, since, None, verdict.relation.rule)


def _retracted(memory: Memory, verdict: Verdict) -> Memory:
    """Of several that take it back the one that arrived first is named."""
    if memory.status is MemoryStatus.RETRACTED and (memory.superseded_by or "") <= verdict.by:
        return memory
    return replace(
        memory,
        status=MemoryStatus.RETRACTED,
        superseded_by=verdict.by,
        valid_to=memory.valid_from,
        settled_by=verdict.relation.rule,
    )


def _superseded(memory: Memory, verdict: Verdict, status: MemoryStatus) -> Memory:
    if memory.status is MemoryStatus.RETRACTED or _over(memory, verdict.at) or _first_stands(memory, verdict):
        return memory
    ends = verdict.at if memory.valid_to is None or memory.status in _ENDED else min(memory.valid_to, verdict.at)
    rule = verdict.relation.rule
    return replace(memory, status=status, superseded_by=verdict.by, valid_to=ends, settled_by=rule)


def _over(memory: Memory, moment: datetime) -> bool:
    """Whether its own bound had ended it by then: what comes after that ends nothing."""
    return memory.status is MemoryStatus.ACTIVE and memory.valid_to is not None and memory.valid_to <= moment


def _first_stands(memory: Memory, verdict: Verdict) -> bool:
    """Whether what ended it before stays; a newer value of its key may keep a part of it all the same."""
    if memory.status not in _ENDED:
        return False
    if memory.settled_by is None or (memory.settled_by == BY_KEY and memory.superseded_by == verdict.by):
        return verdict.relation.kind is not RelationKind.CHANGES_PART or memory.superseded_by != verdict.by
    return memory.valid_to is None or (memory.valid_to, memory.superseded_by or "") <= verdict.order


def _lapsed(
    memory: Memory,
    by: str,
    spans: Iterable[tuple[int, int]],
    since: datetime,
    until: datetime | None,
    rule: str,
) -> Memory:
    made = [Lapse(by=by, start=a, end=b, since=since, until=until, rule=rule) for a, b in spans]
    fresh = {one for one in made if one not in memory.lapses}
    if not fresh:
        return memory
    lapses = sorted({*memory.lapses, *fresh}, key=lambda one: (one.start, one.end, one.since, one.by))
    return replace(memory, lapses=tuple(lapses))
