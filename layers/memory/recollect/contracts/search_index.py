"""What every `SearchIndex` promises: sight (who sees what), order (and the figures), lifecycle, and, here, writes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from recollect.contracts.examples import NOW, a_document, a_request, a_scope, a_vector, an_event, some_events
from recollect.contracts.search_index_lifecycle import SearchIndexLifecycleContract
from recollect.contracts.search_index_order import SearchIndexOrderContract
from recollect.contracts.search_index_setting import ids_of, seen
from recollect.contracts.search_index_sight import SearchIndexSightContract
from recollect.ports import SearchIndex


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
