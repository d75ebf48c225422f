"""What earlier releases wrote into their tables is read by this one."""

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from adapters.aws.dynamodb.stored_items import (
    ANSWER,
    CLAIMS,
    FULL,
    KEPT,
    NEWER,
    NOON,
    REMOVED,
    REMOVED_SCOPE,
    REMOVED_WRITE,
    SCOPE,
    SHORT,
    SUPERSEDED,
    VECTOR,
    WARNING,
    WRITES,
    decoded,
    encoded,
    write_store,
)
from recollect.adapters.aws.items import DynamoDBIdempotency, DynamoDBItems
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.publisher import AwsPublisher, BusLog
from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.timeline import DynamoDBTimeline
from recollect.contracts.conditional_stores import again
from recollect.core.errors import InFlight
from recollect.core.idempotency import Claimed, Replay
from recollect.core.items import Due, Item
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.bus import episodic_saved
from recollect.timeline.slots import SlotEntry
from recollect.timeline.timeline import AppendStatus, Conversation, PendingEvent, Tail, WindowQuery

STORED = Path(__file__).with_name("stored") / "items-2.json"


def filled(access: ItemAccess, path: Path | None) -> ItemAccess:
    """The table with the items of a release; without one with what the current code writes."""
    if path is None:
        write_store(access)
    else:
        access.put_many(decoded(path.read_text("utf-8")))
    return access


@pytest.fixture(params=[STORED, None], ids=lambda path: path.stem if path else "now")
def opened(request: pytest.FixtureRequest, moto_access: ItemAccess) -> ItemAccess:
    return filled(moto_access, request.param)


def test_items_are_read(opened: ItemAccess) -> None:
    items = DynamoDBItems(opened)
    for number, (owner, key) in enumerate(KEPT):
        due = Due("jobs", NOON + timedelta(hours=number)) if number else None
        value = {"number": number, "text": "é🙂"}
        assert items.get(owner, [key]) == {key: Item(key, value, 1, NOON, due)}
        assert [one.key for one in items.page(owner, key.path, 10, None).items] == [key]
    found = items.due("jobs", NOON + timedelta(days=1), 10, None).items
    assert {(one.owner, one.key) for one in found} == set(KEPT[1:])


def test_a_removal_goes_on(opened: ItemAccess) -> None:
    timeline, projections = DynamoDBTimeline(opened), DynamoDBProjections(opened)
    assert timeline.append(REMOVED_SCOPE, [REMOVED_WRITE])[0].reason == "deleted"
    (emptied,) = timeline.slot_history(REMOVED_SCOPE, ("", "", "home"))
    assert emptied == SlotEntry(REMOVED.ref, REMOVED.recorded_at, True)
    assert PendingEvent(REMOVED_SCOPE, REMOVED.ref) in projections.pending(10, None).markers
    projections.forget(REMOVED_SCOPE, [REMOVED.ref])
    assert PendingEvent(REMOVED_SCOPE, REMOVED.ref) not in projections.pending(10, None).markers


def test_events_are_read(opened: ItemAccess) -> None:
    timeline = DynamoDBTimeline(opened)
    assert timeline.newest(SCOPE, 10) == [SHORT, NEWER, SUPERSEDED]
    for event in (SUPERSEDED, NEWER, SHORT):
        assert timeline.find(SCOPE, event.id) == event
    query = WindowQuery(now=NOON, window=TimeWindow(NOON, NOON), limit=10)
    assert timeline.window(SCOPE, query).events == (SUPERSEDED,)


def test_derived_lists_are_read(opened: ItemAccess) -> None:
    timeline = DynamoDBTimeline(opened)
    assert timeline.important(SCOPE, 10) == [FULL.ref, NEWER.ref]
    assert timeline.of_conversation(SCOPE, FULL.conversation_id, 10) == [NEWER.ref, FULL.ref]
    assert timeline.tail(SCOPE) == Tail((SHORT.ref,), cut=False, waiting=1)
    listed = timeline.conversations(SCOPE, 10, None).conversations
    assert listed == (Conversation(FULL.conversation_id, FULL.recorded_at),)
    slot = timeline.slot_history(SCOPE, ("persona", "household", "home"))
    assert slot == [SlotEntry(FULL.ref, FULL.recorded_at), SlotEntry(NEWER.ref, NEWER.recorded_at)]


def test_projections_and_markers_are_read(opened: ItemAccess) -> None:
    projections = DynamoDBProjections(opened)
    markers = projections.pending(10, None).markers
    assert [marker for marker in markers if marker.scope == SCOPE] == [PendingEvent(SCOPE, SHORT.ref)]
    kept = projections.vectors(SCOPE, [FULL.id])[FULL.id]
    assert (kept.ref, kept.generation) == (FULL.ref, "model.1")
    assert np.array_equal(kept.vector, VECTOR)  # type: ignore[arg-type]
    assert projections.supersede(SCOPE, SUPERSEDED, None).version == 3


def test_what_was_stored_is_still_known(opened: ItemAccess) -> None:
    outcomes = DynamoDBTimeline(opened).append(SCOPE, WRITES)
    assert [outcome.status for outcome in outcomes] == [AppendStatus.CREATED] * 3
    assert DynamoDBTimeline(opened).newest(SCOPE, 10) == [SHORT, NEWER, SUPERSEDED]


def test_the_bus_log_is_read(opened: ItemAccess) -> None:
    published = AwsPublisher(BusLog(opened), clock=lambda: NOON).published(SCOPE.tenant, None, None)
    assert published == [episodic_saved(SUPERSEDED, NOON), WARNING]


def test_idempotency_records_are_read(opened: ItemAccess) -> None:
    store = DynamoDBIdempotency(opened)
    with pytest.raises(InFlight):
        store.claim(again(CLAIMS[0]))
    assert store.claim(again(CLAIMS[0], timedelta(minutes=1))) == Claimed(CLAIMS[0].seed)
    assert store.claim(again(CLAIMS[1])) == Replay(201, ANSWER)


def test_the_file_holds_every_kind_of_item() -> None:
    text = STORED.read_text("utf-8")
    items = decoded(text)
    assert encoded(items) == text
    kinds = {item["pk"]["S"][:2] if item["pk"]["S"][:2] != "U#" else item["sk"]["S"][:2] for item in items}
    assert kinds == {"E#", "D#", "V#", "K#", "C#", "P#", "I#", "B#", "M#"}
