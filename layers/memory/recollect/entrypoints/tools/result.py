"""What came of a call, for a model or a person to read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from recollect.core import errors
from recollect.timeline.ingest import FieldError


class Status(StrEnum):
    """How a call ended. Only `unavailable` may go better another time."""

    DONE = "done"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_PARAMETERS = "invalid_parameters"
    NOT_FOUND = "not_found"
    REFUSED = "refused"
    CONFLICT = "conflict"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


_BY_ERROR: Mapping[type[errors.RecollectError], Status] = {
    errors.InvalidInput: Status.INVALID_PARAMETERS,
    errors.NotFound: Status.NOT_FOUND,
    errors.Forbidden: Status.REFUSED,
    errors.Conflict: Status.CONFLICT,
    errors.VersionMismatch: Status.CONFLICT,
    errors.Unavailable: Status.UNAVAILABLE,
}
_TOLD = frozenset({Status.INVALID_PARAMETERS, Status.NOT_FOUND, Status.REFUSED, Status.CONFLICT})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """`message` is one sentence; `result` what the tool found or stored, by ids.

    `wrote`: the call was one that writes, so a replay must not make it again; `stored` are ids of events.
    """

    tool: str
    status: Status
    message: str
    result: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[FieldError, ...] = ()
    stored: tuple[str, ...] = ()
    wrote: bool = False

    @property
    def ok(self) -> bool:
        """Whether the tool did what was asked."""
        return self.status is Status.DONE


def result_of_error(tool: str, error: errors.RecollectError, *, wrote: bool) -> ToolResult:
    """A failure as a model reads it: our own sentences, never the message of an unexpected error."""
    status = next((_BY_ERROR[base] for base in type(error).__mro__ if base in _BY_ERROR), Status.FAILED)
    told = {Status.UNAVAILABLE: "a part of the memory does not answer now", Status.FAILED: "the tool failed"}
    message = str(error) if status in _TOLD else told[status]
    faults = (FieldError(error.loc, str(error)),) if isinstance(error, errors.InvalidInput) and error.loc else ()
    return ToolResult(tool=tool, status=status, message=message, faults=faults, wrote=wrote)


def result_document(result: ToolResult) -> dict[str, Any]:
    """The result as JSON."""
    shown: dict[str, Any] = {"tool": result.tool, "ok": result.ok, "status": result.status.value}
    shown |= {"message": result.message}
    if result.ok:
        return {**shown, "result": dict(result.result)}
    faults = [{"loc": list(fault.loc), "message": fault.message} for fault in result.faults]
    return {**shown, "errors": faults} if faults else shown
