"""The part of the page about the index, and its goals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench_tables import table

Figures = Mapping[str, Any]
STORES = {"local-index": "SQLite", "aws-index": "OpenSearch, records in DynamoDB Local"}
REBUILD_GOAL = 0.5

_REBUILD = """An index without a document of the user's, filled by the job `reindex` from records and kept vectors; over
a raw bulk insert: on OpenSearch the same documents, written out beforehand, into an index of the same mapping; on
SQLite ids, words and vectors into two bare tables of another file (*bare*), and the same documents, made beforehand,
through the index's own writer (*writer*). Best of three, in turns."""

_LAG = """From the answer of ingest, when the event is durable, until a search of the index itself finds it; the
engine's own: one document by itself, until its refresh (every second) shows it. A search finds the event at once all
the same: what the index does not show yet is read from the table."""


def index_part(made: Mapping[str, Figures]) -> str:
    """Rebuild, lag, memory."""
    rows = [_row(STORES[name], made[name]) for name in STORES]
    lag, memory = made["aws-index"]["lag"], made["local-index"]["memory"]
    lags = [
        (name, f"{one['p50_ms']:.0f}", f"{one['p95_ms']:.0f}")
        for name, one in (("ours", lag["ours"]), ("the engine's own refresh", lag["engine"]))
    ]
    return f"""{_REBUILD}

{table(["store", "documents", "rebuild", "raw bulk", "raw bulk over rebuild"], rows)}

{_LAG}

{table(["write to searchable", "p50 ms", "p95 ms"], lags)}

The first vector search of all {made["local-index"]["documents"]} records on SQLite adds {memory["added_mb"]:.0f} MB to
the process, {memory["ratio"]:.2f} times their vectors as a bare float32 matrix ({memory["matrix_mb"]:.0f} MB)."""


def index_goals(made: Mapping[str, Figures]) -> Iterator[tuple[str, str, bool]]:
    """The goals, and what was seen."""
    for name, store in STORES.items():
        if name in made:
            figures = made[name]
            ratio = figures.get("writer", figures)["ratio"]
            seen = f"{ratio:.2f}" + (f" (of bare tables {figures['ratio']:.2f})" if "writer" in figures else "")
            goal = f"index rebuilt from kept vectors, of the speed of a raw bulk insert, {store}: ≥ 1/2"
            yield goal, seen, ratio >= REBUILD_GOAL


def _row(store: str, figures: Figures) -> tuple[str, ...]:
    ratio = f"{figures['ratio']:.2f}"
    if "writer" in figures:
        ratio = f"{ratio} (bare), {figures['writer']['ratio']:.2f} (writer)"
    return (
        store,
        str(figures["documents"]),
        f"{figures['rebuild_seconds']:.1f} s",
        f"{figures['bulk_seconds']:.1f} s",
        ratio,
    )
