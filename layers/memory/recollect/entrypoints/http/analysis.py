"""What the rules make of a query, as search by intent and `POST /v1/analyze` answer it."""

from typing import Annotated

from recollect.entrypoints.http.models import AnswerModel, Count, Maybe, OneOf, Schema, Share, Shows
from recollect.intent.analysis import IntentName


def _entity_types() -> Schema:
    from recollect.intent.analysis import EntityType

    return {"type": "string", "enum": [name.value for name in EntityType]}


class Entity(AnswerModel):
    type: Annotated[str, Shows(_entity_types)]
    value: str
    normalized: str


class Analyzed(AnswerModel):
    keywords: list[str]
    entities: list[Entity]
    intent: Annotated[str, OneOf(*IntentName)]
    intent_confidence: Share


class QueryContext(AnswerModel):
    messages: Count
    keywords: list[str]


class QueryAnalysis(Analyzed):
    context: Maybe[QueryContext] = None
