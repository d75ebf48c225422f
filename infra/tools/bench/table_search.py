"""A search of the table's own index: time, memory, what is read, and what a million of them cost.

    python -m infra.tools.bench.table_search [--records N]… [--out FILE]

Needs the engines (`make engines`). Each size is one user's: records of 4 to 30 words, vectors of 384 numbers, packed
into blocks, which are read anew for each search or kept by the process; of 3,000 also while as many others wait to be
packed as ever do, but for what other writes bring meanwhile. The searches run in a process of their own on one core;
its peak of memory counts the interpreter, numpy and the SDK, and no model. The engines answer on the same machine:
AWS's network is not in the figures, so what a search reads is told beside them, and what it would take on Lambda is
estimated (`on_lambda`): processor time over the share of a core that the memory buys, and what S3 and the table take to
answer, by the constants below.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from infra.tools.costs.pricing import gb_second, price
from recollect.adapters.aws import index_packing
from recollect.adapters.aws.clients import ClientPolicy, dynamodb_client
from recollect.adapters.aws.index_cache import BlockCache
from recollect.adapters.aws.index_documents import PACKED_AT_ONCE
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.snapshots import Bucket, S3Snapshots
from recollect.adapters.aws.table import ItemAccess, Table
from recollect.adapters.aws.table_index import TableIndex
from recollect.adapters.concurrency import Threads
from recollect.contracts.examples import NOW, a_random_vector, an_event
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.nomination import NominationRequest
from recollect.retrieval.pipeline import PER_ARM
from recollect.search_index.page import index_document
from recollect.text.terms import query_terms
from recollect.timeline.timeline import Projection

SIZES = (1_000, 3_000, 4_000, 5_000, 20_000)
WITH_WAITING = 3_000
DIMENSION = 384
VOCABULARY = 20_000
SEARCHES = 40
MEMORY_GB = 1.0
CORE_MEGABYTES = 1769
"""Memory that buys a function one core; less buys its share of one."""
S3_FIRST_BYTE_MS = 30
S3_MEGABYTES_PER_SECOND = 75
"""Of a function, over all its streams."""
TABLE_MS = 20
"""Three waves of reads: what waits, the list of blocks, the vectors."""
MEMORIES = (512, 1024, 1769)
KEPT_BYTES = 64_000_000
GENERATION = "bench.1"
USER = Scope("bench", "user")
_PATIENT = ClientPolicy(connect_seconds=5, read_seconds=60)
_AT_ONCE = 500


class Counted:
    """An SDK client that adds up the read units, calls and bytes of its reads."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.units = 0.0
        self.objects = 0
        self.bytes = 0

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)
        return (lambda **given: self._asked(name, call, given)) if name in _READS else call

    def _asked(self, name: str, call: Any, given: dict[str, Any]) -> Any:
        if name == "get_object":
            answer = call(**given)
            self.objects += 1
            self.bytes += int(answer["ContentLength"])
            return answer
        answer = call(**given, ReturnConsumedCapacity="TOTAL")
        consumed = answer.get("ConsumedCapacity", [])
        self.units += sum(one["CapacityUnits"] for one in (consumed if isinstance(consumed, list) else [consumed]))
        return answer


_READS = ("query", "get_item", "batch_get_item", "get_object")


def opened(name: str, *, packed: bool, kept: bool = False) -> tuple[TableIndex, Counted, Counted]:
    """The index over the table and the bucket of that name, and its clients; `kept`: blocks are kept once read."""
    table, bucket = Counted(dynamodb_client(_PATIENT)), Counted(Bucket(name, 60).client)
    access = ItemAccess(table, name, Threads())
    store = S3Snapshots(bucket, name)
    users = lambda _: [USER.user_id]  # noqa: E731
    cache = BlockCache(KEPT_BYTES, time.monotonic) if kept else None
    index = TableIndex(access, users, GENERATION, DIMENSION, (lambda: store) if packed else None, cache=cache)
    return index, table, bucket


def text_of(chance: np.random.Generator) -> str:
    """4 to 30 words, a few of them often and most of them seldom, as words are."""
    ranks = np.minimum(chance.zipf(1.2, chance.integers(4, 31)), VOCABULARY)
    return " ".join(f"word{rank}" for rank in ranks)


def load(index: TableIndex, access: ItemAccess, count: int, first: int = 0) -> None:
    """Puts the records, with their projections, as `project` writes them."""
    chance, end = np.random.default_rng(count), first + count
    for start in range(first, end, _AT_ONCE):
        at = [NOW - timedelta(minutes=end - n) for n in range(start, min(start + _AT_ONCE, end))]
        events = [_event(chance, n, moment) for n, moment in enumerate(at, start)]
        vectors = [a_random_vector(start + n, DIMENSION) for n in range(len(events))]
        made = zip(events, vectors, strict=True)
        assert index.put([index_document(USER, event, vector) for event, vector in made]) == []
        saved = [Projection(e.ref, v, GENERATION, segment=1) for e, v in zip(events, vectors, strict=True)]
        DynamoDBProjections(access).save(USER, saved)


