"""Parameters as a model writes them, checked: the bounds are those of the HTTP API, unknown fields are refused.

There is no field for a user, a tenant, a source or a role anywhere: none of these is a model's to claim.
"""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from recollect.core.errors import InvalidInput
from recollect.core.ids import LONGEST_ID, id_fault
from recollect.core.time import parse_instant

CONTENT_BYTES = 64 * 1024
_LONGEST_TIME = 64


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
