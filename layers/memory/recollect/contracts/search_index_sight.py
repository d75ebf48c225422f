"""Who sees what: tenants, users, personas and households, privacy, expiry, supersession, filters and windows."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.contracts.examples import (
    BOTH_ARMS,
    HARD_IDS,
    NOW,
    SearchIndexSetting,
    a_document,
    a_request,
    a_scope,
    a_vector,
    an_event,
    arm_of,
    ids_of,
    seen,
    some_events,
)
from recollect.core.event import EventType, Role, Source
from recollect.core.scope import Scope
from recollect.ports import SearchIndex
from recollect.retrieval.filters import TimeWindow
from recollect.retrieval.nomination import Arm

CROWD = 1_200
TICK = timedelta(microseconds=1)


class SearchIndexSightContract(SearchIndexSetting):
    """Filters stand inside every arm: they decide what is nominated, not what is left of it."""

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
        better = [replace(event, content="paris paris") for event in some_events(crowd, CROWD)]
        self.put(index, crowd, better)
        ours = an_event(scope, content="once in a long life I have seen paris from a train")
        self.put(index, scope, [ours], [a_vector(-0.5)])
        found = index.nominate(scope, a_request("paris", vector=a_vector(), limit=1))
        assert [arm_of(found, arm) for arm in BOTH_ARMS] == [[ours.id], [ours.id]]

    def test_a_read_without_persona_sees_all_personas(self, index: SearchIndex) -> None:
        user = a_scope()
        scopes = [user, replace(user, persona_id="p"), replace(user, persona_id="q", household_id="h")]
        events = [an_event(scope) for scope in scopes]
        for scope, event in zip(scopes, events, strict=True):
            self.put(index, scope, [event])
        assert seen(index, user) == ids_of(events)
        assert [seen(index, scope) for scope in scopes[1:]] == [{events[1].id}, {events[2].id}]
        assert seen(index, replace(user, household_id="h")) == {events[2].id}

    def test_a_private_event_is_in_no_arm(self, index: SearchIndex) -> None:
        scope = a_scope()
        hidden, shown = an_event(scope, is_private=True), an_event(scope)
        self.put(index, scope, [hidden, shown])
        assert seen(index, scope) == {shown.id}

    def test_an_event_is_gone_from_the_instant_it_expires(self, index: SearchIndex) -> None:
        scope = a_scope()
        expired, last = an_event(scope, expires_at=NOW), an_event(scope, expires_at=NOW + TICK)
        self.put(index, scope, [expired, last])
        assert seen(index, scope) == {last.id}

    @pytest.mark.parametrize("asking", ["include_superseded", "as_of", "recorded_as_of"])
    def test_a_superseded_event_is_seen_only_where_it_is_asked_for(self, index: SearchIndex, asking: str) -> None:
        scope = a_scope()
        old = an_event(scope, key="city", timestamp=NOW - TICK)
        new = an_event(scope, key="city")
        self.put(index, scope, [old, new])
        self.put(index, scope, [replace(old, superseded_by=new.id, superseded_at=NOW, version=2)])
        assert seen(index, scope) == {new.id}
        assert seen(index, scope, filters={asking: True if asking == "include_superseded" else NOW}) == {old.id, new.id}

    def test_superseded_records_are_named_besides_where_their_successors_are_to_stand_for_them(
        self, index: SearchIndex
    ) -> None:
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
        assert [arm_of(replace(besides, hits=besides.superseded), arm) for arm in BOTH_ARMS] == [[old.id, older.id]] * 2
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
        self, index: SearchIndex, asked: dict[str, Any], fits: dict[str, Any], fits_not: dict[str, Any]
    ) -> None:
        scope = a_scope()
        event, other = an_event(scope, **fits), an_event(scope, **fits_not)
        self.put(index, scope, [event, other])
        assert seen(index, scope, filters=asked) == {event.id}
        assert seen(index, scope) == {event.id, other.id}

    def test_filters_are_taken_together(self, index: SearchIndex) -> None:
        scope = a_scope()
        fields = {"conversation_id": "c", "space_id": "s", "tags": ("t",)}
        event = an_event(scope, **fields)
        others = [an_event(scope, **{**fields, name: other}) for name, other in (("space_id", "x"), ("tags", ()))]
        self.put(index, scope, [event, *others])
        assert seen(index, scope, filters=fields) == {event.id}

    def test_both_ends_of_a_window_are_in_it(self, index: SearchIndex) -> None:
        scope = a_scope()
        events = [an_event(scope, timestamp=NOW + n * TICK) for n in range(4)]
        self.put(index, scope, events)
        middle = {"window": TimeWindow(NOW + TICK, NOW + 2 * TICK)}
        assert seen(index, scope, filters=middle) == ids_of(events[1:3])
        assert seen(index, scope, filters={"window": TimeWindow(start=NOW + TICK)}) == ids_of(events[1:])
        assert seen(index, scope, filters={"window": TimeWindow(end=NOW)}) == ids_of(events[:1])
        assert seen(index, scope, filters={**middle, "as_of": NOW + TICK}) == ids_of(events[1:2])
        assert seen(index, scope, filters={"window": TimeWindow(NOW + 2 * TICK, NOW)}) == set()

    def test_what_arrived_later_was_not_known(self, index: SearchIndex) -> None:
        scope = a_scope()
        events = [an_event(scope, recorded_at=NOW + n * TICK) for n in range(3)]
        self.put(index, scope, events)
        assert seen(index, scope, filters={"recorded_as_of": NOW + TICK}) == ids_of(events[:2])

    def test_windows_reach_from_1900_to_2199(self, index: SearchIndex) -> None:
        scope = a_scope()
        years = [datetime(1900, 1, 1, tzinfo=UTC), NOW, datetime(2199, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)]
        events = [an_event(scope, timestamp=moment) for moment in years]
        self.put(index, scope, events)
        for event, moment in zip(events, years, strict=True):
            assert seen(index, scope, filters={"window": TimeWindow(moment, moment)}) == {event.id}
        found = index.nominate(scope, a_request("paris"))
        assert {hit.ref.timestamp for hit in found.hits} == set(years)

    def test_the_facts_of_a_hit_are_those_of_its_event(self, index: SearchIndex) -> None:
        scope = a_scope()
        event = an_event(scope, role=Role.BOT, source=Source.CONVERSATION, speaker="Zoë", importance=0.123456789)
        self.put(index, scope, [event])
        (hit,) = index.nominate(scope, a_request("paris", vector=a_vector())).hits
        assert (hit.ref, hit.role, hit.speaker, hit.importance) == (event.ref, "bot", "Zoë", 0.123456789)
        assert hit.conversation_id == event.conversation_id
        assert (dict(hit.arms), dict(hit.counts)) == ({Arm.LEXICAL: 1, Arm.VECTOR: 1}, {"pari": 1})
        assert hit.length == len(a_document(scope, event).terms)
        assert hit.vector is not None
        assert hit.vector.tolist() == a_vector().tolist()
