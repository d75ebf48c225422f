"""EventBridge: chunks, sizes, partial failures; the log: what is gone, expired or private is left out."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from moto import mock_aws

from adapters.aws.dynamodb.scripted import a_client_error, scripted_access
from recollect.adapters.aws import keys
from recollect.adapters.aws import publisher as bus_log
from recollect.adapters.aws.clients import Backoff
from recollect.adapters.aws.publisher import AwsPublisher, BusLog, EventBus
from recollect.adapters.aws.table import ItemAccess, Walk
from recollect.adapters.aws.timeline import DynamoDBTimeline
from recollect.contracts.examples import NOW, an_event, some_events, writes_of
from recollect.contracts.services import a_warning, saved
from recollect.core.errors import UpstreamFailed
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.timeline.bus import BusEvent

NO_WAIT = Backoff(tries=3, sleep=lambda _: None)


class Bus:
    """Takes entries as EventBridge does, after its failures."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls: list[list[dict[str, Any]]] = []

    def put_events(self, **request: Any) -> dict[str, Any]:
        self.calls.append(request["Entries"])
        if self.failures:
            raise self.failures.pop(0)
        return {"Entries": [{"EventId": "1"} for _ in request["Entries"]], "FailedEntryCount": 0}


@pytest.fixture
def log(moto_access: ItemAccess) -> BusLog:
    return BusLog(moto_access)


@pytest.fixture
def bus() -> Bus:
    return Bus()


def publisher(log: BusLog, bus: Bus, now: datetime = NOW) -> AwsPublisher:
    return AwsPublisher(log, EventBus(bus, "bus-name", NO_WAIT), lambda: now)


@pytest.mark.spec("A-58", "A-59")
def test_an_entry_is_the_documents_payload_with_tenant_and_id(log: BusLog, bus: Bus, scope: Scope) -> None:
    event = an_event(scope, content="“said” 🙂")
    assert publisher(log, bus).publish(scope.tenant, saved([event])) == []
    ((entry,),) = bus.calls
    detail = entry.pop("Detail")
    named = {"Source": "recollect", "DetailType": "memory:episodic:saved", "EventBusName": "bus-name"}
    assert entry == {**named, "Time": NOW}
    assert json.loads(detail) == {**saved([event])[0].detail, "tenant": scope.tenant, "id": event.id}


def test_calls_hold_ten_entries_at_most(log: BusLog, bus: Bus, scope: Scope) -> None:
    warnings = [a_warning(timedelta(seconds=n)) for n in range(23)]
    assert publisher(log, bus).publish(scope.tenant, warnings) == []
    assert [len(entries) for entries in bus.calls] == [10, 10, 3]


def test_calls_stay_under_their_size(log: BusLog, bus: Bus, scope: Scope) -> None:
    events = [an_event(scope, content="é" * 32_000) for _ in range(7)]
    assert publisher(log, bus).publish(scope.tenant, saved(events)) == []
    assert [len(entries) for entries in bus.calls] == [3, 3, 1]
    assert all(sum(len(e["Detail"].encode()) for e in entries) < 200_000 for entries in bus.calls)


def test_an_entry_over_the_limit_is_published_without_content(log: BusLog, bus: Bus, scope: Scope) -> None:
    event = an_event(scope, content="x" * 200_000)
    assert publisher(log, bus).publish(scope.tenant, saved([event])) == []
    detail = json.loads(bus.calls[0][0]["Detail"])
    assert (detail["eventId"], detail["content"], detail["contentOmitted"]) == (event.id, None, True)


@pytest.mark.parametrize(
    "refusal", [EndpointConnectionError(endpoint_url="http://x"), a_client_error("ThrottlingException")]
)
def test_what_a_bus_that_is_away_did_not_take_is_named_and_not_logged(
    log: BusLog, scope: Scope, refusal: Exception
) -> None:
    warnings, bus = [a_warning(timedelta(seconds=n)) for n in range(3)], Bus(*[refusal] * 3)
    assert publisher(log, bus).publish(scope.tenant, warnings) == [event.id for event in warnings]
    assert len(bus.calls) == 3
    assert publisher(log, bus).published(scope.tenant, None, None) == []


def test_a_malformed_call_is_raised(log: BusLog) -> None:
    bus = Bus(a_client_error("ValidationException"))
    with pytest.raises(UpstreamFailed):
        publisher(log, bus).publish("t", [a_warning()])


def test_the_service_itself_takes_our_entries(log: BusLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        client = boto3.Session().client("events", region_name="us-east-1")
        client.create_event_bus(Name="bus-name")
        bus = EventBus(client, "bus-name", NO_WAIT)
        assert AwsPublisher(log, bus).publish("t", [a_warning(), a_warning()]) == []


@pytest.mark.spec("P-17")
def test_deleted_expired_and_private_events_leave_the_log(moto_access: ItemAccess, log: BusLog, scope: Scope) -> None:
    ends: dict[int, dict[str, Any]] = {1: {"expires_at": NOW + timedelta(hours=1)}, 2: {"is_private": True}}
    events = [replace(event, **ends.get(n, {})) for n, event in enumerate(some_events(scope, 4))]
    DynamoDBTimeline(moto_access).append(scope, writes_of(scope, events))
    publisher(log, Bus()).publish(scope.tenant, saved(events))
    moto_access.delete_many([keys.event_key(scope, events[3].ref)])
    assert publisher(log, Bus()).published(scope.tenant, None, None) == saved(events[:2])
    later = publisher(log, Bus(), NOW + timedelta(hours=1))
    assert later.published(scope.tenant, None, None) == saved(events[:1])


def test_an_entry_holds_no_text_and_ends_after_a_week(moto_access: ItemAccess, log: BusLog, scope: Scope) -> None:
    event = an_event(scope, content="a secret")
    publisher(log, Bus()).publish(scope.tenant, saved([event]))
    partitions = [keys.bus_partition(scope.tenant, shard) for shard in range(keys.BUS_SHARDS)]
    (entry,) = [item for partition in partitions for item in moto_access.walk(Walk(partition))]
    assert "secret" not in str(entry)
    assert int(entry["ttl"]["N"]) == NOW.timestamp() + 7 * 24 * 3600


def test_a_crowded_partition_hides_none(moto_access: ItemAccess, log: BusLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_log, "KEPT_PER_TENANT", 30)
    monkeypatch.setattr(bus_log, "_FIRST_READ", 4)
    of_shard: dict[str, list[BusEvent]] = {}
    for n in range(400):
        warning = a_warning(timedelta(seconds=n))
        of_shard.setdefault(keys.bus_key("t", "x", EventRef(warning.id, warning.time)).pk, []).append(warning)
    crowded, *others = sorted(of_shard.values(), key=len, reverse=True)
    kept = sorted([*crowded[:25], *(one for other in others for one in other[:1])], key=lambda one: one.time)
    publisher(log, Bus()).publish("t", kept)
    assert publisher(log, Bus()).published("t", None, None) == kept[-30:]


def test_nothing_is_published_when_nothing_is_given(moto_access: ItemAccess, bus: Bus) -> None:
    access, client = scripted_access(moto_access)
    assert publisher(BusLog(access), bus).publish("t", []) == []
    assert (client.requests, bus.calls) == ([], [])
