"""What is in doubt: an open conflict stands between an older record and a newer one (P-24)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Memory, open_memory, with_parts
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.decisions import (
    CONFLICTS,
    ConflictStatus,
    OpenConflict,
    Step,
    conflict_in,
    conflict_write,
)
from recollect.contradictions.pairs import PairScores
from recollect.core.event import EventType
from recollect.core.scope import Scope
from recollect.retrieval.filters import SearchFilters

OLD, NEWER, OTHER = "I live in Paris near the canal", "Lyon is home these days, near the river", "I like tea very much"
UNSURE = PairScores(changed=0.4)


def pairs(memory: Memory, ids: list[str], scope: Scope = ANNA) -> list[tuple[str, str]]:
    """The newer and the older one of each open conflict."""
    doubts = memory.app.contradictions.doubts
    return [(one.newer, one.older) for one in doubts.about(scope, ids, doubts.newest(scope))]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """Two statements of which nobody knows which counts, and a third."""
    made = with_parts(open_memory(tmp_path), pair_model=TablePairModel({(NEWER, OLD): UNSURE}))
    made.add(OLD, OTHER, NEWER)
    made.project()
    return made


@pytest.mark.spec("P-24")
def test_the_older_of_an_open_conflict_is_in_doubt_by_the_newer(memory: Memory) -> None:
    old, other, newer = memory.ids
    assert pairs(memory, [old, other, newer]) == [(newer, old)]
    assert pairs(memory, [old, other]) == [(newer, old)]
    assert pairs(memory, []) == [(newer, old)]


@pytest.mark.spec("P-24")
def test_another_users_conflicts_are_nobody_elses(memory: Memory) -> None:
    assert pairs(memory, memory.ids, Scope("acme", "ben")) == []
    assert pairs(memory, memory.ids, Scope("other", "anna")) == []


@pytest.mark.spec("P-24")
def test_a_settled_conflict_leaves_no_doubt(memory: Memory) -> None:
    items = memory.app.parts.items
    (item,) = items.page(ANNA, CONFLICTS, 10, None).items
    settled = replace(conflict_in(item.value), status=ConflictStatus.SETTLED)
    items.write(ANNA, [conflict_write(settled, item.version)], memory.now)
    assert pairs(memory, memory.ids) == []


@pytest.mark.spec("P-24")
def test_beyond_a_hundred_newer_conflicts_only_pairs_of_the_given_records_are_found(memory: Memory) -> None:
    old, other, newer = memory.ids
    for number in range(100):
        later = OpenConflict(newer=f"x{number}", older=f"y{number}", at=memory.now, step=Step.JUDGE, rule="r")
        memory.app.parts.items.write(ANNA, [conflict_write(later)], memory.now)
    assert (newer, old) in pairs(memory, [old, newer])
    assert (newer, old) not in pairs(memory, [old, other])


SIDES: dict[str, dict[str, Any]] = {
    "also": {},
    "gone": {},
    "filtered": {"event_type": EventType.MEMORY},
    "of the past": {"as_of": NOON},
}


@pytest.mark.spec("P-23", "P-24")
@pytest.mark.parametrize("case", SIDES)
def test_the_other_side_is_told_as_the_reader_may_see_it(memory: Memory, case: str) -> None:
    newer = memory.ids[-1]
    if case == "gone":
        memory.app.deletion.events.forget(ANNA, event_id=newer, now=memory.now)
    filters = SearchFilters(now=memory.now, **SIDES[case])
    told = memory.app.contradictions.doubts.sides(ANNA, [newer], filters)
    assert [one.words for one in told.values()] == ([NEWER] if case == "also" else [])


@pytest.mark.spec("P-23", "P-24")
@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("Paris near the canal", f"- [Wed May 1] (in doubt: Wed May 1, “{NEWER}”) {OLD}"),
        ("home these days, near the river", f"- [Wed May 1] {NEWER} (before, and perhaps still, Wed May 1: “{OLD}”)"),
    ],
)
def test_the_other_side_is_told_where_it_is_not_shown_and_the_older_alone_is_in_doubt(
    memory: Memory, asked: str, line: str
) -> None:
    shown = memory.context(asked, conversation_id="another", min_similarity=0.4).messages
    assert line in shown.messages[0].content
    assert len(shown.parts.memories) == 1


@pytest.mark.spec("P-23")
def test_the_messages_mark_what_is_in_doubt_and_show_what_may_have_changed_it(memory: Memory) -> None:
    system = memory.context("Where do I live near the canal?", conversation_id="another").messages.messages[0].content
    assert f"- [Wed May 1] (until Wed May 1? See there.) {OLD}" in system
    assert f"- [Wed May 1] {NEWER}" in system
