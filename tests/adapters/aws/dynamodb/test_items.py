"""Items and idempotency records on DynamoDB: what is sent, what is waited out, what a key holds, what it costs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from adapters.aws.dynamodb.scripted import Scripted, a_client_error, cancelled, scripted_access
from recollect.adapters.aws import keys
from recollect.adapters.aws.items import DynamoDBIdempotency, DynamoDBItems
from recollect.adapters.aws.namespaced_items import DynamoDBNamespacedItems
from recollect.adapters.aws.table import ItemAccess
from recollect.contracts.conditional_stores import ANSWER, again, claimed
from recollect.contracts.examples import FOUR_BYTES, HARD_IDS, NOW, a_scope, a_seed
from recollect.contracts.items import a_key, a_put
from recollect.contracts.namespaced_items import NOTES, a_tenant, places_of
from recollect.contracts.namespaced_items import a_put as a_document
from recollect.core.errors import InvalidInput, StoredDataError, Throttled, Unavailable, UpstreamFailed, VersionMismatch
from recollect.core.idempotency import Replay
from recollect.core.items import ABSENT, Due, ItemKey, ItemPath, ItemWrite
from recollect.core.scope import Scope
from recollect.items.item import ItemPlace, ItemSearch

Script = Callable[..., tuple[DynamoDBItems, Scripted]]
TRIES = 3
THROTTLED = a_client_error("ThrottlingException")
FAILED = a_client_error("ConditionalCheckFailedException")


@pytest.fixture
def scripted(moto_access: ItemAccess) -> Script:
    def build(**script: list[Any]) -> tuple[DynamoDBItems, Scripted]:
        access, client = scripted_access(moto_access, TRIES, **script)
        return DynamoDBItems(access), client

    return build


def called(client: Scripted) -> list[str]:
    return [name for name, _ in client.requests]


def test_a_single_write_is_no_transaction(scripted: Script) -> None:
    items, client = scripted()
    owner = a_scope()
    items.write(owner, [a_put(a_key())], NOW)
    items.write(owner, [a_put(a_key(), expected=1)], NOW)
    items.write(owner, [ItemWrite(a_key(), None, 2)], NOW)
    assert called(client) == ["put_item", "put_item", "delete_item"]


def test_only_a_write_of_any_version_reads_first(scripted: Script) -> None:
    items, client = scripted()
    items.write(a_scope(), [a_put(a_key(), expected=None)], NOW)
    items.write(a_scope(), [ItemWrite(a_key(), None)], NOW)
    items.write(a_scope(), [a_put(a_key("a"), expected=None), a_put(a_key("b"))], NOW)
    assert called(client) == ["batch_get_item", "put_item", "delete_item", "batch_get_item", "transact_write_items"]


@pytest.mark.parametrize("failure", [THROTTLED, cancelled("None", "TransactionConflict")])
def test_what_passes_is_waited_out(scripted: Script, failure: Exception) -> None:
    name, count = ("put_item", 1) if failure is THROTTLED else ("transact_write_items", 2)
    writes = [a_put(a_key(str(n))) for n in range(count)]
    items, client = scripted(**{name: [failure, failure]})
    assert all(items.write(a_scope(), writes, NOW))
    assert client.count(name) == 3
    items, client = scripted(**{name: [failure] * TRIES})
    with pytest.raises(Throttled):
        items.write(a_scope(), writes, NOW)
    assert client.count(name) == TRIES


def test_a_write_of_any_version_goes_on_after_another_writer(scripted: Script) -> None:
    items, client = scripted(put_item=[FAILED])
    (written,) = items.write(a_scope(), [a_put(a_key(), expected=None)], NOW)
    assert written is not None
    assert written.version == 1
    assert called(client) == ["batch_get_item", "put_item"] * 2


@pytest.mark.parametrize("together", [1, 2])
def test_an_expected_version_is_tried_once(scripted: Script, together: int) -> None:
    items, client = scripted(put_item=[FAILED], transact_write_items=[cancelled("ConditionalCheckFailed", "None")])
    with pytest.raises(VersionMismatch):
        items.write(a_scope(), [a_put(a_key(str(n)), expected=7) for n in range(together)], NOW)
    assert len(client.requests) == 1


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (a_client_error("ResourceNotFoundException"), Unavailable),
        (a_client_error("InternalServerError", 500), Unavailable),
        (cancelled("ValidationError", "None"), UpstreamFailed),
    ],
)
def test_other_failures_come_in_our_terms(scripted: Script, failure: Exception, kind: type[Exception]) -> None:
    items, _ = scripted(transact_write_items=[failure])
    with pytest.raises(kind):
        items.write(a_scope(), [a_put(a_key("a")), a_put(a_key("b"))], NOW)


@pytest.mark.engines
def test_only_what_is_due_is_in_the_index(local_access: ItemAccess) -> None:
    items, owner = DynamoDBItems(local_access), a_scope()
    due = ItemWrite(a_key("due", FOUR_BYTES), {"n": 1}, ABSENT, Due("jobs", NOW))
    items.write(owner, [due, a_put(a_key("not"))], NOW)
    found = local_access.client.scan(TableName=local_access.table, IndexName="due")["Items"]  # type: ignore[attr-defined]
    assert [set(item) for item in found] == [{"pk", "sk", "q", "w", "n"}]
    items.write(owner, [replace(due, expected=1, due=None)], NOW)
    assert local_access.client.scan(TableName=local_access.table, IndexName="due")["Items"] == []  # type: ignore[attr-defined]


def test_a_key_names_its_item_unless_a_label_is_too_long() -> None:
    for name in (*HARD_IDS, "", "#k", "#l"):
        for key in (a_key(name), a_key("k", name), a_key(name, "a", name)):
            place = keys.item_key(a_scope(), key)
            if keys.has_hashed_label(key.path):
                with pytest.raises(StoredDataError):
                    keys.item_of(place.sk)
            else:
                assert keys.item_of(place.sk) == key
            assert keys.name_of_item(place.sk) == key.key


def test_the_longest_key_fits() -> None:
    for name in ("\U00020000" * 128, "#" * 128, "~" * 128, "x" * 110):
        key = ItemKey(ItemPath("a_collection_of_things", (name,) * 4), "\U00020000" * 128)
        place = keys.item_key(Scope(FOUR_BYTES, FOUR_BYTES), key)
        assert len(place.sk.encode()) <= keys.MAX_SORT_BYTES


def test_an_item_is_no_event() -> None:
    place = keys.item_key(a_scope(), a_key("E#1"))
    assert keys.event_of(place.sk) is None
    for other in ("E#0001#x", "M#rules", "D#f"):
        with pytest.raises(StoredDataError):
            keys.item_of(other)


def test_a_claim_and_its_answer_are_one_write_each_and_a_replay_none_beside(moto_access: ItemAccess) -> None:
    access, client = scripted_access(moto_access)
    store = DynamoDBIdempotency(access)
    claim = claimed(store)
    store.complete(claim, 201, ANSWER)
    assert called(client) == ["put_item", "update_item"]
    assert store.claim(again(claim)) == Replay(201, ANSWER)
    assert called(client)[2:] == ["put_item"]


def test_the_service_forgets_it_a_day_after_by_the_real_clock(moto_access: ItemAccess) -> None:
    """A request under a test clock of long ago must not be forgotten within seconds."""
    claim = claimed(DynamoDBIdempotency(moto_access, clock=lambda: 2_000_000_000.5))
    item = moto_access.get(keys.idempotency_key(claim.key_hash))
    assert item is not None
    assert int(item["ttl"]["N"]) == 2_000_000_001 + 24 * 3600


def test_an_answer_of_a_hundred_results_stays_small(moto_access: ItemAccess) -> None:
    seed = a_seed(100)
    results = [{"status": "created", "event_id": seed.nth(n), "importance": 0.4, "tags": []} for n in range(100)]
    store = DynamoDBIdempotency(moto_access)
    claim = claimed(store)
    store.complete(claim, 201, {"conversation_id": "c", "results": results})
    item = moto_access.get(keys.idempotency_key(claim.key_hash))
    assert item is not None
    assert len(item["z"]["B"]) < 2048


def test_a_bounded_search_answers_with_the_last_of_too_many(
    namespaced_items: DynamoDBNamespacedItems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.adapters.aws.namespaced_items.MOST_READ", 3)
    tenant, wanted = a_tenant(), ItemSearch(prefix=NOTES)
    namespaced_items.write(tenant, [a_document(ItemPlace(NOTES, f"{n}")) for n in range(5)], NOW)
    with pytest.raises(InvalidInput):
        namespaced_items.search(tenant, wanted, NOW)
    found = namespaced_items.search(tenant, replace(wanted, bounded=True), NOW)
    assert [place.key for place in places_of(found)] == ["2", "3", "4"]
