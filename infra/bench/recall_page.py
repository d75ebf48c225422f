"""The parts of the page about recall of evidence: by category, left out, on the engines; and their goals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench_tables import OURS, ablation_table, passage_table, points, table

Figures = Mapping[str, Any]
Goal = tuple[str, str, bool]
RECALL_GOALS = {"locomo-dev": 0.87, "beam-dev": 0.74, "madial-zh-dev": 0.67}
CUTS = ("5", "10", "25", "50")
SAME_WITHIN, NOISE = 0.02, 0.025
_FEW, _MANY, _MANY_EVENTS = 2.0, 6.0, "100000"

_RECALL = """Evidence recall@k is the share of a question's gold turns among the first k of the default
`POST /v1/search`, with one configuration for all data, as `recollect eval DATA --k 5,10,25,50` prints it."""

_CHOSEN = f"""A difference under {NOISE} is noise on these sets. The weights are one setting for all data; they, and the
form of the passage, were chosen with these dev sets in view, so recall on conversations nobody has seen may be lower:
the next part estimates by how much."""

_LEFT_OUT = """How much of the recall may come from weights that suit these very conversations? The default and
{others} mixes around it, with one weight halved, one doubled, or both, rank what the default search names, in the
process. For each conversation the mix is taken that has the best recall@10 on **all other conversations** (the mean
over the data sets, each set counting alike), and judged on the one left out. *Default* is the shipped mix, which was
chosen with all of them in view; an old turn in whose place a search shows its successor counts as itself here, so it
may have a little more than above. This shows how much the choice of weights gains or loses on a conversation that had
no say in it. It does not show what the choice of the signals themselves, made on the same sets, is worth on others:
only conversations that nobody looked at can, and there are none here."""

_ENGINES = """The same turns and questions through the same use cases on both: the engines name the candidates, the
domain ranks. *Lost* are gold turns that only SQLite has among the first ten, *gained* those that only OpenSearch has,
as shares of a question's gold turns. What may differ is whom an engine names: OpenSearch's nearest vectors are
approximate."""


def ranking_part(made: Mapping[str, Figures]) -> str:
    """Recall by category, then the forms of a passage and the signals."""
    return f"""{_RECALL}

{categories_table(made["ablation"])}

What stands before the text when it is embedded, by the embedder's cosine alone on LoCoMo dev:

{passage_table(made["passages"])}

Recall@10 of the search, with each signal of the default mix off (`RankingPolicy`), and of the other two modes:

{ablation_table(made["ablation"])}

{_CHOSEN}"""


def categories_table(ablation: Figures) -> str:
    """Recall of the default search by data set, category and k."""
    rows = [
        [name, f"**{category}**" if category == "all" else category.replace("_", " "), *(points(at[k]) for k in CUTS)]
        for name, variants in ablation.items()
        for category, at in variants["hybrid"].items()
    ]
    return table(["data", "questions about", *(f"@{k}" for k in CUTS)], rows)


def left_out_part(made: Mapping[str, Figures]) -> str:
    """Each conversation by the default mix and by the one that the others choose."""
    figures = made["weights"]
    rows = [
        [*(one[name] for name in ("data", "conversation", "questions")),
         points(one["default"]), points(one["left_out"]), one["mix"]]
        for one in figures["conversations"]
    ]  # fmt: skip
    rows += [
        [name, "**all**", "", points(value), points(figures["left_out"][name]), ""]
        for name, value in figures["default"].items()
    ]
    best = figures["chosen_on_all"]
    seen = ", ".join(f"{points(value)} ({name})" for name, value in best["recall"].items())
    head = ["data", "conversation left out", "questions", "default", "chosen without it", "the mix chosen"]
    return f"""{_LEFT_OUT.format(others=figures["mixes"] - 1)}

{table(head, rows)}

Chosen on all of them at once, the best of these mixes is: {best["mix"]}. It has {seen}."""


def engines_part(made: Mapping[str, Figures]) -> str:
    """Both engines by data set."""
    rows = [
        [name, one["questions"], points(one["laptop"]), points(one["engines"]),
         f"{one['engines'] - one['laptop']:+.3f}", points(one["lost"]), points(one["gained"]),
         f"{100 * one['same_ten']:.1f} %"]
        for name, one in made["aws-recall"].items()
    ]  # fmt: skip
    head = ["data", "questions", "SQLite", "OpenSearch", "difference", "lost", "gained", "the same ten"]
    return f"{_ENGINES}\n\n{table(head, rows)}"


def recall_goals(made: Mapping[str, Figures]) -> Iterator[Goal]:
    """What was asked of the default search, and what was seen."""
    for name, variants in made.get("ablation", {}).items():
        recall, least = variants["hybrid"]["all"]["10"], RECALL_GOALS[name]
        yield f"recall@10 of the default search, {name}: ≥ {least:g}", points(recall), recall >= least
    for name, one in made.get("aws-recall", {}).items():
        seen = f"{points(one['engines'])} against {points(one['laptop'])}"
        seen += f" (lost {points(one['lost'])}, gained {points(one['gained'])})"
        met = abs(one["engines"] - one["laptop"]) <= SAME_WITHIN
        yield f"recall@10 on OpenSearch that of SQLite within {SAME_WITHIN:g}, {name}", seen, met
    yield from _of_times(made)


def _of_times(made: Mapping[str, Figures]) -> Iterator[Goal]:
    """A whole search over one encoding of the question, both in one run."""
    for name, figures in made.get("quality", {}).items():
        if "search" not in figures["systems"][OURS]:
            continue
        turns = f"{figures['turns'] / figures['users']:.0f} turns" if "users" in figures else "one conversation"
        yield _of_time(f"search of a user of {turns}, {name}", figures["systems"][OURS]["search"], _FEW)
    many = made.get("local-scale", {}).get("search", {}).get("by_events", {})
    if _MANY_EVENTS in many:
        yield _of_time("search of a user with 10^5 events", many[_MANY_EVENTS], _MANY)


def _of_time(what: str, times: Figures, most: float) -> Goal:
    over = times["whole"]["p50_ms"] / times["encoding"]["p50_ms"]
    seen = f"{over:.2f} ({times['whole']['p50_ms']:.1f} ms over {times['encoding']['p50_ms']:.1f} ms)"
    return f"{what}, over one encoding of the question: ≤ {most:g}", seen, over <= most
