"""Rejected values and erasures as calls."""

from dataclasses import replace

from recollect.client.calls import Call, path_segment
from recollect.client.shapes import Narrowing


def rejecting(call: Call) -> Call:
    """The same deletion, which rejects the value too."""
    return replace(call, query={**call.query, "reject": "true"})


def rejections(user_id: str, narrowing: Narrowing) -> Call:
    """`GET /v1/users/{user_id}/rejections`, the first page."""
    query = {name: str(value) for name, value in narrowing.items() if value is not None}
    return Call(method="GET", path=f"/v1/users/{path_segment(user_id)}/rejections", query=query)


def lift_rejection(user_id: str, rejection_id: str) -> Call:
    """`DELETE /v1/users/{user_id}/rejections/{rejection_id}`."""
    path = f"/v1/users/{path_segment(user_id)}/rejections/{path_segment(rejection_id)}"
    return Call(method="DELETE", path=path)


def erase_user(user_id: str) -> Call:
    """`DELETE /v1/users/{user_id}`."""
    return Call(method="DELETE", path=f"/v1/users/{path_segment(user_id)}")


def erasure(erasure_id: str) -> Call:
    """`GET /v1/erasures/{erasure_id}`."""
    return Call(method="GET", path=f"/v1/erasures/{path_segment(erasure_id)}")
