"""The pump gives the handler what Lambda would, comes again with what failed, and loses nothing at a restart."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from adapters.aws.dynamodb.conftest import local_service
from adapters.aws.dynamodb.scripted import a_client_error
from conftest import Engines
from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import Backoff
from recollect.adapters.aws.keys import event_of_record
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.stream import EVENT_FILTER, PumpPolicy, StreamPump
from recollect.adapters.aws.table import ItemAccess, Table
from recollect.adapters.aws.timeline import DynamoDBTimeline
from recollect.adapters.concurrency import Threads
from recollect.contracts.examples import HARD_IDS, a_scope, an_event, some_events, writes_of
from recollect.core.errors import NotReady, Throttled
from recollect.core.scope import Scope
from recollect.timeline.timeline import PendingEvent

SCOPE = Scope("t", "u")
QUICK = PumpPolicy(backoff=Backoff(tries=3, sleep=lambda _: None))


def a_record(number: int, sort_key: str | None = None) -> dict[str, Any]:
    event = an_event(SCOPE, id=f"e{number}")
    key = keys.event_key(SCOPE, event.ref).attributes
    return {
        "eventID": f"id{number}",
        "eventName": "INSERT",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "userIdentity": {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"},
        "dynamodb": {
            "ApproximateCreationDateTime": datetime(2025, 3, 1, tzinfo=UTC),
            "Keys": key | ({"sk": {"S": sort_key}} if sort_key else {}),
            "SequenceNumber": f"{number:021d}",
            "StreamViewType": "KEYS_ONLY",
        },
    }


@dataclass
class Stream:
    """A stream of shards; an iterator is `shard:place`. Children are listed once their parent has ended."""

    shards: dict[str, list[dict[str, Any]]]
    parents: dict[str, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    failures: list[Exception] = field(default_factory=list)

    def describe_stream(self, **request: Any) -> dict[str, Any]:
        shards = [
            {"ShardId": name} | ({"ParentShardId": self.parents[name]} if name in self.parents else {})
            for name in self.shards
        ]
        first = not request.get("ExclusiveStartShardId")
        if len(shards) > 1 and first:
            return {"StreamDescription": {"Shards": shards[:1], "LastEvaluatedShardId": shards[0]["ShardId"]}}
        return {"StreamDescription": {"Shards": shards if first else shards[1:]}}

    def get_shard_iterator(self, **request: Any) -> dict[str, Any]:
        shard = request["ShardId"]
        place = 0 if request["ShardIteratorType"] == "TRIM_HORIZON" else len(self.shards[shard])
        return {"ShardIterator": f"{shard}:{place}"}

    def get_records(self, **request: Any) -> dict[str, Any]:
        if self.failures:
            raise self.failures.pop(0)
        shard, place = request["ShardIterator"].split(":")
        records = self.shards[shard][int(place) : int(place) + request["Limit"]]
        end = int(place) + len(records)
        over = shard in self.ended and end == len(self.shards[shard])
        return {"Records": records} | ({} if over else {"NextShardIterator": f"{shard}:{end}"})


class Handler:
    """Remembers what it was given; answers or raises by script, else takes all."""

    def __init__(self, *script: list[int] | Exception) -> None:
        self.script = list(script)
        self.batches: list[list[int]] = []

    def __call__(self, event: dict[str, Any]) -> dict[str, Any]:
        self.batches.append([int(record["dynamodb"]["SequenceNumber"]) for record in event["Records"]])
        step = self.script.pop(0) if self.script else []
        if isinstance(step, Exception):
            raise step
        return {"batchItemFailures": [{"itemIdentifier": f"{number:021d}"} for number in step]}


def a_pump(stream: Stream, handler: Handler, policy: PumpPolicy = QUICK) -> StreamPump:
    return StreamPump(stream, "arn:stream", handler, policy)


def test_a_record_has_the_form_that_lambda_gives() -> None:
    given: list[dict[str, Any]] = []
    pump = StreamPump(Stream({"s1": [a_record(1)]}), "arn:stream", lambda event: given.extend(event["Records"]), QUICK)
    assert pump.drain() == 1
    (record,) = given
    assert record["eventSourceARN"] == "arn:stream"
    assert record["userIdentity"] == {"principalId": "dynamodb.amazonaws.com", "type": "Service"}
    assert record["dynamodb"]["ApproximateCreationDateTime"] == datetime(2025, 3, 1, tzinfo=UTC).timestamp()
    assert record["dynamodb"]["Keys"]["pk"] == {"S": "U#t#u"}


def test_only_records_about_events_are_fed() -> None:
    others = [a_record(n, sort_key) for n, sort_key in enumerate(("D#1", "V#e1", "P#e1", "C#1"), start=10)]
    handler = Handler()
    assert a_pump(Stream({"s1": [*others, a_record(1), *others]}), handler).drain() == 1
    assert handler.batches == [[1]]
    assert EVENT_FILTER["dynamodb"]["Keys"]["sk"]["S"] == [{"prefix": "E#"}]


@pytest.mark.spec("P-25")
def test_a_record_names_the_event_and_whose_it_is() -> None:
    for hard in HARD_IDS:
        scope = Scope(hard, hard)
        event = an_event(scope)
        record = {"dynamodb": {"Keys": keys.event_key(scope, event.ref).attributes}}
        assert event_of_record(record) == PendingEvent(scope, event.ref)


def test_batches_have_their_size_and_come_in_order() -> None:
    handler = Handler()
    policy = PumpPolicy(batch_size=4, backoff=QUICK.backoff)
    assert a_pump(Stream({"s1": [a_record(n) for n in range(10)]}), handler, policy).drain() == 10
    assert handler.batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize(
    ("script", "batches", "given_up"),
    [
        pytest.param([[2, 1], [2]], [[0, 1, 2, 3], [1, 2, 3], [2, 3]], 0, id="from the first failure on"),
        pytest.param([Throttled("x")] * 2, [[0, 1]] * 3, 0, id="all of it after an error of ours"),
        pytest.param([ValueError("x")] * 2, [[0, 1]] * 3, 0, id="all of it after any other error"),
        pytest.param([[99]], [[0, 1]] * 2, 0, id="all of it after a failure of no record"),
        pytest.param([[1]] * 3, [[0, 1, 2], [1, 2], [1, 2], [2]], 1, id="not what fails each time"),
    ],
)
def test_what_failed_comes_again(script: list[Any], batches: list[list[int]], given_up: int) -> None:
    handler = Handler(*script)
    pump = a_pump(Stream({"s1": [a_record(n) for n in batches[0]]}), handler)
    assert pump.drain() == len(batches[0])
    assert (handler.batches, pump.given_up) == (batches, given_up)


def test_a_child_is_read_after_its_parent_has_ended() -> None:
    stream = Stream({"s1": [a_record(0)], "s2": [a_record(1)]}, parents={"s2": "s1"})
    handler = Handler()
    pump = a_pump(stream, handler)
    assert pump.drain() == 1
    stream.shards["s1"].append(a_record(2))
    stream.ended.add("s1")
    assert pump.drain() == 2
    assert handler.batches == [[0], [2], [1]]


def test_shards_of_no_known_parent_are_all_read() -> None:
    stream = Stream({"s1": [a_record(0)], "s2": [a_record(1)], "s3": [a_record(2)]}, parents={"s2": "trimmed"})
    assert a_pump(stream, Handler()).drain() == 3


def test_from_now_on_leaves_out_the_past() -> None:
    stream, handler = Stream({"s1": [a_record(0)]}), Handler()
    pump = a_pump(stream, handler, PumpPolicy(backoff=QUICK.backoff, from_start=False))
    assert pump.drain() == 0
    stream.shards["s1"].append(a_record(1))
    assert pump.drain() == 1
    assert handler.batches == [[1]]


@pytest.mark.parametrize("code", ["ExpiredIteratorException", "TrimmedDataAccessException"])
def test_a_lost_place_is_taken_up_from_the_oldest_record(code: str) -> None:
    stream = Stream({"s1": [a_record(0)]}, failures=[a_client_error(code)])
    pump = a_pump(stream, Handler())
    assert (pump.run_once(), pump.run_once()) == (0, 1)


def test_a_stream_that_is_gone_is_said() -> None:
    stream = Stream({"s1": []}, failures=[a_client_error("ResourceNotFoundException")])
    with pytest.raises(NotReady):
        a_pump(stream, Handler()).run_once()


def run_until(reached: threading.Event, pump: StreamPump) -> None:
    """Stops the pump once that is reached; it must then end."""
    stop = threading.Event()
    thread = threading.Thread(target=pump.run, args=(stop,))
    thread.start()
    assert reached.wait(10)
    stop.set()
    thread.join(10)
    assert not thread.is_alive()


def test_it_runs_until_it_is_stopped_whatever_the_stream_does() -> None:
    stream = Stream({"s1": [a_record(0)]}, failures=[a_client_error("InternalServerError", 500)])
    done = threading.Event()
    run_until(done, StreamPump(stream, "arn", lambda _: done.set(), PumpPolicy(idle_seconds=0.01)))


def test_stopping_ends_the_wait_between_tries_too() -> None:
    stream, tried = Stream({"s1": [a_record(0)]}), threading.Event()

    def failing(_: dict[str, Any]) -> None:
        tried.set()
        raise Throttled("x")

    pump = StreamPump(stream, "arn", failing, PumpPolicy(backoff=Backoff(tries=9, base_seconds=60, cap_seconds=60)))
    run_until(tried, pump)
    assert pump.given_up == 0


@pytest.fixture
def streaming(local_client: Any) -> Iterator[ItemAccess]:
    table = Table(local_client, f"test-{uuid4().hex[:12]}")
    table.create()
    yield ItemAccess(local_client, table.name, Threads())
    local_client.delete_table(TableName=table.name)


@pytest.mark.engines
@pytest.mark.spec("P-25")
def test_every_stored_event_comes_through_the_real_stream(streaming: ItemAccess, engines: Engines) -> None:
    client = local_service(engines, "dynamodbstreams")
    arn = Table(streaming.client, streaming.table).stream_arn()
    scope = a_scope(user_id="a#b~/🙂")
    events = some_events(scope, 12)
    timeline, projections = DynamoDBTimeline(streaming), DynamoDBProjections(streaming)
    timeline.append(scope, writes_of(scope, events))
    heard: list[PendingEvent | None] = []

    def project(event: dict[str, Any]) -> None:
        heard.extend(event_of_record(record) for record in event["Records"])
        projections.settle(scope, [one.ref for one in heard if one])

    pump = StreamPump(client, arn, project, PumpPolicy(batch_size=5))
    assert pump.drain() == 12
    assert {one.ref for one in heard if one} == {event.ref for event in events}
    assert {one.scope for one in heard if one} == {scope}
    assert timeline.tail(scope).refs == ()
    streaming.delete_many([keys.event_key(scope, events[0].ref)])
    assert pump.drain() == 1
    assert heard[-1] == PendingEvent(scope, events[0].ref)
