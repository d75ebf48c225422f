"""Statements over HTTP: `M` of api.md (*Arbitration*)."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from recollect.domain.statement import Statement
from recollect.entrypoints.http.models import (
    LONGEST_VECTOR,
    AnswerModel,
    Content,
    Identifier,
    Importance,
    Instant,
    Keywords,
    Maybe,
    Number,
    RequestModel,
    Share,
    Text,
    Time,
)

if TYPE_CHECKING:
    from datetime import datetime

_Embedding = Annotated[list[Number], Field(min_length=1, max_length=LONGEST_VECTOR)]


class _Described(RequestModel):
    user_id: Identifier
    embedding: Maybe[_Embedding] = Field(
        None, description="Of any length, the same for all; absent: no semantic signal."
    )
    source: Maybe[Annotated[str, Text(128, blank=False)]] = Field(
        None,
        description="user, conversation, skill, system, inferred, from the most trusted on; any other word, or none, "
        "ranks last.",
    )
    keywords: Maybe[Keywords] = None
    persona_id: Maybe[Identifier] = Field(None, description="Absent: the default persona.")


class GivenStatement(_Described):
    """A statement whole."""

    id: Identifier
    content: Content
    importance: Importance
    timestamp: Instant


class Profile(_Described):
    """A candidate that is only to be matched: whatever of it no condition asks for may be left out."""

    id: Maybe[Identifier] = None
    content: Maybe[Content] = None
    importance: Maybe[Importance] = None
    timestamp: Maybe[Instant] = None


class StatementShown(AnswerModel):
    id: str
    user_id: str
    persona_id: Maybe[str] = None
    content: str
    embedding: Maybe[list[float]] = None
    importance: Share
    timestamp: Time
    source: Maybe[str] = None
    keywords: list[str]


def statement_of(given: GivenStatement) -> Statement:
    """The statement that was given."""
    return _statement(given.given())


def candidate_of(profile: Profile, now: "datetime") -> Statement:
    """The candidate that was given, with stand-ins for what is left out; an importance of -1 meets no condition."""
    return _statement({"id": "-", "content": "", "importance": -1.0, "timestamp": now, **profile.given()})


def statement_json(statement: Statement) -> dict[str, Any]:
    """A statement as it is shown; what is not known is left out."""
    embedding = None if statement.embedding is None else statement.embedding.tolist()
    values = {name: getattr(statement, name) for name in StatementShown.model_fields}
    return StatementShown.model_validate({**values, "embedding": embedding}).document()


def _statement(values: dict[str, Any]) -> Statement:
    embedding = _vector(values.pop("embedding", None))
    return Statement(**values | {"keywords": tuple(values.get("keywords", ())), "embedding": embedding})


def _vector(values: list[float] | None) -> Any:
    if values is None:
        return None
    import numpy as np  # ingest's neighbours start without it

    return np.array(values, dtype=np.float64)
