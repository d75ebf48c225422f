"""docs/contradictions.md: words around the matrix, one worked example a shape, and every case that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matrix_words import AFTER_FAILURES, EXAMPLES, HEAD, MATRIX, TAIL, TWINS, UNSEEN

Made = Mapping[str, Any]
Outcome = Mapping[str, Any]
INPUTS = "Inputs: `{}`"
_VERDICTS = ("right", "stale", "lost")
_TWIN_VERDICTS = ("right", "wrongly superseded")
_UNKEYED_GOAL, _TWIN_GOAL = 0.10, 0.02


def page(made: Made) -> str:
    """The page, from what stands in build/contradictions."""
    about = made["about"]
    goal_rows = [(goal, seen, "met" if met else "**missed**") for goal, seen, met in goals(made)]
    parts = [
        HEAD.format(cases=about["cases"], embedder=about["embedder"], made=about["made"]),
        INPUTS.format(about["inputs"]),
        f"## Goals\n\n{_table(['goal', 'seen', ''], goal_rows)}",
        f"## The matrix\n\n{MATRIX}\n\n{_matrix(made, twin=False)}\n\n{_past(made)}",
        f"## Near misses\n\n{TWINS}\n\n{_matrix(made, twin=True)}",
        f"## Worked examples\n\n{EXAMPLES}\n\n{_examples(made)}",
        f"## What fails\n\n{_failed(made)}\n\n{AFTER_FAILURES}",
        f"## In words that nobody has seen\n\n{UNSEEN}",
        TAIL,
    ]
    return "\n\n".join(parts) + "\n"


def goals(made: Made) -> Iterator[tuple[str, str, bool]]:
    """Goal, what was seen, whether it is met: the worst of the four states counts."""
    for keyed, share, text in ((True, 0.0, "keyed: 0 stale"), (False, _UNKEYED_GOAL, "unkeyed: at most 10 % stale")):
        yield _goal(text, [one for one in _of(made, twin=False) if one["keyed"] == keyed], "stale", share)
    yield _goal("near misses: at most 2 % superseded", _of(made, twin=True), _TWIN_VERDICTS[1], _TWIN_GOAL)


def summary(made: Made) -> str:
    """The counts, for the terminal."""
    return f"{_matrix(made, twin=False)}\n\n{_matrix(made, twin=True)}\n\n{_past(made)}"


def failures(made: Made) -> list[str]:
    """Each trial that is not right, once, with the states and what was seen; ids only."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in made["outcomes"]:
        if one["verdict"] != "right":
            name = f"{one['case']}{' (near miss)' if one['twin'] else ''}, {_keyed(one)}"
            found.setdefault((name, f"{one['verdict']}: {one['why']}"), []).append(one["state"])
    every = len({one["state"] for one in made["outcomes"]})
    return [f"{name}: {what}{_in(states, every)}" for (name, what), states in found.items()]


def _in(states: Sequence[str], every: int) -> str:
    return "" if len(states) == every else f" ({', '.join(states)})"


def _goal(text: str, outcomes: Sequence[Outcome], bad: str, share: float) -> tuple[str, str, bool]:
    by_state: dict[str, list[bool]] = {}
    for one in outcomes:
        by_state.setdefault(one["state"], []).append(one["verdict"] == bad)
    worst = max((sum(found), len(found)) for found in by_state.values()) if by_state else (0, 1)
    return text, f"{worst[0]} of {worst[1]} ({100 * worst[0] / worst[1]:.1f} %)", worst[0] <= share * worst[1]


def _matrix(made: Made, twin: bool) -> str:
    outcomes = _of(made, twin)
    states = list(dict.fromkeys(one["state"] for one in outcomes))
    rows = dict.fromkeys((one["shape"], _keyed(one)) for one in outcomes)
    verdicts = _TWIN_VERDICTS if twin else _VERDICTS
    cells = Counter((one["shape"], _keyed(one), one["state"], one["verdict"]) for one in outcomes)
    total = Counter((_keyed(one), one["state"], one["verdict"]) for one in outcomes)
    lines = [[*row, *(_cell(cells, (*row, state), verdicts) for state in states)] for row in sorted(rows, key=_order)]
    kinds = sorted({_keyed(one) for one in outcomes})
    sums = [["**all**", kind, *(_cell(total, (kind, state), verdicts) for state in states)] for kind in kinds]
    return _table(["shape", "", *states], [*lines, *sums])


def _order(row: tuple[str, str]) -> tuple[int, str]:
    shapes = ("replacement", "polarity", "retraction", "partial", "bounded")
    return shapes.index(row[0]), row[1]


def _cell(counts: Counter[Any], place: tuple[str, ...], verdicts: Sequence[str]) -> str:
    return " / ".join(str(counts[(*place, verdict)]) for verdict in verdicts)


def _past(made: Made) -> str:
    asked = [one["past"] for one in _of(made, twin=False) if one["past"] is not None]
    return (
        f"`as_of` an instant between the two turns: {sum(asked)} of {len(asked)} answer as it was then (what was "
        "retracted is shown at no instant)."
    )


def _examples(made: Made) -> str:
    right = {one["case"] for one in _of(made, twin=False)} - {
        one["case"] for one in _of(made, twin=False) if one["verdict"] != "right" and not one["keyed"]
    }
    chosen: dict[str, Any] = {}
    for example in made["examples"]:
        shape = example["case"].split("-")[0]
        if example["case"] in right:
            chosen.setdefault(shape, example)
    return "\n\n".join(_example(shape, one) for shape, one in chosen.items())


def _example(shape: str, example: Made) -> str:
    shown = [[name, "<br>".join(map(_cited, contents)) or "nothing"] for name, contents in example["shown"].items()]
    statuses = ", ".join(status or "no memory" for status in example["statuses"])
    return (
        f"### {shape.capitalize()}\n\n`{example['case']}`: {_cited(example['earlier'])}, then "
        f"{_cited(example['later'])}. Status of the two: {statuses}.\n\n"
        + _table([f"a search for “{example['attribute']}”", "answers"], shown)
    )


def _failed(made: Made) -> str:
    lines = failures(made)
    return "\n".join(f"- {line}" for line in lines) if lines else "Nothing."


def _of(made: Made, twin: bool) -> list[Outcome]:
    return [one for one in made["outcomes"] if one["twin"] == twin]


def _keyed(one: Outcome) -> str:
    return "keyed" if one["keyed"] else "unkeyed"


def _cited(text: str) -> str:
    return "“" + " ".join(text.split()).replace("|", "\\|") + "”"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
