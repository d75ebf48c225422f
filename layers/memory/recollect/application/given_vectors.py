"""Vectors that callers gave with their events."""

from collections.abc import Iterable

from recollect.domain.embedding import FloatArray, unpack_vector
from recollect.domain.event import Event
from recollect.ports import Embedder


def given_vectors(events: Iterable[Event], embedder: Embedder | None) -> dict[str, FloatArray]:
    """Those that fit the embedder's dimension, by event id; one made for another model is made anew from the text."""
    given = {event.id: unpack_vector(event.embedding) for event in events if event.embedding is not None}
    return {i: vector for i, vector in given.items() if embedder is None or len(vector) == embedder.dimension}
