"""The index: rebuilt from kept vectors over the engine's own bulk, write to searchable over its refresh, memory."""

from __future__ import annotations

import resource
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench_data import DataSet
from bench_engines import engines_app, search_client_of, store_without_transactions
from bench_ours import TENANT, draft_of, local_variables, open_watched, passage_of
from bench_scores import quantiles
from bench_vectors import BenchEmbedder, KeptVectors
from scale import WRITERS, Loader, Store, repeated

from recollect import app_index
from recollect.adapters.aws.index_documents import document_id, owner_of, source_of
from recollect.app import App
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind, pack_vector
from recollect.entrypoints.worker import Projector, ProjectorPolicy
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.nomination import IndexDocument, NominationRequest
from recollect.search_index.page import index_document

USER = "user-of-the-index"
SCOPE = Scope(TENANT, USER)
ROUNDS = 3
LAGS = 60
LONGEST_LAG_SECONDS = 30.0
POLL_SECONDS = 0.01
_PAGE = 500


def local_index(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path, count: int) -> dict[str, Any]:
    """On SQLite: the rebuild, and the memory of a process that searches as many records."""
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        app = open_watched(local_variables(Path(name), model), embedder)
        _load(app, data, kept, count, writers=1)
        documents = list(_documents(app))
        figures = _rebuilt(app, documents, lambda: _bulk_of_sqlite(documents))
        seconds = min(_by_the_writer(app, documents) for _ in range(ROUNDS))
        figures["writer"] = {"seconds": seconds, "ratio": seconds / figures["rebuild_seconds"]}
        figures["memory"] = _memory(app, count, embedder.dimension)
        app.parts.close()
    return figures


def aws_index(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path, count: int) -> dict[str, Any]:
    """On DynamoDB Local and OpenSearch: the rebuild, and how soon a write is found."""
    app_index.POINTER_KEPT_SECONDS = 0.0  # nobody else is there to be waited for
    with engines_app(embedder, model) as app:
        _load(app, data, kept, count, WRITERS, store_without_transactions(app))
        documents = list(_documents(app))
        figures = _rebuilt(app, documents, lambda: _bulk_of_opensearch(app, documents))
        figures["lag"] = _lags(app, data)
    return figures


def _load(app: App, data: DataSet, kept: KeptVectors, count: int, writers: int, store: Store | None = None) -> None:
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    Loader(app, kept, store).load(USER, list(repeated(data, count)), writers)
    app.timeline.known_users.note(SCOPE, datetime.now(UTC))


def _documents(app: App) -> Iterator[IndexDocument]:
    """As the rebuild makes them: read before any clock runs."""
    after = None
    while True:
        page = app.parts.timeline.records(SCOPE, _PAGE, after)
        kept = app.parts.projections.vectors(SCOPE, [event.id for event in page.events])
        yield from (index_document(SCOPE, event, kept[event.id].vector) for event in page.events)
        after = page.more
        if after is None:
            return


def _rebuilt(app: App, documents: Sequence[IndexDocument], bulk: Any) -> dict[str, Any]:
    """In turns; each time into an index without a document of the user's. The best of each: less noise is no luck."""
    ours, raw = [], []
    for _ in range(ROUNDS):
        raw.append(bulk())
        _emptied(app, documents)
        ours.append(_seconds_of_reindex(app))
    shown = app.parts.index.count(SCOPE)
    if shown.documents != len(documents) or shown.vectors != len(documents):
        raise RuntimeError(f"{shown} of {len(documents)} documents are shown")
    return {
        "documents": len(documents),
        "rebuild_seconds": min(ours),
        "bulk_seconds": min(raw),
        "ratio": min(raw) / min(ours),
    }


def _emptied(app: App, documents: Sequence[IndexDocument]) -> None:
    ids = [document.ref.id for document in documents]
    for start in range(0, len(ids), _PAGE):
        app.parts.index.remove(SCOPE, ids[start : start + _PAGE], shown=False)
    app.parts.index.put([])


def _seconds_of_reindex(app: App) -> float:
    began = time.perf_counter()
    state: dict[str, Any] = {}
    while True:
        progress = app.reindexing.reindex.step(TENANT, state, datetime.now(UTC), lambda: 60.0)
        if progress.given_up or progress.errors or progress.counts.get("encoded"):
            raise RuntimeError(f"the rebuild went wrong: {progress.errors or progress.counts}")
        if progress.done:
            return time.perf_counter() - began
        state = dict(progress.state)


def _by_the_writer(app: App, documents: Sequence[IndexDocument]) -> float:
    """The same documents through the adapter, in the pages of a rebuild, into an index without them."""
    _emptied(app, documents)
    began = time.perf_counter()
    for start in range(0, len(documents), _PAGE):
        app.parts.index.put(documents[start : start + _PAGE])
    return time.perf_counter() - began


