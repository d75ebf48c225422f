"""The plots of docs/benchmarks.md: which there are, what each is drawn from, and beside which part it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_tables import LANGGRAPH, MEM0, OURS
from matplotlib.figure import Figure
from plot_style import draw_bars, draw_lines, legend_below, logarithmic, panels, styled, write_svg

Figures = Mapping[str, Any]
Made = Mapping[str, Figures]
FOLDER = "plots"
RIVALS = (OURS, MEM0, f"{MEM0} without BM25", LANGGRAPH)
_MODES = ("semantic", "lexical")
_VIEWS = ("prompt", "prompt, 50 search hits", "last 20 messages", "date filter, 14 days")
_BUDGETS = ("1000", "2000", "4000")


@dataclass(frozen=True, slots=True)
class Plot:
    """`beside`: the bench whose part of the page shows it. `draw` answers None where there is nothing to draw.

    `with_figures_of`: other benches whose figures it shows as well.
    """

    beside: str
    says: str
    draw: Callable[[Made], Figure | None]
    with_figures_of: tuple[str, ...] = ()


def images(beside: str, made: Made) -> str:
    """The lines of Markdown for the plots of that bench's part."""
    with styled():
        shown = [(n, plot) for n, plot in PLOTS.items() if plot.beside == beside and plot.draw(made) is not None]
    return "\n\n".join(f"![{plot.says}]({FOLDER}/{name}.svg)" for name, plot in shown)


def draw_plots(made: Made, folder: Path) -> list[str]:
    """Writes every plot that can be drawn, and removes files that are none of them; answers the names of those written.

    One of which another machine has some of the figures stays as it was drawn.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with styled():
        wanted = {name: plot for name, plot in PLOTS.items() if _may_draw(plot, made, folder / f"{name}.svg")}
        figures = {f"{name}.svg": figure for name, plot in wanted.items() if (figure := plot.draw(made)) is not None}
    for file in folder.glob("*.svg"):
        if file.stem not in PLOTS:
            file.unlink()
    for name, figure in figures.items():
        write_svg(figure, folder / name)
    return sorted(figures)


def _may_draw(plot: Plot, made: Made, file: Path) -> bool:
    return not file.exists() or {plot.beside, *plot.with_figures_of} <= set(made)


def _recall_by_k(made: Made) -> Figure | None:
    sets = _sets(made)
    if not sets:
        return None
    figure, drawn = panels("Evidence recall by number of results", len(sets))
    for axes, name in zip(drawn, sets, strict=True):
        lines = dict(_by_k(made, name))
        draw_lines(axes, lines, [one for one in lines if one.startswith("mode")])
        axes.set(
            title=name, xlabel="results, k", ylabel="evidence recall@k (share)", ylim=(0, 1), xticks=[5, 10, 25, 50]
        )
    legend_below(figure, 3)
    return figure


def _sets(made: Made) -> list[str]:
    return list(dict.fromkeys([*made.get("quality", {}), *made.get("ablation", {})]))


def _by_k(made: Made, name: str) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Ours and the rivals in one run; by words and by meaning alone beside them."""
    systems, variants = made.get("quality", {}).get(name, {}).get("systems", {}), made.get("ablation", {}).get(name, {})
    for system in RIVALS:
        if system in systems:
            yield system, _points(systems[system]["recall"]["all"])
    if OURS not in systems and "hybrid" in variants:
        yield OURS, _points(variants["hybrid"]["all"])
    for mode in _MODES:
        if mode in variants:
            yield f"mode {mode}", _points(variants[mode]["all"])


def _points(by_number: Mapping[str, float]) -> list[tuple[float, float]]:
    return [(float(number), value) for number, value in by_number.items()]


def _recall_by_category(made: Made) -> Figure | None:
    found = {name: dict(_recalls(made, name)) for name in _sets(made)}
    if not found:
        return None
    groups = {name: [c for c in recalls[OURS] if c != "all"] for name, recalls in found.items()}
    figure, drawn = panels("Evidence recall@10 by category", len(found), 1.4 + 0.5 * max(map(len, groups.values())))
    for axes, (name, recalls) in zip(drawn, found.items(), strict=True):
        bars = {system: [recall[c]["10"] for c in groups[name]] for system, recall in recalls.items()}
        draw_bars(axes, [category.replace("_", " ") for category in groups[name]], bars)
        axes.set(title=name, xlabel="evidence recall@10 (share)", xlim=(0, 1))
    legend_below(figure)
    return figure


def _recalls(made: Made, name: str) -> Iterator[tuple[str, Any]]:
    systems = made.get("quality", {}).get(name, {}).get("systems", {})
    if OURS in systems:
        yield from ((system, systems[system]["recall"]) for system in RIVALS if system in systems)
    else:
        yield OURS, made["ablation"][name]["hybrid"]


