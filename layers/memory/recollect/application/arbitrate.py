"""Step 3 alone: detector and arbiter on statements that are given, or on what is stored (A-69 to A-89, P-24)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.application.choose_policy import ArbitrationRequest, ChoosePolicy
from recollect.domain.arbitration_policy import Arbitration, ArbitrationPolicy, weigh
from recollect.domain.audit import Actor
from recollect.domain.ids import IdSeed
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.statement import Statement


@dataclass(frozen=True, slots=True)
class Applying:
    """Who applies a verdict and when; `seed` gives the ids of what is made, the same in a retry."""

    actor: Actor
    seed: IdSeed
    now: datetime


class Apply(Protocol):
    """Stores what is decided: the winner or the merged statement, the loser with its status, the ledger's entry."""

    def __call__(
        self,
        scope: Scope,
        candidate: Statement,
        existing: Sequence[Statement],
        policy: ArbitrationPolicy,
        applying: Applying,
    ) -> Arbitration:
        """Decides and stores; without `existing` about what the store has. Again, with the same seed, is no harm."""


class Arbitrate:
    """Behind `POST /v1/arbitrations`."""

    def __init__(self, policy: ChoosePolicy, apply: Apply) -> None:
        self._policy = policy
        self._apply = apply

    def weighed(self, tenant: str, request: ArbitrationRequest, rules: Rules) -> Arbitration:
        """What would be decided of the given statements; stores nothing. Raises InvalidInput as `ChoosePolicy`."""
        return weigh(request.candidate, request.existing, self._policy(tenant, request, rules))

    def applied(self, scope: Scope, request: ArbitrationRequest, rules: Rules, applying: Applying) -> Arbitration:
        """Decides and stores. Raises InvalidInput as `ChoosePolicy`, and what storing raises."""
        policy = self._policy(scope.tenant, request, rules)
        return self._apply(scope, request.candidate, request.existing, policy, applying)
