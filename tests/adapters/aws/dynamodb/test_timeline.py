"""What the port's contract leaves to the adapter: bounds of a read, calls made, what is stored how."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.aws.dynamodb.scripted import Scripted, scripted_access
from recollect.adapters.aws.item_format import event_item, item_bytes
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.timeline import RECORDS_PER_PAGE, DynamoDBTimeline
from recollect.contracts.examples import NOW, a_seed, a_vector, a_write, an_event, append_events, some_events, writes_of
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.retrieval.filters import DropReason, TimeWindow
from recollect.timeline.timeline import Projection, WindowQuery

MANY = RECORDS_PER_PAGE + 150


def store(access: ItemAccess, scope: Scope, events: list[Event]) -> None:
    """Puts events without a transaction: quick, and all that reads of the timeline need."""
    access.put_many(event_item(scope, a_write(scope, event)) for event in events)


@pytest.mark.spec("A-48", "A-51")
def test_a_page_reads_a_thousand_records_at_most_and_says_where_to_go_on(moto_access: ItemAccess, scope: Scope) -> None:
    events = [
        replace(e, conversation_id="rare" if n % 500 == 0 else "other") for n, e in enumerate(some_events(scope, MANY))
    ]
    store(moto_access, scope, events)
    query = WindowQuery(now=NOW, window=TimeWindow(), limit=50, conversation_id="rare")
    first = DynamoDBTimeline(moto_access).window(scope, query)
    second = DynamoDBTimeline(moto_access).window(scope, replace(query, after=first.more))
    assert (first.scanned, first.more) == (RECORDS_PER_PAGE, events[MANY - RECORDS_PER_PAGE].ref)
    assert (second.scanned, second.more) == (MANY - RECORDS_PER_PAGE, None)
    assert [e.ref for e in (*first.events, *second.events)] == [events[n].ref for n in (1000, 500, 0)]
    assert first.dropped == {DropReason.FILTER: RECORDS_PER_PAGE - 2}


def test_the_newest_of_a_persona_are_found_behind_a_thousand_of_others(moto_access: ItemAccess, scope: Scope) -> None:
    events = [replace(e, persona_id="rare" if n < 3 else None) for n, e in enumerate(some_events(scope, MANY))]
    store(moto_access, scope, events)
    found = DynamoDBTimeline(moto_access).newest(replace(scope, persona_id="rare"), 100)
    assert [event.id for event in found] == [event.id for event in reversed(events[:3])]


def test_reads_of_a_wave_are_one_call_each(moto_access: ItemAccess, scope: Scope) -> None:
    events = append_events(DynamoDBTimeline(moto_access), scope, 40)
    DynamoDBProjections(moto_access).save(scope, [Projection(e.ref, a_vector(), "g") for e in events])
    access, client = scripted_access(moto_access)
    timeline = DynamoDBTimeline(access)
    calls: list[Callable[[], object]] = [
        lambda: timeline.read(scope, [event.ref for event in events]),
        lambda: timeline.tail(scope),
        lambda: timeline.newest(scope, 40),
        lambda: timeline.important(scope, 10),
        lambda: timeline.of_conversation(scope, "conversation", 10),
        lambda: timeline.window(scope, WindowQuery(now=NOW, window=TimeWindow(), limit=39)),
        lambda: timeline.slot_history(scope, ("", "", "home")),
        lambda: timeline.conversations(scope, 10, None),
    ]
    for number, call in enumerate(calls, start=1):
        call()
        assert len(client.requests) == number


def test_of_an_event_that_was_just_read_nothing_is_read_again(moto_access: ItemAccess, scope: Scope) -> None:
    access, client = scripted_access(moto_access)
    event = an_event(scope, importance=0.9)
    projection = Projection(event.ref, a_vector(), "g", 1)
    DynamoDBProjections(access).save(scope, [projection], {event.id: event})
    assert [name for name, _ in client.requests] == ["batch_write_item"]
    timeline = DynamoDBTimeline(moto_access)
    assert timeline.important(scope, 10) == timeline.of_conversation(scope, "conversation", 10) == [event.ref]


def test_a_projection_of_an_event_that_is_gone_is_in_no_index(moto_access: ItemAccess, scope: Scope) -> None:
    event = an_event(scope, importance=0.9)
    DynamoDBProjections(moto_access).save(scope, [Projection(event.ref, None, None)])
    timeline = DynamoDBTimeline(moto_access)
    assert timeline.important(scope, 10) == timeline.of_conversation(scope, "conversation", 10) == []
    assert timeline.find(scope, event.id) is None


def test_ties_of_one_request_keep_the_order_said(moto_access: ItemAccess, scope: Scope) -> None:
    """An import's turns often share one instant: the ids' counter decides, in the indexes too."""
    seed = a_seed(40)
    events = [an_event(scope, id=seed.nth(n), content=str(n), importance=0.7) for n in range(40)]
    timeline = DynamoDBTimeline(moto_access)
    timeline.append(scope, writes_of(scope, events))
    DynamoDBProjections(moto_access).save(scope, [Projection(e.ref, None, None) for e in events])
    newest_first = [event.ref for event in reversed(events)]
    assert timeline.of_conversation(scope, "conversation", 40) == newest_first
    assert timeline.important(scope, 40) == newest_first
    assert [event.ref for event in timeline.newest(scope, 40)] == newest_first
    assert list(timeline.tail(scope).refs) == newest_first


def test_the_service_never_deletes_an_event_by_itself_for_it_would_leave_no_tombstone(scope: Scope) -> None:
    assert "ttl" not in event_item(scope, a_write(scope, an_event(scope, expires_at=NOW)))


def test_conversations_are_entered_with_one_write_and_then_none(moto_access: ItemAccess, scope: Scope) -> None:
    access, client = scripted_access(moto_access)
    for _ in range(3):
        DynamoDBProjections(access).enter_conversation(scope, "c", NOW)
    assert (client.count("get_item"), client.count("put_item")) == (3, 1)


def test_of_two_that_enter_a_conversation_at_once_the_first_stands(moto_access: ItemAccess, scope: Scope) -> None:
    DynamoDBProjections(moto_access).enter_conversation(scope, "c", NOW)
    blind = replace(moto_access, client=Scripted(moto_access.client, get_item=[{}]))
    DynamoDBProjections(blind).enter_conversation(scope, "c", NOW + timedelta(days=1))
    (listed,) = DynamoDBTimeline(moto_access).conversations(scope, 10, None).conversations
    assert listed.started_at == NOW


@pytest.mark.engines
def test_sizes_are_counted_as_the_service_counts_them(local_access: ItemAccess, scope: Scope) -> None:
    """One byte below and above a KB: the report of a plain put tells."""
    for size, units in ((1024, 1), (1025, 2), (2048, 2), (2049, 3)):
        item = event_item(scope, a_write(scope, an_event(scope)))
        item["e"] = {"B": b""}
        item["e"] = {"B": b"x" * (size - item_bytes(item))}
        answer = local_access.client.put_item(TableName=local_access.table, Item=item, ReturnConsumedCapacity="TOTAL")
        assert answer["ConsumedCapacity"]["CapacityUnits"] == units
