"""Whether a candidate meets a merge rule's conditions (A-121)."""

from collections.abc import Mapping
from typing import Any

from recollect.domain.option_values import TOLERANCE
from recollect.domain.statement import Statement


def conditions_hold(conditions: Mapping[str, Any], candidate: Statement) -> bool:
    """Whether all of them hold; without any they do. A list asks for one of its values, a range includes its ends."""
    values = {"userId": candidate.user_id, "personaId": candidate.persona_id, "source": candidate.source}
    asked = ((conditions[name], value) for name, value in values.items() if name in conditions)
    if not all(_is_among(value, wanted) for wanted, value in asked):
        return False
    return "importanceRange" not in conditions or _is_within(candidate.importance, conditions["importanceRange"])


def _is_among(value: str | None, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, list) else value == wanted


def _is_within(importance: float, bounds: Mapping[str, Any]) -> bool:
    low, high = bounds.get("min", 0.0), bounds.get("max", 1.0)
    return bool(low - TOLERANCE <= importance <= high + TOLERANCE)