def _latency(made: Made) -> Figure | None:
    quality = made.get("quality")
    if not quality:
        return None
    calls = [(name, kind) for name in quality for kind in ("search", "add")]
    figure, drawn = panels("Time of one call, encoding included", 2)
    for axes, quantile in zip(drawn, ("p50", "p95"), strict=True):
        bars = {
            system: [quality[name]["systems"][system][kind]["whole"][f"{quantile}_ms"] for name, kind in calls]
            for system in RIVALS
            if all(system in of_set["systems"] for of_set in quality.values())
        }
        draw_bars(axes, [f"{kind}, {name}" for name, kind in calls], bars)
        axes.set(title=quantile, xlabel="milliseconds")
    legend_below(figure)
    return figure


def _context_by_budget(made: Made) -> Figure | None:
    contexts = {name: one["in_view"] for name, one in made.get("context", {}).items() if "in_view" in one}
    if not contexts:
        return None
    figure, drawn = panels("Questions with a gold turn in the prompt, by token budget", len(contexts))
    for axes, (name, in_view) in zip(drawn, contexts.items(), strict=True):
        lines = {
            view: [(float(budget), in_view[view][budget]["any"]) for budget in _BUDGETS if budget in in_view[view]]
            for view in _VIEWS
            if view in in_view
        }
        draw_lines(axes, lines, _VIEWS[2:])
        axes.set(title=name, xlabel="budget, tokens", ylabel="questions (share)", ylim=(0, 1))
        axes.set_xticks([float(budget) for budget in _BUDGETS])
    legend_below(figure)
    return figure


def _growth(made: Made) -> Figure | None:
    measured = {"SQLite": _of_sqlite(made), "DynamoDB Local + OpenSearch": _of_aws(made)}
    stores = {name: lines for name, lines in measured.items() if lines}
    if not stores:
        return None
    figure, drawn = panels("Time by events of one user", len(stores))
    for axes, (name, lines) in zip(drawn, stores.items(), strict=True):
        draw_lines(axes, lines, [one for one in lines if one.endswith("p95")])
        logarithmic(axes)
        axes.set(title=name, xlabel="events of the user", ylabel="milliseconds")
    legend_below(figure, 3)
    return figure


def _of_sqlite(made: Made) -> dict[str, list[tuple[float, float]]]:
    by_events = made.get("local-growth", {}).get("one_user", {}).get("by_events", {})
    if not by_events:
        return {}
    lines = {
        f"{call} {quantile}": [(float(size), one[call]["whole"][f"{quantile}_ms"]) for size, one in by_events.items()]
        for call in ("search", "context")
        for quantile in ("p50", "p95")
    }
    scan = [(float(size), one["cold"]["scan_p50_ms"]) for size, one in by_events.items()]
    encoding = [(float(size), one["search"]["encoding"]["p50_ms"]) for size, one in by_events.items()]
    return {**lines, "exact scan p50": scan, "encoding p50": encoding}


def _of_aws(made: Made) -> dict[str, list[tuple[float, float]]]:
    figures = made.get("aws-scale")
    if not figures:
        return {}
    return {
        f"{call} {quantile}": [
            (float(size), times["whole"][f"{quantile}_ms"]) for size, times in figures[call]["by_events"].items()
        ]
        for call in ("search", "context")
        for quantile in ("p50", "p95")
    }


def _store_growth(made: Made) -> Figure | None:
    by_events = made.get("local-growth", {}).get("one_user", {}).get("by_events", {})
    if not by_events:
        return None
    figure, (megabytes, seconds) = panels("SQLite: file, memory and first search by events of one user", 2)
    sizes = {float(size): one for size, one in by_events.items()}
    lines = {
        "file": [(size, one["file_mb"]) for size, one in sizes.items()],
        "memory that stays": [(size, one["cold"]["added_mb"]) for size, one in sizes.items()],
        "memory at most": [(size, one["cold"]["peak_mb"]) for size, one in sizes.items()],
        "vectors as float32": [(size, one["cold"]["matrix_mb"]) for size, one in sizes.items()],
    }
    draw_lines(megabytes, lines, ["vectors as float32"])
    draw_lines(
        seconds,
        {
            "first search of a process": [(size, one["cold"]["first_ms"]) for size, one in sizes.items()],
            "the same search again": [(size, one["cold"]["again_ms"]) for size, one in sizes.items()],
        },
    )
    for axes, unit in ((megabytes, "megabytes"), (seconds, "milliseconds")):
        logarithmic(axes)
        axes.set(xlabel="events of the user", ylabel=unit)
        axes.legend(loc="upper left")
    return figure


PLOTS: Mapping[str, Plot] = {
    "recall-by-k": Plot(
        "quality", "Evidence recall at 5, 10, 25 and 50 results, by data set and system", _recall_by_k, ("ablation",)
    ),
    "recall-by-category": Plot(
        "quality", "Evidence recall at 10 by category of question", _recall_by_category, ("ablation",)
    ),
    "latency": Plot("quality", "Milliseconds of a search and of an add, p50 and p95, by system", _latency),
    "context-by-budget": Plot(
        "context", "Questions with a gold turn in the prompt, by token budget", _context_by_budget
    ),
    "growth": Plot("local-growth", "Milliseconds of search and context by events of one user", _growth, ("aws-scale",)),
    "store-growth": Plot("local-growth", "Megabytes and first search by events of one user on SQLite", _store_growth),
}
