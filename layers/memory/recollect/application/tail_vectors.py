"""Vectors of events that are not projected yet, made at read and kept for the next read of this process."""

from collections import OrderedDict
from collections.abc import Sequence

from recollect.domain.embedding import FloatArray, TextKind, unpack_vector
from recollect.domain.event import Event
from recollect.domain.scope import Scope
from recollect.ports import Embedder

_KEPT = 2000


class TailVectors:
    """A bounded cache by user, event and version, so that a slow projector costs each event one encoding."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[tuple[Scope, str, int], FloatArray] = OrderedDict()

    def of(self, scope: Scope, events: Sequence[Event]) -> dict[str, FloatArray]:
        """A vector per event id; none where there is no embedder. Raises what the embedder raises."""
        if self._embedder is None:
            return {}
        keys = {event.id: (scope.user, event.id, event.version) for event in events}
        missing = [event for event in events if keys[event.id] not in self._kept]
        made = self._encoded(self._embedder, missing)
        found = {event.id: made.get(event.id, self._kept.get(keys[event.id])) for event in events}
        for event in missing:
            self._kept[keys[event.id]] = made[event.id]
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return {event_id: vector for event_id, vector in found.items() if vector is not None}

    @staticmethod
    def _encoded(embedder: Embedder, events: Sequence[Event]) -> dict[str, FloatArray]:
        made = {e.id: unpack_vector(e.embedding) for e in events if e.embedding is not None}
        texts = [e for e in events if e.embedding is None]
        encodings = embedder.encode([e.passage for e in texts], TextKind.PASSAGE) if texts else []
        return made | {e.id: encoding.vector for e, encoding in zip(texts, encodings, strict=True)}