def _event(chance: np.random.Generator, number: int, moment: datetime) -> Event:
    """Forty to a conversation, stored within three seconds, of a hundred kinds of importance."""
    return an_event(
        USER,
        content=text_of(chance),
        timestamp=moment,
        recorded_at=moment + timedelta(milliseconds=int(chance.integers(3000))),
        conversation_id=f"conversation-{number // 40}",
        importance=int(chance.integers(100)) / 100,
    )


def request_of(number: int) -> NominationRequest:
    """What recall asks: words and a vector, with superseded ones besides."""
    words = text_of(np.random.default_rng(10_000 + number))
    vector: FloatArray = a_random_vector(1_000_000 + number, DIMENSION)
    terms = tuple(query_terms(words))[:12]
    return NominationRequest(filters=SearchFilters(now=NOW), limit=PER_ARM, superseded=20, terms=terms, vector=vector)


def measured(name: str, *, searches: int, kept: bool = False) -> dict[str, Any]:
    """In this process, on one core: run as a process of its own."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    index, table, bucket = opened(name, packed=True, kept=kept)
    index.nominate(USER, request_of(0))
    table.units, bucket.objects, bucket.bytes = 0.0, 0, 0
    walls, processor = [], []
    for number in range(1, searches + 1):
        began, used = time.perf_counter(), time.process_time()
        index.nominate(USER, request_of(number))
        walls.append(1000 * (time.perf_counter() - began))
        processor.append(1000 * (time.process_time() - used))
    return {
        "wall_ms_p50": statistics.median(walls),
        "wall_ms_p95": sorted(walls)[int(0.95 * len(walls))],
        "processor_ms_p50": statistics.median(processor),
        "peak_megabytes": _peak_kilobytes() / 1024,
        "read_units": table.units / searches,
        "objects": bucket.objects / searches,
        "object_megabytes": bucket.bytes / searches / 1e6,
    }


def _peak_kilobytes() -> int:
    """Of this program: the figure of `getrusage` begins with what the process had before it became this program."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1])


def on_lambda(figures: dict[str, Any]) -> dict[str, float]:
    """Milliseconds of a search by megabytes of memory: nothing of it side by side, so an upper bound of its parts."""
    reading = S3_FIRST_BYTE_MS + 1000 * figures["object_megabytes"] / S3_MEGABYTES_PER_SECOND
    waiting = TABLE_MS + (reading if figures["objects"] else 0)
    shares = {memory: min(1, memory / CORE_MEGABYTES) for memory in MEMORIES}
    return {str(memory): waiting + figures["processor_ms_p50"] / share for memory, share in shares.items()}


def priced(figures: dict[str, Any]) -> dict[str, Any]:
    """Dollars for a million searches: what the index reads, and Lambda's time at 1 GB as it is estimated."""
    reads = figures["read_units"] * price("read_units_million")
    objects = figures["objects"] * price("object_reads_million")
    time_ = on_lambda(figures)["1024"] / 1000 * MEMORY_GB * gb_second() * 1e6
    parts = {"reads": reads, "objects": objects, "time": time_}
    return figures | {
        "on_lambda_ms": on_lambda(figures),
        "dollars_per_million": parts | {"in all": sum(parts.values())},
    }


def of_size(count: int, *, searches: int) -> list[dict[str, Any]]:
    """One user of that many records, in a table and a bucket of their own."""
    name = f"bench-{secrets.token_hex(4)}"
    index, table, bucket = opened(name, packed=False)  # what it puts stays items until all of it is packed
    access = ItemAccess(table, name, Threads())
    Table(table, name).create()
    table.update_table(TableName=name, StreamSpecification={"StreamEnabled": False})
    bucket.create_bucket(Bucket=name)
    try:
        load(index, access, count)
        began = time.perf_counter()
        index_packing.PackDocuments(access, lambda: S3Snapshots(bucket, name)).pack(GENERATION, USER)
        told: dict[str, Any] = {"records": count, "packing_seconds": time.perf_counter() - began}
        found = [told | {"form": "blocks"} | priced(_child(name, [], searches))]
        found.append(told | {"form": "blocks kept"} | priced(_child(name, ["--kept"], searches)))
        if count == WITH_WAITING:
            load(index, access, PACKED_AT_ONCE - 1, count)
            found.append(told | {"form": "blocks, 255 wait"} | priced(_child(name, [], searches)))
        return found
    finally:
        table.delete_table(TableName=name)


def _child(name: str, options: Sequence[str], searches: int) -> dict[str, Any]:
    line = [sys.executable, "-m", __spec__.name, "--measure", name, "--searches", str(searches)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*line, *options], env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(given: Sequence[str] | None = None) -> None:
    """Prints the figures as JSON; --out also writes them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, action="append")
    parser.add_argument("--searches", type=int, default=SEARCHES)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--kept", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(given)
    if asked.measure:
        figures = measured(asked.measure, searches=asked.searches, kept=asked.kept)
        print(json.dumps(figures))
        return
    found = [one for size in asked.records or SIZES for one in of_size(size, searches=asked.searches)]
    told = json.dumps(found, indent=1)
    if asked.out:
        asked.out.write_text(told + "\n", "utf-8")
    print(told)


if __name__ == "__main__":
    main()
