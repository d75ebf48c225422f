"""Batches that are answered in part, and walks over many pages."""

from dataclasses import replace
from typing import Any

import pytest

from adapters.aws.dynamodb.scripted import a_client_error, scripted_access
from recollect.adapters.aws.keys import Key, SortRange
from recollect.adapters.aws.table import ItemAccess, Passing, Walk
from recollect.adapters.concurrency import Threads
from recollect.core.errors import NotReady, Throttled, UpstreamFailed


def an_item(number: int, partition: str = "p", size: int = 1) -> dict[str, Any]:
    return {**Key(partition, f"s#{number:05d}").attributes, "x": {"B": b"x" * size}}


def test_many_keys_are_read_in_chunks_and_equal_ones_once(access: ItemAccess) -> None:
    access.put_many(an_item(n, "many") for n in range(120))
    access, client = scripted_access(access)
    wanted = [Key("many", f"s#{n:05d}") for n in range(230)]
    found = access.get_many([*wanted, *wanted])
    assert set(found) == set(wanted[:120])
    chunks = [len(request["RequestItems"][access.table]["Keys"]) for _, request in client.requests]
    assert sorted(chunks) == [30, 100, 100]
    assert all(request["RequestItems"][access.table]["ConsistentRead"] for _, request in client.requests)


def test_no_keys_are_no_call(access: ItemAccess) -> None:
    access, client = scripted_access(access)
    assert access.get_many([]) == {}
    access.put_many([])
    access.delete_many([])
    assert client.requests == []


def test_keys_left_unread_are_asked_for_again(access: ItemAccess) -> None:
    access.put_many(an_item(n, "again") for n in range(3))
    keys = [Key("again", f"s#{n:05d}") for n in range(3)]
    left = {access.table: {"Keys": [keys[2].attributes], "ConsistentRead": True}}
    some = {"Responses": {access.table: [an_item(0, "again"), an_item(1, "again")]}, "UnprocessedKeys": left}
    wrapped, client = scripted_access(access, batch_get_item=[some, None])
    assert set(wrapped.get_many(keys)) == set(keys)
    assert client.requests[1][1]["RequestItems"] == left


def test_keys_left_unread_for_ever_are_throttling(access: ItemAccess) -> None:
    left = {access.table: {"Keys": [Key("p", "s").attributes]}}
    answer = {"Responses": {}, "UnprocessedKeys": left}
    access, client = scripted_access(access, batch_get_item=[answer] * 9)
    with pytest.raises(Throttled):
        access.get_many([Key("p", "s")])
    assert client.count("batch_get_item") == 3


def test_items_left_unwritten_are_sent_again(access: ItemAccess) -> None:
    left = {access.table: [{"PutRequest": {"Item": an_item(7, "unwritten")}}]}
    wrapped, client = scripted_access(access, batch_write_item=[{"UnprocessedItems": left}, None])
    wrapped.put_many([an_item(7, "unwritten")])
    assert client.count("batch_write_item") == 2
    assert access.get(Key("unwritten", "s#00007")) == an_item(7, "unwritten")
    wrapped, client = scripted_access(access, batch_write_item=[{"UnprocessedItems": left}] * 9)
    with pytest.raises(Throttled):
        wrapped.put_many([an_item(7, "unwritten")])


def test_of_two_items_with_one_key_the_last_is_written(access: ItemAccess) -> None:
    access.put_many([an_item(1, "last", 1), an_item(1, "last", 2)])
    assert access.get(Key("last", "s#00001")) == an_item(1, "last", 2)


def test_many_items_are_written_and_deleted(access: ItemAccess) -> None:
    access.put_many(an_item(n, "deleted") for n in range(60))
    access.delete_many(Key("deleted", f"s#{n:05d}") for n in (*range(1, 60), *range(1, 60)))
    assert [item["sk"]["S"] for item in access.walk(Walk("deleted"))] == ["s#00000"]


def test_a_walk_sees_all_in_order_and_asks_for_more_only_when_more_is_wanted(access: ItemAccess) -> None:
    access.put_many(an_item(n, "walk") for n in range(70))
    access, client = scripted_access(access)
    walk = access.walk(Walk("walk", SortRange("s#00010", "s#00059"), newest_first=True), first=5)
    seen = [next(walk)["sk"]["S"] for _ in range(5)]
    assert client.count("query") == 1
    seen += [item["sk"]["S"] for item in walk]
    assert seen == [f"s#{n:05d}" for n in range(59, 9, -1)]
    assert [request["Limit"] for _, request in client.requests][:4] == [5, 10, 20, 40]
    assert all(request["ConsistentRead"] for _, request in client.requests)


@pytest.mark.engines
def test_a_batch_of_more_than_one_answer_holds_is_read_whole(local_access: ItemAccess) -> None:
    """100 items of 200 KB are 20 MB; an answer holds 16 MB, the rest comes back as unprocessed."""
    for start in range(0, 100, 10):
        local_access.put_many(an_item(n, "large", 200_000) for n in range(start, start + 10))
    wanted = [Key("large", f"s#{n:05d}") for n in range(100)]
    assert set(local_access.get_many(wanted)) == set(wanted)
    assert len(list(local_access.walk(Walk("large")))) == 100
    local_access.delete_many(wanted)


def test_errors_are_translated(access: ItemAccess) -> None:
    missing = replace(access, table="no-such-table")
    for call in (
        lambda: missing.get(Key("p", "s")),
        lambda: missing.get_many([Key("p", "s")]),
        lambda: missing.put_many([an_item(1)]),
        lambda: list(missing.walk(Walk("p"))),
    ):
        with pytest.raises(NotReady):
            call()


def test_all_chunks_are_waited_for_before_the_first_failure_is_raised(access: ItemAccess) -> None:
    failures = [a_client_error("ValidationException"), None, None]
    access, client = scripted_access(replace(access, concurrency=Threads(2)), batch_write_item=failures)
    with pytest.raises(UpstreamFailed):
        access.put_many(an_item(n, "waited") for n in range(75))
    assert client.count("batch_write_item") == 3
    assert len(list(access.walk(Walk("waited")))) == 50


@pytest.mark.parametrize(("most", "more"), [(4, True), (5, False), (6, False)])
def test_the_first_are_counted_whether_they_pass_or_not(access: ItemAccess, most: int, more: bool) -> None:
    access.put_many(an_item(n, "first", size=1 + n % 2) for n in range(5))
    longer = Passing("size(x) = :longer", {}, {":longer": {"N": "2"}})
    found, there_are_more = access.first(Walk("first", passing=longer), most)
    assert [item["sk"]["S"] for item in found] == ["s#00001", "s#00003"]
    assert there_are_more is more
