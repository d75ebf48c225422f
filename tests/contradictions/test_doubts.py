"""What is in doubt: an open conflict stands between an older record and a newer one (P-24)."""

from dataclasses import replace
from pathlib import Path

import pytest

from embedded.setting import ANNA, Memory, open_memory, with_parts
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.decisions import CONFLICTS, ConflictStatus, conflict_in, conflict_write
from recollect.contradictions.pairs import PairScores
from recollect.core.scope import Scope

OLD, NEWER, OTHER = "I live in Paris near the canal", "Lyon is home these days, near the river", "I like tea very much"
UNSURE = PairScores(changed=0.4)


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
    assert memory.app.contradictions.doubts.among(ANNA, [old, other, newer]) == {old: (newer,)}
    assert memory.app.contradictions.doubts.among(ANNA, [old, other]) == {}
    assert memory.app.contradictions.doubts.among(ANNA, []) == {}


@pytest.mark.spec("P-24")
def test_another_users_conflicts_are_nobody_elses(memory: Memory) -> None:
    assert memory.app.contradictions.doubts.among(Scope("acme", "ben"), memory.ids) == {}
    assert memory.app.contradictions.doubts.among(Scope("other", "anna"), memory.ids) == {}


@pytest.mark.spec("P-24")
def test_a_settled_conflict_leaves_no_doubt(memory: Memory) -> None:
    items = memory.app.parts.items
    (item,) = items.page(ANNA, CONFLICTS, 10, None).items
    settled = replace(conflict_in(item.value), status=ConflictStatus.SETTLED)
    items.write(ANNA, [conflict_write(settled, item.version)], memory.now)
    assert memory.app.contradictions.doubts.among(ANNA, memory.ids) == {}


@pytest.mark.spec("P-23")
def test_the_messages_mark_what_is_in_doubt_and_show_what_may_have_changed_it(memory: Memory) -> None:
    system = memory.context("Where do I live near the canal?", conversation_id="another").messages.messages[0].content
    assert f"- [Wed May 1] (until Wed May 1? See there.) {OLD}" in system
    assert f"- [Wed May 1] {NEWER}" in system
