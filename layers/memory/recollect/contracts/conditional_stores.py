"""The contracts of the stores that write on a condition: `IdempotencyStore` and `SnapshotStore`.

A subclass gives `store`, and `versions_of` for snapshots.
"""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from recollect.contracts.examples import FOUR_BYTES, HARD_IDS, NOW, RIGHT_TO_LEFT, a_seed
from recollect.core.errors import InFlight, InvalidInput, KeyReused, VersionMismatch
from recollect.core.idempotency import KEPT_FOR, Claimed, IdempotencyClaim, Replay
from recollect.ports import IdempotencyStore, SnapshotStore

LAPSE = timedelta(seconds=30)
ANSWER: dict[str, object] = {
    "conversation_id": "c",
    "results": [{"status": "created", "event_id": "e", "importance": 0.4, "tags": []}, {"status": "invalid"}],
    "none": None,
}


def a_claim(**changes: object) -> IdempotencyClaim:
    """A claim of a key that nothing else uses, at NOW, with a seed of its own."""
    claim = IdempotencyClaim(uuid.uuid4().hex * 2, "b" * 64, a_seed(), NOW, NOW + LAPSE, NOW + KEPT_FOR)
    return replace(claim, **changes)  # type: ignore[arg-type]


def claimed(store: IdempotencyStore) -> IdempotencyClaim:
    """`a_claim`, made."""
    claim = a_claim()
    store.claim(claim)
    return claim


def again(claim: IdempotencyClaim, after: timedelta = timedelta(seconds=1), **changes: object) -> IdempotencyClaim:
    """The same request sent again, some time later, with a seed of its own."""
    now = claim.now + after
    later = replace(claim, seed=a_seed(), now=now, lapses_at=now + LAPSE, expires_at=now + KEPT_FOR)
    return replace(later, **changes)  # type: ignore[arg-type]


