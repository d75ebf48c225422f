"""What the index is told of an event."""

from recollect.domain.embedding import FloatArray
from recollect.domain.event import Event
from recollect.domain.filters import metadata_facets
from recollect.domain.lexical import terms
from recollect.domain.nomination import IndexDocument
from recollect.domain.scope import Scope


def index_document(scope: Scope, event: Event, vector: FloatArray | None) -> IndexDocument:
    """The document of an event; a private one is bare: it is counted, and never found."""
    return IndexDocument(
        tenant=scope.tenant,
        user_id=event.user_id,
        persona_id=event.persona_id,
        household_id=event.household_id,
        ref=event.ref,
        version=event.version,
        recorded_at=event.recorded_at,
        conversation_id=event.conversation_id,
        role=event.role,
        speaker=event.speaker,
        event_type=event.event_type,
        source=event.source,
        key=event.key,
        space_id=event.space_id,
        tags=event.tags,
        importance=event.importance,
        is_private=event.is_private,
        superseded=event.superseded_by is not None,
        expires_at=event.expires_at,
        terms=() if event.is_private else tuple(terms(event.searchable_text)),
        facets=metadata_facets(event.metadata),
        vector=None if event.is_private else vector,
    )
