"""The parts of the page about contradictions, and their goals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from bench_tables import table

Figures = Mapping[str, Any]
FALSE_GOAL = 0.005

_DECISIONS = """Each of LoCoMo dev's turns with its vector, as a candidate against the {existing} turns before it:
detector and arbiter (A-69 to A-89), over the bare cosine of the same vectors with numpy, pair by pair, and over one
matrix product a candidate. The best of the rounds, in turns; {arbitrated} of {count} had a conflict to arbitrate."""

_READING = """The cue rules read every turn that is projected; over splitting the same texts into words. {strong} of
{texts} turns say something that a rule recognises."""

_FALSE = """LoCoMo dev ingested whole, as `recollect import` does, each conversation a user, SQLite, MiniLM: every
decision that was applied. The two texts of each are in `build/bench/supersessions.txt` after a run; a person reads
them, and `infra/bench/reviewed_supersessions.json` keeps which are right. What nobody has called right counts as
false; {unread} are unread."""

_UPDATES = """BEAM dev's questions about what has changed that have more than one gold turn: a search for {wanted} with
the question, after the whole conversation. Counted is where the newest gold turn is found and no older one stands
before it. *Off*: the same store with `conflict.auto_apply` at `off`."""


def decisions_part(made: Mapping[str, Figures]) -> str:
    """Speed of the arbiter and of the reader."""
    figures = made["contradictions"]
    decisions, reading = figures["decisions"], figures["reading"]
    speeds = decisions["per_second"]
    rows = [
        ["detector and arbiter", f"{speeds['decisions']:,.0f}", "1"],
        ["bare cosine, pair by pair", f"{speeds['cosine']:,.0f}", f"{decisions['ratio']:.2f}"],
        ["bare cosine, one product", f"{speeds['product']:,.0f}", f"{decisions['ratio_of_product']:.2f}"],
    ]
    words = reading["microseconds"]
    texts = [["cue rules", f"{words['reading']:.0f}", f"{reading['ratio']:.1f}"]]
    texts += [["splitting into words", f"{words['splitting']:.1f}", "1"]]
    texts += [["keywords", f"{words['keywords']:.0f}", f"{words['keywords'] / words['splitting']:.1f}"]]
    return f"""{_DECISIONS.format(**decisions)}

{table(["of one candidate", "a second", "time of a decision over it"], rows)}

{_READING.format(**reading)}

{table(["of one text", "µs", "over splitting"], texts)}"""


def false_part(made: Mapping[str, Figures]) -> str:
    """Decisions on LoCoMo by rule."""
    figures = made["false-supersessions"]
    by_rule: dict[tuple[str, str], Counter[bool | None]] = {}
    for one in figures["decisions"]:
        by_rule.setdefault((one["rule"], one["outcome"]), Counter())[one["right"]] += 1
    rows = [
        [f"`{rule}`", outcome, sum(found.values()), found[True], found[False] + found[None]]
        for (rule, outcome), found in sorted(by_rule.items(), key=lambda item: -sum(item[1].values()))
    ]
    open_ones = sum((Counter(one) for one in figures["open_conflicts"].values()), Counter[str]())
    opened = ", ".join(f"{count} by step `{step}`" for step, count in sorted(open_ones.items())) or "none"
    false = ", ".join(f"`{one}`" for one in figures["false"]) or "none"
    return f"""{_FALSE.format(unread=figures["unread"])}

{table(["rule", "outcome", "decisions", "right", "false"], rows)}

False (conversation, newer turn, older turn): {false}. Conflicts left open: {opened}."""


def updates_part(made: Mapping[str, Figures]) -> str:
    """Newest gold turn above the older ones, by category."""
    figures = made["beam-updates"]
    rows = [
        [category.replace("_", " "), count, *(figures["first"][way][category] for way in ("cues", "off"))]
        for category, count in figures["questions"].items()
    ]
    head = ["questions about", "questions", "newest first", "newest first, off"]
    return f"{_UPDATES.format(wanted=100)}\n\n{table(head, rows)}"


def contradiction_goals(made: Mapping[str, Figures]) -> Iterator[tuple[str, str, bool]]:
    """The goals, and what was seen."""
    if "false-supersessions" in made:
        figures = made["false-supersessions"]
        seen = f"{len(figures['false'])} of {figures['turns']} turns ({100 * figures['share']:.2f} %)"
        yield "false supersessions, LoCoMo dev ingested whole: < 0.5 % of turns", seen, figures["share"] < FALSE_GOAL
    if "beam-updates" in made:
        figures = made["beam-updates"]
        count = sum(figures["questions"].values())
        first, off = (sum(figures["first"][way].values()) for way in ("cues", "off"))
        yield "newest gold turn above the older ones, BEAM dev", f"{first} of {count} (off: {off})", first == count
