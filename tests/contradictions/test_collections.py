"""The judge against three collections: what is left stale, and which near misses are taken for contradictions (P-24).

``cases.json``: how a later turn bears on an earlier one, each with a near miss. The first 150 were written before the
cue rules, from what people say in chats; those named ``…-plain-…``, ``…-unseen-…``, ``…-later-…`` and ``…-fresh-…`` by
people who had not seen the rules. A bounded case carries ``until``, the first instant at which it no longer holds
(UTC, a named day counted to its end), and ``during`` and ``after``, on whose sides no reading of the words differs.
``acceptance.json``: 3,100 contradictions in other people's words, a hundred at a time, with a near miss each;
``near_misses.json``: 3,300 near misses alone. docs/contradictions.md has the rates at first sight. Since then the rules
were mended with all three in view: the counts hold that they stay so, and say nothing of unseen words.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recollect.contradictions.cues import CueJudge
from recollect.contradictions.judge import Relation, RelationJudge, RelationKind, Said

JUDGE: RelationJudge = CueJudge()
EARLIER, LATER = datetime(2026, 1, 9, 10, tzinfo=UTC), datetime(2026, 3, 10, 10, tzinfo=UTC)
STALE = {"replacement": 50, "polarity": 11, "retraction": 34, "partial": 66, "bounded": 71}
MISTAKEN, MISTAKEN_IN_ACCEPTANCE, MISTAKEN_OF_THE_CLOSEST, MISSED = 6, 43, 72, 110
"""How many the rules get wrong as they are, so that a rule that breaks shows. The feature promises more: at most a
tenth left stale, a fiftieth of the near misses mistaken; another judge brings its own counts within that.
"""

DECIDED = frozenset(RelationKind) - {RelationKind.UNDECIDED}
KINDS = {
    "superseded": {RelationKind.SUPERSEDES},
    "retracted": {RelationKind.RETRACTS},
    "bounded": {RelationKind.OVERRIDES},
    "partial": {RelationKind.CHANGES_PART, RelationKind.UNDECIDED},
}
KINDS_OF_SHAPE = {
    "replacement": {RelationKind.SUPERSEDES, RelationKind.CHANGES_PART},
    "polarity": KINDS["superseded"],
    "retraction": KINDS["retracted"],
    "partial": KINDS["partial"],
    "bounded": KINDS["bounded"],
}


class Case(NamedTuple):
    """Two turns of a user, the kinds of relation that are right, until when (bounded ones), and the near miss."""

    id: str
    shape: str
    earlier: Said
    later: Said
    right: set[RelationKind]
    until: datetime | None
    twin_kind: str
    twin: tuple[Said, Said]


class Near(NamedTuple):
    """A row of near_misses.json: `contradiction` ends the earlier turn, `text` does not."""

    attribute: str
    earlier: str
    contradiction: str
    kind: str
    text: str


def _rows(name: str) -> Any:
    return json.loads(Path(__file__).with_name(name).read_text("utf-8"))


def _turn(raw: Mapping[str, Any], name: str) -> Said:
    return Said(id=name, text=raw["text"], at=datetime.fromisoformat(raw["at"]), speaker=raw.get("speaker") or "")


def _case(raw: Mapping[str, Any]) -> Case:
    twin, until = raw["twin"], raw.get("until")
    return Case(
        raw["id"],
        raw["shape"],
        _turn(raw["earlier"], "1"),
        _turn(raw["later"], "2"),
        KINDS[raw["expect"]],
        until and datetime.fromisoformat(until),
        twin["kind"],
        (_turn(twin.get("earlier", raw["earlier"]), "1"), _turn(twin["later"], "2")),
    )


def _row(row: list[Any], number: int) -> Case:
    """A row of acceptance.json; `days` is how long a bounded value holds, from the later turn on."""
    _, shape, _, days, earlier, later, twin_kind, twin = row
    first = _earlier(earlier)
    until = None if days is None else LATER + timedelta(days=days)
    return Case(
        str(number), shape, first, _later(later), KINDS_OF_SHAPE[shape], until, twin_kind, (first, _later(twin))
    )


def _earlier(text: str) -> Said:
    return Said(id="1", text=text, at=EARLIER)


def _later(text: str) -> Said:
    return Said(id="2", text=text, at=LATER)


CASES = [_case(raw) for raw in _rows("cases.json")]
ACCEPTANCE = [_row(row, number) for number, row in enumerate(_rows("acceptance.json"))]
NEAR = [Near(*row) for row in _rows("near_misses.json")]


def relation(earlier: Said, later: Said) -> Relation | None:
    (found,) = JUDGE.judge(later, [earlier])
    return found


def is_right(case: Case) -> bool:
    """Whether the relation is of a right kind, and a bound within a day of the given one."""
    found = relation(case.earlier, case.later)
    if found is None or found.kind not in case.right:
        return False
    return case.until is None or (found.until is not None and abs(found.until - case.until) <= timedelta(days=1))


def is_decided(earlier: str, later: str) -> bool:
    found = relation(_earlier(earlier), _later(later))
    return found is not None and found.kind in DECIDED


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("shape", STALE)
def test_no_more_of_a_shape_are_left_stale(shape: str) -> None:
    of_shape = [case for case in (*CASES, *ACCEPTANCE) if case.shape == shape]
    wrong = [case.id for case in of_shape if not is_right(case)]
    assert len(wrong) <= STALE[shape] <= 0.1 * len(of_shape), wrong


@pytest.mark.spec("P-24")
def test_no_more_near_misses_are_taken_for_contradictions() -> None:
    wrong = [case for case in CASES if relation(*case.twin) is not None]
    assert len(wrong) <= MISTAKEN <= 0.02 * len(CASES), [(case.id, case.twin_kind) for case in wrong]
    pairs = [(earlier.text, later.text) for earlier, later in (case.twin for case in ACCEPTANCE)]
    ended = [pair for pair in pairs if is_decided(*pair)]
    assert len(ended) <= MISTAKEN_IN_ACCEPTANCE <= 0.02 * len(pairs), ended


@pytest.mark.spec("P-24")
def test_no_more_of_the_closest_near_misses_end_anything() -> None:
    wrong = [(near.earlier, near.text) for near in NEAR if is_decided(near.earlier, near.text)]
    assert len(wrong) <= MISTAKEN_OF_THE_CLOSEST <= 0.025 * len(NEAR), wrong
    missed = [pair for pair in {near[1:3] for near in NEAR} if relation(_earlier(pair[0]), _later(pair[1])) is None]
    assert len(missed) <= MISSED, missed


@pytest.mark.spec("P-24")
def test_another_speaker_contradicts_nobody() -> None:
    others = [(case, replace(case.later, speaker=case.later.speaker + " other")) for case in CASES]
    assert [case.id for case, later in others if relation(case.earlier, later) is not None] == []


def test_spans_are_of_the_texts() -> None:
    for case in CASES:
        found = relation(case.earlier, case.later)
        if found is not None:
            assert all(0 <= start < end <= len(case.earlier.text) for start, end in found.ended), case.id
            assert (found.kind is RelationKind.CHANGES_PART) == (found.merged is not None), case.id
            assert (found.kind is RelationKind.OVERRIDES) == (found.until is not None), case.id


def test_the_earlier_says_nothing_of_the_later() -> None:
    assert [case.id for case in CASES if relation(case.later, case.earlier) is not None] == []
