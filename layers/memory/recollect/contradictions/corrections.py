"""What people said of the judge's decisions, as pairs that its next training may learn from (P-24).

Nothing is kept for it: the pairs are made of the ledger and the records as they are now. So what was deleted, has
expired or was rejected since is in none of them, and they leave the store only by who exports them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.contradictions.decisions import (
    Decision,
    DecisionStatus,
    Step,
    conflict_in,
    conflict_key,
    pair_id,
)
from recollect.contradictions.ledger import DecisionFilter, ListDecisions
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionList
from recollect.memories.reading import ReadMemories
from recollect.ports import Items, Timeline

STANDS, REPLACES = "none", "replaces"
REVERTED, RESOLVED = "reverted", "resolved"
_READ_WORDS = (Step.JUDGE, Step.MODEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """Two statements, and what the newer does to the older as a person said.

    `relation`: `none` where a decision was taken back (`kind` `reverted`), or the older one was said to count (`kind`
    `resolved`); `replaces` where the newer one was.
    """

    id: str
    older: str
    newer: str
    relation: str
    kind: str

    @property
    def document(self) -> dict[str, Any]:
        """In the form that `infra/tools/judge` reads: of one older statement, with one newer."""
        pair = {"new": self.newer, "relation": self.relation, "kind": self.kind}
        return {"id": self.id, "lang": "und", "old": self.older, "pairs": [pair]}


@dataclass(frozen=True, slots=True)
class CorrectionPage:
    """Corrections; `more` where the next page goes on: a page may be short, or empty, before the end."""

    corrections: tuple[Correction, ...]
    more: str | None


class ListCorrections:
    """Of decisions that a judge or a language model made, and of conflicts that they had left open."""

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._items = items
        self._decisions = ListDecisions(items)
        self._gate = SuppressionList(items)
        self._read = ReadMemories(items)

    def page(self, scope: Scope, limit: int, after: str | None, now: datetime) -> CorrectionPage:
        """A page of the user's."""
        page = self._decisions.page(scope, limit, after, DecisionFilter())
        found = (self._correction(scope, one, now) for one in page.decisions)
        return CorrectionPage(tuple(one for one in found if one is not None), page.more)

    def _correction(self, scope: Scope, decision: Decision, now: datetime) -> Correction | None:
        reverted = decision.status is DecisionStatus.REVERTED and decision.step in _READ_WORDS
        if not reverted and not self._resolved(scope, decision):
            return None
        sides = [self._timeline.find(scope, one) for one in (decision.winner, decision.loser)]
        told = sorted((one for one in sides if one is not None), key=lambda one: (one.timestamp, one.id))
        if len(told) < len(sides) or not self._may_be_told(scope, told, now):
            return None
        if reverted and self._is_edited(scope, decision.loser, sides[1]):
            return None
        older, newer = told
        changed = not reverted and newer.id == decision.winner
        return Correction(
            id=decision.id,
            older=older.content,
            newer=newer.content,
            relation=REPLACES if changed else STANDS,
            kind=REVERTED if reverted else RESOLVED,
        )

    def _is_edited(self, scope: Scope, loser: str, event: Event | None) -> bool:
        """Whether a person gave it other words: then a part of what it said may have ended all the same."""
        stored = self._read.stored(scope, [loser]).get(loser)
        return stored is not None and event is not None and stored.edits(event)

    def _resolved(self, scope: Scope, decision: Decision) -> bool:
        """Whether a person settled what the judge had left open."""
        if decision.step is not Step.USER or decision.status is not DecisionStatus.APPLIED:
            return False
        both_ways = (decision.winner, decision.loser), (decision.loser, decision.winner)
        found = self._items.get(scope.user, [conflict_key(pair_id(*pair)) for pair in both_ways]).values()
        return any(conflict_in(item.value).step in _READ_WORDS for item in found)

    def _may_be_told(self, scope: Scope, events: Sequence[Event], now: datetime) -> bool:
        rejections = self._gate.load(scope)
        return all(
            one.is_own_words
            and not one.expired(now)
            and scope.admits(one.persona_id, one.household_id)
            and not rejections.rejects(one.content, one.persona_id, one.household_id)
            for one in events
        )
