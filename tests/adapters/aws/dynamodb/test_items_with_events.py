"""Items in the transactions of appends and removals: what is sent, and whose fault a cancellation is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from adapters.aws.dynamodb.scripted import Scripted, cancelled, scripted_access
from recollect.adapters.aws import timeline as reading
from recollect.adapters.aws.item_format import projection_item
from recollect.adapters.aws.items import DynamoDBItems
from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.timeline import DynamoDBTimeline
from recollect.contracts.examples import NOW, a_scope, a_write, an_event, append_event, append_events
from recollect.contracts.items import a_key, a_put
from recollect.contracts.timeline import a_query
from recollect.core.errors import Conflict, RecollectError, Throttled, VersionMismatch
from recollect.core.event import EventType
from recollect.core.items import ABSENT, ItemWrite
from recollect.core.scope import Scope
from recollect.timeline.timeline import AppendStatus, Projection, Removal

Script = Callable[..., tuple[DynamoDBTimeline, Scripted]]
KEY, OTHER = a_key("k"), a_key("other")
FAILED, NONE = "ConditionalCheckFailed", "None"
TRIES = 4


@pytest.fixture
def scripted(moto_access: ItemAccess) -> Script:
    def build(**script: list[Any]) -> tuple[DynamoDBTimeline, Scripted]:
        access, client = scripted_access(moto_access, TRIES, **script)
        return DynamoDBTimeline(access), client

    return build


def kinds(request: dict[str, Any]) -> list[str]:
    return [kind for operation in request["TransactItems"] for kind in operation]


def test_items_whose_versions_are_known_cost_no_further_call(scripted: Script, scope: Scope) -> None:
    timeline, client = scripted()
    timeline.append(scope, [replace(a_write(scope, an_event(scope)), items=(a_put(KEY), ItemWrite(OTHER, None)))])
    _, (name, request) = client.requests  # after the read of what is rejected
    assert name == "transact_write_items"
    assert kinds(request) == ["Put", "Put", "Put", "Put", "Delete"]


def test_one_that_takes_any_version_is_read_before_each_try(scripted: Script, scope: Scope) -> None:
    lost = cancelled(NONE, NONE, NONE, FAILED)
    timeline, client = scripted(transact_write_items=[lost, lost])
    [outcome] = timeline.append(scope, [replace(a_write(scope, an_event(scope)), items=(a_put(KEY, {}, None),))])
    assert outcome.status is AppendStatus.CREATED
    _, *tries = client.requests  # after the read of what is rejected
    assert [name for name, _ in tries] == ["batch_get_item", "transact_write_items"] * 3


@pytest.mark.parametrize(
    ("codes", "expected", "raised", "calls"),
    [
        ((NONE, NONE, NONE, FAILED), ABSENT, VersionMismatch, 1),
        ((NONE, NONE, NONE, FAILED), None, VersionMismatch, TRIES),
        ((NONE, NONE, "TransactionConflict", FAILED), ABSENT, Throttled, TRIES),
        ((NONE, NONE, NONE, "TransactionConflict"), ABSENT, Throttled, TRIES),
        ((FAILED, NONE, NONE, FAILED), ABSENT, Conflict, 1),
    ],
)
def test_what_a_cancelled_append_says(
    scripted: Script, codes: tuple[str, ...], expected: int | None, raised: type[RecollectError], calls: int
) -> None:
    timeline, client = scripted(transact_write_items=[cancelled(*codes)] * TRIES)
    scope = a_scope()
    with pytest.raises(raised):
        timeline.append(scope, [replace(a_write(scope, an_event(scope)), items=(a_put(KEY, {}, expected),))])
    assert client.count("transact_write_items") == calls


@pytest.mark.parametrize(
    ("codes", "expected", "raised", "calls"),
    [
        ((NONE, NONE, NONE, FAILED), ABSENT, VersionMismatch, 1),
        ((NONE, NONE, NONE, FAILED), None, VersionMismatch, TRIES),
        ((NONE, NONE, NONE, "TransactionConflict"), ABSENT, Throttled, TRIES),
    ],
)
def test_what_a_cancelled_removal_says(
    scripted: Script, codes: tuple[str, ...], expected: int | None, raised: type[RecollectError], calls: int
) -> None:
    timeline, client = scripted(transact_write_items=[None, *[cancelled(*codes)] * TRIES])
    scope = a_scope()
    event = append_event(timeline, scope)
    with pytest.raises(raised):
        timeline.remove(scope, event, Removal(items=(a_put(KEY, {}, expected),), at=NOW))
    assert client.count("transact_write_items") == calls + 1


def test_a_removal_whose_event_changed_meanwhile_looks_again(scripted: Script, moto_access: ItemAccess) -> None:
    timeline, client = scripted(transact_write_items=[None, cancelled(FAILED, NONE, NONE, FAILED)])
    scope = a_scope()
    event = append_event(timeline, scope)
    assert timeline.remove(scope, event, Removal(items=(a_put(KEY),), at=NOW))
    assert client.count("transact_write_items") == 3
    assert DynamoDBItems(moto_access).get(scope, [KEY])[KEY].version == 1


def test_a_page_reads_so_many_carriers_and_says_where_it_goes_on(
    moto_access: ItemAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "RECORDS_PER_PAGE", 40)
    timeline, scope = DynamoDBTimeline(moto_access), a_scope()
    carriers = append_events(timeline, scope, 41, event_type=EventType.MEMORY, conversation_id="")
    page = timeline.window(scope, a_query())
    assert (page.events, page.scanned, page.more) == ((), 0, carriers[1].ref)
    assert timeline.window(scope, a_query(after=page.more)).more is None
    narrowed = timeline.records(replace(scope, persona_id="p"), 5, None)
    assert (narrowed.events, narrowed.more) == ((), carriers[-2].ref)


def test_a_carrier_is_in_no_conversations_index(scope: Scope) -> None:
    carrier = an_event(scope, event_type=EventType.MEMORY, conversation_id="", importance=0.7)
    item = projection_item(scope, Projection(carrier.ref, None, None), carrier)
    assert "c" not in item
    assert "i" in item
