"""Work whose writes go no further than the connection: they are made, checked and signed, and then not sent.

What a function does for the first time costs more than every time after: botocore reads its models of operations,
makes signers and serializers; Python compiles patterns and specializes its code. A function may do all that while it
starts, without any effect. Whether work is dry stands in a context variable: what such work begins on other threads
stays dry however late it ends (the port `Concurrency` hands context variables on), and a client's request never is.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse

_DRY: ContextVar[bool] = ContextVar("recollect_dry_run", default=False)
_READS = frozenset({
    "BatchGetItem", "DescribeTable", "GetItem", "GetObject", "HeadBucket", "HeadObject", "ListObjectsV2", "Query",
})  # fmt: skip
"""What is sent all the same. A name that is missing here leaves a part cold, and does nothing else."""


def run_dry(work: Callable[[], object]) -> None:
    """Does the work in a context of its own, in which nothing is written. Raises what the work raises."""
    copy_context().run(_dry, work)


def is_dry() -> bool:
    """Whether this is work of `run_dry`."""
    return _DRY.get()


def withhold_dry_writes(client: Any) -> None:
    """Of dry work the SDK's client then sends reads alone, and answers writes itself as the service would."""
    client.meta.events.register("before-send", _answered)


def _dry(work: Callable[[], object]) -> None:
    _DRY.set(True)
    work()


def _answered(event_name: str, request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
    """The answer to a write of dry work; None for all that is to be sent."""
    operation = event_name.rpartition(".")[2]
    if not _DRY.get() or operation in _READS:
        return None
    from botocore.awsrequest import AWSResponse

    return AWSResponse(request.url, 200, {}, _Body(_accepted(operation, request)))


def _accepted(operation: str, request: AWSPreparedRequest) -> bytes:
    """As DynamoDB and S3 answer a write that asks for nothing back; EventBridge has a result for each entry."""
    if operation != "PutEvents":
        return b"{}"
    entries = json.loads(request.body)["Entries"]
    return json.dumps({"FailedEntryCount": 0, "Entries": [{"EventId": "none"} for _ in entries]}).encode()


class _Body(io.BytesIO):
    """As urllib3 hands an answer over."""

    def stream(self) -> Iterator[bytes]:
        yield self.read()
