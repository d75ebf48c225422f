"""One JSON line per request: route, status, duration, counts, decisions; never text, ids of clients, or tokens."""

import hashlib
import os
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from aws_lambda_powertools import Logger

from recollect.entrypoints.http.messages import Call, Reply
from recollect.entrypoints.http.routing import Route
from recollect.settings import Principal

METRICS_NAMESPACE = "Recollect"


class AccessLog:
    """Writes to standard output (Lambda), or to the stream given (the laptop's standard error).

    Lines of the package's own loggers (`recollect.…`) come out the same way: they are children of this one's.
    """

    def __init__(
        self, level: str, stream: TextIO | None = None, service: str = "recollect", deployment: str | None = None
    ) -> None:
        """`deployment` is what lines and metrics say as `service`: on Lambda the stack's name (`lambda_log`)."""
        self._logger = Logger(service=service, level=level, stream=stream)
        self._logger.append_keys(service=deployment or service)

    def request(
        self,
        call: Call,
        route: Route | None,
        principal: Principal | None,
        reply: Reply,
        seconds: float,
        error: Exception | None,
    ) -> None:
        """The line of one request; an error of ours (5xx) stands in it by its type and place, without its message."""
        line: dict[str, Any] = {
            "route": route.template if route else "none",
            "status": reply.status,
            "duration_ms": round(seconds * 1000, 1),
            "request_id": call.request_id,
            "trace": reply.trace,
            "tenant": _digest(principal.tenant) if principal else None,
            "body_bytes": len(call.body),
            "outcome": dict(reply.log),
            **_metrics(reply.metrics),
        }
        if reply.status >= 500 and error is not None:
            self._logger.error("request", extra={**line, **_described(error)})
        else:
            self._logger.info("request", extra=line)


def lambda_log(level: str, stream: TextIO | None = None, service: str = "recollect") -> AccessLog:
    """The log of a function; its metrics have the stack as dimension, as those of the scheduled functions have."""
    return AccessLog(level, stream, service, deployment=os.environ.get("POWERTOOLS_SERVICE_NAME"))


def _metrics(counts: Mapping[str, float]) -> dict[str, Any]:
    """The counts in CloudWatch's embedded metric format: it makes metrics of such a line, and needs no call for it."""
    if not counts:
        return {}
    named = [{"Name": name, "Unit": "Milliseconds" if name.endswith("Ms") else "Count"} for name in counts]
    directive = {"Namespace": METRICS_NAMESPACE, "Dimensions": [["service"]], "Metrics": named}
    return {**counts, "_aws": {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": [directive]}}


def _described(error: Exception) -> dict[str, str]:
    cause = error.__cause__
    described = {"error": type(error).__name__, "at": _place(error)}
    return {**described, "cause": type(cause).__name__} if cause is not None else described


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"


def _digest(tenant: str) -> str:
    return hashlib.sha256(tenant.encode()).hexdigest()[:12]
