"""The part of the page about what stands in a context, and its goals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench_tables import milliseconds, points, table
from context_views import INTENT, INTENT_OF_ALL, LAST_MESSAGES, PROMPT, PROMPT_OF_HITS, STAGE_4, STAGE_4_OF_ALL

Figures = Mapping[str, Any]
_BUDGETS = {"none": "no budget", "1000": "1,000 tokens", "2000": "2,000 tokens", "4000": "4,000 tokens"}
_LEAST_SAVED = 0.3

_IN_VIEW = """The share of questions with *any* / *all* of their gold turns in view, and the mean size with the
question in tokens of four characters (a CJK character is one), by the budget that each was held to. Each is asked at
the end of its conversation; no summaries were made.

- *last 20 messages*, *newest messages that fit*: as they are, the oldest giving way first; without a budget the second
  is the whole conversation.
- *date filter*: the mode that retrieval by intent builds on ("Stage 4"), the newest 20 records of the days that the
  question names, else of the last 14 days; or the newest 20 of all days. *search by intent*: `mode: intent`. The
  records of both stand whole in a prompt like that of a context, and give way from the oldest, or the weakest.
- *prompt*, *messages*: both forms of `POST /v1/context` with `token_budget`. By default at most eight memories (K-22,
  P-1: five of the newest, three that search finds), so where eight short messages fit into 1,000 tokens, more budget
  adds nothing. *50 places* is the same call with `limits: {"total": 50, "semantic": 45}`, *50 search hits* with
  `{"total": 50, "recent": 0, "semantic": 50, "important": 0}`; 50 is the most that a request may ask for.

A budget takes important memories first, then search hits, then the oldest of the recent ones (`messages`: of the ten
newest messages, which `limits` do not lower). Where one message is as long as a budget, as in BEAM, the newest push out
all that search found: a caller with a small budget and long messages should ask for `recent: 0`."""

_SAVED = """Tokens saved over the date filter at its default window and at all days, without a budget, and the share of
questions with any gold turn, the filter's in brackets (R-05). Records stand whole here; *Retrieval by intent* has the
figures of R-96, with records cut at 100 characters. Where the last 14 days hold next to nothing (MADial's memories lie
weeks apart), so does the date filter's prompt, and nothing can be saved over it. Retrieval by intent matches words
between spaces and marks, so that a Chinese clause is one word, which hardly any record has."""

_ASSEMBLY = """Deciding on web search, choosing, rendering and fitting (*assembly*, the best of five for each of 100
questions, on what the call itself had read), over the whole call with the query's encoding, and over the rest of it."""


def context_part(made: Mapping[str, Figures]) -> str:
    """What is in view, what it saves, what assembling takes."""
    figures = made["context"]
    return f"""{_IN_VIEW}

{_in_view_table(figures)}

{_SAVED}

{_saved_table(figures)}

{_ASSEMBLY}

{_assembly_table(figures)}"""


def context_goals(made: Mapping[str, Figures]) -> Iterator[tuple[str, str, bool]]:
    """At each budget above both baselines; R-05; assembling."""
    if "context" not in made:
        return
    contexts = made["context"]
    for name, figures in contexts.items():
        yield from _without_budget(name, figures["in_view"])
        yield from _at_each_budget(name, figures["in_view"])
    for name, figures in contexts.items():
        yield from _saved_goals(name, figures["in_view"])
    for name, figures in contexts.items():
        share = figures["times"]["share"]["whole"]
        yield f"assembling a prompt, share of the context call: < 10 %, {name}", f"{100 * share:.1f} %", share < 0.1


def _without_budget(name: str, in_view: Figures) -> Iterator[tuple[str, str, bool]]:
    ours, last = in_view[PROMPT]["none"], in_view[LAST_MESSAGES]["none"]
    seen = f"{points(ours['any'])} at {ours['tokens']:.0f} against {points(last['any'])} at {last['tokens']:.0f} tokens"
    goal = f"gold turn in the prompt more often than in the last 20 messages, at most their tokens, {name}"
    yield goal, seen, ours["any"] > last["any"] and ours["tokens"] <= last["tokens"]


def _at_each_budget(name: str, in_view: Figures) -> Iterator[tuple[str, str, bool]]:
    """Of the prompt by default; what raised limits give is told beside it."""
    for budget, spoken in list(_BUDGETS.items())[1:]:
        ours, last, dated, hits = (
            in_view[view][budget]["any"] for view in (PROMPT, LAST_MESSAGES, STAGE_4, PROMPT_OF_HITS)
        )
        seen = f"{points(ours)} against {points(last)} and {points(dated)}; with 50 search hits {points(hits)}"
        goal = f"gold turn in the prompt at {spoken} more often than in the last 20 messages and by Stage 4, {name}"
        yield goal, seen, ours > max(last, dated)


def _saved_goals(name: str, in_view: Figures) -> Iterator[tuple[str, str, bool]]:
    """Of the prompt by default, without a budget; those of retrieval by intent stand with its own figures."""
    for baseline in (STAGE_4, STAGE_4_OF_ALL):
        ours, theirs = in_view[PROMPT]["none"], in_view[baseline]["none"]
        share = _saved_over(ours, theirs)
        seen = f"{100 * share:.0f} % ({ours['tokens']:.0f} of {theirs['tokens']:.0f}), "
        seen += f"{points(ours['any'])} against {points(theirs['any'])}"
        goal = f"R-05: a prompt of 30 % fewer tokens than Stage 4's ({baseline}), a gold turn in it more often, {name}"
        yield goal, seen, share >= _LEAST_SAVED and ours["any"] > theirs["any"]


def _saved_over(ours: Mapping[str, float], theirs: Mapping[str, float]) -> float:
    return 1 - ours["tokens"] / theirs["tokens"]


def _in_view_table(figures: Figures) -> str:
    rows = [
        [name, view, *(_cell(by_budget[budget]) for budget in _BUDGETS)]
        for name, of_set in figures.items()
        for view, by_budget in of_set["in_view"].items()
    ]
    return table(["data", "any / all, tokens", *_BUDGETS.values()], rows)


def _cell(one: Mapping[str, float]) -> str:
    return f"{points(one['any'])} / {points(one['all'])}, {one['tokens']:,.0f}"


def _saved_table(figures: Figures) -> str:
    rows = [
        [name, view, *(_against(of_set["in_view"], view, baseline) for baseline in (STAGE_4, STAGE_4_OF_ALL))]
        for name, of_set in figures.items()
        for view in (PROMPT, INTENT, INTENT_OF_ALL)
    ]
    return table(["data", "no budget", f"over the {STAGE_4}", f"over the {STAGE_4_OF_ALL}"], rows)


def _against(in_view: Figures, view: str, baseline: str) -> str:
    ours, theirs = in_view[view]["none"], in_view[baseline]["none"]
    return f"{100 * _saved_over(ours, theirs):.0f} %, {points(ours['any'])} ({points(theirs['any'])})"


def _assembly_table(figures: Figures) -> str:
    rows = [
        [
            name,
            milliseconds(one["times"]["whole"]),
            milliseconds(one["times"]["rest"]),
            f"{one['times']['assembly']['p50_ms']:.2f} / {one['times']['assembly']['p95_ms']:.2f}",
            *(f"{100 * one['times']['share'][part]:.1f} %" for part in ("whole", "rest")),
        ]
        for name, one in figures.items()
    ]
    head = ["data", "whole, ms", "without encoding, ms", "assembly, ms", "of the whole", "of the rest"]
    return table(head, rows)
