"""Examples for the contracts: fresh scopes, events, writes, index documents, vectors, and the setting of an index."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from recollect.core.event import ContentType, Event, Role, Source
from recollect.core.ids import IdSeed, IdSource
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, pack_vector, unpack_vector
from recollect.ports import SearchIndex, Timeline
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.nomination import Arm, Candidate, IndexDocument, NominationRequest, Nominations
from recollect.search_index.page import index_document
from recollect.text.terms import query_terms
from recollect.timeline.record import event_identity, value_fingerprint
from recollect.timeline.timeline import EventWrite

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
DIMENSION = 8

RIGHT_TO_LEFT = "\u202eabc\u200f"
FOUR_BYTES = "\U00020000" * 128
HARD_IDS = (
    "a#b", "a", "#", "a/b", "/", "a%2Fb", "%", "~", "~YQ", "a|b", "a:b", "a b", " ", "...", "*", "?", "'", '"', "\\",
    "ÿ", "é", "e\u0301", "देवनागरी", "🙂", RIGHT_TO_LEFT, FOUR_BYTES, "x" * 128,
)  # fmt: skip
"""Ids that every engine distinguishes; the longest has 128 characters of four bytes each."""

_IDS = IdSource()
_TICKS = itertools.count(1_700_000_000_000)


def a_scope(**changes: Any) -> Scope:
    """A tenant and a user that nothing else uses, so that suites can share an engine."""
    unique = uuid4().hex[:12]
    return replace(Scope(f"tenant-{unique}", f"user-{unique}"), **changes)


def a_seed(count: int = 1) -> IdSeed:
    """A seed for ids, later than every one before it."""
    return _IDS.seed(next(_TICKS), count)


def an_event(scope: Scope | None = None, **changes: Any) -> Event:
    """An event said at NOW, with its own id; user, persona and household are the scope's."""
    event = Event(
        id=a_seed().nth(0),
        user_id=scope.user_id if scope else "user",
        persona_id=scope.persona_id if scope else None,
        household_id=scope.household_id if scope else None,
        conversation_id="conversation",
        role=Role.USER,
        content="I live in Paris",
        content_type=ContentType.USERINPUT,
        source=Source.USER,
        timestamp=NOW,
        recorded_at=NOW,
        importance=0.4,
    )
    return replace(event, **changes)


def some_events(scope: Scope, count: int, **changes: Any) -> list[Event]:
    """Events one second apart, oldest first, with a number in their contents."""
    moments = [NOW - timedelta(seconds=count - 1 - n) for n in range(count)]
    return [
        an_event(scope, **{"content": f"remark number{n}", "timestamp": moment, "recorded_at": moment, **changes})
        for n, moment in enumerate(moments)
    ]


def a_write(scope: Scope, event: Event, given_timestamp: bool = True) -> EventWrite:
    """The event with its dedupe key and the fingerprint of its value; its conversation counts as given."""
    identity = event_identity(scope, event, event.conversation_id, given_timestamp)
    return EventWrite(event, identity, value_fingerprint(event.content))


def writes_of(scope: Scope, events: Sequence[Event]) -> list[EventWrite]:
    """One write per event, in order."""
    return [a_write(scope, event) for event in events]


def append_events(timeline: Timeline, scope: Scope, count: int, **changes: Any) -> list[Event]:
    """`some_events`, appended in one call."""
    events = some_events(scope, count, **changes)
    timeline.append(scope, writes_of(scope, events))
    return events


def append_event(timeline: Timeline, scope: Scope, **changes: Any) -> Event:
    """`an_event`, appended."""
    event = an_event(scope, **changes)
    timeline.append(scope, [a_write(scope, event)])
    return event


class OwnUser:
    """Gives the fixture `scope`: a user whom no other test has."""

    @pytest.fixture
    def scope(self) -> Scope:
        return a_scope()


def a_document(scope: Scope, event: Event, vector: FloatArray | None = None) -> IndexDocument:
    """The index document of the event."""
    return index_document(scope, event, vector)


def a_vector(cosine: float = 1.0) -> FloatArray:
    """A stored unit vector (DIMENSION,) whose cosine to `a_vector()` is about the one given."""
    numbers = np.zeros(DIMENSION, dtype=np.float32)
    numbers[0], numbers[1] = cosine, (1 - cosine**2) ** 0.5
    return unpack_vector(pack_vector(numbers))


def a_random_vector(seed: int, dimension: int = DIMENSION) -> FloatArray:
    """A stored unit vector in a direction that the seed decides."""
    return unpack_vector(pack_vector(np.random.default_rng(seed).standard_normal(dimension)))


def a_request(text: str = "", **changes: Any) -> NominationRequest:
    """A wave for the text's terms, at NOW, 10 hits an arm; `filters` are fields of SearchFilters."""
    filters = SearchFilters(**{"now": NOW, **changes.pop("filters", {})})
    return NominationRequest(**{"filters": filters, "limit": 10, "terms": query_terms(text), **changes})


def arms_of(index: SearchIndex, scope: Scope) -> list[Arm]:
    """The arms that the index has: without an embedder it goes by words alone."""
    return [Arm.LEXICAL, Arm.VECTOR] if index.holds_vectors(scope.tenant) else [Arm.LEXICAL]


class SearchIndexSetting(OwnUser):
    """A subclass gives the fixture `index`, created, empty or shared, for vectors of `examples.DIMENSION` numbers."""

    def admit(self, scope: Scope, events: Sequence[Event]) -> None:
        """Called before these events are put: an index that reads from its timeline appends them here.

        An event comes again when it has changed (`superseded_by`, `version`).
        """

    def put(
        self,
        index: SearchIndex,
        scope: Scope,
        events: Sequence[Event],
        vectors: Sequence[FloatArray | None] | None = None,
    ) -> None:
        """Puts events, by default each with `a_vector()`; every one must be taken."""
        self.admit(scope, events)
        chosen = vectors if vectors is not None else [a_vector()] * len(events)
        assert index.put([a_document(scope, e, v) for e, v in zip(events, chosen, strict=True)]) == []


def arm_of(nominations: Nominations, arm: Arm) -> list[str]:
    """The ids that an arm nominated, best first; its ranks are 1, 2, 3 and so on."""
    ranked = sorted((hit.arms[arm], hit.ref.id) for hit in nominations.hits if arm in hit.arms)
    assert [rank for rank, _ in ranked] == list(range(1, len(ranked) + 1))
    return [event_id for _, event_id in ranked]


def ids_of(items: Iterable[Event | Candidate]) -> set[str]:
    """The ids of events or hits."""
    return {item.ref.id for item in items}


def seen(index: SearchIndex, scope: Scope, text: str = "paris", **changes: Any) -> set[str]:
    """The ids that each arm of the index shows for the text and `a_vector()`; arms that differ fail."""
    found = index.nominate(scope, a_request(text, **{"vector": a_vector(), "limit": 100, **changes}))
    assert all(set(arm_of(found, arm)) == ids_of(found.hits) for arm in arms_of(index, scope))
    return ids_of(found.hits)
