"""What an index can tell of itself, generations side by side, and how one goes (A-33 to A-37)."""

from dataclasses import replace

import pytest

from recollect.contracts.examples import a_document, a_request, a_scope, a_vector, an_event, some_events
from recollect.contracts.search_index_setting import SearchIndexSetting, ids_of, seen
from recollect.domain.event import EventRef
from recollect.domain.index_state import NO_GENERATION
from recollect.domain.items import of_tenant
from recollect.domain.nomination import IndexCount
from recollect.domain.scope import Scope
from recollect.ports import SearchIndex


class SearchIndexLifecycleContract(SearchIndexSetting):
    """A subclass whose `index` has a neighbour of another generation overrides `neighbour`."""

    @pytest.fixture
    def neighbour(self, index: SearchIndex) -> SearchIndex:
        """The index of another embedder's generation in the same engine, created, for vectors as long as ours."""
        raise NotImplementedError("a subclass provides the neighbour")

    @pytest.mark.spec("A-33")
    def test_it_counts_a_user_and_a_tenant(self, index: SearchIndex) -> None:
        one = a_scope()
        other, stranger = replace(one, user_id="other"), a_scope()
        self.put(index, one, some_events(one, 3), [a_vector(), None, a_vector()])
        self.put(index, one, [an_event(one, is_private=True)])
        self.put(index, other, some_events(other, 2))
        assert (index.count(one), index.count(other)) == (IndexCount(4, 2), IndexCount(2, 2))
        assert index.count(of_tenant(one.tenant)) == IndexCount(6, 4)
        assert index.count(stranger) == index.count(of_tenant(stranger.tenant)) == IndexCount(0, 0)

    def test_what_is_not_waited_for_is_shown_by_the_last_call(self, index: SearchIndex) -> None:
        scope = a_scope()
        events = some_events(scope, 130)
        self.admit(scope, events)
        documents = [a_document(scope, event, a_vector()) for event in events]
        assert index.put(documents[:129], shown=False) == []
        assert index.put(documents[129:]) == []
        assert index.count(scope) == IndexCount(130, 130)
        assert index.remove(scope, [event.id for event in events[:2]], shown=False) == []
        assert index.remove(scope, [events[2].id]) == []
        assert index.count(scope) == IndexCount(127, 127)

    def test_it_lists_what_it_holds_page_by_page(self, index: SearchIndex) -> None:
        scope = a_scope()
        events = [*some_events(scope, 5), an_event(scope, id="é"), an_event(scope, id="🙂"), an_event(scope, id="~a/b")]
        self.put(index, scope, events)
        self.put(index, replace(scope, user_id="other"), [an_event(replace(scope, user_id="other"))])
        found: list[EventRef] = []
        after: str | None = None
        for _ in range(4):
            page = index.listed(scope, 2, after)
            found += page.refs
            after = page.more
        assert after is None
        assert found == sorted((event.ref for event in events), key=lambda ref: ref.id.encode())

    def test_its_identity_stays(self, index: SearchIndex) -> None:
        assert index.identity() == index.identity() != ""
        assert index.generation != NO_GENERATION
        assert index.holds_vectors("tenant")

    @pytest.mark.spec("A-33")
    def test_generations_stand_side_by_side(self, index: SearchIndex, neighbour: SearchIndex) -> None:
        scope = a_scope()
        old, new = an_event(scope), an_event(scope)
        self.put(neighbour, scope, [old])
        self.put(index, scope, [new])
        by_vector = a_request(vector=a_vector())
        assert ids_of(neighbour.nominate(scope, by_vector).hits) == {old.id}
        assert ids_of(index.nominate(scope, by_vector).hits) == {new.id}
        assert (neighbour.count(scope).vectors, index.count(scope).vectors) == (1, 1)

    def test_a_neighbour_is_reached_by_words_alone(self, index: SearchIndex, neighbour: SearchIndex) -> None:
        scope = a_scope()
        events = some_events(scope, 2, content="paris")
        self.put(neighbour, scope, [events[0]])
        beside = index.of(neighbour.generation)
        assert (beside.generation, beside.holds_vectors(scope.tenant)) == (neighbour.generation, False)
        self.put(beside, scope, events)
        found = beside.nominate(scope, a_request("paris"))
        assert ids_of(found.hits) == ids_of(events)
        assert neighbour.count(scope) == IndexCount(2, 1), "the vector that was there stays, none was added"
        assert beside.remove(scope, [events[0].id]) == []
        assert neighbour.count(scope).vectors == 0

    def test_what_is_newer_reaches_a_neighbour(self, index: SearchIndex, neighbour: SearchIndex) -> None:
        scope = a_scope()
        event = an_event(scope, key="city")
        self.put(neighbour, scope, [event])
        newer = replace(event, superseded_by="another", version=2)
        self.put(index.of(neighbour.generation), scope, [newer])
        assert ids_of(neighbour.nominate(scope, a_request("paris")).hits) == set()

    def test_dropping_a_generation_leaves_the_other(self, index: SearchIndex, neighbour: SearchIndex) -> None:
        scope, stranger = a_scope(), a_scope()
        events = some_events(scope, 5, content="paris")
        self.put(neighbour, scope, events)
        self.put(index, scope, events)
        self.put(neighbour, stranger, some_events(stranger, 2, content="paris"))
        before = index.of(neighbour.generation).count(of_tenant(scope.tenant)).vectors
        assert _dropped(index.of(neighbour.generation), scope) == before
        assert seen(index, scope) == ids_of(events)
        assert index.of(neighbour.generation).count(of_tenant(scope.tenant)).vectors == 0
        assert neighbour.count(stranger).documents == 2

    def test_dropping_what_never_was_is_no_error(self, index: SearchIndex) -> None:
        assert index.of("never.1").drop(a_scope().tenant, 10, whole=True) == 0


def _dropped(index: SearchIndex, scope: Scope) -> int:
    total = 0
    for _ in range(10):
        some = index.drop(scope.tenant, 2)
        total += some
        if not some:
            return total
    raise AssertionError("it never ends")
