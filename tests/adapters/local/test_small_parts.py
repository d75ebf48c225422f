"""The publisher's subscribers, and what the timeline in SQLite promises beyond the port."""

import json
from contextlib import suppress
from datetime import timedelta

import pytest

from recollect.adapters.local.database import Database
from recollect.adapters.local.items import SqliteItems
from recollect.adapters.local.projections import SqlitePublisher
from recollect.adapters.local.rows import event_of
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.contracts.examples import NOW, a_scope, an_event, append_event, some_events, writes_of
from recollect.contracts.items import a_key, a_put
from recollect.contracts.timeline import a_query, shown, walk
from recollect.core.errors import Conflict, StoredDataError, Throttled, VersionMismatch
from recollect.core.scope import Scope
from recollect.memories.memory import promoted
from recollect.retrieval.filters import DropReason, TimeWindow
from recollect.timeline.bus import BusEvent, episodic_saved, semantic_saved
from recollect.timeline.record import to_record
from recollect.timeline.timeline import COUNTED_RECORDS, TAIL_EVENTS


@pytest.mark.parametrize("row", ["{", "", "[]", "null"])
def test_a_row_that_is_no_record_is_an_error_of_ours(row: str) -> None:
    with pytest.raises(StoredDataError):
        event_of(row)


def test_a_row_that_goes_on_behind_its_record_is_an_error_of_ours(scope: Scope) -> None:
    said = an_event(scope)
    record = json.dumps(to_record(said))
    assert event_of(record) == said
    for row in (record + record, record + " ", record + "x"):
        with pytest.raises(StoredDataError):
            event_of(row)


def test_subscribers_get_what_is_published(database: Database, scope: Scope) -> None:
    got: list[tuple[str, BusEvent]] = []

    def refuse(tenant: str, event: BusEvent) -> None:
        if event.detail["content"] == "refused":
            raise Throttled("later")

    publisher = SqlitePublisher(database, [lambda tenant, event: got.append((tenant, event)), refuse])
    events = [episodic_saved(an_event(scope, content=content), NOW) for content in ("fine", "refused")]
    assert publisher.publish(scope.tenant, events) == [events[1].id]
    assert got == [(scope.tenant, event) for event in events]


def test_one_id_for_two_events_is_a_conflict_and_stores_nothing(timeline: SqliteTimeline, scope: Scope) -> None:
    first = an_event(scope)
    with pytest.raises(Conflict):
        timeline.append(scope, writes_of(scope, [first, an_event(scope, id=first.id, content="another")]))
    assert timeline.newest(scope, 10) == []


def test_all_that_wait_are_counted_beyond_the_tail_too(timeline: SqliteTimeline) -> None:
    scope, other = a_scope(), a_scope()
    for part in range(3):
        timeline.append(scope, writes_of(scope, some_events(scope, TAIL_EVENTS, conversation_id=f"c{part}")))
        assert timeline.tail(scope).waiting == TAIL_EVENTS * (part + 1)
    timeline.append(other, writes_of(other, some_events(other, 1)))
    assert (timeline.tail(scope).waiting, timeline.tail(other).waiting) == (3 * TAIL_EVENTS, 1)


@pytest.mark.spec("A-50", "A-51")
def test_the_first_page_counts_what_is_outside_of_the_window(timeline: SqliteTimeline) -> None:
    scope = a_scope(persona_id="p")
    events = [*some_events(scope, 6), an_event(scope, persona_id="q", timestamp=NOW - timedelta(days=3))]
    timeline.append(scope, writes_of(scope, events))
    query = a_query(window=TimeWindow(events[2].timestamp, events[4].timestamp), limit=2)
    first, second = walk(timeline, scope, query)
    assert first.dropped == {DropReason.WINDOW: 3, DropReason.SCOPE: 1}
    assert (first.scanned, second.scanned, second.dropped) == (6, 1, {})


def test_a_page_reads_a_bounded_number_of_records(timeline: SqliteTimeline) -> None:
    user = a_scope()
    wanted = append_event(timeline, user, persona_id="p", timestamp=NOW - timedelta(days=3))
    events = some_events(user, COUNTED_RECORDS + 5)
    for start in range(0, len(events), 1000):
        timeline.append(user, writes_of(user, events[start : start + 1000]))
    scope = a_scope(tenant=user.tenant, user_id=user.user_id, persona_id="p")
    pages = walk(timeline, scope, a_query())
    assert [page.scanned for page in pages] == [COUNTED_RECORDS, 6]
    assert shown(pages) == [wanted.id]
    assert sum(page.dropped[DropReason.SCOPE] for page in pages) == len(events)


@pytest.mark.spec("P-17")
def test_what_has_expired_leaves_the_log(database: Database, timeline: SqliteTimeline, scope: Scope) -> None:
    events = [an_event(scope), an_event(scope, content="short-lived", expires_at=NOW + timedelta(hours=1))]
    timeline.append(scope, writes_of(scope, events))
    published = [episodic_saved(event, NOW) for event in events]
    published += [semantic_saved(promoted(event, (), NOW), NOW) for event in events]
    assert SqlitePublisher(database).publish(scope.tenant, published) == []
    before, after = (SqlitePublisher(database, clock=at) for at in (lambda: NOW, lambda: NOW + timedelta(hours=1)))
    assert before.published(scope.tenant, None, None) == published
    assert after.published(scope.tenant, None, None) == published[::2]


def test_items_beside_projections_are_stored_with_them(database: Database, items: SqliteItems, scope: Scope) -> None:
    one, two = a_key("one"), a_key("two")
    with database.together():
        assert database.grouped
        items.write(scope, [a_put(one)], NOW)
        with pytest.raises(VersionMismatch):
            items.write(scope, [a_put(two), a_put(one, {"n": 2}, 7)], NOW)
        assert items.get(scope, [one, two])[one].version == 1
    assert not database.grouped
    assert set(items.get(scope, [one, two])) == {one}
    with suppress(ZeroDivisionError), database.together():
        items.write(scope, [a_put(one, {"n": 2}, 1), a_put(two)], NOW)
        raise ZeroDivisionError
    assert {key: dict(item.value) for key, item in items.get(scope, [one, two]).items()} == {one: {"n": 1}}
