"""Arbitration, merging and merge rules as calls."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from recollect.client.calls import Call, path_segment, plain, present


def arbitrate(
    candidate: Mapping[str, Any],
    existing: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any] | None,
    rule: str | None,
    apply: bool,
    idempotency_key: str | None,
) -> Call:
    """`POST /v1/arbitrations`; with `apply` under a key of its own, so that it can be tried again."""
    asked = {"candidate": candidate, "existing": list(existing), "options": options, "rule": rule}
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex} if apply else {}
    body = present(asked | {"apply": True if apply else None})
    return Call(method="POST", path="/v1/arbitrations", body=body, headers=headers)


def merge(first: Mapping[str, Any], second: Mapping[str, Any], options: Mapping[str, Any] | None) -> Call:
    """`POST /v1/merges`."""
    return Call(method="POST", path="/v1/merges", body=present({"first": first, "second": second, "options": options}))


def merge_rules(limit: int | None) -> Call:
    """`GET /v1/merge-rules`: all of them, or the first page."""
    return Call(method="GET", path="/v1/merge-rules", query={} if limit is None else {"limit": str(limit)})


def merge_rule(name: str) -> Call:
    """`GET /v1/merge-rules/{name}`."""
    return Call(method="GET", path=f"/v1/merge-rules/{path_segment(name)}")


def put_merge_rule(name: str, document: Mapping[str, Any], version: int | None) -> Call:
    """`PUT /v1/merge-rules/{name}`."""
    headers = {} if version is None else {"If-Match": f'"{version}"'}
    return replace(merge_rule(name), method="PUT", body=plain(document), headers=headers)


def patch_merge_rule(name: str, changes: Mapping[str, Any], version: int | None) -> Call:
    """`PATCH /v1/merge-rules/{name}`; without a version whatever it is. None takes a property away."""
    headers = {"If-Match": "*" if version is None else f'"{version}"'}
    return replace(merge_rule(name), method="PATCH", body=plain(changes), headers=headers)


def delete_merge_rule(name: str, version: int | None) -> Call:
    """`DELETE /v1/merge-rules/{name}`."""
    headers = {} if version is None else {"If-Match": f'"{version}"'}
    return replace(merge_rule(name), method="DELETE", headers=headers)


def import_merge_rules(rules: Sequence[Mapping[str, Any]], idempotency_key: str | None) -> Call:
    """`POST /v1/merge-rules/import`, with a key of its own, so that it can be tried again."""
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return Call(method="POST", path="/v1/merge-rules/import", body={"rules": plain(list(rules))}, headers=headers)


def match_merge_rule(candidate: Mapping[str, Any]) -> Call:
    """`POST /v1/merge-rules/match`."""
    return Call(method="POST", path="/v1/merge-rules/match", body=present({"candidate": candidate}))