class IdempotencyStoreContract:
    """Hold an adapter to it by a subclass that gives the fixture `store`."""

    def test_another_body_is_refused_whatever_the_state(self, store: IdempotencyStore) -> None:
        claim = claimed(store)
        other = again(claim, body_hash="c" * 64)
        with pytest.raises(KeyReused) as under_way:
            store.claim(other)
        store.complete(claim, 200, ANSWER)
        with pytest.raises(KeyReused) as answered:
            store.claim(other)
        assert (under_way.value.first, answered.value.first) == (None, ANSWER)
        assert store.claim(again(claim)) == Replay(200, ANSWER)

    def test_a_claim_under_way_keeps_others_out_until_it_lapses(self, store: IdempotencyStore) -> None:
        claim = claimed(store)
        with pytest.raises(InFlight):
            store.claim(again(claim, LAPSE - timedelta(microseconds=1)))
        assert store.claim(again(claim, LAPSE)) == Claimed(claim.seed)

    def test_who_takes_over_a_lapsed_claim_keeps_others_out_in_turn(self, store: IdempotencyStore) -> None:
        claim = claimed(store)
        second = again(claim, LAPSE)
        assert store.claim(second) == Claimed(claim.seed)
        with pytest.raises(InFlight):
            store.claim(again(second))
        store.complete(second, 201, ANSWER)
        assert store.claim(again(second)) == Replay(201, ANSWER)

    def test_a_released_claim_is_free_at_once_with_the_first_seed(self, store: IdempotencyStore) -> None:
        claim = claimed(store)
        store.release(claim)
        second = again(claim, timedelta(0))
        assert store.claim(second) == Claimed(claim.seed)
        with pytest.raises(InFlight):
            store.claim(again(second, timedelta(0)))

    @pytest.mark.parametrize("meanwhile", ["nothing", "a replay", "a release", "another answer"])
    def test_a_done_request_is_replayed_until_its_end(self, store: IdempotencyStore, meanwhile: str) -> None:
        claim = claimed(store)
        store.complete(claim, 201, ANSWER)
        if meanwhile == "a replay":
            assert store.claim(again(claim)) == Replay(201, ANSWER)
        elif meanwhile == "a release":
            store.release(claim)
        elif meanwhile == "another answer":
            store.complete(again(claim), 200, {"results": []})
        assert store.claim(again(claim)) == Replay(201, ANSWER)
        assert store.claim(again(claim, KEPT_FOR - timedelta(microseconds=1))) == Replay(201, ANSWER)

    def test_completing_and_releasing_what_was_never_claimed_is_no_error(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.release(claim)
        store.complete(claim, 201, ANSWER)
        assert store.claim(claim) == Claimed(claim.seed)

    @pytest.mark.parametrize("completed", [False, True])
    def test_a_record_is_forgotten_at_its_end(self, store: IdempotencyStore, completed: bool) -> None:
        claim = claimed(store)
        if completed:
            store.complete(claim, 201, ANSWER)
        late = again(claim, KEPT_FOR, body_hash="d" * 64)
        assert store.claim(late) == Claimed(late.seed)

    def test_keys_are_apart(self, store: IdempotencyStore) -> None:
        claims = [a_claim() for _ in range(3)]
        assert [store.claim(claim) for claim in claims] == [Claimed(claim.seed) for claim in claims]
        store.complete(claims[1], 201, ANSWER)
        with pytest.raises(InFlight):
            store.claim(again(claims[0]))

    def test_an_answer_of_a_hundred_results_comes_back_whole(self, store: IdempotencyStore) -> None:
        results = [{"status": "created", "event_id": a_seed().nth(0), "tags": [RIGHT_TO_LEFT]} for _ in range(100)]
        body: dict[str, object] = {"conversation_id": FOUR_BYTES, "results": results}
        claim = claimed(store)
        store.complete(claim, 201, body)
        assert store.claim(again(claim)) == Replay(201, body)

    def test_of_requests_at_once_one_goes_on(self, store: IdempotencyStore) -> None:
        self._one_of(store, [a_claim(key_hash="f" * 32 + uuid.uuid4().hex)] * 8)

    def test_of_requests_at_once_one_takes_over(self, store: IdempotencyStore) -> None:
        claim = claimed(store)
        self._one_of(store, [again(claim, LAPSE)] * 8)

    def _one_of(self, store: IdempotencyStore, claims: list[IdempotencyClaim]) -> None:
        with ThreadPoolExecutor(len(claims)) as pool:
            outcomes = list(pool.map(_trying(store), claims))
        assert sorted(outcomes) == ["claimed"] + ["in flight"] * (len(claims) - 1)


def _trying(store: IdempotencyStore) -> Callable[[IdempotencyClaim], str]:
    def claim(one: IdempotencyClaim) -> str:
        try:
            return "claimed" if isinstance(store.claim(one), Claimed) else "replayed"
        except InFlight:
            return "in flight"

    return claim


NAMES_TO_SPARE = tuple(hard for hard in HARD_IDS if "/" not in hard and hard != "...")


class SnapshotStoreContract:
    """Objects of a tenant by name, written whole, on the condition of their current tag."""

    @pytest.fixture
    def versions_of(self, store: SnapshotStore) -> Callable[[str, str], int]:
        """The number of stored versions of a tenant's object, delete markers included."""
        return lambda tenant, name: int(store.get(tenant, name) is not None)

    @pytest.fixture
    def tenant(self) -> str:
        """A tenant that nothing else uses."""
        return f"tenant-{uuid4().hex[:12]}"

    def test_what_is_put_is_got(self, store: SnapshotStore, tenant: str) -> None:
        contents = {"a": b"", "b/c": bytes(range(256)), "b/d": b"x" * 3_000_000}
        tags = {name: store.put_if_absent(tenant, name, data) for name, data in contents.items()}
        assert {name: store.get(tenant, name) for name in contents} == {n: (contents[n], tags[n]) for n in contents}

    def test_what_is_not_there_is_none(self, store: SnapshotStore, tenant: str) -> None:
        store.put_if_absent(tenant, "a/b", b"1")
        assert [store.get(tenant, name) for name in ("b", "a/c", "a/B", "A/b")] == [None] * 4

    def test_a_second_first_write_is_refused(self, store: SnapshotStore, tenant: str) -> None:
        tag = store.put_if_absent(tenant, "a", b"1")
        for data in (b"1", b"2"):
            with pytest.raises(VersionMismatch):
                store.put_if_absent(tenant, "a", data)
        assert store.get(tenant, "a") == (b"1", tag)

    def test_a_replacement_needs_the_tag_that_is_there(self, store: SnapshotStore, tenant: str) -> None:
        first = store.put_if_absent(tenant, "a", b"1")
        second = store.put_if_match(tenant, "a", b"2", first)
        assert second != first
        with pytest.raises(VersionMismatch):
            store.put_if_match(tenant, "a", b"3", first)
        assert store.get(tenant, "a") == (b"2", second)

    def test_nothing_is_replaced_where_nothing_is(self, store: SnapshotStore, tenant: str) -> None:
        tag = store.put_if_absent(tenant, "a", b"1")
        store.delete(tenant, "a")
        for name in ("a", "b"):
            with pytest.raises(VersionMismatch):
                store.put_if_match(tenant, name, b"2", tag)
            assert store.get(tenant, name) is None

    def test_what_was_there_before_can_be_purged(
        self, store: SnapshotStore, tenant: str, versions_of: Callable[[str, str], int]
    ) -> None:
        tag = store.put_if_absent(tenant, "a", b"1")
        tag = store.put_if_match(tenant, "a", b"2", tag)
        store.put_if_absent(tenant, "ab", b"another")
        store.purge(tenant, "a")
        store.purge(tenant, "a")
        assert (store.get(tenant, "a"), versions_of(tenant, "a")) == ((b"2", tag), 1)
        assert versions_of(tenant, "ab") == 1
        store.delete(tenant, "a")
        store.purge(tenant, "a")
        store.purge(tenant, "never there")
        assert (store.get(tenant, "a"), versions_of(tenant, "a")) == (None, 0)
        store.put_if_absent(tenant, "a", b"3")

    def test_what_was_deleted_can_be_written_anew(self, store: SnapshotStore, tenant: str) -> None:
        store.put_if_absent(tenant, "a", b"1")
        for _ in range(2):
            store.delete(tenant, "a")
        assert (store.get(tenant, "a"), list(store.names(tenant))) == (None, [])
        store.put_if_absent(tenant, "a", b"2")
        assert list(store.names(tenant)) == ["a"]

    def test_names_are_listed_by_their_beginning_and_sorted(self, store: SnapshotStore, tenant: str) -> None:
        names = ["2025-01/events/1", "2025-01/events/10", "2025-01/events/2", "2025-01/index", "2025-02/index", "last"]
        for name in reversed(names):
            store.put_if_absent(tenant, name, b"")
        assert list(store.names(tenant)) == names
        assert list(store.names(tenant, "2025-01/")) == names[:4]
        assert list(store.names(tenant, "2025-01/events/1")) == names[:2]
        assert list(store.names(tenant, "2025-0")) == names[:5]
        assert list(store.names(tenant, "nothing")) == list(store.names(tenant, "no/thing")) == []

    def test_a_long_list_is_walked_to_its_end(self, store: SnapshotStore, tenant: str) -> None:
        names = [f"part-{number:04d}" for number in range(1_100)]  # more than a page of S3
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda name: store.put_if_absent(tenant, name, b""), names))
        assert list(store.names(tenant, "part-")) == names

    def test_tenants_do_not_meet(self, store: SnapshotStore, tenant: str) -> None:
        tenants = [tenant, tenant.upper(), f"{tenant}/a", f"{tenant}/../{tenant}", f"{tenant}~"]
        tenants.append((tenant + FOUR_BYTES)[:128])
        tags = [store.put_if_absent(each, "a/same", each.encode()) for each in tenants]
        assert [store.get(each, "a/same") for each in tenants] == [
            (each.encode(), tag) for each, tag in zip(tenants, tags, strict=True)
        ]
        store.delete(tenants[0], "a/same")
        assert [list(store.names(each)) for each in tenants] == [[]] + [["a/same"]] * (len(tenants) - 1)

    def test_hard_names_are_kept_apart(self, store: SnapshotStore, tenant: str) -> None:
        names = [f"user/{hard}/Index.json" for hard in NAMES_TO_SPARE]
        for name in names:
            store.put_if_absent(tenant, name, name.encode())
        assert sorted(store.names(tenant)) == sorted(names)
        assert {name: (store.get(tenant, name) or (b"",))[0] for name in names} == {n: n.encode() for n in names}
        for name in names:
            assert list(store.names(tenant, name.removesuffix("Index.json"))) == [name]

    @pytest.mark.parametrize("name", ["", "/", "a//b", "/a", "a/", "..", "a/../b", "./a", "x" * 3_000])
    def test_a_name_that_is_none_is_refused(self, store: SnapshotStore, tenant: str, name: str) -> None:
        with pytest.raises(InvalidInput):
            store.put_if_absent(tenant, name, b"")
        with pytest.raises(InvalidInput):
            store.get(tenant, name)

    def test_of_many_first_writers_one_wins(self, store: SnapshotStore, tenant: str) -> None:
        def write(writer: int) -> str | None:
            try:
                return store.put_if_absent(tenant, "race", f"{writer}".encode())
            except VersionMismatch:
                return None

        with ThreadPoolExecutor(8) as pool:
            tags = list(pool.map(write, range(8)))
        winners = [(f"{writer}".encode(), tag) for writer, tag in enumerate(tags) if tag is not None]
        assert [store.get(tenant, "race")] == winners

    def test_no_replacement_is_lost(self, store: SnapshotStore, tenant: str) -> None:
        store.put_if_absent(tenant, "count", b"0")

        def add_one(_: int) -> None:
            while True:
                current = store.get(tenant, "count")
                assert current is not None
                try:
                    store.put_if_match(tenant, "count", str(int(current[0]) + 1).encode(), current[1])
                except VersionMismatch:
                    continue
                return

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(add_one, range(20)))
        assert (store.get(tenant, "count") or (b"",))[0] == b"20"
