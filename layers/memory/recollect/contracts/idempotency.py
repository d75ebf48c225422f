"""The contract of `IdempotencyStore` (api.md, *Twice*). A subclass gives `store`."""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.contracts.examples import FOUR_BYTES, NOW, RIGHT_TO_LEFT, a_seed
from recollect.core.errors import InFlight, KeyReused
from recollect.core.idempotency import KEPT_FOR, Claimed, IdempotencyClaim, Replay
from recollect.ports import IdempotencyStore

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


def again(claim: IdempotencyClaim, after: timedelta = timedelta(seconds=1), **changes: object) -> IdempotencyClaim:
    """The same request sent again, some time later, with a seed of its own."""
    now = claim.now + after
    later = replace(claim, seed=a_seed(), now=now, lapses_at=now + LAPSE, expires_at=now + KEPT_FOR)
    return replace(later, **changes)  # type: ignore[arg-type]


class IdempotencyStoreContract:
    """Hold an adapter to it by a subclass that gives the fixture `store`."""

    def test_the_first_claim_goes_on_with_its_own_seed(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        assert store.claim(claim) == Claimed(claim.seed)

    def test_a_done_request_is_replayed(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.claim(claim)
        store.complete(claim, 201, ANSWER)
        for _ in range(2):
            assert store.claim(again(claim)) == Replay(201, ANSWER)

    def test_another_body_is_refused_whatever_the_state(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.claim(claim)
        other = again(claim, body_hash="c" * 64)
        with pytest.raises(KeyReused):
            store.claim(other)
        store.complete(claim, 200, ANSWER)
        with pytest.raises(KeyReused):
            store.claim(other)
        assert store.claim(again(claim)) == Replay(200, ANSWER)

    def test_a_claim_under_way_keeps_others_out_until_it_lapses(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.claim(claim)
        with pytest.raises(InFlight):
            store.claim(again(claim, LAPSE - timedelta(microseconds=1)))
        assert store.claim(again(claim, LAPSE)) == Claimed(claim.seed)

    def test_who_takes_over_a_lapsed_claim_keeps_others_out_in_turn(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.claim(claim)
        second = again(claim, LAPSE)
        assert store.claim(second) == Claimed(claim.seed)
        with pytest.raises(InFlight):
            store.claim(again(second))
        store.complete(second, 201, ANSWER)
        assert store.claim(again(second)) == Replay(201, ANSWER)

    def test_a_released_claim_is_free_at_once_with_the_first_seed(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.claim(claim)
        store.release(claim)
        second = again(claim, timedelta(0))
        assert store.claim(second) == Claimed(claim.seed)
        with pytest.raises(InFlight):
            store.claim(again(second, timedelta(0)))

    def test_release_changes_nothing_of_a_completed_one(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.claim(claim)
        store.complete(claim, 201, ANSWER)
        store.release(claim)
        assert store.claim(again(claim)) == Replay(201, ANSWER)

    def test_the_first_answer_stands(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.claim(claim)
        store.complete(claim, 201, ANSWER)
        store.complete(again(claim), 200, {"results": []})
        assert store.claim(again(claim)) == Replay(201, ANSWER)

    def test_completing_and_releasing_what_was_never_claimed_is_no_error(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.release(claim)
        store.complete(claim, 201, ANSWER)
        assert store.claim(claim) == Claimed(claim.seed)

    @pytest.mark.parametrize("completed", [False, True])
    def test_a_record_is_forgotten_at_its_end(self, store: IdempotencyStore, completed: bool) -> None:
        claim = a_claim()
        store.claim(claim)
        if completed:
            store.complete(claim, 201, ANSWER)
        late = again(claim, KEPT_FOR, body_hash="d" * 64)
        assert store.claim(late) == Claimed(late.seed)

    def test_a_completed_record_is_kept_until_its_end(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.claim(claim)
        store.complete(claim, 201, ANSWER)
        assert store.claim(again(claim, KEPT_FOR - timedelta(microseconds=1))) == Replay(201, ANSWER)

    def test_keys_are_apart(self, store: IdempotencyStore) -> None:
        claims = [a_claim() for _ in range(3)]
        assert [store.claim(claim) for claim in claims] == [Claimed(claim.seed) for claim in claims]
        store.complete(claims[1], 201, ANSWER)
        with pytest.raises(InFlight):
            store.claim(again(claims[0]))

    def test_an_answer_of_a_hundred_results_comes_back_whole(self, store: IdempotencyStore) -> None:
        results = [{"status": "created", "event_id": a_seed().nth(0), "tags": [RIGHT_TO_LEFT]} for _ in range(100)]
        body: dict[str, object] = {"conversation_id": FOUR_BYTES, "results": results}
        claim = a_claim()
        store.claim(claim)
        store.complete(claim, 201, body)
        assert store.claim(again(claim)) == Replay(201, body)

    def test_of_requests_at_once_one_goes_on(self, store: IdempotencyStore) -> None:
        self._one_of(store, [a_claim(key_hash="f" * 32 + uuid.uuid4().hex)] * 8)

    def test_of_requests_at_once_one_takes_over(self, store: IdempotencyStore) -> None:
        claim = a_claim()
        store.claim(claim)
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
