"""The parts of the page about growth on SQLite and about the form of stored vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from bench_tables import milliseconds, points, table

Figures = Mapping[str, Any]
GOAL_OVER_ENCODING = 6.0

_GROWTH = """LoCoMo's turns, repeated with dates of their own, in one SQLite store for each size; {questions} questions
to all sizes in turns. *Exact scan*: the cosine of a query to every vector of the user and the choice of the leading 80,
by itself, in a process of its own. *Ratio*: p50 over that of the smallest user."""

_COLD = """A process that has not met the user reads the columns and vectors once, before its first search. *Stays* and
*at most* are what that adds to the process, without pages of files; *matrix* is the vectors as bare float32. The file
has each vector twice, as float16: as kept by projection, and in the index."""

_CROWD = """{events:,} events of {users:,} users with ten each, in one store of {file_mb:,.0f} MB, loaded in
{load_seconds:.0f} s. The same user, in the middle of the crowd and alone in a store, in turns; and first searches, each
of another user whom the process has not met, before and after it has met {between:,} others."""

_TAKES_OVER = """**Where an approximate index takes over.** Not on SQLite, which compares the query with every vector of
the user: that needs no build and no memory beside the vectors, is exact under every filter, and forgets at once what is
deleted. It costs {scan:.1f} ms for 10^5 vectors here, linear in the user's own events: other users' vectors are never
looked at. {reach}
Memory is the other bound: {memory:.0f} MB for 10^5 vectors. The users who were asked about last share 512 MB; one
larger than that stays in memory alone. Beyond, the AWS engines take over: there every vector search walks OpenSearch's
graph (HNSW), at any size, because a shard holds many users' vectors for many callers at once, and what a graph costs
grows by the logarithm. What it misses of the ten nearest stands under *A user with 100,000 events*."""

_STORED = """What is kept of a vector is float16, in SQLite's file and in DynamoDB. SQLite's scan widens it to float32
when a user's vectors are read into memory; OpenSearch holds float32. *int8*: one scale for each vector, its largest
number being 127. *By cosine*: recall@10 of the question's bare vector, and in brackets how many of the ten nearest by
float32 are among the ten nearest. *Search*: recall@10 of the default search over vectors that were rounded so. A
difference under .025 is noise on these sets."""

_SCANNED = """Dot products with 100,000 stored vectors, in numpy, the forms in turns. Narrow forms are widened by blocks
of 1,024 vectors: numpy multiplies matrices fast in float32 alone, and its conversion of float16 is not vectorised."""


def growth_part(made: Mapping[str, Figures]) -> str:
    """Times, first searches and memory by size; the crowd; where a scan no longer does."""
    figures = made["local-growth"]
    by_events, crowd = figures["one_user"]["by_events"], figures["crowd"]
    asked = next(iter(by_events.values()))["search"]["whole"]["count"]
    return f"""{_GROWTH.format(questions=asked)}

{_times_table(figures["one_user"])}

{_COLD}

{_cold_table(by_events)}

{_CROWD.format(between=crowd["first_search"]["between"], **_plain(crowd))}

{_crowd_table(crowd)}

