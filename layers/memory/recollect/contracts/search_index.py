"""The contract of `SearchIndex`: visibility, lifecycle (A-33 to A-37) and writes; `search_index_order` has the order.

A subclass gives what `SearchIndexSetting` names, and `neighbour`.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.contracts.examples import (
    HARD_IDS,
    NOW,
    SearchIndexSetting,
    a_document,
    a_request,
    a_scope,
    a_vector,
    an_event,
    arm_of,
    arms_of,
    ids_of,
    seen,
    some_events,
)
from recollect.contracts.search_index_order import SearchIndexOrderContract
from recollect.core.event import EventType, Role, Source
from recollect.core.items import of_tenant, pages
from recollect.core.scope import Scope
from recollect.ports import SearchIndex
from recollect.retrieval.filters import TimeWindow
from recollect.retrieval.nomination import IndexCount
from recollect.search_index.state import NO_GENERATION

TICK = timedelta(microseconds=1)


class SearchIndexSightContract(SearchIndexSetting):
    """Every arm filters before it nominates: filters take nothing away from a full list."""

    crowd = 1_200
    """More than any engine lists before it filters; a subclass whose engine is slow and lists all may have fewer."""

    def test_equal_ids_and_texts_of_two_owners_never_meet(self, index: SearchIndex) -> None:
        one = a_scope()
        owners = [one, replace(one, user_id=one.user_id + "2"), replace(one, tenant=one.tenant + "2")]
        events = [an_event(scope, id="the-same-id", conversation_id=f"c{n}") for n, scope in enumerate(owners)]
        for scope, event in zip(owners, events, strict=True):
            self.put(index, scope, [event])
        for n, scope in enumerate(owners):
            assert seen(index, scope) == {"the-same-id"}
            assert seen(index, scope, filters={"conversation_id": f"c{n}"}) == {"the-same-id"}
            assert seen(index, scope, filters={"conversation_id": f"c{(n + 1) % 3}"}) == set()
        index.remove(owners[0], ["the-same-id"])
        assert [len(seen(index, scope)) for scope in owners] == [0, 1, 1]

    def test_no_two_pairs_of_tenant_and_user_run_together(self, index: SearchIndex) -> None:
        unique = a_scope().tenant
        names = [("a/b", "c"), ("a", "b/c"), ("a#", "b"), ("a", "#b"), ("ab", "c"), ("a", "bc"), ("", "abc")]
        scopes = [Scope(unique + tenant, user) for tenant, user in names]
        for scope in scopes:
            self.put(index, scope, [an_event(scope, id=f"of {scope.tenant} and {scope.user_id}")])
        assert [seen(index, s) for s in scopes] == [{f"of {s.tenant} and {s.user_id}"} for s in scopes]

    def test_every_id_of_every_script_is_told_apart(self, index: SearchIndex) -> None:
        unique = a_scope().tenant
        for hard in HARD_IDS:
            scope = Scope((unique + hard)[:128], hard, hard, hard)
            event = an_event(scope, conversation_id=hard, key=hard, space_id=hard, speaker=hard, tags=(hard,))
            self.put(index, scope, [event])
            filters = {"conversation_id": hard, "key": hard, "space_id": hard, "tags": (hard,)}
            assert seen(index, scope, filters=filters) == {event.id}, hard
            for name in ("conversation_id", "key", "space_id"):
                assert seen(index, scope, filters={name: hard[:-1] + "!"}) == set(), hard

    @pytest.mark.parametrize("narrowed", ["tenant", "user_id", "persona_id", "household_id"])
    def test_a_better_crowd_of_others_never_hides_ours(self, index: SearchIndex, narrowed: str) -> None:
        scope = a_scope(persona_id="ours", household_id="ours")
        crowd = replace(scope, **{narrowed: "theirs"}) if narrowed.endswith("d") else scope
        crowd = replace(crowd, **{narrowed: getattr(scope, narrowed) + "-theirs"})
        better = [replace(event, content="paris paris") for event in some_events(crowd, self.crowd)]
        self.put(index, crowd, better)
        ours = an_event(scope, content="once in a long life I have seen paris from a train")
        self.put(index, scope, [ours], [a_vector(-0.5)])
        found = index.nominate(scope, a_request("paris", vector=a_vector(), limit=1))
        assert all(arm_of(found, arm) == [ours.id] for arm in arms_of(index, scope))

    def test_a_read_without_persona_sees_all_personas(self, index: SearchIndex) -> None:
        user = a_scope()
        scopes = [user, replace(user, persona_id="p"), replace(user, persona_id="q", household_id="h")]
        events = [an_event(scope) for scope in scopes]
        for scope, event in zip(scopes, events, strict=True):
            self.put(index, scope, [event])
        assert seen(index, user) == ids_of(events)
        assert [seen(index, scope) for scope in scopes[1:]] == [{events[1].id}, {events[2].id}]
        assert seen(index, replace(user, household_id="h")) == {events[2].id}

    @pytest.mark.parametrize(
        ("hidden", "shown"),
        [({"is_private": True}, {}), ({"expires_at": NOW}, {"expires_at": NOW + TICK})],
        ids=["private", "expired from that instant on"],
    )
    def test_what_is_hidden_is_in_no_arm(
        self, index: SearchIndex, hidden: dict[str, Any], shown: dict[str, Any], scope: Scope
    ) -> None:
        events = [an_event(scope, **hidden), an_event(scope, **shown)]
        self.put(index, scope, events)
        assert seen(index, scope) == {events[1].id}

    @pytest.mark.parametrize("asking", ["include_superseded", "as_of", "recorded_as_of"])
    def test_a_superseded_event_is_seen_only_where_it_is_asked_for(self, index: SearchIndex, asking: str) -> None:
        scope = a_scope()
        old = an_event(scope, key="city", timestamp=NOW - TICK)
        new = an_event(scope, key="city")
        self.put(index, scope, [old, new])
        self.put(index, scope, [replace(old, superseded_by=new.id, superseded_at=NOW, version=2)])
        assert seen(index, scope) == {new.id}
        assert seen(index, scope, filters={asking: True if asking == "include_superseded" else NOW}) == {old.id, new.id}

    def test_superseded_records_are_named_besides_for_their_successors(self, index: SearchIndex) -> None:
        scope = a_scope(persona_id="p")
        hidden = {"is_private": True}, {"expires_at": NOW}, {"persona_id": "q"}, {"timestamp": NOW - 2 * TICK}
        old = an_event(scope, key="city", timestamp=NOW - TICK, content="paris paris in june")
        older = an_event(scope, key="city", timestamp=NOW - TICK, content="paris once")
        new = an_event(scope, key="city")
        others = [an_event(scope, **{"timestamp": NOW - TICK, **changes}) for changes in hidden]
        self.put(index, scope, [old, older, new, *others])
        gone = [replace(e, superseded_by=new.id, superseded_at=NOW, version=2) for e in (old, older, *others)]
        self.put(index, scope, gone, [a_vector(0.2), *[a_vector(0.1)] * (len(gone) - 1)])
        window = {"window": TimeWindow(start=NOW - TICK)}
        asked: dict[str, Any] = {"vector": a_vector(), "count": True, "filters": window}
        plain = index.nominate(scope, a_request("paris june", **asked))
        besides = index.nominate(scope, a_request("paris june", superseded=20, **asked))
        assert (plain.superseded, ids_of(plain.hits), plain.tally) == ((), ids_of(besides.hits), besides.tally)
        found = replace(besides, hits=besides.superseded)
        assert all(arm_of(found, arm) == [old.id, older.id] for arm in arms_of(index, scope))
        assert {hit.ref.id: dict(hit.counts) for hit in besides.superseded} == {
            old.id: {"pari": 2, "june": 1},
            older.id: {"pari": 1},
        }
        best = index.nominate(scope, a_request("paris june", superseded=1, **asked))
        assert ids_of(best.superseded) == {old.id}
        asked["filters"] = {**window, "include_superseded": True}
        admitted = index.nominate(scope, a_request("paris june", superseded=20, **asked))
        assert (ids_of(admitted.hits), admitted.superseded) == ({old.id, older.id, new.id}, ())

    @pytest.mark.parametrize(
        ("asked", "fits", "fits_not"),
        [
            ({"conversation_id": "c"}, {"conversation_id": "c"}, {"conversation_id": "C"}),
            ({"event_type": "task"}, {"event_type": EventType.TASK}, {}),
            ({"key": "city"}, {"key": "city"}, {"key": None}),
            ({"space_id": "s"}, {"space_id": "s"}, {"space_id": "s s"}),
            ({"source": "skill"}, {"source": Source.SKILL}, {"source": Source.USER}),
            ({"tags": ("a", "b")}, {"tags": ("c", "b", "a")}, {"tags": ("a",)}),
            ({"metadata": {"n": 1}}, {"metadata": {"n": 1, "m": "x"}}, {"metadata": {"n": "1"}}),
            ({"metadata": {"n": [{"a": None}]}}, {"metadata": {"n": [{"a": None}]}}, {"metadata": {"n": [{}]}}),
        ],
        ids=["conversation", "event type", "key", "space", "source", "tags", "metadata", "nested metadata"],
    )
    def test_a_filter_shows_what_fits(
        self, index: SearchIndex, asked: dict[str, Any], fits: dict[str, Any], fits_not: dict[str, Any], scope: Scope
    ) -> None:
        event, other = an_event(scope, **fits), an_event(scope, **fits_not)
        self.put(index, scope, [event, other])
        assert seen(index, scope, filters=asked) == {event.id}
        assert seen(index, scope) == {event.id, other.id}

    def test_filters_are_taken_together(self, index: SearchIndex, scope: Scope) -> None:
        fields = {"conversation_id": "c", "space_id": "s", "tags": ("t",)}
        event = an_event(scope, **fields)
        others = [an_event(scope, **{**fields, name: other}) for name, other in (("space_id", "x"), ("tags", ()))]
        self.put(index, scope, [event, *others])
        assert seen(index, scope, filters=fields) == {event.id}

    def test_both_ends_of_a_window_are_in_it(self, index: SearchIndex, scope: Scope) -> None:
        events = [an_event(scope, timestamp=NOW + n * TICK) for n in range(4)]
        self.put(index, scope, events)
        middle = {"window": TimeWindow(NOW + TICK, NOW + 2 * TICK)}
        assert seen(index, scope, filters=middle) == ids_of(events[1:3])
        assert seen(index, scope, filters={"window": TimeWindow(start=NOW + TICK)}) == ids_of(events[1:])
        assert seen(index, scope, filters={"window": TimeWindow(end=NOW)}) == ids_of(events[:1])
        assert seen(index, scope, filters={**middle, "as_of": NOW + TICK}) == ids_of(events[1:2])
        assert seen(index, scope, filters={"window": TimeWindow(NOW + 2 * TICK, NOW)}) == set()

    def test_what_arrived_later_was_not_known(self, index: SearchIndex, scope: Scope) -> None:
        events = [an_event(scope, recorded_at=NOW + n * TICK) for n in range(3)]
        self.put(index, scope, events)
        assert seen(index, scope, filters={"recorded_as_of": NOW + TICK}) == ids_of(events[:2])

    def test_windows_reach_from_1900_to_2199(self, index: SearchIndex, scope: Scope) -> None:
        years = [datetime(1900, 1, 1, tzinfo=UTC), NOW, datetime(2199, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)]
        events = [an_event(scope, timestamp=moment) for moment in years]
        self.put(index, scope, events)
        for event, moment in zip(events, years, strict=True):
            assert seen(index, scope, filters={"window": TimeWindow(moment, moment)}) == {event.id}
        found = index.nominate(scope, a_request("paris"))
        assert {hit.ref.timestamp for hit in found.hits} == set(years)

    def test_the_facts_of_a_hit_are_those_of_its_event(self, index: SearchIndex, scope: Scope) -> None:
        event = an_event(scope, role=Role.BOT, source=Source.CONVERSATION, speaker="Zoë", importance=0.123456789)
        self.put(index, scope, [event])
        (hit,) = index.nominate(scope, a_request("paris", vector=a_vector())).hits
        assert (hit.ref, hit.role, hit.speaker, hit.importance) == (event.ref, "bot", "Zoë", 0.123456789)
        assert hit.conversation_id == event.conversation_id
        assert (dict(hit.arms), dict(hit.counts)) == (dict.fromkeys(arms_of(index, scope), 1), {"pari": 1})
        assert hit.length == len(a_document(scope, event).terms)
        vector = None if hit.vector is None else hit.vector.tolist()
        assert vector == (a_vector().tolist() if index.holds_vectors(scope.tenant) else None)


class SearchIndexLifecycleContract(SearchIndexSetting):
    """A subclass gives the fixture `neighbour`: the index of another embedder's generation in the same engine.

    It is created, for vectors of the same length.
    """

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

    def test_what_is_not_waited_for_is_shown_by_the_last_call(self, index: SearchIndex, scope: Scope) -> None:
        events = some_events(scope, 130)
        self.admit(scope, events)
        documents = [a_document(scope, event, a_vector()) for event in events]
        assert index.put(documents[:129], shown=False) == []
        assert index.put(documents[129:]) == []
        assert index.count(scope) == IndexCount(130, 130)
        assert index.remove(scope, [event.id for event in events[:2]], shown=False) == []
        assert index.remove(scope, [events[2].id]) == []
        assert index.count(scope) == IndexCount(127, 127)

    def test_it_lists_what_it_holds_page_by_page(self, index: SearchIndex, scope: Scope) -> None:
        events = [*some_events(scope, 5), an_event(scope, id="é"), an_event(scope, id="🙂"), an_event(scope, id="~a/b")]
        self.put(index, scope, events)
        self.put(index, replace(scope, user_id="other"), [an_event(replace(scope, user_id="other"))])
        found = list(pages(lambda after: index.listed(scope, 2, after)))
        assert [len(page.refs) for page in found] == [2] * 4
        in_order = sorted((event.ref for event in events), key=lambda ref: ref.id.encode())
        assert [ref for page in found for ref in page.refs] == in_order

    def test_its_identity_stays(self, index: SearchIndex) -> None:
        assert index.identity() == index.identity() != ""
        assert index.owns(index.identity())
        assert not index.owns("")
        assert not index.owns("another")
        assert index.generation != NO_GENERATION
        assert index.holds_vectors("tenant")

    @pytest.mark.spec("A-33")
    def test_generations_stand_side_by_side(self, index: SearchIndex, neighbour: SearchIndex, scope: Scope) -> None:
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

    def test_what_is_newer_reaches_a_neighbour(self, index: SearchIndex, neighbour: SearchIndex, scope: Scope) -> None:
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
    counts = [index.drop(scope.tenant, 2) for _ in range(10)]
    assert counts[-1] == 0, "it never ends"
    return sum(counts)


class SearchIndexContract(SearchIndexSightContract, SearchIndexOrderContract, SearchIndexLifecycleContract):
    """Hold an adapter to it by a subclass that gives `index` and `neighbour` and, where needed, `admit`."""

    def test_what_is_put_twice_is_there_once(self, index: SearchIndex, scope: Scope) -> None:
        events = some_events(scope, 5, content="paris")
        self.put(index, scope, events)
        before = index.nominate(scope, a_request("paris", vector=a_vector(), count=True))
        self.put(index, scope, events[1:3])
        after = index.nominate(scope, a_request("paris", vector=a_vector(), count=True))
        assert ids_of(after.hits) == ids_of(events)
        assert (after.statistics, after.tally) == (before.statistics, before.tally)

    def test_an_older_version_never_replaces_a_newer(self, index: SearchIndex, scope: Scope) -> None:
        first = an_event(scope, key="city")
        second = replace(first, superseded_by="newer", superseded_at=NOW, version=2)
        self.put(index, scope, [first])
        self.put(index, scope, [second])
        assert seen(index, scope) == set()
        assert index.put([a_document(scope, first, a_vector())]) == []
        assert seen(index, scope) == set()
        self.put(index, scope, [replace(first, version=3)])
        assert seen(index, scope) == {first.id}

    def test_of_writers_at_once_the_newest_version_stands(self, index: SearchIndex, scope: Scope) -> None:
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

    def test_what_was_removed_can_be_put_again(self, index: SearchIndex, scope: Scope) -> None:
        event = an_event(scope)
        for _ in range(2):
            self.put(index, scope, [event])
            assert index.remove(scope, [event.id]) == []
            assert seen(index, scope) == set()
        self.put(index, scope, [event])
        assert seen(index, scope) == {event.id}

    def test_removing_twice_is_no_error(self, index: SearchIndex, scope: Scope) -> None:
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

    def test_more_than_one_request_holds_is_written(self, index: SearchIndex, scope: Scope) -> None:
        self.put(index, scope, some_events(scope, 350))
        found = index.nominate(scope, a_request(vector=a_vector(), count=True, limit=100))
        assert (len(found.hits), found.statistics.documents) == (100, 350)

    def test_packing_changes_nothing_that_is_seen(self, index: SearchIndex, scope: Scope) -> None:
        events = some_events(scope, 6, content="paris")
        self.put(index, scope, events)
        index.remove(scope, [events[0].id])
        before = index.nominate(scope, a_request("paris", vector=a_vector(), count=True))
        assert index.pack(lambda: 100.0) >= 0
        after = index.nominate(scope, a_request("paris", vector=a_vector(), count=True))
        assert (ids_of(after.hits), after.statistics, after.tally) == (
            ids_of(events[1:]),
            before.statistics,
            before.tally,
        )

    def test_the_index_is_there_and_says_what_it_is(self, index: SearchIndex) -> None:
        assert index.create() is False
        assert index.check()