def _bulk_of_sqlite(documents: Sequence[IndexDocument]) -> float:
    """Id, words and packed vector into a table and an FTS5 table of a file of its own, in one transaction."""
    rows = [
        (document.ref.id, " ".join(document.terms), pack_vector(document.vector))
        for document in documents
        if document.vector is not None
    ]
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        connection = sqlite3.connect(Path(name) / "raw.db")
        connection.execute("CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB)")
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (terms, tokenize = 'ascii')")
        began = time.perf_counter()
        with connection:
            connection.executemany("INSERT INTO vectors VALUES (?, ?)", ((i, vector) for i, _, vector in rows))
            connection.executemany("INSERT INTO words (terms) VALUES (?)", ((words,) for _, words, _ in rows))
        seconds = time.perf_counter() - began
        connection.close()
    return seconds


def _bulk_of_opensearch(app: App, documents: Sequence[IndexDocument]) -> float:
    """The same documents, written out beforehand, by the engine's own bulk into an index of the same mapping."""
    client: Any = search_client_of(app)
    plan = app.parts.index._plan  # type: ignore[attr-defined] # of the cloud's parts only
    name = f"{plan.prefix}-raw"
    body = plan.body()
    del body["aliases"]
    client.indices.create(index=name, body=body, params={"request_timeout": 60})
    sources = [(document_id(SCOPE, document.ref.id), source_of(document)) for document in documents]
    began = time.perf_counter()
    for start in range(0, len(sources), _PAGE):
        lines: list[Mapping[str, Any]] = []
        for document, source in sources[start : start + _PAGE]:
            lines += [{"index": {"_id": document, "routing": owner_of(SCOPE)}}, source]
        client.bulk(body=lines, index=name, params={"request_timeout": 60, "filter_path": "errors"})
    client.indices.refresh(index=name, params={"request_timeout": 60})
    seconds = time.perf_counter() - began
    client.indices.delete(index=name)
    return seconds


def _lags(app: App, data: DataSet) -> dict[str, Any]:
    """From a durable write to the first search that finds it; beside a bare index request and the engine's refresh."""
    ours, raw = [], []
    with _projecting(app):
        for number, turn in enumerate(data.turns[:LAGS]):
            ours.append(_lag_of_ours(app, f"{turn.text} lag{number}", turn))
            raw.append(_lag_of_engine(app, number))
    figures = {"ours": quantiles(ours), "engine": quantiles(raw)}
    return figures | {"ratio": figures["ours"]["p50_ms"] / figures["engine"]["p50_ms"]}


@contextmanager
def _projecting(app: App) -> Iterator[None]:
    with Projector(app, ProjectorPolicy(poll_seconds=0.05)):
        yield


def _lag_of_ours(app: App, text: str, turn: Any) -> float:
    """The write through ingest; searched for in the index itself, which knows nothing of the tail."""
    from dataclasses import replace

    now = datetime.now(UTC)
    draft = replace(draft_of(turn, now), content=text, metadata={})
    seed = app.ids.seed(time.time_ns() // 1_000_000, 2)
    answer = app.timeline.ingest(SCOPE, "lags", [draft], seed, now, app.rules.resolved(TENANT))
    event_id, began = answer.results[0].event_id, time.perf_counter()
    filters = SearchFilters(now=now)
    request = NominationRequest(filters=filters, limit=5, terms=(text.rpartition(" ")[2].lower(),))
    return _until(began, lambda: any(hit.ref.id == event_id for hit in app.parts.index.nominate(SCOPE, request).hits))


def _lag_of_engine(app: App, number: int) -> float:
    """One document by itself, shown by the engine's own refresh; the index is theirs and ours."""
    client: Any = search_client_of(app)
    alias = app.parts.index._plan.alias  # type: ignore[attr-defined] # of the cloud's parts only
    owner = owner_of(Scope(TENANT, "raw"))
    body = {"owner": owner, "event_id": f"raw{number}", "is_private": False, "terms": f"raw{number}", "length": 1}
    client.index(index=alias, body=body, params={"routing": owner, "refresh": "false"})
    query = {"query": {"term": {"event_id": f"raw{number}"}}}
    began = time.perf_counter()
    return _until(began, lambda: client.search(index=alias, body=query)["hits"]["total"]["value"] > 0)


def _until(began: float, shown: Any) -> float:
    while not shown():
        if time.perf_counter() - began > LONGEST_LAG_SECONDS:
            raise RuntimeError("a write was never shown")
        time.sleep(POLL_SECONDS)
    return time.perf_counter() - began


def _memory(app: App, count: int, dimension: int) -> dict[str, float]:
    """What a search of all records adds to the process, over their vectors as a bare float32 matrix."""
    before = _resident_mb()
    kept = app.parts.projections.vectors(SCOPE, [next(iter(_documents(app))).ref.id])
    vector = next(iter(kept.values())).vector
    filters = SearchFilters(now=datetime(2030, 1, 1, tzinfo=UTC))
    app.parts.index.nominate(SCOPE, NominationRequest(filters=filters, limit=100, vector=vector))
    after, matrix = _resident_mb(), count * dimension * 4 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"added_mb": after - before, "matrix_mb": matrix, "peak_mb": peak, "ratio": (after - before) / matrix}


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 1e6
