"""Which merge rule holds for a candidate, and all that decides then (A-120 to A-123)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.application.keep_merge_rules import KeepMergeRules
from recollect.domain.arbitration import ArbitrationOptions
from recollect.domain.arbitration_policy import ArbitrationPolicy
from recollect.domain.conflict_detection import detection_options
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.merge_rules import MergeRuleRegistry
from recollect.domain.option_values import TOLERANCE, read_options
from recollect.domain.rule_values import Place
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.statement import Statement


@dataclass(frozen=True, slots=True)
class ArbitrationRequest:
    """What is to be decided.

    `options` are merged over those of the rule, in its own groups: `detection`, `arbitration`, `merge`. `rule` names
    the merge rule that holds whatever its conditions; None: the first one that the candidate meets.
    """

    candidate: Statement
    existing: tuple[Statement, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    rule: str | None = None


class ChoosePolicy:
    """The tenant's thresholds, over them the merge rule's options, over them the request's own."""

    def __init__(self, merge_rules: KeepMergeRules) -> None:
        self._merge_rules = merge_rules

    def __call__(self, tenant: str, request: ArbitrationRequest, rules: Rules) -> ArbitrationPolicy:
        """Raises InvalidInput at ("rule",) where no rule has that name, at ("options", "weights") where they do not
        sum to 1.
        """
        registry = self._merge_rules.registry(tenant)
        name = _name(registry, request)
        settings, options = registry.settings(name), request.options
        detection = settings.detection_over(detection_options(rules.conflict))
        arbitration = read_options(options.get("arbitration", {}), settings.arbitration, Place())
        _check_weights(arbitration)
        return ArbitrationPolicy(
            read_options(options.get("detection", {}), detection, Place()),
            arbitration,
            read_options(options.get("merge", {}), settings.merge, Place()),
            name,
        )

    def of(self, scope: Scope, candidate: Statement, rules: Rules) -> ArbitrationPolicy:
        """What decides about a candidate that nobody gave options for."""
        return self(scope.tenant, ArbitrationRequest(candidate), rules)


def _name(registry: MergeRuleRegistry, request: ArbitrationRequest) -> str:
    if request.rule is None:
        return registry.matching(request.candidate).name
    try:
        return registry.rule(request.rule).name
    except NotFound:
        raise InvalidInput("there is no merge rule of this name", ("rule",)) from None


def _check_weights(options: ArbitrationOptions) -> None:
    if abs(options.weights.total - 1) > TOLERANCE:
        raise InvalidInput("the weights, with those of the rule, must sum to 1", ("options", "weights"))
