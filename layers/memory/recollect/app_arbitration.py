"""The use cases of arbitration: merge rules, and what they decide. A part of `App`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.app import Parts
    from recollect.arbitration.arbitrate import Arbitrate, ChoosePolicy
    from recollect.arbitration.propose import ApplyGiven
    from recollect.arbitration.registry import KeepMergeRules
    from recollect.timeline.bus import BusOutbox


class ArbitrationUseCases:
    """Mixed into `App`; each use case is imported and made when first used."""

    parts: Parts

    if TYPE_CHECKING:

        @cached_property
        def bus_outbox(self) -> BusOutbox: ...
        @cached_property
        def store_arbitration(self) -> ApplyGiven: ...

    @cached_property
    def merge_rules(self) -> KeepMergeRules:
        """`/v1/merge-rules`."""
        from recollect.arbitration.registry import KeepMergeRules

        return KeepMergeRules(self.parts.items, self.bus_outbox)

    @cached_property
    def choose_policy(self) -> ChoosePolicy:
        """Which merge rule holds, with the tenant's thresholds: for every part that asks the arbiter."""
        from recollect.arbitration.arbitrate import ChoosePolicy

        return ChoosePolicy(self.merge_rules)

    @cached_property
    def arbitrate(self) -> Arbitrate:
        """`POST /v1/arbitrations`."""
        from recollect.arbitration.arbitrate import Arbitrate

        return Arbitrate(self.choose_policy, lambda *asked: self.store_arbitration(*asked))
