"""What a tool is made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.app import App
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.http.json_values import json_text
from recollect.entrypoints.tools.parameters import Parameters

RESULT_BYTES = 32 * 1024
"""What one result may hold of stored text: more than that no model reads."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """Whose memory is meant, from the caller's credentials and never from the call. `seed` gives four ids."""

    app: App
    scope: Scope
    seed: IdSeed
    now: datetime
    conversation_id: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found; of a call that writes ids alone, since a replay's record keeps it. `stored`: ids of events."""

    result: Mapping[str, Any]
    stored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """Its parameters, what it does, what it says of it, and whether a call with these parameters writes.

    `run` raises errors of `recollect.core.errors` alone.
    """

    parameters: type[Parameters]
    run: Callable[[Invocation, Any], Outcome]
    say: Callable[[Any, Mapping[str, Any]], str]
    writes: Callable[[Any], bool] = field(default=lambda _parameters: True)


def fitting(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first entries that fit into a result, the first one always; how many were left out, where any were."""
    total = 0
    for position, entry in enumerate(entries):
        total += len(json_text(entry).encode())
        if position and total > RESULT_BYTES:
            return {"entries": list(entries[:position]), "left_out": len(entries) - position}
    return {"entries": list(entries)}
