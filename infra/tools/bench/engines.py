"""An app on the running engines, and the recall of its search beside SQLite's: one domain ranks what each names."""

from __future__ import annotations

import os
import secrets
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from infra.tools.bench.data import DataSet, recall
from infra.tools.bench.ours import OurMemory, local_variables, open_watched, passage_of
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors
from recollect.adapters.aws.item_format import dedupe_item, event_item
from recollect.app import App
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.timeline.timeline import EventWrite

ROOT = Path(__file__).resolve().parents[3]
K = 10
Found = Sequence[Sequence[str]]
NEEDED = ("RECOLLECT_OPENSEARCH_URL", "AWS_ENDPOINT_URL_DYNAMODB")


@contextmanager
def running_engines(state: Path) -> Iterator[bool]:
    """The engines that the environment names; else own ones, ended afterwards; False where they cannot be had."""
    if all(name in os.environ for name in NEEDED):
        yield True
        return
    started = _engines("start", state)
    for line in started.stdout.splitlines():
        name, _, value = line.removeprefix("export ").partition("=")
        os.environ[name] = value.strip("'\"")
    try:
        yield started.returncode == 0
    finally:
        _engines("stop", state)


def _engines(command: str, state: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "infra.engines", command, "--state", str(state)]
    return subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)


@contextmanager
def engines_app(embedder: BenchEmbedder, model: Path, more: Mapping[str, str] | None = None) -> Iterator[App]:
    """The app; its calls may take 20 s, since loading is no request of a user. `more` are other settings.

    With a bucket among them it is made, and emptied at the end.

    The table has no stream: DynamoDB Local takes thirty times as long for each write to a table that has one, and
    what is measured here neither reads it nor pays for it.
    """
    name = f"bench-{secrets.token_hex(4)}"
    app = open_watched(
        {
            "RECOLLECT_ENGINES": "aws",
            "RECOLLECT_OPENSEARCH_URL": os.environ["RECOLLECT_OPENSEARCH_URL"],
            "RECOLLECT_TABLE": name,
            "RECOLLECT_INDEX_PREFIX": name,
            "RECOLLECT_MODEL_FOLDER": str(model),
            "RECOLLECT_CALL_TIMEOUT_SECONDS": "20",
            **(more or {}),
        },
        embedder,
    )
    app.parts.create()
    dynamodb_of(app).update_table(TableName=name, StreamSpecification={"StreamEnabled": False})
    try:
        yield app
    finally:
        dynamodb_of(app).delete_table(TableName=name)
        if app.settings.search_engine == "domain":
            search_client_of(app).indices.delete(index=f"{name}-*")
        if app.settings.snapshot_bucket:
            _remove_bucket(app.settings.snapshot_bucket)


def _remove_bucket(name: str) -> None:
    import boto3

    bucket = boto3.resource("s3").Bucket(name)
    bucket.object_versions.delete()
    bucket.delete()


def store_without_transactions(app: App) -> Callable[[Scope, Sequence[EventWrite]], object]:
    """Writes event and dedupe record as `append` does, in plain batches and without the marker.

    DynamoDB Local takes some 15 ms for a transaction: 100,000 of them would take half an hour.
    """

    def store(scope: Scope, writes: Sequence[EventWrite]) -> None:
        items = [item for write in writes for item in (event_item(scope, write), dedupe_item(scope, write))]
        app.parts.access.put_many(items)  # type: ignore[attr-defined] # of the cloud's parts only

    return store


def dynamodb_of(app: App) -> Any:
    """The SDK's client under the adapters."""
    return app.parts.access.client  # type: ignore[attr-defined] # of the cloud's parts only


def search_client_of(app: App) -> Any:
    """OpenSearch's client under the adapter."""
    return app.parts.index._client  # type: ignore[attr-defined] # the adapter hides it from everybody else


def engines_recall(data: DataSet, embedder: BenchEmbedder, kept: StoredVectors, model: Path) -> dict[str, Any]:
    """Recall@10 on both; gold turns lost and gained; in how many questions the first ten are the same."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    embedder.live = False
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        laptop = OurMemory(open_watched(local_variables(Path(name), model), embedder))
        here = _found(laptop, data)
        laptop.close()
    with engines_app(embedder, model) as app:
        there = _found(OurMemory(app), data)
    return compared(data, here, there)


def _found(memory: OurMemory, data: DataSet) -> list[list[str]]:
    memory.load(data.turns)
    return [memory.search(question, K) for question in data.questions]


def compared(data: DataSet, here: Found, there: Found) -> dict[str, Any]:
    """Means over the questions: recall of the first and of the second, and what of it is not the other's."""
    golds = [question.evidence for question in data.questions]
    firsts = list(zip(golds, here, there, strict=True))

    def mean(of_one: Callable[[frozenset[str], Sequence[str], Sequence[str]], float]) -> float:
        return statistics.fmean(of_one(*first) for first in firsts)

    return {
        "questions": len(firsts),
        "laptop": mean(lambda gold, one, _: recall(one, gold, K)),
        "engines": mean(lambda gold, _, other: recall(other, gold, K)),
        "lost": mean(lambda gold, one, other: len(gold & set(one[:K]) - set(other[:K])) / len(gold)),
        "gained": mean(lambda gold, one, other: len(gold & set(other[:K]) - set(one[:K])) / len(gold)),
        "same_ten": mean(lambda _, one, other: float(set(one[:K]) == set(other[:K]))),
    }
