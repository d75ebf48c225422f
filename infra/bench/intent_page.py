"""The part of the page about retrieval by intent, and its goals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench_tables import points, table

Figures = Mapping[str, Any]
_WINDOWS = {"14": "14 days (the default)", "90": "90 days", "all": "the whole conversation"}
_PARTS = {
    "extraction": ("R-90: keywords of a query", "`str.split`", 50),
    "classification": ("R-91: intent of a query", "one test for `?`", 30),
    "scoring": ("R-92: relevance of 100 records", "`casefold` and `in`", 100),
}
_WHOLE_MS = 200

_TIMES = """Mode `intent` loads no model. Its parts over the barest thing that looks like them, best of seven runs in
turns; then whole queries over a space of {records:,} records on SQLite, in one process, over the date-based mode (one
page of the timeline). A hundred at once share two cores and one interpreter: what a Lambda function sees, which has
one query at a time, is the row *one after another*, and *processor* is what each of the hundred used itself."""

_SHOWN = """Questions of {names}, asked when the conversation has ended, against the date-based mode ("Stage 4": the
newest 20 of the same window). Tokens are those of the truncated context (R-45). LoCoMo asks about months, so fourteen
days back from its end hold little of what is asked; the wider windows show what the mode itself does."""


def intent_part(made: Mapping[str, Figures]) -> str:
    """Times, and what is shown."""
    figures = made["intent"]
    names = ", ".join(figures["shown"])
    return f"""{_TIMES.format(records=figures["records"])}

{_times_table(figures)}

{_SHOWN.format(names=names)}

{_shown_table(figures["shown"])}"""


def intent_goals(made: Mapping[str, Figures]) -> Iterator[tuple[str, str, bool]]:
    """The goals of the document, and what was seen."""
    if "intent" not in made:
        return
    figures = made["intent"]
    for name, (what, _, limit) in _PARTS.items():
        one = figures["parts"][name]
        yield f"{what}: < {limit} ms", f"{one['ms']:.4f} ms ({one['ratio']:.1f} of the baseline)", one["ms"] < limit
    mean = figures["whole"]["mean_ms"]
    yield (
        f"R-93: a query by intent over {figures['records']:,} records: < {_WHOLE_MS} ms",
        f"{mean:.1f} ms",
        mean < _WHOLE_MS,
    )
    load = figures["load"]
    seen = f"{load['together']['p95_ms']:.0f} ms in one process; one after another {load['alone']['p95_ms']:.0f} ms"
    goal = f"R-94: p95 of 100 such queries at once: < {_WHOLE_MS} ms"
    yield goal, seen, load["together"]["p95_ms"] < _WHOLE_MS
    for name, shown in figures["shown"].items():
        for days, one in shown["windows"].items():
            yield from _shown_goals(name, _WINDOWS[days], one)


def _shown_goals(name: str, window: str, one: Figures) -> Iterator[tuple[str, str, bool]]:
    ours, theirs = one["intent"], one["date_based"]
    where = f"{name}, {window}"
    yield f"R-95: records of a query: < 10, {where}", f"{ours['records']:.1f}", ours["records"] < 10
    seen = f"{100 * one['saved']:.0f} % ({ours['tokens']:.0f} of {theirs['tokens']:.0f})"
    yield f"R-96: tokens saved over the date filter: ≥ 30 %, {where}", seen, one["saved"] >= 0.3
    gold = f"{points(ours['gold'])} against {points(theirs['gold'])}"
    yield f"R-05: with a gold turn more often, {where}", gold, ours["gold"] > theirs["gold"]
    zero = one["zero_matches"]
    yield f"R-97: queries that match nothing: < 5 %, {where}", f"{100 * zero:.1f} %", zero < 0.05
    yield f"R-117: queries that fall back: < 10 %, {where}", f"{100 * one['fallbacks']:.1f} %", one["fallbacks"] < 0.1


def _times_table(figures: Figures) -> str:
    rows = [
        (what, f"{one['ms']:.4f}", f"{baseline}: {one['baseline_ms']:.4f}", f"{one['ratio']:.1f}")
        for name, (what, baseline, _) in _PARTS.items()
        for one in (figures["parts"][name],)
    ]
    whole, load = figures["whole"], figures["load"]
    ours, dated = whole["ours"], whole["date_based"]
    rows += [
        ("R-93: a query, p50 / p95", _pair(ours), f"date-based: {_pair(dated)}", f"{whole['ratio']:.1f}"),
        (
            "R-94: 100 at once, p50 / p95",
            _pair(load["together"]),
            f"one after another: {_pair(load['alone'])}",
            f"{load['ratio']:.1f}",
        ),
        ("R-94: processor of each, p50 / p95", _pair(load["cpu"]), "", ""),
    ]
    return table(["", "ms", "baseline, ms", "ratio"], rows)


def _shown_table(shown: Mapping[str, Figures]) -> str:
    rows = [
        (
            f"{name}, {_WINDOWS[days]}",
            f"{one['intent']['records']:.1f} / {one['date_based']['records']:.1f}",
            f"{one['intent']['tokens']:.0f} / {one['date_based']['tokens']:.0f}",
            f"{100 * one['saved']:.0f} %",
            f"{points(one['intent']['gold'])} / {points(one['date_based']['gold'])}",
            f"{100 * one['zero_matches']:.1f} %",
            f"{100 * one['fallbacks']:.1f} %",
        )
        for name, figures in shown.items()
        for days, one in figures["windows"].items()
    ]
    head = ["intent / date-based", "records", "tokens", "saved", "gold turn shown", "no match", "fallback"]
    return table(head, rows)


def _pair(figures: Figures) -> str:
    return f"{figures['p50_ms']:.1f} / {figures['p95_ms']:.1f}"
