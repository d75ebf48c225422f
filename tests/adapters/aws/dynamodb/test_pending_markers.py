"""The walk over all users' markers: few of them by arrival, a backlog partition by partition, each once."""

import pytest

from recollect.adapters.aws import keys
from recollect.adapters.aws import projections as pending_markers
from recollect.adapters.aws.item_format import pending_item
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.table import ItemAccess
from recollect.contracts.examples import a_scope, some_events
from recollect.core.errors import InvalidInput
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.timeline.timeline import PendingEvent


def mark(access: ItemAccess, scope: Scope, events: list[Event]) -> list[PendingEvent]:
    access.put_many(pending_item(scope, event.ref) for event in events)
    return [PendingEvent(scope, event.ref) for event in events]


def walk(projections: DynamoDBProjections, limit: int) -> list[PendingEvent]:
    page = projections.pending(limit, None)
    found = list(page.markers)
    while page.more is not None:
        assert len(page.markers) == limit
        page = projections.pending(limit, page.more)
        found += page.markers
    return found


@pytest.mark.parametrize("limit", [1, 6, 18, 19])
def test_markers_of_many_users_come_in_the_order_of_arrival(moto_access: ItemAccess, limit: int) -> None:
    scopes = [a_scope() for _ in range(6)]
    marked = [one for n in range(18) for one in mark(moto_access, scopes[n % 6], some_events(scopes[n % 6], 1))]
    assert walk(DynamoDBProjections(moto_access), limit) == marked


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_events_of_one_id_and_two_users_are_two(moto_access: ItemAccess, limit: int) -> None:
    scopes = [a_scope() for _ in range(4)]
    events = some_events(scopes[0], 2)
    for scope in scopes:
        mark(moto_access, scope, events)
    found = walk(DynamoDBProjections(moto_access), limit)
    assert len(found) == len({(one.scope, one.ref) for one in found}) == 8


@pytest.mark.parametrize("limit", [7, 50, 1000])
def test_a_backlog_is_walked_by_users(moto_access: ItemAccess, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(pending_markers, "FEW_PER_SHARD", 5)
    scopes = [a_scope() for _ in range(20)]
    marked = {scope: mark(moto_access, scope, some_events(scope, 12)) for scope in scopes}
    found = walk(DynamoDBProjections(moto_access), limit)
    assert len(found) == 240
    for scope in scopes:
        assert [one for one in found if one.scope == scope] == marked[scope]


def test_a_backlog_that_grows_during_a_walk_is_walked(moto_access: ItemAccess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_markers, "FEW_PER_SHARD", 5)
    projections = DynamoDBProjections(moto_access)
    first, second = a_scope(), a_scope()
    early = mark(moto_access, first, some_events(first, 4))
    page = projections.pending(2, None)
    assert list(page.markers) == early[:2]
    late = mark(moto_access, second, some_events(second, 9))
    found = list(page.markers)
    while page.more is not None:
        page = projections.pending(2, page.more)
        found += page.markers
    assert {one.ref.id for one in found} == {one.ref.id for one in [*early, *late]}


@pytest.mark.parametrize("after", ["x", "shard", "shard xx", "by 00 x"])
def test_a_place_we_never_gave_is_refused(moto_access: ItemAccess, after: str) -> None:
    with pytest.raises(InvalidInput):
        DynamoDBProjections(moto_access).pending(10, after)


def test_a_partition_of_markers_holds_many_users_and_splits_by_them(scope: Scope) -> None:
    """The user's hash comes first: a hot partition can be split between users, and one user's stay together."""
    sort_keys = [keys.pending_key(scope, event.id).sk for event in some_events(scope, 3)]
    assert sort_keys == sorted(sort_keys)
    assert len({key.split("#")[0] for key in sort_keys}) == 1
