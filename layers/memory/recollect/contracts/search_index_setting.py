"""What the suites of `SearchIndex` stand on: the fixture, the hook, and a few ways to ask."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from recollect.contracts.examples import a_document, a_request, a_vector
from recollect.domain.candidate import Arm, Candidate
from recollect.domain.embedding import FloatArray
from recollect.domain.event import Event
from recollect.domain.nomination import Nominations
from recollect.domain.scope import Scope
from recollect.ports import SearchIndex

BOTH_ARMS = (Arm.LEXICAL, Arm.VECTOR)


class SearchIndexSetting:
    """A subclass gives the fixture `index`, empty or shared, for vectors of `examples.DIMENSION` numbers."""

    @pytest.fixture
    def index(self) -> SearchIndex:
        """The index under test, created."""
        raise NotImplementedError("a subclass provides the index")

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
    """The ids that both arms show for the text and `a_vector()`; an arm that shows other than the other fails."""
    found = index.nominate(scope, a_request(text, **{"vector": a_vector(), "limit": 100, **changes}))
    assert set(arm_of(found, Arm.LEXICAL)) == set(arm_of(found, Arm.VECTOR)) == ids_of(found.hits)
    return ids_of(found.hits)
