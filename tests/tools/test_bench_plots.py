"""The plots of docs/benchmarks.md: the same figures make the same bytes, and the page shows every file there is."""

import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "infra" / "bench"
DOCS = ROOT / "docs"
MODULES = ("plots", "plot_style", "bench_page")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    return {name: importlib.import_module(name) for name in MODULES}


def cuts(first: float) -> dict[str, float]:
    return {k: first + 0.1 * place for place, k in enumerate(("5", "10", "25", "50"))}


def times(p50: float) -> dict[str, dict[str, float]]:
    return {part: {"p50_ms": p50, "p95_ms": 2 * p50, "count": 9} for part in ("whole", "encoding", "rest")}


def system(recall: float, ms: float) -> dict[str, Any]:
    by_category = {"all": cuts(recall), "multi_hop": cuts(recall - 0.1), "temporal": cuts(recall)}
    return {"recall": by_category, "search": times(ms), "add": times(3 * ms)}


@pytest.fixture
def made() -> dict[str, Any]:
    """A little of everything that is drawn."""
    quality = {"chat-dev": {"systems": {"Recollect": system(0.5, 5), "mem0": system(0.4, 20)}}}
    modes = {mode: {"all": cuts(0.3), "by_meaning": cuts(0.2)} for mode in ("hybrid", "semantic", "lexical")}
    cold = dict.fromkeys(("first_ms", "again_ms", "added_mb", "peak_mb", "matrix_mb", "scan_p50_ms"), 2.0)
    by_events = {
        str(size): {"search": times(size / 50), "context": times(size / 40), "cold": cold, "file_mb": size / 100}
        for size in (1_000, 10_000)
    }
    aws = {call: {"by_events": {"1000": times(30), "10000": times(40)}} for call in ("search", "context")}
    in_view = {"prompt": {budget: {"any": 0.5} for budget in ("none", "1000", "2000", "4000")}}
    return {
        "quality": quality,
        "ablation": {"chat-dev": modes, "zh-dev": modes},
        "context": {"chat-dev": {"in_view": in_view}},
        "local-growth": {"one_user": {"by_events": by_events}},
        "aws-scale": aws,
    }


def test_the_same_figures_make_the_same_bytes(
    bench: dict[str, ModuleType], made: dict[str, Any], tmp_path: Path
) -> None:
    first = bench["plots"].draw_plots(made, tmp_path / "first")
    matplotlib = importlib.import_module("matplotlib")
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": "another", "axes.facecolor": "red"}):
        second = bench["plots"].draw_plots(made, tmp_path / "second")
    assert first == second == sorted(f"{name}.svg" for name in bench["plots"].PLOTS)
    for name in first:
        text = (tmp_path / "first" / name).read_bytes()
        assert text == (tmp_path / "second" / name).read_bytes()
        assert len(text) < 150_000
        assert b"dc:date" not in text


def test_every_plot_says_what_it_shows(bench: dict[str, ModuleType], made: dict[str, Any]) -> None:
    """A title, names and units on the axes, a legend, a ground of its own for pages light and dark."""
    for name, plot in bench["plots"].PLOTS.items():
        with bench["plot_style"].styled():
            figure = plot.draw(made)
        assert figure.get_suptitle(), name
        assert figure.get_facecolor() == (1, 1, 1, 1), name
        assert figure.legends or all(axes.get_legend() for axes in figure.axes), name
        for axes in figure.axes:
            assert axes.get_xlabel(), name
            assert axes.get_ylabel() or any(label.get_text() for label in axes.get_yticklabels()), name
        root = ElementTree.fromstring(bench["plot_style"].svg_of(figure))
        written = {"".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")}
        assert figure.get_suptitle() in written, name


def test_what_was_not_measured_is_not_drawn_anew(
    bench: dict[str, ModuleType], made: dict[str, Any], tmp_path: Path
) -> None:
    del made["quality"], made["context"]["chat-dev"]["in_view"], made["local-growth"]
    (tmp_path / "latency.svg").write_text("of an earlier run", "utf-8")
    assert bench["plots"].draw_plots(made, tmp_path) == ["growth.svg", "recall-by-category.svg", "recall-by-k.svg"]
    assert (tmp_path / "latency.svg").read_text("utf-8") == "of an earlier run"
    (tmp_path / "renamed-since.svg").write_text("no plot has this name", "utf-8")
    assert bench["plots"].draw_plots({}, tmp_path) == []
    kept = {"growth.svg", "latency.svg", "recall-by-category.svg", "recall-by-k.svg"}
    assert {file.name for file in tmp_path.iterdir()} == kept


def test_the_page_shows_what_is_drawn(bench: dict[str, ModuleType], made: dict[str, Any], tmp_path: Path) -> None:
    shown = [
        image
        for part in ("quality", "context", "local-growth")
        for image in shown_in(bench["plots"].images(part, made))
    ]
    assert sorted(shown) == [f"plots/{name}" for name in bench["plots"].draw_plots(made, tmp_path)]
    named = {needed[0] for _, needed, _ in bench["bench_page"]._PARTS}
    assert {plot.beside for plot in bench["plots"].PLOTS.values()} <= named


def test_the_committed_page_shows_every_committed_plot() -> None:
    files = {f"plots/{file.name}" for file in (DOCS / "plots").glob("*.svg")}
    assert files
    assert set(shown_in((DOCS / "benchmarks.md").read_text("utf-8"))) == files


def shown_in(text: str) -> list[str]:
    return re.findall(r"!\[[^\]]+\]\((plots/[^)]+)\)", text)
