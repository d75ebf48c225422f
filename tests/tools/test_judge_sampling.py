"""Pairs that nobody wrote as such: what an item says of others, with its changes of the user's own."""

import pytest

from infra.tools.judge.examples import LABELS, TURNED, Example
from infra.tools.judge.sampling import turned

MINE, OTHERS, MOVED = "I live in Leith", "My colleague moved to Leith", "We moved to Fife"


def said(new: str, relation: str, kind: str, old: str = MINE) -> Example:
    return Example("w1", "en", new, old, LABELS[relation], kind)


def test_ones_own_change_leaves_alone_what_was_said_of_another() -> None:
    told = [said(OTHERS, "none", "other_person"), said(MOVED, "replaces", "direct"), said("Left Leith", "ends", "left")]
    assert list(turned(told)) == [
        Example("w1", "en", MOVED, OTHERS, 0, TURNED),
        Example("w1", "en", "Left Leith", OTHERS, 0, TURNED),
    ]


@pytest.mark.parametrize(
    "told",
    [
        pytest.param([said(OTHERS, "none", "other_person")], id="without a change"),
        pytest.param([said("Still there", "none", "same"), said(MOVED, "replaces", "direct")], id="of the user's own"),
        pytest.param([said(OTHERS, "none", "other_person"), said("No bath now", "part", "one")], id="a part"),
        pytest.param(
            [said(OTHERS, "none", "other_person"), said(MOVED, "replaces", "direct", "I rent in Ayr")], id="other items"
        ),
    ],
)
def test_nothing_else_is_turned(told: list[Example]) -> None:
    assert list(turned(told)) == []
