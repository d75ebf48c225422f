"""What an idempotency record costs and when the service forgets it."""

from dataclasses import replace

from adapters.aws.dynamodb.scripted import Scripted
from recollect.adapters.aws import keys
from recollect.adapters.aws.items import DynamoDBIdempotency
from recollect.adapters.aws.table import ItemAccess
from recollect.contracts.conditional_stores import ANSWER, a_claim, again
from recollect.contracts.examples import a_seed
from recollect.core.idempotency import Claimed, Replay

REAL_SECONDS = 2_000_000_000.5


def test_a_claim_and_its_answer_are_one_write_each_and_a_replay_none_beside(moto_access: ItemAccess) -> None:
    client = Scripted(moto_access.client)
    store = DynamoDBIdempotency(replace(moto_access, client=client))
    claim = a_claim()
    store.claim(claim)
    store.complete(claim, 201, ANSWER)
    assert [name for name, _ in client.requests] == ["put_item", "update_item"]
    assert store.claim(again(claim)) == Replay(201, ANSWER)
    assert [name for name, _ in client.requests][2:] == ["put_item"]


def test_the_service_forgets_it_a_day_after_by_the_real_clock(moto_access: ItemAccess) -> None:
    """A request under a test clock of long ago must not be forgotten within seconds."""
    store = DynamoDBIdempotency(moto_access, clock=lambda: REAL_SECONDS)
    claim = a_claim()
    assert store.claim(claim) == Claimed(claim.seed)
    item = moto_access.get(keys.idempotency_key(claim.key_hash))
    assert item is not None
    assert int(item["ttl"]["N"]) == 2_000_000_001 + 24 * 3600


def test_an_answer_of_a_hundred_results_stays_small(moto_access: ItemAccess) -> None:
    seed = a_seed(100)
    results = [{"status": "created", "event_id": seed.nth(n), "importance": 0.4, "tags": []} for n in range(100)]
    store = DynamoDBIdempotency(moto_access)
    claim = a_claim()
    store.claim(claim)
    store.complete(claim, 201, {"conversation_id": "c", "results": results})
    item = moto_access.get(keys.idempotency_key(claim.key_hash))
    assert item is not None
    assert len(item["z"]["B"]) < 2048
