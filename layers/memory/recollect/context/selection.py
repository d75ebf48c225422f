"""Which memories stand in a context, and why: the newest, the found, the important (K-15 to K-25, P-1, P-2, P-4)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import TypeVar

from recollect.contradictions.doubts import OtherSide
from recollect.core.event import Event, EventRef
from recollect.memories.representation import EndedWords
from recollect.rules.groups import ContextRules

TOLERANCE = 1e-9
_DAY = timedelta(days=1)


_GAVE_WAY = "Something that matters more took its place."


class Section(StrEnum):
    """The three sources, in the order in which they choose (K-24)."""

    RECENT = "recent"
    SEMANTIC = "semantic"
    IMPORTANT = "important"


_BEHIND = {
    Section.RECENT: "The prompt takes the newest {} alone.",
    Section.SEMANTIC: "The prompt takes the first {} that the question finds.",
    Section.IMPORTANT: "The prompt takes the {} most important ones.",
}


class ShownIn(StrEnum):
    """Which of the two forms of a context shows an item."""

    PROMPT = "prompt"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """One thing that may stand in a prompt: an event or a memory.

    `timestamp` carries a zone; `importance` lies in [0, 1]; `score` is the search's, higher is better, None where no
    search found it. `speaker` is a name, None for the plain user. `replaces` are the older records whose place it
    takes. `doubted_at` is when something newer was said that may have changed it, and that nobody has decided.
    `against` is what such an open conflict puts against it, where that is not shown itself: the newer one, which may
    have changed it, or of one that is in no doubt the older, which it may have changed.
    `holds_until` is the day for which a change of it is announced. `ended` are words of it that hold no more, which
    `content` lacks; `said` has them at their places, None where it has others that do not hold now. `in_doubt` are
    words that an open conflict would end, where these are known: always with `said`, in which they have their places.
    """

    id: str
    content: str
    timestamp: datetime
    importance: float
    role: str
    content_type: str
    source_event_ids: tuple[str, ...]
    score: float | None = None
    speaker: str | None = None
    replaces: tuple[EventRef, ...] = ()
    doubted_at: datetime | None = None
    against: OtherSide | None = None
    holds_until: datetime | None = None
    ended: tuple[EndedWords, ...] = ()
    said: str | None = None
    in_doubt: tuple[EndedWords, ...] = ()

    @property
    def identity(self) -> str:
        """The same for an event and the memory made from it alone: they are one item (P-1)."""
        return self.source_event_ids[0] if len(self.source_event_ids) == 1 else self.id


@dataclass(frozen=True, slots=True)
class Selected:
    """An item with the source that chose it, and one line on why; the line holds no content.

    `because` says so as a clause where no search chose it.
    """

    item: ContextItem
    section: Section
    reason: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item that a source offered and that got no place, and why; `because` says it in a sentence."""

    item: ContextItem
    section: Section
    reason: str
    because: str

    @property
    def id(self) -> str:
        return self.item.id


