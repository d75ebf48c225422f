"""The tables of segments, restores and writes beside a compaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_tables import table

Figures = Mapping[str, Any]


def segments_line(figures: Figures) -> str:
    """What the compressed segments are of the same lines as NDJSON."""
    segments = figures["segments"]
    sizes = f"{segments['bytes'] / 1e6:.2f} MB of {segments['ndjson_bytes'] / 1e6:.2f} MB"
    return f"{segments['count']} segments of real conversations have {segments['ratio']:.2f} of their NDJSON ({sizes})."


def restore_table(figures: Figures) -> str:
    """Seconds of both restores, and of copying what they read."""
    rows = []
    for name, key in (("store", "restore"), ("snapshot", "snapshot")):
        one = figures[key]
        cells = [f"{one['bytes'] / 1e6:.1f} MB in {one['files']}", f"{one['copy_seconds']:.3f} s"]
        rows.append([name, *cells, f"{one['seconds']:.3f} s", f"{one['ratio']:.2f}"])
    return table(["restore of", "files", "copying them", "restoring", "ratio"], rows)


def writes_table(figures: Figures) -> str:
    """Durable writes without and beside a compaction."""
    writes = figures["writes"]
    rows = [
        [
            f"{name} a compaction",
            writes[name]["count"],
            f"{writes[name]['p50_ms']:.1f}",
            f"{writes[name]['p99_ms']:.1f}",
        ]
        for name in ("without", "with")
    ]
    p50 = writes["with"]["p50_ms"] / writes["without"]["p50_ms"]
    return table(["", "writes", "p50, ms", "p99, ms"], [*rows, ["ratio", "", f"{p50:.2f}", f"{writes['ratio']:.2f}"]])
