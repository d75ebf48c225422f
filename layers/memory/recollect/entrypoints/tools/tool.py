"""What a tool is made of, and its parameters as a model writes them, checked.

Their bounds are those of the HTTP API, and unknown fields are refused. There is no field for a user, a tenant, a source
or a role anywhere: none of these is a model's to claim.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from recollect.app import App
from recollect.core.errors import InvalidInput, NotFound
from recollect.core.ids import LONGEST_ID, IdSeed, id_fault
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.core.time import parse_instant
from recollect.entrypoints.http.models import json_text
from recollect.memories.memory import Memory
from recollect.retrieval.filters import SearchFilters, narrowed_to

CONTENT_BYTES = 64 * 1024
_LONGEST_TIME = 64
RESULT_BYTES = 32 * 1024
"""What one result may hold of stored text: more than that no model reads."""


class Parameters(BaseModel):
    """The base of all: nothing but the fields named, and no numbers that JSON does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _said(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    if len(value.encode()) > CONTENT_BYTES:
        raise ValueError(f"must be at most {CONTENT_BYTES} bytes of UTF-8")
    return value


def _identifier(value: str) -> str:
    fault = id_fault(value)
    if fault is not None:
        raise ValueError(fault)
    return value


def _instant(value: Any) -> datetime:
    if isinstance(value, str) and len(value) > _LONGEST_TIME:
        raise ValueError("not a time: ISO 8601, epoch seconds or milliseconds")
    try:
        return parse_instant(value)
    except InvalidInput as error:
        raise ValueError(str(error)) from None


Said = Annotated[str, Field(min_length=1, max_length=CONTENT_BYTES), AfterValidator(_said)]
Identifier = Annotated[str, Field(min_length=1, max_length=LONGEST_ID), AfterValidator(_identifier)]
Instant = Annotated[
    datetime,
    BeforeValidator(_instant),
    WithJsonSchema({"type": "string", "description": "ISO 8601; without a zone UTC"}),
]
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class Invocation:
    """Whose memory is meant, from the caller's credentials and never from the call. `seed` gives four ids.

    What is stored has `labels`, and nothing of others is seen or changed.
    """

    app: App
    scope: Scope
    seed: IdSeed
    now: datetime
    conversation_id: str | None
    labels: Labels = NO_LABELS

    @property
    def filters(self) -> SearchFilters:
        """What a search may find."""
        return SearchFilters(now=self.now, **narrowed_to(self.labels))

    def memory(self, memory_id: str) -> Memory:
        """A memory of these labels. Raises NotFound."""
        memory = self.app.memories.store.one(self.scope, memory_id, self.now)
        if not self.labels.admits(memory.labels):
            raise NotFound("no such memory")
        return memory


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