@dataclass(frozen=True, slots=True)
class Selection:
    """`chosen` by time, oldest first, ties by id (K-25); `left_out` in the order of the offers."""

    chosen: tuple[Selected, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class _Offer:
    identity: str
    item: ContextItem
    section: Section
    rank: int

    @property
    def reason(self) -> str:
        if self.section is Section.RECENT:
            return f"number {self.rank} of the newest"
        if self.section is Section.IMPORTANT:
            return f"importance {self.item.importance:.2f}, rank {self.rank} by importance"
        return search_reason(self.item, self.rank)

    @property
    def because(self) -> str:
        """What chose it, where no search tells why."""
        if self.section is Section.RECENT:
            return "is the newest of what was said" if self.rank == 1 else f"is number {self.rank} of the newest lines"
        return f"is number {self.rank} of the most important lines" if self.section is Section.IMPORTANT else ""


def search_reason(item: ContextItem, rank: int) -> str:
    """Why a search hit is chosen; `rank` from 1."""
    score = "" if item.score is None else f", score {item.score:.2f}"
    return f"search rank {rank}{score}"


@dataclass(frozen=True, slots=True)
class Reach:
    """How far into a source a selection reads at most: what lies beyond can neither be chosen nor displace."""

    recent: int
    important: int


def reach_of(limits: ContextRules) -> Reach:
    """Per source the places it may fill, and as many more as the other sources may have filled."""
    return Reach(max(limits.recent, limits.recent_fill) + limits.total, limits.important + 2 * limits.total)


def select(
    recent: Sequence[ContextItem],
    semantic: Sequence[ContextItem],
    important: Iterable[ContextItem],
    limits: ContextRules,
    now: datetime,
    exclude_ids: frozenset[str] = frozenset(),
) -> Selection:
    """At most `limits.total` items, none twice (P-1).

    `recent` comes newest first, `semantic` best first, `important` in any order. `exclude_ids` names the input's own
    event: neither it nor a memory made from it alone is chosen (P-2). `now` serves the decay alone. The newest
    `recent`, then `semantic` hits not among them, then `important` ones; places left over go to the newest up to
    `recent_fill`. Where all places are taken, one memory may displace the weakest search hit (K-68).
    """
    ordered = (recent, semantic, by_importance(important, limits.decay_half_life_days, now))
    sizes = (limits.recent, limits.semantic, limits.important)
    newest, hits, weighty = (
        _offers(items, section, exclude_ids) if size else []
        for items, section, size in zip(ordered, Section, sizes, strict=True)
    )
    places = _Places(limits.total)
    places.seat(newest, limits.recent)
    places.seat(hits, limits.semantic)
    unseated = places.seat(weighty, limits.important)
    if unseated:
        places.displace(unseated[0], limits.displace_delta)
    else:
        _fill(places, [newest, hits, weighty], limits)
    return places.selection([*newest, *hits, *weighty])


W = TypeVar("W", Event, ContextItem)


def by_importance(items: Iterable[W], decay_half_life_days: float | None, now: datetime) -> list[W]:
    """The most important first, of equals the newer, then the higher id (K-20).

    With a half-life (days, > 0) an item's weight halves with each; that changes this order and nothing else (P-4). A
    future timestamp does not raise a weight.
    """

    def decayed(item: W) -> float:
        if not decay_half_life_days:
            return item.importance
        age_days = max((now - item.timestamp) / _DAY, 0.0)
        return float(item.importance * 0.5 ** (age_days / decay_half_life_days))

    return sorted(items, key=lambda item: (decayed(item), item.timestamp, item.id), reverse=True)


def _offers(items: Iterable[ContextItem], section: Section, exclude_ids: frozenset[str]) -> list[_Offer]:
    distinct: dict[str, ContextItem] = {}
    for item in items:
        identity = item.identity
        if exclude_ids.isdisjoint((item.id, identity)):
            distinct.setdefault(identity, item)
    return [_Offer(one, item, section, rank) for rank, (one, item) in enumerate(distinct.items(), start=1)]


def _fill(places: "_Places", offers: list[list[_Offer]], limits: ContextRules) -> None:
    """Free places go to the newest items; to the important ones too, if there are fewer memories than places (P-1)."""
    newest, _, weighty = offers
    places.seat(newest[: limits.recent_fill], limits.recent_fill)
    known = {offer.identity for source in offers for offer in source}
    sources_could_fill = limits.recent + limits.semantic + limits.important >= limits.total
    if len(known) < limits.total and sources_could_fill:
        places.seat(weighty, limits.total)


class _Places:
    def __init__(self, total: int) -> None:
        self._total = total
        self._seated: dict[str, tuple[_Offer, str]] = {}
        self._refused: dict[str, tuple[str, str]] = {}

    def seat(self, offers: Iterable[_Offer], limit: int) -> list[_Offer]:
        """Seats the first `limit` that have no place yet; answers those for whom none was free."""
        waiting = self._without_place(offers)
        invited = list(islice(waiting, limit))
        free = max(self._total - len(self._seated), 0)
        for offer in invited[:free]:
            self._seated[offer.identity] = (offer, offer.reason)
        taken = f"all {self._total} places were taken"
        for offer in invited[free:]:
            self._refused.setdefault(offer.identity, (taken, f"{taken[0].upper()}{taken[1:]}."))
        behind = f"not among the first {limit} of its source"
        for offer in waiting:
            self._refused.setdefault(offer.identity, (behind, _BEHIND[offer.section].format(limit)))
        return invited[free:]

    def displace(self, offer: _Offer, delta: float) -> None:
        """Gives the offer the place of the weakest search hit, if it is more important by `delta` (K-68, P-1)."""
        hits = [seated for seated, _ in self._seated.values() if seated.section is Section.SEMANTIC]
        weakest = min(hits, key=_strength, default=None)
        if weakest is None or offer.item.importance - weakest.item.importance < delta - TOLERANCE:
            return
        del self._seated[weakest.identity]
        self._refused[weakest.identity] = f"gave its place to {offer.item.id}", _GAVE_WAY
        reason = f"importance {offer.item.importance:.2f}, took the place of {weakest.item.id}"
        self._seated[offer.identity] = (offer, reason)

    def selection(self, offers: Iterable[_Offer]) -> Selection:
        seated = self._seated.values()
        chosen = (Selected(offer.item, offer.section, reason, offer.because) for offer, reason in seated)
        by_time = sorted(chosen, key=lambda selected: (selected.item.timestamp, selected.item.id))
        first_offers = {offer.identity: offer for offer in reversed(list(self._without_place(offers)))}
        refused = reversed(first_offers.values())
        left_out = (LeftOut(one.item, one.section, *self._refused[one.identity]) for one in refused)
        return Selection(tuple(by_time), tuple(left_out))

    def _without_place(self, offers: Iterable[_Offer]) -> Iterator[_Offer]:
        return (offer for offer in offers if offer.identity not in self._seated)


def _strength(hit: _Offer) -> tuple[float, int]:
    return (float("-inf") if hit.item.score is None else hit.item.score, -hit.rank)