{_takes_over(by_events)}"""


def storage_part(made: Mapping[str, Figures]) -> str:
    """Recall, bytes and scan time by form."""
    figures = made["vector-storage"]
    return f"{_STORED}\n\n{_recall_table(figures)}\n\n{_SCANNED}\n\n{_scan_table(figures['scan'])}"


def _plain(crowd: Figures) -> dict[str, float]:
    return {name: crowd[name] for name in ("events", "users", "file_mb", "load_seconds")}


def _times_table(one_user: Figures) -> str:
    rows = []
    for size, one in one_user["by_events"].items():
        for call in ("search", "context"):
            cells = [milliseconds(one[call][part]) for part in ("whole", "encoding", "rest")]
            scan = f"{one['cold']['scan_p50_ms']:.2f} / {one['cold']['scan_p95_ms']:.2f}" if call == "search" else ""
            ratios = [f"{one_user['ratio'][call][size][part]:.2f}" for part in ("whole", "rest")]
            rows.append([f"{int(size):,}", call, *cells, scan, *ratios])
    head = ["events", "call", "whole", "of it encoding", "the rest", "exact scan", "ratio, whole", "ratio, rest"]
    return table(head, rows)


def _cold_table(by_events: Figures) -> str:
    rows = [
        [f"{int(size):,}", f"{one['file_mb']:,.1f}", f"{one['load_seconds']:.1f} s", *_cold_cells(one["cold"])]
        for size, one in by_events.items()
    ]
    head = ["events", "file, MB", "loaded in", "first search", "stays, MB", "at most, MB", "matrix, MB"]
    return table(head, rows)


def _cold_cells(cold: Figures) -> list[str]:
    megabytes = [f"{cold[name]:,.1f}" for name in ("added_mb", "peak_mb", "matrix_mb")]
    return [f"{cold['first_ms']:,.0f} ms", *megabytes]


def _crowd_table(crowd: Figures) -> str:
    calls = {
        "search, alone": crowd["search"]["alone"],
        "search, in the crowd": crowd["search"]["crowd"],
        "first search, few others in memory": crowd["first_search"]["early"],
        "first search, many in memory": crowd["first_search"]["late"],
    }
    rows = [[name, *(milliseconds(one[part]) for part in ("whole", "encoding", "rest"))] for name, one in calls.items()]
    rows[1] += [f"{crowd['ratio'][part]:.2f}" for part in ("whole", "rest")]
    head = ["one of the users", "whole", "of it encoding", "the rest", "over alone, whole", "over alone, rest"]
    return table(head, [[*row, *[""] * (len(head) - len(row))] for row in rows])


def _takes_over(by_events: Figures) -> str:
    large = by_events["100000"] if "100000" in by_events else list(by_events.values())[-1]
    per = 100_000 / int(next(size for size, one in by_events.items() if one is large))
    scans = [(int(size), one["cold"]["scan_p50_ms"]) for size, one in by_events.items()]
    wholes = [(int(size), one["search"]["whole"]["p50_ms"]) for size, one in by_events.items()]
    encoding = large["search"]["encoding"]["p50_ms"]
    reach = (
        f"It takes as long as encoding the question ({encoding:.1f} ms) at {_reached(scans, encoding)} events,\n"
        f"and the whole search {GOAL_OVER_ENCODING:.0f} times as long at "
        f"{_reached(wholes, GOAL_OVER_ENCODING * encoding)}."
    )
    memory = large["cold"]["added_mb"] * per
    return _TAKES_OVER.format(scan=large["cold"]["scan_p50_ms"] * per, reach=reach, memory=memory)


def _reached(curve: Sequence[tuple[int, float]], limit: float) -> str:
    """The size at which a curve passes the limit, between the sizes that were measured, in two digits."""
    for (small, low), (large, high) in pairwise(curve):
        if low <= limit < high:
            share = math.log(limit / low) / math.log(high / low)
            size = small * (large / small) ** share
            digits = 10 ** max(0, math.floor(math.log10(size)) - 1)
            return f"about {round(size / digits) * digits:,}"
    return f"more than {curve[-1][0]:,}" if limit >= curve[-1][1] else f"less than {curve[0][0]:,}"


def _recall_table(figures: Figures) -> str:
    rows = []
    for form in next(iter(figures["cosine"].values())):
        cosine = [f"{points(of[form]['recall'])} ({100 * of[form]['same']:.1f} %)" for of in figures["cosine"].values()]
        search = [points(of[form]) if form in of else "" for of in figures["hybrid"].values()]
        rows.append([form, *cosine, *search])
    names = list(figures["cosine"])
    return table(["stored as", *(f"by cosine, {n}" for n in names), *(f"search, {n}" for n in names)], rows)


def _scan_table(scan: Figures) -> str:
    rows = [[form, f"{one['megabytes']:.1f}", milliseconds(one), f"{one['ratio']:.2f}"] for form, one in scan.items()]
    return table(["stored as", "MB for 10^5 vectors", "scan, ms", "over float32"], rows)
