"""The collection of contradictions (``cases.json``): how a later turn bears on an earlier one, each with a near miss.

The first 150 were written before the cue rules, from what people say in chats; those named ``…-plain-…``,
``…-unseen-…``, ``…-later-…`` and ``…-fresh-…`` by people who had not seen the rules, and measured before anything was
changed for them (docs/contradictions.md tells the rates). A bounded case carries three instants: ``until`` is the
first instant at which the bound no longer holds (UTC, a named day counted to its end), ``during`` and ``after`` are
instants at which any reading of the words agrees that the bound holds, or no longer does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

Shape = Literal["replacement", "polarity", "retraction", "partial", "bounded"]
Expect = Literal["superseded", "retracted", "bounded", "partial"]
TwinKind = Literal[
    "other_person", "hypothetical", "quotation", "past", "question", "other_attribute", "negated_cue", "plan"
]

SHAPES: tuple[Shape, ...] = get_args(Shape)
TWIN_KINDS: tuple[TwinKind, ...] = get_args(TwinKind)
PATH = Path(__file__).with_name("cases.json")


@dataclass(frozen=True, slots=True)
class Turn:
    """One chat turn: its text, its aware instant, and who said it (no speaker: the user themselves)."""

    text: str
    at: datetime
    role: Literal["user", "bot"] = "user"
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of a case: exclusive end, and two instants on either side that no reading disputes."""

    until: datetime
    during: datetime
    after: datetime


@dataclass(frozen=True, slots=True)
class Twin:
    """The near miss: its later turn resembles the case's and must leave the earlier turn as it is."""

    kind: TwinKind
    earlier: Turn
    later: Turn


@dataclass(frozen=True, slots=True)
class Case:
    """One contradiction. ``keyed`` is the slot of the variant with an explicit key; ``bound`` is there iff bounded."""

    id: str
    shape: Shape
    attribute: str
    keyed: str | None
    earlier: Turn
    later: Turn
    expect: Expect
    bound: Bound | None
    twin: Twin


def load_cases() -> tuple[Case, ...]:
    """All cases in the order of the file."""
    return tuple(_case(**raw) for raw in json.loads(PATH.read_text(encoding="utf-8")))


def _case(
    *, earlier: Mapping[str, Any], later: Mapping[str, Any], twin: Mapping[str, Any], keyed: Any = None, **more: Any
) -> Case:
    bound = {name: datetime.fromisoformat(more.pop(name)) for name in ("until", "during", "after") if name in more}
    return Case(
        earlier=_turn(earlier),
        later=_turn(later),
        twin=Twin(twin["kind"], _turn(twin.get("earlier", earlier)), _turn(twin["later"])),
        keyed=keyed,
        bound=Bound(**bound) if bound else None,
        **more,
    )


def _turn(raw: Mapping[str, Any]) -> Turn:
    return Turn(**{**raw, "at": datetime.fromisoformat(raw["at"])})
