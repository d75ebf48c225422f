"""Decisions and conflicts as JSON (api.md, *Arbitration*). What is None is left out."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from recollect.contradictions.decisions import Decision, DecisionStatus, OpenConflict
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.entrypoints.http.ids import path_segment


def decision_json(scope: Scope, decision: Decision) -> dict[str, Any]:
    """A decision, with the path that takes it back where it holds."""
    shown = {"id": decision.id, **_present(decision, Decision.__slots__)}
    if decision.status is DecisionStatus.APPLIED:
        shown["revert"] = f"/v1/users/{path_segment(scope.user_id)}/arbitrations/{path_segment(decision.id)}/revert"
    return shown


def conflict_json(conflict: OpenConflict) -> dict[str, Any]:
    """A conflict as it stands."""
    return {"id": conflict.id, **_present(conflict, OpenConflict.__slots__)}


def _present(value: object, names: tuple[str, ...]) -> dict[str, Any]:
    values = {name: getattr(value, name) for name in names}
    return {name: _plain(one) for name, one in values.items() if one is not None}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return dict(value) if isinstance(value, Mapping) else value
