"""How every plot looks, and how it becomes a file: the same figures make the same bytes.

A white ground of its own, so that a plot can be read on a light page and on a dark one; colours that the colour-blind
tell apart, and a marker for each beside them; text as text, which keeps files small.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_STYLE: Any = {
    "svg.hashsalt": "recollect",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.titlesize": 10,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "path.simplify": False,
}
_PANEL_INCHES = 3.6
_FEW_POWERS = 300

Lines = Mapping[str, Sequence[tuple[float, float]]]
"""Points by what the legend calls them."""


@contextmanager
def styled() -> Iterator[None]:
    """Whatever is drawn inside looks so, whatever the machine's own settings are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def panels(title: str, count: int, height: float = 3.4) -> tuple[Figure, list[Axes]]:
    """A figure with that many panels side by side, under one title."""
    figure = Figure(figsize=(max(_PANEL_INCHES * count, 5.0), height), layout="constrained")
    figure.suptitle(title, fontsize=11)
    drawn = figure.subplots(1, count, squeeze=False)
    return figure, list(drawn[0])


def draw_lines(axes: Axes, lines: Lines, dashed: Sequence[str] = ()) -> None:
    """A line with markers for each name."""
    for (name, points), colour, marker in zip(lines.items(), cycle(COLOURS), cycle(MARKERS), strict=False):
        across, up = zip(*points, strict=True)
        style = "--" if name in dashed else "-"
        axes.plot(across, up, style, color=colour, marker=marker, markersize=4.5, linewidth=1.5, label=name)


def draw_bars(axes: Axes, groups: Sequence[str], values: Mapping[str, Sequence[float]]) -> None:
    """Horizontal bars, a group for each name on the axis; the first group on top."""
    height = 0.8 / len(values)
    for number, ((name, lengths), colour) in enumerate(zip(values.items(), cycle(COLOURS), strict=False)):
        places = [group + (number - (len(values) - 1) / 2) * height for group in range(len(groups))]
        axes.barh(places, lengths, height * 0.9, color=colour, label=name)
    axes.set_yticks(range(len(groups)), groups)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")


def logarithmic(axes: Axes) -> None:
    """Across and up; numbers written out, 1, 2 and 5 of each power of ten where the axis spans few of them."""
    axes.set(xscale="log", yscale="log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < _FEW_POWERS else (1.0,)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def legend_below(figure: Figure, columns: int = 4) -> None:
    """One legend for all panels, from the one with the most names in it."""
    handles, labels = max((axes.get_legend_handles_labels() for axes in figure.axes), key=lambda pair: len(pair[1]))
    figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, len(labels)))


def svg_of(figure: Figure) -> str:
    """The file's text, without date or version."""
    target = io.BytesIO()
    with styled():
        figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    text = target.getvalue().decode("utf-8")
    return re.sub(r"[ \t]+\n", "\n", text)


def write_svg(figure: Figure, file: Path) -> None:
    """Writes it where it has changed."""
    text = svg_of(figure)
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")
