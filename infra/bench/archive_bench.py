"""The archive: segments over plain NDJSON, a restore over copying its files, writes beside a compaction."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench_data import DataSet, Turn
from bench_ours import TENANT, OurMemory, draft_of, drain, local_variables, open_watched, passage_of
from bench_vectors import BenchEmbedder, KeptVectors

from recollect.app import App
from recollect.archive.compact import Compaction
from recollect.archive.segments import COUNTER, counter_in, counter_value
from recollect.bootstrap.whole_store import back_up_store, restore_store
from recollect.core.items import ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.jobs.job import JOB_ID, JobKind
from recollect.settings import Settings

WRITES = 3_000
BLOCK = 100
ROUNDS = 3
WRITER = Scope(TENANT, "writer")
_COPY_BYTES = 1 << 20


def archive(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path, writes: int) -> dict[str, Any]:
    """On a laptop's store of these conversations, each of a user of its own; real vectors, no encoding in the times."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name, _kept_only(embedder):
        home = Path(name)
        app = _loaded(home / "first", data, embedder, model)
        figures = {"records": len(data.turns), "segments": _compressed(app, data)}
        figures["snapshot"] = _snapshot_restored(app, home, embedder, model, len(data.turns))
        figures["restore"] = _store_restored(home, model, len(data.turns), embedder)
        figures["writes"] = _writes_beside_compaction(app, data.turns, home / "first", writes)
        app.parts.close()
    return figures


@contextmanager
def _kept_only(embedder: BenchEmbedder) -> Iterator[None]:
    embedder.live = False
    try:
        yield
    finally:
        embedder.live = True


def _loaded(home: Path, data: DataSet, embedder: BenchEmbedder, model: Path) -> App:
    """Through the use cases: ingested and projected, with segments, memories and the ledger."""
    app = open_watched(local_variables(home, model), embedder)
    OurMemory(app).load(data.turns)
    return app


def _users(data: DataSet) -> list[Scope]:
    return [Scope(TENANT, user) for user in dict.fromkeys(turn.conversation for turn in data.turns)]


def _compressed(app: App, data: DataSet) -> dict[str, float]:
    """All segments of all conversations, the open ones closed; over the same lines as NDJSON."""
    total, now = Compaction(), datetime.now(UTC)
    for scope in _users(data):
        app.segments.compact.close(scope, now)
        app.segments.compact(scope, now, total)
    return {
        "count": total.segments,
        "bytes": total.bytes,
        "ndjson_bytes": total.raw_bytes,
        "ratio": total.bytes / total.raw_bytes,
    }


def _store_restored(home: Path, model: Path, records: int, embedder: BenchEmbedder) -> dict[str, Any]:
    """What `recollect backup` and `recollect restore` do, over copying the very files, as durably."""
    first, copy = _settings(home / "first", model), home / "copy"
    making = _seconds(lambda: back_up_store(first, copy))
    files = [file for file in copy.rglob("*") if file.is_file()]
    copying, times = [], []
    for number in range(ROUNDS):
        copying.append(_seconds(lambda: _copy_durably(files, home / "copied")))
        target = home / f"whole-{number}"
        times.append(_seconds(partial(restore_store, _settings(target, model), copy, datetime.now(UTC))))
        _check_whole(target, model, embedder, records)
        shutil.rmtree(target)
    return _restore_figures(files, copying, times) | {"backup_seconds": making}


def _check_whole(home: Path, model: Path, embedder: BenchEmbedder, records: int) -> None:
    app = open_watched(local_variables(home, model), embedder)
    shown, waiting = app.parts.index.count(of_tenant(TENANT)), app.parts.projections.pending(1, None).markers
    app.parts.close()
    if shown.documents != records or shown.vectors != records or waiting:
        raise RuntimeError(f"the store is not whole: {shown} of {records}, {len(waiting)} pending")


