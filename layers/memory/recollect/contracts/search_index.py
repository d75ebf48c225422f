"""What an index can tell of itself, generations side by side, and how one goes (A-33 to A-37).

What every `SearchIndex` promises: sight (who sees what), order (and the figures), lifecycle, and, here, writes.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from recollect.contracts.examples import (
    NOW,
    SearchIndexSetting,
    a_document,
    a_request,
    a_scope,
    a_vector,
    an_event,
    ids_of,
    seen,
    some_events,
)
from recollect.contracts.search_index_order import SearchIndexOrderContract
from recollect.contracts.search_index_sight import SearchIndexSightContract
from recollect.core.event import EventRef
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.ports import SearchIndex
from recollect.retrieval.nomination import IndexCount
from recollect.search_index.state import NO_GENERATION


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


class SearchIndexContract(SearchIndexSightContract, SearchIndexOrderContract, SearchIndexLifecycleContract):
    """Hold an adapter to it by a subclass that gives `index` and `neighbour` and, where needed, `admit`."""

    def test_what_is_put_twice_is_there_once(self, index: SearchIndex) -> None:
        scope = a_scope()
        events = some_events(scope, 5, content="paris")
        self.put(index, scope, events)
        before = index.nominate(scope, a_request("paris", vector=a_vector(), count=True))
        self.put(index, scope, events[1:3])
        after = index.nominate(scope, a_request("paris", vector=a_vector(), count=True))
        assert ids_of(after.hits) == ids_of(events)
        assert (after.statistics, after.tally) == (before.statistics, before.tally)

    def test_an_older_version_never_replaces_a_newer(self, index: SearchIndex) -> None:
        scope = a_scope()
        first = an_event(scope, key="city")
        second = replace(first, superseded_by="newer", superseded_at=NOW, version=2)
        self.put(index, scope, [first])
        self.put(index, scope, [second])
        assert seen(index, scope) == set()
        assert index.put([a_document(scope, first, a_vector())]) == []
        assert seen(index, scope) == set()
        self.put(index, scope, [replace(first, version=3)])
        assert seen(index, scope) == {first.id}

    def test_of_writers_at_once_the_newest_version_stands(self, index: SearchIndex) -> None:
        scope = a_scope()
        events = some_events(scope, 8, content="paris", key="city")
        self.put(index, scope, events)
        newest = [replace(e, superseded_by="newer", superseded_at=NOW, version=2) for e in events]
        self.admit(scope, newest)
        batches = [
            [a_document(scope, e, a_vector()) for e in batch] for batch in (events, newest, newest[::-1], events)
        ]
        with ThreadPoolExecutor(len(batches)) as pool:
            assert list(pool.map(index.put, batches)) == [[]] * len(batches)
        assert seen(index, scope) == set()

    def test_what_was_removed_is_nowhere(self, index: SearchIndex) -> None:
        scope, other = a_scope(), a_scope()
        events = some_events(scope, 6, content="paris")
        theirs = replace(events[0], user_id=other.user_id)
        self.put(index, scope, events)
        self.put(index, other, [theirs])
        assert index.remove(scope, [events[0].id, "unknown", events[1].id, events[1].id]) == []
        found = index.nominate(scope, a_request("paris", vector=a_vector(), count=True))
        assert ids_of(found.hits) == ids_of(events[2:])
        assert (found.statistics.documents, found.statistics.total_terms) == (4, 4)
        assert found.tally is not None
        assert found.tally.considered == 4
        assert seen(index, other) == {theirs.id}

    def test_what_was_removed_can_be_put_again(self, index: SearchIndex) -> None:
        scope = a_scope()
        event = an_event(scope)
        for _ in range(2):
            self.put(index, scope, [event])
            assert index.remove(scope, [event.id]) == []
            assert seen(index, scope) == set()
        self.put(index, scope, [event])
        assert seen(index, scope) == {event.id}

    def test_removing_twice_is_no_error(self, index: SearchIndex) -> None:
        scope = a_scope()
        event = an_event(scope)
        self.put(index, scope, [event])
        assert [index.remove(scope, [event.id]) for _ in range(2)] == [[], []]

    def test_nothing_to_write_is_no_error(self, index: SearchIndex) -> None:
        assert (index.put([]), index.remove(a_scope(), [])) == ([], [])

    def test_documents_of_many_owners_are_written_in_one_call(self, index: SearchIndex) -> None:
        scopes = [a_scope() for _ in range(5)]
        events = [an_event(scope) for scope in scopes]
        for scope, event in zip(scopes, events, strict=True):
            self.admit(scope, [event])
        pairs = zip(scopes, events, strict=True)
        assert index.put([a_document(scope, event, a_vector()) for scope, event in pairs]) == []
        assert [seen(index, scope) for scope in scopes] == [{event.id} for event in events]

    def test_more_than_one_request_holds_is_written(self, index: SearchIndex) -> None:
        scope = a_scope()
        self.put(index, scope, some_events(scope, 350))
        found = index.nominate(scope, a_request(vector=a_vector(), count=True, limit=100))
        assert (len(found.hits), found.statistics.documents) == (100, 350)

    def test_the_index_is_there_and_says_what_it_is(self, index: SearchIndex) -> None:
        assert index.create() is False
        assert index.check()
