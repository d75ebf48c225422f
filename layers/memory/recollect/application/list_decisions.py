"""The ledger of contradictions as it is read: what was decided, by what, and whether it holds (api.md, *Arbitration*).

The decisions that the newest records won come first: their order is that of the winners' ids, so that a walk sees each
of them once, whatever is decided meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.application.filtered_pages import FilteredPages
from recollect.application.read_memories import ReadMemories
from recollect.domain.decisions import ARBITRATIONS, Decision, DecisionStatus, Step, decision_in, decision_key
from recollect.domain.errors import NotFound
from recollect.domain.items import Item
from recollect.domain.memory import Memory
from recollect.domain.scope import Scope
from recollect.ports import Items


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFilter:
    """Which decisions; None is any."""

    status: DecisionStatus | None = None
    step: Step | None = None
    winner: str | None = None
    loser: str | None = None

    def admits(self, decision: Decision) -> bool:
        """Whether the decision is one of them."""
        return (
            self.status in (None, decision.status)
            and self.step in (None, decision.step)
            and self.winner in (None, decision.winner)
            and self.loser in (None, decision.loser)
        )


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """Decisions; `more` where the next page goes on: a page may be short, or empty, before the end."""

    decisions: tuple[Decision, ...]
    more: str | None


class ListDecisions:
    """A decision outlives what it tells of; where persona or household narrow, it goes with the loser's memory."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._pages = FilteredPages(items, ARBITRATIONS)
        self._read = ReadMemories(items)

    def __call__(self, scope: Scope, limit: int, after: str | None, wanted: DecisionFilter) -> DecisionPage:
        """A page of the user's decisions."""

        def chosen(items: Sequence[Item]) -> list[Decision | None]:
            decisions = [decision_in(item.value) for item in items]
            own = self._admitted(scope, decisions)
            return [one if wanted.admits(one) and (own is None or one.loser in own) else None for one in decisions]

        all_of_them = wanted == DecisionFilter() and scope == scope.user
        found, more = self._pages(scope, limit, after, chosen, all_of_them=all_of_them)
        return DecisionPage(tuple(found), more)

    def one(self, scope: Scope, decision_id: str) -> Decision:
        """A decision by its id. Raises NotFound."""
        return decision_in(self.item(scope, decision_id).value)

    def item(self, scope: Scope, decision_id: str) -> Item:
        """The same as it is kept. Raises NotFound."""
        key = decision_key(decision_id)
        item = self._items.get(scope.user, [key]).get(key)
        if item is None:
            raise NotFound("no such decision")
        if self._admitted(scope, [decision_in(item.value)]) == {}:
            raise NotFound("no such decision")
        return item

    def _admitted(self, scope: Scope, decisions: Sequence[Decision]) -> dict[str, Memory] | None:
        """The losers' memories that a narrowed scope admits; None where nothing narrows."""
        if scope == scope.user:
            return None
        memories = self._read(scope, [one.loser for one in decisions])
        return {i: one for i, one in memories.items() if scope.admits(one.persona_id, one.household_id)}
