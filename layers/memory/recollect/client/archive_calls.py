"""Exports, imports and snapshots as calls."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from recollect.client.calls import Call, path_segment
from recollect.client.shapes import Narrowing

_NEXT = re.compile(r'<([^>]*)>; *rel="next"')


def export(user_id: str, narrowing: Narrowing) -> Call:
    """`GET /v1/users/{user_id}/export`, the first page."""
    query = {name: str(value) for name, value in narrowing.items() if value is not None}
    return Call(method="GET", path=f"/v1/users/{path_segment(user_id)}/export", query=query)


def next_page(call: Call, link: str) -> Call | None:
    """The call of the page that a `Link` header names; None at the end."""
    found = _NEXT.search(link)
    cursor = dict(parse_qsl(urlsplit(found[1]).query)).get("cursor") if found else None
    return call.after(cursor) if cursor else None


def import_page(user_id: str, page: str, idempotency_key: str | None) -> Call:
    """`POST /v1/users/{user_id}/import`, with a key of its own, so that it can be tried again."""
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex, "Content-Type": "application/x-ndjson"}
    path = f"/v1/users/{path_segment(user_id)}/import"
    return Call(method="POST", path=path, content=page.encode(), headers=headers)


def snapshots(limit: int | None) -> Call:
    """`GET /v1/snapshots`, the first page."""
    return Call(method="GET", path="/v1/snapshots", query={} if limit is None else {"limit": str(limit)})


def run_job(kind: str, parameters: Mapping[str, str | bool], wait: bool, idempotency_key: str | None) -> Call:
    """`POST /v1/jobs/{kind}`, with a key of its own, so that it can be tried again."""
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    query = {"wait": "true"} if wait else {}
    path = f"/v1/jobs/{path_segment(kind)}"
    return Call(method="POST", path=path, query=query, body=dict(parameters), headers=headers)


def job(job_id: str) -> Call:
    """`GET /v1/jobs/{job_id}`."""
    return Call(method="GET", path=f"/v1/jobs/{path_segment(job_id)}")
