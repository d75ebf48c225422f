"""Signals, audit and ledger as calls (see `calls`)."""

from uuid import uuid4

from recollect.client.calls import Call, path_segment


def signal(kind: str, source: str, severity: str | None, reason: str | None, idempotency_key: str | None) -> Call:
    """`POST /v1/signals`, with a key of its own, so that it can be tried again."""
    given = {"type": kind, "source": source, "severity": severity, "reason": reason}
    body = {name: value for name, value in given.items() if value is not None}
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return Call(method="POST", path="/v1/signals", body=body, headers=headers)


def audit(user_id: str, target_id: str | None, action: str | None, limit: int | None) -> Call:
    """`GET /v1/users/{user_id}/audit`, the first page."""
    return _listed(user_id, "audit", {"target_id": target_id, "action": action, "limit": limit})


def ledger(user_id: str, outcome: str | None, event_id: str | None, limit: int | None) -> Call:
    """`GET /v1/users/{user_id}/ledger`, the first page."""
    return _listed(user_id, "ledger", {"outcome": outcome, "event_id": event_id, "limit": limit})


def _listed(user_id: str, name: str, given: dict[str, str | int | None]) -> Call:
    query = {key: str(value) for key, value in given.items() if value is not None}
    return Call(method="GET", path=f"/v1/users/{path_segment(user_id)}/{name}", query=query)
