"""Read-back: what may be shown of a ranking, and what stands there for what something newer replaced."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.application.judging import Judging
from recollect.application.record_reading import RecordReading
from recollect.application.succession import Succession
from recollect.domain.candidate import Candidate
from recollect.domain.event import EventRef
from recollect.domain.filters import DropReason
from recollect.domain.ranking import Ranked

_MAX_ROUNDS = 4
_NEAR_RESERVE = 5  # of the near misses some may not be shown

Rank = Callable[[Sequence[Candidate]], list[Ranked]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates by id, and their order now; `rank` orders others by the same rules, `rank_all` without the threshold.

    `told` are those of which the counts say already that they are superseded; so many `near_misses` are asked for.
    """

    candidates: Mapping[str, Candidate]
    order: Sequence[Ranked]
    rank: Rank
    rank_all: Rank
    wanted: int
    told: frozenset[str] = frozenset()
    near_misses: int = 0


@dataclass(frozen=True, slots=True)
class ReadBack:
    """What may be shown, best first; what was dropped, and why, less what the counts tell already.

    `replaces` says, by the ids of what is shown, for which older records it stands. `returned` counts those that the
    counts take for dropped, and that are shown, in the words of their successors, after all. `near_misses` come next.
    """

    ranked: tuple[Ranked, ...]
    dropped: Mapping[str, DropReason]
    replaces: Mapping[str, tuple[EventRef, ...]]
    returned: int
    near_misses: tuple[Ranked, ...] = ()


@dataclass(slots=True)
class _Found:
    """What the rounds found so far: who may not be shown, and who stands for whom."""

    dropped: dict[str, DropReason] = field(default_factory=dict)
    stands_for: dict[str, str] = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)


class ReadingBack:
    """Drops what the records forbid, ranks the rest, reads what moved up: a bounded number of rounds."""

    def __init__(self, reading: RecordReading) -> None:
        self._reading = reading
        self._succession = Succession(reading)

    def __call__(self, judge: Judging, ranking: Ranking) -> ReadBack:
        """A successor takes the best place among its own and those that it stands for."""
        found = _Found()
        left, order = dict(ranking.candidates), list(ranking.order)
        ranked: list[Ranked] = []
        for _ in range(_MAX_ROUNDS):
            ranked = leading(order, ranking.wanted, ranking.told)
            out = self._round(judge, found, ranked)
            if not out:
                break
            ranked = [one for one in ranked if one.candidate.ref.id not in out]
            left = {i: candidate for i, candidate in left.items() if i not in out}
            order = ranking.rank(list(left.values()))
        shown = ranked[: ranking.wanted]
        near = self._near(judge, ranking, found, left, shown) if ranking.near_misses else ()
        return replace(_answer(judge, ranking, found, shown), near_misses=near)

    def _near(
        self,
        judge: Judging,
        ranking: Ranking,
        found: _Found,
        left: Mapping[str, Candidate],
        shown: Sequence[Ranked],
    ) -> tuple[Ranked, ...]:
        """Those just behind what is shown that the records let pass, one of each memory."""
        places = [one.candidate.ref.id for one in shown]
        order = ranking.rank_all(list(left.values()))
        behind = [one for one in order if one.candidate.ref.id not in places and one.score > 0]
        next_ones = behind[: ranking.near_misses + _NEAR_RESERVE]
        self._reading.read(judge.scope, [one.candidate.ref for one in next_ones], judge.records)
        ids = [one.candidate.ref.id for one in next_ones]
        out = {*judge.forbidden(ids), *found.stands_for, *_repeated(judge, found, [*places, *ids])}
        return tuple(one for one in next_ones if one.candidate.ref.id not in out)[: ranking.near_misses]

    def _round(self, judge: Judging, found: _Found, ranked: Sequence[Ranked]) -> set[str]:
        """The ids that are out: forbidden, or one result with another that stands above it."""
        self._reading.read(judge.scope, [one.candidate.ref for one in ranked], judge.records)
        ids = [one.candidate.ref.id for one in ranked]
        reasons = judge.forbidden(i for i in ids if i not in found.stands_for)
        found.stands_for |= self._followed(judge, found, reasons)
        reasons = {i: reason for i, reason in reasons.items() if i not in found.stands_for}
        found.dropped |= reasons
        left = [i for i in ids if i not in reasons]
        return {*reasons, *_repeated(judge, found, left)}

    def _followed(self, judge: Judging, found: _Found, reasons: Mapping[str, DropReason]) -> dict[str, str]:
        over = [i for i, reason in reasons.items() if reason is DropReason.SUPERSEDED and i not in found.followed]
        found.followed.update(over)
        return self._succession(judge, over) if over else {}


def leading(order: Sequence[Ranked], wanted: int, superseded: Collection[str]) -> list[Ranked]:
    """The first of them, and besides those among them that are superseded: many may have one successor."""
    places = [place for place, one in enumerate(order) if one.candidate.ref.id not in superseded]
    return list(order if len(places) <= wanted else order[: places[wanted]])


def _repeated(judge: Judging, found: _Found, ids: Iterable[str]) -> set[str]:
    """Those that are one result with one before them: of one memory, or of one successor."""
    seen: set[str] = set()
    again: set[str] = set()
    for record_id in ids:
        identity = judge.records.own_id(found.stands_for.get(record_id, record_id))
        if identity in seen:
            again.add(record_id)
        seen.add(identity)
    return again


def _answer(judge: Judging, ranking: Ranking, found: _Found, ranked: Sequence[Ranked]) -> ReadBack:
    by_itself = {judge.records.own_id(one.candidate.ref.id) for one in ranking.order} - found.stands_for.keys()
    alone: dict[str, str] = {}
    for old, now in found.stands_for.items():
        if judge.records.own_id(now) not in by_itself:
            alone.setdefault(now, old)
    counted = {i for i in ranking.told if i in alone.values()}
    stale = {one.candidate.ref.id for one in ranked} & ranking.told - found.stands_for.keys()
    over = {old: DropReason.SUPERSEDED for old in found.stands_for if old not in alone.values()}
    told = {i for i in ranking.told if (found.dropped | over).get(i) is DropReason.SUPERSEDED}
    dropped = {i: reason for i, reason in (found.dropped | over).items() if i not in told}
    return ReadBack(
        tuple(_standing(judge, found, one) for one in ranked), dropped, _replaces(judge, found), len(counted | stale)
    )


def _standing(judge: Judging, found: _Found, one: Ranked) -> Ranked:
    """The place of an old record, with what stands there for it."""
    now = found.stands_for.get(one.candidate.ref.id)
    return one if now is None else replace(one, candidate=replace(one.candidate, ref=judge.records.events[now].ref))


def _replaces(judge: Judging, found: _Found) -> dict[str, tuple[EventRef, ...]]:
    olds: dict[str, list[EventRef]] = {}
    for old, now in found.stands_for.items():
        if old in judge.records.events:
            olds.setdefault(judge.records.own_id(now), []).append(judge.records.events[old].ref)
    return {now: tuple(sorted(refs, key=lambda ref: (ref.timestamp, ref.id))) for now, refs in olds.items()}
