"""The collection of contradictions (``cases.json``): how a later turn bears on an earlier one, each with a near miss.

The first 150 were written before the cue rules, from what people say in chats; those named ``…-plain-…``,
``…-unseen-…``, ``…-later-…`` and ``…-fresh-…`` by people who had not seen the rules, and measured before anything was
changed for them (docs/contradictions.md tells the rates). A bounded case carries three instants: ``until`` is the
first instant at which the bound no longer holds (UTC, a named day counted to its end), ``during`` and ``after`` are
instants at which any reading of the words agrees that the bound holds, or no longer does.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, cast, get_args

Shape = Literal["replacement", "polarity", "retraction", "partial", "bounded"]
Expect = Literal["superseded", "retracted", "bounded", "partial"]
TwinKind = Literal[
    "other_person", "hypothetical", "quotation", "past", "question", "other_attribute", "negated_cue", "plan"
]
Role = Literal["user", "bot"]

SHAPES: tuple[Shape, ...] = get_args(Shape)
TWIN_KINDS: tuple[TwinKind, ...] = get_args(TwinKind)
EXPECT_OF_SHAPE: Mapping[Shape, Expect] = {
    "replacement": "superseded",
    "polarity": "superseded",
    "retraction": "retracted",
    "partial": "partial",
    "bounded": "bounded",
}
PATH = Path(__file__).with_name("cases.json")

_ID = re.compile(r"(?P<shape>[a-z]+)-[a-z0-9]+(?:-[a-z0-9]+)*-[1-9][0-9]*")
_SLOT = re.compile(r"[a-z][a-z0-9_]*")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class CaseError(ValueError):
    """A case whose form is wrong; the message begins with its path."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One chat turn: its text, its aware instant, and who said it (no speaker: the user themselves)."""

    text: str
    at: datetime
    role: Role = "user"
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


def load_cases(path: Path = PATH) -> tuple[Case, ...]:
    """All cases in the order of the file; ``CaseError`` when one is malformed or an id comes twice."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(raw, list):
        raise CaseError("$: not an array")
    cases = tuple(parse_case(item, f"$[{index}]") for index, item in enumerate(raw))
    seen: set[str] = set()
    for case in cases:
        _require(case.id not in seen, case.id, "id comes twice")
        seen.add(case.id)
    return cases


def parse_case(raw: object, path: str) -> Case:
    """The case of one JSON object; ``CaseError`` with ``path`` for any unknown, missing or contradictory field."""
    bounded = isinstance(raw, dict) and raw.get("shape") == "bounded"
    bound_fields = {"until", "during", "after"} if bounded else set()
    fields = _object(
        raw, {"id", "shape", "attribute", "earlier", "later", "expect", "twin"} | bound_fields, {"keyed"}, path
    )
    earlier = _turn(fields["earlier"], f"{path}.earlier")
    later = _turn(fields["later"], f"{path}.later")
    _require(earlier.at < later.at, f"{path}.later.at", "not after the earlier turn")
    shape = _shape(fields, path)
    return Case(
        id=_id(fields["id"], shape, path),
        shape=shape,
        attribute=_text(fields["attribute"], f"{path}.attribute"),
        keyed=_slot(fields.get("keyed"), f"{path}.keyed"),
        earlier=earlier,
        later=later,
        expect=EXPECT_OF_SHAPE[shape],
        bound=_bound(fields, later, path) if bounded else None,
        twin=_twin(fields["twin"], earlier, later, f"{path}.twin"),
    )


def _shape(fields: Mapping[str, object], path: str) -> Shape:
    shape = fields["shape"]
    _require(shape in SHAPES, f"{path}.shape", "unknown shape")
    known = cast(Shape, shape)
    _require(fields["expect"] == EXPECT_OF_SHAPE[known], f"{path}.expect", f"not what {known} expects")
    return known


def _id(raw: object, shape: Shape, path: str) -> str:
    text = _text(raw, f"{path}.id")
    match = _ID.fullmatch(text)
    if match is None or match["shape"] != shape:
        raise CaseError(f"{path}.id: not <shape>-<words>-<number>")
    return text


def _slot(raw: object, path: str) -> str | None:
    if raw is None:
        return None
    text = _text(raw, path)
    _require(_SLOT.fullmatch(text) is not None, path, "not a slot name")
    return text


def _twin(raw: object, earlier: Turn, later: Turn, path: str) -> Twin:
    fields = _object(raw, {"kind", "later"}, {"earlier"}, path)
    _require(fields["kind"] in TWIN_KINDS, f"{path}.kind", "unknown kind")
    own_earlier = _turn(fields["earlier"], f"{path}.earlier") if "earlier" in fields else earlier
    own_later = _turn(fields["later"], f"{path}.later")
    _require(own_earlier.at < own_later.at, f"{path}.later.at", "not after the earlier turn")
    same = (own_later.text, own_later.role, own_later.speaker) == (later.text, later.role, later.speaker)
    _require(not same, f"{path}.later", "the case's own later turn")
    return Twin(cast(TwinKind, fields["kind"]), own_earlier, own_later)


def _bound(fields: Mapping[str, object], later: Turn, path: str) -> Bound:
    instants = {name: _instant(fields[name], f"{path}.{name}") for name in ("until", "during", "after")}
    bound = Bound(**instants)
    _require(later.at < bound.during < bound.until < bound.after, f"{path}.until", "not later < during < until < after")
    return bound


def _turn(raw: object, path: str) -> Turn:
    fields = _object(raw, {"text", "at"}, {"role", "speaker"}, path)
    role = fields.get("role", "user")
    _require(role in get_args(Role), f"{path}.role", "unknown role")
    speaker = _text(fields["speaker"], f"{path}.speaker") if "speaker" in fields else None
    return Turn(_text(fields["text"], f"{path}.text"), _instant(fields["at"], f"{path}.at"), cast(Role, role), speaker)


def _instant(raw: object, path: str) -> datetime:
    text = _text(raw, path)
    _require(_INSTANT.fullmatch(text) is not None, path, "not YYYY-MM-DDThh:mm:ssZ")
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise CaseError(f"{path}: no such instant") from error


def _text(raw: object, path: str) -> str:
    if not isinstance(raw, str) or not raw or raw != raw.strip():
        raise CaseError(f"{path}: not a text, empty, or padded with spaces")
    return raw


def _object(raw: object, required: set[str], optional: set[str], path: str) -> Mapping[str, object]:
    if not isinstance(raw, dict):
        raise CaseError(f"{path}: not an object")
    missing, unknown = required - raw.keys(), raw.keys() - required - optional
    _require(not missing, path, f"missing {sorted(missing)}")
    _require(not unknown, path, f"unknown {sorted(unknown)}")
    return raw


def _require(holds: bool, path: str, complaint: str) -> None:
    if not holds:
        raise CaseError(f"{path}: {complaint}")
