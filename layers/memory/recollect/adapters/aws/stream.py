"""The table's stream. It carries keys only: a record is a hint that an event changed (P-25).

`StreamPump` reads it where no event source mapping does: in `recollect serve` on real engines, and in tests. As Lambda
does, it gives the handler `{"Records": [...]}` and reads `batchItemFailures` of its answer: the batch comes again from
the first failed record on, up to a number of tries; then the record is given up, since `reconcile` finds its event by
the marker.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.adapters.aws.clients import Backoff, StreamsClient, ignored, translated
from recollect.adapters.aws.keys import event_of_record
from recollect.core.errors import Unavailable

Record = dict[str, Any]
Handler = Callable[[dict[str, Any]], Mapping[str, Any] | None]

EVENT_FILTER: Mapping[str, Any] = {"dynamodb": {"Keys": {"sk": {"S": [{"prefix": "E#"}]}}}}
"""The event source mapping's filter: only records about events reach the function."""
PATIENT = Backoff(tries=10, base_seconds=0.1, cap_seconds=5.0)  # 20 s in all

_SERVICE = "DynamoDB Streams"
_LOST_PLACE = ("ExpiredIteratorException", "TrimmedDataAccessException")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PumpPolicy:
    """How records are fed: `batch_size` at most at once, `backoff` between tries of a batch, pause when idle.

    `from_start`: begin with the oldest record (24 hours); else with the next one.
    """

    batch_size: int = 100
    backoff: Backoff = PATIENT
    idle_seconds: float = 0.2
    from_start: bool = True


DEFAULT_PUMP_POLICY = PumpPolicy()


@dataclass(slots=True)
class StreamPump:
    """One reader of one stream, not to be shared by threads. Counts the records `fed` and those `given_up`."""

    client: StreamsClient
    stream_arn: str
    handler: Handler
    policy: PumpPolicy = DEFAULT_PUMP_POLICY
    fed: int = 0
    given_up: int = 0
    _iterators: dict[str, str | None] = field(default_factory=dict)
    _started: bool = False
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self, stop: threading.Event) -> None:
        """Feeds records until `stop` is set; while the stream cannot be read it tries again."""
        self._stop = stop
        while not stop.is_set():
            try:
                read = self.run_once()
            except Unavailable:
                read = 0
            if not read:
                stop.wait(self.policy.idle_seconds)

    def run_once(self) -> int:
        """One read of each open shard; the number of records, about events or not."""
        self._open_shards()
        return sum(self._pass_on(self._read(shard)) for shard in list(self._iterators))

    def drain(self, rounds: int = 10_000) -> int:
        """Reads until a round brings no record, at most `rounds` of them; the number of records fed."""
        before = self.fed
        for _ in range(rounds):
            if not self.run_once():
                break
        return self.fed - before

    def _open_shards(self) -> None:
        """Begins with shards not seen before, parents first; those that open later are read from their start."""
        kind = "TRIM_HORIZON" if self.policy.from_start or self._started else "LATEST"
        for shard in sorted(self._shards(), key=lambda shard: str(shard["ShardId"])):
            if shard["ShardId"] not in self._iterators and self._iterators.get(shard.get("ParentShardId", "")) is None:
                self._iterators[shard["ShardId"]] = self._iterator(shard["ShardId"], kind)
        self._started = True

    def _shards(self) -> list[dict[str, Any]]:
        shards: list[dict[str, Any]] = []
        start: dict[str, Any] = {}
        while True:
            with translated(_SERVICE):
                stream = self.client.describe_stream(StreamArn=self.stream_arn, **start)["StreamDescription"]
            shards += stream["Shards"]
            if not stream.get("LastEvaluatedShardId"):
                return shards
            start = {"ExclusiveStartShardId": stream["LastEvaluatedShardId"]}

    def _iterator(self, shard: str, kind: str) -> str:
        with translated(_SERVICE):
            answer = self.client.get_shard_iterator(StreamArn=self.stream_arn, ShardId=shard, ShardIteratorType=kind)
        return str(answer["ShardIterator"])

    def _read(self, shard: str) -> list[Record]:
        """The next records of a shard; a shard that has ended has no iterator any more."""
        iterator = self._iterators[shard]
        answer = self._records_at(iterator) if iterator else None
        if iterator and answer is None:
            self._iterators[shard] = self._iterator(shard, "TRIM_HORIZON")
        if answer is None:
            return []
        self._iterators[shard] = answer.get("NextShardIterator")
        return [lambda_record(record, self.stream_arn) for record in answer["Records"]]

    def _records_at(self, iterator: str) -> dict[str, Any] | None:
        """None where the place is lost: an iterator lives 15 minutes, a record a day."""
        with translated(_SERVICE), ignored(*_LOST_PLACE):
            return self.client.get_records(ShardIterator=iterator, Limit=self.policy.batch_size)
        return None

    def _pass_on(self, records: list[Record]) -> int:
        """Feeds the records that the event source mapping's filter passes; the number of all of them."""
        left = [record for record in records if event_of_record(record) is not None]
        self.fed += len(left)
        while left:
            left = self._try(left)
            if left:  # the first of them failed each time
                self.given_up += 1
                left = left[1:]
        return len(records)

    def _try(self, records: list[Record]) -> list[Record]:
        """The rest of the batch after all tries, from its first failed record on."""
        # Pauses end when the pump stops; the next start reads the rest of the batch again.
        for _ in replace(self.policy.backoff, sleep=self._stop.wait).attempts():
            records = self._handled(records)
            if not records or self._stop.is_set():
                return []
        _LOG.warning("a stream record is given up", extra={"event_id": records[0].get("eventID")})
        return records

    def _handled(self, records: list[Record]) -> list[Record]:
        try:
            answer = self.handler({"Records": records}) or {}
        except Exception as error:  # noqa: BLE001 - as Lambda does: whatever a function raises fails the batch
            _LOG.warning("a batch of stream records failed", extra={"error": type(error).__name__})
            return records
        return _from_first_failure(records, [one["itemIdentifier"] for one in answer.get("batchItemFailures", ())])


def lambda_record(record: Mapping[str, Any], stream_arn: str) -> Record:
    """A record as the event source mapping would hand it to a function."""
    change = dict(record["dynamodb"])
    created = change.get("ApproximateCreationDateTime")
    if isinstance(created, datetime):
        change["ApproximateCreationDateTime"] = created.timestamp()
    made: Record = {**record, "dynamodb": change, "eventSourceARN": stream_arn}
    if "userIdentity" in made:
        identity = made["userIdentity"]
        made["userIdentity"] = {"principalId": identity.get("PrincipalId"), "type": identity.get("Type")}
    return made


def _from_first_failure(records: list[Record], failed: Sequence[str]) -> list[Record]:
    places = [n for n, record in enumerate(records) if record["dynamodb"]["SequenceNumber"] in failed]
    unknown = set(failed) - {record["dynamodb"]["SequenceNumber"] for record in records}
    return records if unknown else records[places[0] :] if places else []