def _snapshot_restored(app: App, home: Path, embedder: BenchEmbedder, model: Path, records: int) -> dict[str, Any]:
    """A snapshot, record by record, into a new store, until every one is found and nothing is pending."""
    made = app.ids.seed(time.time_ns() // 1_000_000).nth(0)
    _run(app.archive.take_snapshot, {JOB_ID: made})
    files = [file for file in (home / "first" / "archive").rglob("*") if made in file.as_posix() and file.is_file()]
    copying, times = [], []
    for number in range(ROUNDS):
        copying.append(_seconds(lambda: _copy_durably(files, home / "copied")))
        target = home / f"restored-{number}"
        shutil.copytree(home / "first" / "archive", target / "archive")
        times.append(_restore_once(target, made, embedder, model, records))
        shutil.rmtree(target)
    stored = min(stored for stored, _ in times)
    return _restore_figures(files, copying, [whole for _, whole in times]) | {"stored_seconds": stored}


def _restore_figures(files: Sequence[Path], copying: Sequence[float], times: Sequence[float]) -> dict[str, Any]:
    """The best of each: less noise is no luck."""
    return {
        "files": len(files),
        "bytes": sum(file.stat().st_size for file in files),
        "copy_seconds": min(copying),
        "seconds": min(times),
        "ratio": min(times) / min(copying),
    }


def _restore_once(
    home: Path, snapshot_id: str, embedder: BenchEmbedder, model: Path, records: int
) -> tuple[float, float]:
    app = open_watched(local_variables(home, model), embedder)
    began, encoded = time.perf_counter(), embedder.seconds
    counts = _run(app.archive.restore, {"snapshot_id": snapshot_id})
    stored = time.perf_counter() - began
    drain(app)
    whole = time.perf_counter() - began
    app.parts.close()
    if counts["created"] != records or embedder.seconds - encoded > 0.1 * whole:
        raise RuntimeError(f"the restore went wrong: {counts}")
    _check_whole(home, model, embedder, records)
    return stored, whole


def _settings(home: Path, model: Path) -> Settings:
    return Settings.from_environment(local_variables(home, model))


def _run(kind: JobKind, state: Mapping[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    while True:
        progress = kind.step(TENANT, state, datetime.now(UTC), lambda: 60.0)
        for name, count in progress.counts.items():
            counts[name] = counts.get(name, 0) + count
        if progress.done:
            return counts
        state = progress.state


def _copy_durably(files: Sequence[Path], to: Path) -> None:
    """As a restore leaves what it wrote: on the disk."""
    to.mkdir()
    try:
        for number, file in enumerate(files):
            with file.open("rb") as source, (to / str(number)).open("wb") as target:
                shutil.copyfileobj(source, target, _COPY_BYTES)
                target.flush()
                os.fsync(target.fileno())
    finally:
        shutil.rmtree(to)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _writes_beside_compaction(app: App, turns: Sequence[Turn], home: Path, writes: int) -> dict[str, Any]:
    """Durable adds of one turn, in turns without and with a compaction in a thread of the same process."""
    times: dict[bool, list[float]] = {False: [], True: []}
    scopes = [Scope(TENANT, turn.conversation) for turn in {t.conversation: t for t in turns}.values()]
    compacted = 0
    for block in range(2 * writes // BLOCK):
        some = [turns[(block * BLOCK + n) % len(turns)] for n in range(BLOCK)]
        if block % 2:
            _unwrite(app, scopes, home / "archive")
            with _Compacting(app, scopes) as running:
                times[True] += [_add(app, turn, block) for turn in some if running.going]
            compacted += running.segments
        else:
            times[False] += [_add(app, turn, block) for turn in some]
    figures: dict[str, Any] = {"without": _figures(times[False]), "with": _figures(times[True])}
    return figures | {"compacted": compacted, "ratio": figures["with"]["p99_ms"] / figures["without"]["p99_ms"]}


def _add(app: App, turn: Turn, block: int) -> float:
    now = datetime.now(UTC)
    draft = draft_of(turn, now)
    rules = app.rules.resolved(TENANT)
    began = time.perf_counter()
    app.timeline.ingest(WRITER, f"block {block}", [draft], app.ids.seed(time.time_ns() // 1_000_000, 2), now, rules)
    return time.perf_counter() - began


def _unwrite(app: App, scopes: Sequence[Scope], archive_folder: Path) -> None:
    """As if no segment had ever been written; before any clock runs."""
    for file in archive_folder.rglob("*.segment"):
        if "timeline" in file.as_posix():
            file.unlink()
    for scope in scopes:
        item = app.parts.items.get(scope, [COUNTER])[COUNTER]
        unwritten = counter_value(replace(counter_in(item.value), written=0))
        app.parts.items.write(scope, [ItemWrite(COUNTER, unwritten, item.version, item.due)], datetime.now(UTC))


class _Compacting:
    """Writes all closed segments of the users, in a thread, as `recollect serve` does."""

    def __init__(self, app: App, scopes: Sequence[Scope]) -> None:
        self._app = app
        self._scopes = scopes
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.segments = 0

    def __enter__(self) -> _Compacting:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    @property
    def going(self) -> bool:
        return self._thread.is_alive()

    def _work(self) -> None:
        for scope in self._scopes:
            self.segments += self._app.segments.compact(scope, datetime.now(UTC)).segments


def _figures(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "p50_ms": 1000 * ordered[len(ordered) // 2],
        "p99_ms": 1000 * ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))],
        "count": len(ordered),
    }
