"""The tables of docs/benchmarks.md, each from one file of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]
OURS, LANGGRAPH, MEM0 = "Recollect", "LangGraph InMemoryStore", "mem0"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def points(value: float) -> str:
    """A recall, without the zero before the point."""
    return f"{value:.3f}".removeprefix("0")


def milliseconds(figures: Figures) -> str:
    """p50 and p95."""
    return f"{figures['p50_ms']:.1f} / {figures['p95_ms']:.1f}"


def recall_tables(quality: Figures) -> str:
    """Recall by k and system, and by category at 10."""
    by_k, by_category = [], []
    for name, figures in quality.items():
        for system, found in figures["systems"].items():
            cuts = found["recall"]["all"]
            by_k.append([name, system, *(points(cuts[k]) for k in ("5", "10", "25", "50"))])
        systems = figures["systems"]
        for category in (c for c in systems[OURS]["recall"] if c != "all"):
            cells = [points(found["recall"][category]["10"]) for found in systems.values()]
            by_category.append([name, category.replace("_", " "), *cells])
    names = list(next(iter(quality.values()))["systems"])
    first = table(["data", "system", "@5", "@10", "@25", "@50"], by_k)
    return f"{first}\n\nRecall@10 by category:\n\n{table(['data', 'category', *names], by_category)}"


def speed_table(quality: Figures) -> str:
    """Times of an add and a search by system, and our ratio to mem0."""
    rows = []
    for name, figures in quality.items():
        for kind in ("add", "search"):
            for system, found in figures["systems"].items():
                times = found[kind]
                cells = [milliseconds(times[part]) for part in ("whole", "encoding", "rest")]
                over = {part: times[part]["p50_ms"] / figures["systems"][MEM0][kind][part]["p50_ms"] for part in times}
                rows.append([name, kind, system, *cells, f"{over['whole']:.2f}", f"{over['rest']:.2f}"])
    head = ["data", "call", "system", "whole", "of it encoding", "the rest", "whole / mem0", "rest / mem0"]
    return table(head, rows)


def commit_line(quality: Figures) -> str:
    """What a durable commit cost meanwhile."""
    parts = [f"{milliseconds(figures['durable_commit'])} ms beside {name}" for name, figures in quality.items()]
    return ", ".join(parts)


def passage_table(figures: Figures) -> str:
    """Recall by form of the passage."""
    return table(["embedded", "recall@10"], [[form, points(value)] for form, value in figures["locomo-dev"].items()])


def ablation_table(figures: Figures) -> str:
    """Recall@10 by variant."""
    names = list(figures)
    variants = figures[names[0]]
    rows = [
        [
            variant.replace("_", " "),
            *(points(figures[name][variant]["all"]["10"]) for name in names),
            *(f"{figures[name][variant]['all']['10'] - figures[name]['hybrid']['all']['10']:+.3f}" for name in names),
        ]
        for variant in variants
    ]
    return table(["search", *names, *(f"{name}, difference" for name in names)], rows)


def scale_table(stores: Mapping[str, Figures]) -> str:
    """Times by store, call and size, and the ratio of the largest over the smallest."""
    rows = []
    for store, figures in stores.items():
        for call in ("context", "search"):
            sizes = figures[call]["by_events"]
            ratios = [f"{figures[call]['ratio'][part]:.2f}" for part in ("whole", "rest")]
            for size, times in sizes.items():
                cells = [milliseconds(times[part]) for part in ("whole", "encoding", "rest")]
                last = ratios if size == list(sizes)[-1] else ["", ""]
                rows.append([store, call, f"{int(size):,}", *cells, *last])
    head = ["store", "call", "events", "whole", "of it encoding", "the rest", "ratio, whole", "ratio, rest"]
    return table(head, rows)


def graph_table(figures: Figures) -> str:
    """How often the graph search finds ten as near as the exact ten."""
    found = figures["graph"]
    rows = [[k, f"{100 * v:.0f} %"] for k, v in found.items() if k != "default"]
    return table(["candidates kept (`ef_search`)", "questions whose ten are as near"], rows)


WORK = (
    "ingest, turn",
    "project, turn",
    "project, of 100 turns",
    "search",
    "context",
    "context, one turn in the tail",
    "search, newest 100 are memories",
    "context, newest 100 are memories",
    "ingest, important turn",
    "project, important turn",
    "ingest, telling turn",
    "project, telling turn",
    "ingest, with key",
    "reconcile, nothing pending",
)


def calls_table(figures: Figures) -> str:
    """Calls, waves and units by kind of work."""
    rows = []
    for name in WORK:
        one = figures[name]
        cells = [one["dynamodb_calls"], one["opensearch_requests"], len(one["waves"])]
        units = [f"{one[kind]:g} ({one[f'reported_{kind}']:g})" for kind in ("wcu", "rcu")]
        rows.append([name, *cells, *units])
    head = ["work", "DynamoDB calls", "OpenSearch requests", "waves", "WCU (reported)", "RCU (reported)"]
    return table(head, rows)


def units_table(figures: Figures) -> str:
    """Where each write unit of a turn goes."""
    rows = []
    for step in ("ingest, turn", "project, turn"):
        for call in figures[step]["calls"]:
            operation = call["call"].removeprefix("DynamoDB ")
            rows += [[step, operation, one["kind"], one["bytes"], one["units"]] for one in call["written"]]
            indexes = {where: units for where, units in call["reported"].items() if where != "table"}
            if call["written"]:
                rows += [[step, operation, f"entry in {where}", "", f"{units:g}"] for where, units in indexes.items()]
    rows.append(["**in all**", "", "", "", f"**{turn_units(figures):g}**"])
    return table(["step", "call", "item", "bytes", "WCU"], rows)


def turn_units(figures: Figures) -> float:
    """Write units of a turn, all in."""
    units: float = figures["ingest, turn"]["wcu"] + figures["project, turn"]["wcu"]
    return units


def dollars_table(figures: Figures) -> str:
    """Dollars per thousand by kind of work and service."""
    work = figures["dollars"]["work"]
    services = list(next(iter(work.values()))["dollars_per_thousand"])
    rows = [
        [service, *(f"{one['dollars_per_thousand'][service]:.4f}" for one in work.values())] for service in services
    ]
    return table(["US$ per 1,000", *work], rows)


def inputs_table(figures: Figures) -> str:
    """The inputs of the formula: what each work takes."""
    work = figures["dollars"]["work"]
    prices = figures["dollars"]["prices"]
    names = {
        "write_units": "write_units_million",
        "read_units": "read_units_million",
        "lambda_requests": "lambda_requests_million",
        "lambda_gb_seconds": "lambda_gb_second",
        "http_api_requests": "http_api_requests_million",
        "bus_events": "bus_events_million",
    }
    rows = [
        [
            name.replace("_", " "),
            *(f"{one['takes'][name]:.4g}" for one in work.values()),
            f"{prices[price]:g} a {'GB-second' if price.endswith('second') else 'million'}",
        ]
        for name, price in names.items()
    ]
    return table(["input", *work, "list price, US$"], rows)


def import_table(figures: Figures) -> str:
    """Import time by function."""
    rows = [[name, f"{one['milliseconds']:.0f}", f"{one['ratio']:.2f}"] for name, one in figures.items()]
    return table(["function", "ms", "over the bare one"], rows)


def tool_calls_table(figures: Figures) -> str:
    """The parser by kind of text."""
    rows = [
        [
            name,
            f"{one['bytes'] / 1e6:.2f} MB",
            f"{one['milliseconds']:.1f}",
            f"{one['over_json']:.2f}",
            f"{one['doubling']:.2f}",
        ]
        for name, one in figures.items()
    ]
    return table(["text", "size", "ms", "over `json.loads`", "doubling"], rows)


def summaries_table(made: Figures) -> str:
    """The share of gold turns' content words by text of equal length."""
    rows = [
        [name, *(points(share) for share in figures["shares"].values()), f"{figures['words']:.0f}",
         figures["gold_turns"], f"{figures['messages'] / figures['conversations']:.0f}", f"{figures['seconds']:.2f} s"]
        for name, figures in made.items()
    ]  # fmt: skip
    names = list(next(iter(made.values()))["shares"])
    return table(["data", *names, "words", "gold turns", "messages in one", "took"], rows)
