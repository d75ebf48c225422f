"""The goals, and what was seen: a missed one says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench_tables import OURS, table, turn_units
from context_page import context_goals
from contradictions_page import contradiction_goals
from embedders_page import embedder_goals
from index_page import index_goals
from intent_page import intent_goals
from recall_page import recall_goals

Figures = Mapping[str, Any]
THIRD = 1 / 3
IMPORT_GOAL = 1.4
WITHOUT_MODEL = ("ingest", "summarize", "knowledge")


def goals_table(made: Mapping[str, Figures]) -> str:
    """Goal, seen, met or missed; of what was measured."""
    rows = [(goal, seen, "met" if met else "**missed**") for goal, seen, met in _goals(made)]
    return table(["goal", "seen", ""], rows)


def _goals(made: Mapping[str, Figures]) -> Iterator[tuple[str, str, bool]]:
    yield from recall_goals(made)
    if "quality" in made:
        yield from _against_rivals(made["quality"])
    for name, store, limit in (("local-scale", "on the laptop", 3.0), ("aws-scale", "on the AWS engines", 1.5)):
        if name in made:
            ratios = made[name]["context"]["ratio"]
            seen = f"{ratios['whole']:.2f} (without encoding {ratios['rest']:.2f})"
            yield f"context p50 at 10^5 events over 10^3, {store}: ≤ {limit:g}", seen, ratios["whole"] <= limit
    if "archive" in made:
        yield from _of_the_archive(made["archive"])
    yield from context_goals(made)
    if "summaries" in made:
        yield from _of_summaries(made["summaries"])
    if "aws-costs" in made:
        yield from _on_aws(made["aws-costs"])
    yield from index_goals(made)
    yield from contradiction_goals(made)
    yield from intent_goals(made)
    yield from embedder_goals(made)
    if "import-time" in made:
        for function in WITHOUT_MODEL:
            ratio = made["import-time"][function]["ratio"]
            yield f"import of `{function}` over a bare function: ≤ {IMPORT_GOAL}", f"{ratio:.2f}", ratio <= IMPORT_GOAL


def _against_rivals(quality: Figures) -> Iterator[tuple[str, str, bool]]:
    for name, figures in quality.items():
        at_ten = {system: one["recall"]["all"]["10"] for system, one in figures["systems"].items()}
        ours = at_ten.pop(OURS)
        seen = f"{ours:.3f} against " + ", ".join(f"{value:.3f} ({system})" for system, value in at_ten.items())
        yield f"recall@10 above LangGraph's store and mem0, {name}", seen, ours > max(at_ten.values())
    for name, figures in quality.items():
        for kind in ("add", "search"):
            for rival, over in figures["over"].items():
                seen = f"{over[kind]['whole']:.2f} (without encoding {over[kind]['rest']:.2f})"
                yield f"{kind}, p50 over that of {rival}: ≤ 1/3, {name}", seen, over[kind]["whole"] <= THIRD


def _of_the_archive(archive: Figures) -> Iterator[tuple[str, str, bool]]:
    for name, key, limit in (
        ("compressed segments over NDJSON: ≤ 1/3", "segments", THIRD),
        ("restore of a store over copying its files: ≤ 2", "restore", 2.0),
        ("write p99 during a compaction over without: ≤ 1.5", "writes", 1.5),
    ):
        ratio = archive[key]["ratio"]
        yield name, f"{ratio:.2f}", ratio <= limit


def _of_summaries(summaries: Figures) -> Iterator[tuple[str, str, bool]]:
    for name, figures in summaries.items():
        others = dict(figures["shares"])
        ours = others.pop("summary")
        seen = f"{ours:.3f} against " + ", ".join(f"{value:.3f} ({text})" for text, value in others.items())
        yield f"share of gold turns' words in a summary without a model, {name}", seen, ours > max(others.values())


def _on_aws(costs: Figures) -> Iterator[tuple[str, str, bool]]:
    waves = len(costs["context"]["waves"])
    yield "waves of calls of a context, after encoding: ≤ 2", str(waves), waves <= 2
    units = turn_units(costs)
    yield "WCU of a 1 KB turn, index and projection included: ≤ 16", f"{units:g}", units <= 16
