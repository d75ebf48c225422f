"""What the index is told of an event."""

from recollect.domain.candidate import ASKING
from recollect.domain.embedding import FloatArray
from recollect.domain.event import Event, Role
from recollect.domain.filters import metadata_facets
from recollect.domain.lexical import terms
from recollect.domain.nomination import IndexDocument
from recollect.domain.questions import only_asks
from recollect.domain.scope import Scope


def voice_of(event: Event) -> str:
    """The event's role as ranking sees it: a user who only asks states nothing. A saved memory was not asked."""
    asks = event.role is Role.USER and not event.is_carrier and only_asks(event.content)
    return ASKING if asks else event.role.value


def index_document(scope: Scope, event: Event, vector: FloatArray | None) -> IndexDocument:
    """The document of an event; one that is not searchable has no words and no vector: it is counted, never found."""
    return IndexDocument(
        tenant=scope.tenant,
        user_id=event.user_id,
        persona_id=event.persona_id,
        household_id=event.household_id,
        ref=event.ref,
        version=event.version,
        recorded_at=event.recorded_at,
        conversation_id=event.conversation_id,
        role=voice_of(event),
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
        terms=tuple(terms(event.searchable_text)) if event.is_searchable else (),
        facets=metadata_facets(event.metadata),
        vector=vector if event.is_searchable else None,
    )
