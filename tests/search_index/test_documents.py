"""The index document of an event."""

from datetime import timedelta

import numpy
import pytest

from recollect.core.event import EventRef, EventType, Role, Source
from recollect.core.scope import Scope
from recollect.retrieval.attributes import tokens_of
from recollect.retrieval.filters import metadata_facets
from recollect.retrieval.nomination import IndexDocument
from recollect.search_index.page import index_document
from samples.events import NOON, event

VECTOR = numpy.array([1, 0], dtype=numpy.float32)
FULL = event(
    id="e1",
    user_id="anna",
    persona_id="p",
    household_id="h",
    conversation_id="c9",
    role=Role.BOT,
    speaker="Ben",
    content="Dogs bark",
    event_type=EventType.TASK,
    source=Source.CONVERSATION,
    timestamp=NOON,
    recorded_at=NOON + timedelta(seconds=1),
    importance=0.7,
    tags=("question",),
    key="dog",
    space_id="s",
    expires_at=NOON + timedelta(days=1),
    metadata={"a": 1},
    superseded_by="e2",
    superseded_at=NOON + timedelta(days=2),
    version=3,
)


def test_the_document_has_all_that_the_index_filters_and_ranks_by() -> None:
    found = index_document(Scope("acme", "anna"), FULL, VECTOR)
    assert found.vector is VECTOR
    assert found == IndexDocument(
        tenant="acme",
        user_id="anna",
        persona_id="p",
        household_id="h",
        ref=EventRef("e1", NOON),
        version=3,
        recorded_at=NOON + timedelta(seconds=1),
        conversation_id="c9",
        role="bot",
        speaker="Ben",
        event_type="task",
        source="conversation",
        key="dog",
        space_id="s",
        tags=("question",),
        importance=0.7,
        is_private=False,
        superseded=True,
        expires_at=NOON + timedelta(days=1),
        terms=("dog", "bark"),
        facets=metadata_facets({"a": 1}),
        attributes=tokens_of(FULL),
        vector=VECTOR,
    )


@pytest.mark.spec("P-17")
def test_a_private_event_is_counted_and_can_never_be_found() -> None:
    found = index_document(Scope("acme", "anna"), event(is_private=True, content="secret dogs"), VECTOR)
    assert (found.is_private, found.terms, found.vector, found.superseded) == (True, (), None, False)
