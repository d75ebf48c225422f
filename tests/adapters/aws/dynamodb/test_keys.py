"""Keys: nothing escapes its partition, no two ids meet, and text sorts as time does."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.adapters.aws import keys
from recollect.contracts.examples import FOUR_BYTES, HARD_IDS, NOW
from recollect.core.errors import InvalidInput, StoredDataError
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import EARLIEST, LATEST
from recollect.retrieval.filters import TimeWindow

an_id = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("#~01"), min_size=1, max_size=128)
an_instant = st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31, 23, 59, 59, 999999), timezones=st.just(UTC))


@given(an_id, an_id)
def test_what_was_escaped_reads_back_and_has_no_separator(one: str, other: str) -> None:
    assert keys.unescape(keys.escape(one)) == one
    assert "#" not in keys.escape(one)
    assert (keys.escape(one) == keys.escape(other)) == (one == other)


@given(an_id, an_id)
def test_a_user_partition_names_one_user(tenant: str, user: str) -> None:
    partition = keys.user_partition(Scope(tenant, user))
    assert keys.user_of(partition) == Scope(tenant, user)
    assert len(partition.encode()) <= keys.MAX_PARTITION_BYTES


def test_users_of_any_two_ids_have_two_partitions() -> None:
    scopes = [Scope(tenant, user) for tenant in HARD_IDS for user in HARD_IDS]
    assert len({keys.user_partition(scope) for scope in scopes}) == len(scopes)
    assert len({keys.pending_key(scope, "e") for scope in scopes}) == len(scopes)
    assert len({keys.conversation_index(scope, "c") for scope in scopes}) == len(scopes)


@given(an_id, an_instant)
def test_an_event_is_read_from_its_key(event_id: str, moment: datetime) -> None:
    ref = EventRef(event_id, moment)
    scope = Scope("t", "u", "persona", "household")
    key = keys.event_key(scope, ref)
    assert keys.event_of(key.sk) == ref
    assert keys.user_of(key.pk) == scope.user


@pytest.mark.parametrize("sort_key", ["D#1", "V#1", "P#1", "E", "K#E#1"])
def test_another_item_is_no_event(sort_key: str) -> None:
    assert keys.event_of(sort_key) is None


@pytest.mark.parametrize("partition", ["U#a", "U#a#b#c", "B#a#b", ""])
def test_another_partition_is_no_user(partition: str) -> None:
    with pytest.raises(StoredDataError):
        keys.user_of(partition)


@pytest.mark.parametrize("sort_key", ["E#", "E#x#1", "E#0001"])
def test_a_damaged_event_key_is_reported(sort_key: str) -> None:
    with pytest.raises(StoredDataError):
        keys.event_of(sort_key)


def test_the_longest_ids_of_any_script_fit() -> None:
    scope = Scope(FOUR_BYTES, FOUR_BYTES, FOUR_BYTES, FOUR_BYTES)
    ref = EventRef(FOUR_BYTES, LATEST - timedelta(microseconds=1))
    for key in (
        keys.event_key(scope, ref),
        keys.dedupe_key(scope, "f" * 64),
        keys.rejection_key(scope, "f" * 64),
        keys.projection_key(scope, ref.id),
        keys.slot_key(scope, (FOUR_BYTES,) * 3, ref),
        keys.conversation_key(scope, FOUR_BYTES),
        keys.pending_key(scope, ref.id),
        keys.idempotency_key("f" * 64),
        keys.bus_key(FOUR_BYTES, "memory:episodic:saved", ref),
    ):
        assert len(key.pk.encode()) <= keys.MAX_PARTITION_BYTES
        assert len(key.sk.encode()) <= keys.MAX_SORT_BYTES
    assert len(keys.importance_order(1.0, ref).encode()) <= keys.MAX_SORT_BYTES


def test_a_key_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInput):
        keys.projection_key(Scope("t", "u"), "x" * 1100)


@given(st.lists(an_instant, min_size=2, max_size=5))
def test_event_keys_sort_as_time_does(moments: list[datetime]) -> None:
    refs = [EventRef(f"{n:02d}", moment) for n, moment in enumerate(moments)]
    sort_keys = sorted((keys.event_key(Scope("t", "u"), ref).sk for ref in refs), key=str.encode)
    assert [keys.event_of(k) for k in sort_keys] == sorted(refs, key=lambda ref: (ref.timestamp, ref.id))


@given(st.lists(st.tuples(st.floats(0, 1), an_instant), min_size=2, max_size=6))
def test_importance_sorts_exactly_then_by_time(pairs: list[tuple[float, datetime]]) -> None:
    refs = [EventRef(f"018f0000-0000-7{n:03d}-8000-000000000000", moment) for n, (_, moment) in enumerate(pairs)]
    entries = [
        (abs(i), ref.timestamp, ref.id, keys.importance_order(abs(i), ref))
        for (i, _), ref in zip(pairs, refs, strict=True)
    ]
    assert [entry[3] for entry in sorted(entries)] == sorted(entry[3] for entry in entries)


@given(an_instant, an_instant)
def test_a_window_holds_both_of_its_ends_and_nothing_beside_them(start: datetime, end: datetime) -> None:
    microsecond = timedelta(microseconds=1)
    low, high = keys.event_range(TimeWindow(start, end))
    for moment in {start, end, max(EARLIEST, start - microsecond), min(LATEST - microsecond, end + microsecond)}:
        sort_key = keys.event_key(Scope("t", "u"), EventRef("018f", moment)).sk
        assert (low <= sort_key <= high) == (start <= moment <= end)


def test_an_open_window_holds_every_event_and_nothing_else() -> None:
    low, high = keys.event_range(TimeWindow())
    for moment in (EARLIEST, NOW, LATEST - timedelta(microseconds=1)):
        assert low <= keys.event_key(Scope("t", "u"), EventRef("018f", moment)).sk <= high
    for other in ("D#f", "K#f", "C#f", "R#", "V#"):
        assert not low <= other <= high


def test_pending_markers_of_many_users_share_all_partitions() -> None:
    partitions = {keys.pending_key(Scope("t", str(n)), "e").pk for n in range(600)}
    assert partitions == {keys.pending_partition(shard) for shard in range(keys.PENDING_SHARDS)}


def test_slots_are_apart_however_their_names_are_cut() -> None:
    slots = [("a", "b", "c"), ("a", "", "b#c"), ("a#b", "", "c"), ("", "a", "b#c"), ('a","b', "", "c")]
    assert len({keys.slot_range(slot) for slot in slots}) == len(slots)
    key = keys.slot_key(Scope("t", "u"), slots[1], EventRef("e#1", NOW))
    assert keys.slot_range(slots[1]).low <= key.sk <= keys.slot_range(slots[1]).high
    assert keys.slot_entry_of(key.sk) == EventRef("e#1", NOW)
