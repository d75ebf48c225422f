"""Decisions and conflicts as calls (see `calls`)."""

from uuid import uuid4

from recollect.client.calls import Call, path_segment
from recollect.client.shapes import ConflictListOptions, DecisionListOptions, Narrowing


def decisions(user_id: str, options: DecisionListOptions) -> Call:
    """`GET /v1/users/{user_id}/arbitrations`, the first page."""
    return _listed(user_id, "arbitrations", dict(options))


def conflicts(user_id: str, options: ConflictListOptions) -> Call:
    """`GET /v1/users/{user_id}/conflicts`, the first page."""
    return _listed(user_id, "conflicts", dict(options))


def revert_decision(user_id: str, decision_id: str, idempotency_key: str | None, narrowing: Narrowing) -> Call:
    """`POST /v1/users/{user_id}/arbitrations/{arbitration_id}/revert`, with a key, so that it can be tried again."""
    path = f"/v1/users/{path_segment(user_id)}/arbitrations/{path_segment(decision_id)}/revert"
    return Call(method="POST", path=path, query=_query(dict(narrowing)), headers=_key(idempotency_key))


def resolve_conflict(
    user_id: str, conflict_id: str, winner: str, idempotency_key: str | None, narrowing: Narrowing
) -> Call:
    """`POST /v1/users/{user_id}/conflicts/{conflict_id}/resolve`, with a key, so that it can be tried again."""
    path = f"/v1/users/{path_segment(user_id)}/conflicts/{path_segment(conflict_id)}/resolve"
    query, headers = _query(dict(narrowing)), _key(idempotency_key)
    return Call(method="POST", path=path, query=query, body={"winner": winner}, headers=headers)


def _listed(user_id: str, name: str, given: dict[str, object]) -> Call:
    return Call(method="GET", path=f"/v1/users/{path_segment(user_id)}/{name}", query=_query(given))


def _query(given: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in given.items() if value is not None}


def _key(idempotency_key: str | None) -> dict[str, str]:
    return {"Idempotency-Key": idempotency_key or uuid4().hex}
