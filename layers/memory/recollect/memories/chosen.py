"""Messages that a language model chose become memories, in the words in which they were said (P-10).

The model only chooses. So a memory of this kind is one like every other: it has the id of its event and its words, and
goes with it, and the audit names the model. What was remembered before, whatever became of it, is not made anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionList
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.promote import BridgeGate, PromotedBy, PromoteMemories, is_promotable
from recollect.memories.promotion import KeptChoice, may_be_chosen
from recollect.memories.reading import ReadMemories
from recollect.ports import Items, Timeline
from recollect.rules.groups import Rules

VIA = "extraction"
MODEL = Actor(ActorKind.MODEL, VIA)


@dataclass(eq=False)
class KeepChosen:
    """Behind `RECOLLECT_EXTRACTION`. Idempotent; each memory is written atomically with its entry in the ledger."""

    _timeline: Timeline
    _items: Items
    _gate: BridgeGate
    _promote: PromoteMemories
    _rules_of: Callable[[str], Rules]

    def __post_init__(self) -> None:
        self._read = ReadMemories(self._items)
        self._suppression = SuppressionList(self._items)

    def choosable(self, tenant: str) -> Callable[[Event], bool]:
        """Which messages a model may choose, by the tenant's rules of now."""
        rules = self._rules_of(tenant).bridge
        return lambda event: may_be_chosen(event, rules)

    def keep(self, scope: Scope, refs: Sequence[EventRef], model: str, now: datetime) -> KeptChoice:
        """Makes memories of these messages, as they are stored now; `model` is who chose them.

        Raises what the stores raise, and Conflict where a memory's content changes all the time.
        """
        events = self._open(scope, refs, now)
        by = PromotedBy(VIA, MODEL, model, late=True)
        routing = self._gate.chosen(scope, events, now, by)
        remembered = self._promote.promote_by(scope, routing.promote, now, by).made
        waiting = len(routing.deferred)
        return KeptChoice(len(remembered), waiting, len(refs) - len(remembered) - waiting)

    def _open(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> list[Event]:
        """Those that are still there and may be remembered, in the order in which they were said."""
        found = self._timeline.read(scope, refs) if refs else {}
        known = self._read.items(scope, found)
        rejections, rules = self._suppression.load(scope), self._rules_of(scope.tenant).bridge
        new = (event for event in found.values() if event.id not in known and rejections.shown(event) is not None)
        fit = (event for event in new if may_be_chosen(event, rules) and is_promotable(event, now))
        return sorted(fit, key=lambda event: (event.timestamp, event.id))
