"""An app on the running engines, with a table and an index of its own that are removed afterwards."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench_ours import open_watched
from bench_vectors import BenchEmbedder

from recollect.adapters.aws.item_format import dedupe_item, event_item
from recollect.app import App
from recollect.core.scope import Scope
from recollect.timeline.timeline import EventWrite

ROOT = Path(__file__).resolve().parents[2]
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
    script = ROOT / "infra" / "engines" / "engines.py"
    return subprocess.run(
        [sys.executable, script, command, "--state", state], stdout=subprocess.PIPE, text=True, check=False
    )


@contextmanager
def engines_app(embedder: BenchEmbedder, model: Path) -> Iterator[App]:
    """The app; its calls may take 20 s, since loading is no request of a user.

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
        },
        embedder,
    )
    app.parts.create()
    dynamodb_of(app).update_table(TableName=name, StreamSpecification={"StreamEnabled": False})
    try:
        yield app
    finally:
        dynamodb_of(app).delete_table(TableName=name)
        search_client_of(app).indices.delete(index=f"{name}-*")


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
