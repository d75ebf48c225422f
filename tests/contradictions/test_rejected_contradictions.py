"""No decision brings a rejected value back (P-22, P-24)."""

import pytest

from embedded.deciding import BOTH, LYON, PARIS, PROMOTED, TITLE, USER, merge, now, remember, supersede
from embedded.memory_items import shown
from embedded.setting import ANNA, Memory
from recollect.deletion.reject import Rejecting
from recollect.memories.memory import MemoryStatus

ACTIVE, SUPERSEDED = MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED


def reject(memory: Memory, value: str) -> None:
    memory.app.deletion.reject(ANNA, value, Rejecting(now=memory.now, actor=USER, via="test"))


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("value", [TITLE, PROMOTED, BOTH])
def test_nothing_is_merged_of_a_rejected_value(memory: Memory, value: str) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    reject(memory, value)
    merge(memory, old, new)
    assert now(memory, old).status is ACTIVE
    assert now(memory, new).content == PROMOTED
    assert value not in shown(memory, "painter")


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("rejected", [False, True])
def test_what_a_withdrawn_decision_ended_counts_again_unless_it_was_rejected(memory: Memory, rejected: bool) -> None:
    old, new = remember(memory, PARIS, LYON)
    supersede(memory, old, new)
    if rejected:
        reject(memory, PARIS)
    changed = list(memory.app.contradictions.ledger.withdrawn(ANNA, new, memory.now))
    assert [kept.memory.id for kept in changed] == ([] if rejected else [old])
    assert now(memory, old).status is (SUPERSEDED if rejected else ACTIVE)
