"""What people took back or settled is exported as pairs for the judge's next training, and nothing that is gone."""

import json
from pathlib import Path

import pytest

from embedded.deciding import forget, ledger, remember, revert
from embedded.memory_items import USER, reject
from embedded.setting import ANNA, Memory, open_memory, with_parts
from infra.tools.judge.examples import relation_pairs
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.corrections import Correction
from recollect.contradictions.pairs import PairScores
from recollect.contradictions.resolve import Settling
from recollect.core.scope import Scope

PARIS, LYON = "I live in Paris.", "I moved to Lyon."
TEA, COFFEE = "I drink tea in the mornings.", "Flat whites again, two of them."
BOB = Scope("acme", "bob")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """Its judge is sure of one pair, and not of the other."""
    scores = {(LYON, PARIS): PairScores(changed=0.9), (COFFEE, TEA): PairScores(changed=0.4)}
    return with_parts(open_memory(tmp_path), pair_model=TablePairModel(scores))


def corrections(memory: Memory, scope: Scope = ANNA) -> tuple[Correction, ...]:
    return memory.app.contradictions.corrections.page(scope, 50, None, memory.now).corrections


def reverted(memory: Memory) -> str:
    remember(memory, PARIS, LYON)
    (decision,) = ledger(memory)
    revert(memory, decision)
    return decision


def resolve(memory: Memory, *, newer: bool) -> None:
    remember(memory, TEA, COFFEE)
    (conflict,) = memory.app.contradictions.conflicts.page(ANNA, 10, None, None, memory.now).conflicts
    winner = conflict.newer if newer else conflict.older
    memory.app.contradictions.resolution.resolve(ANNA, conflict.id, winner, Settling(actor=USER), memory.now)
    memory.project()


@pytest.mark.spec("P-24")
def test_a_decision_that_holds_is_no_correction_and_one_that_was_taken_back_is(memory: Memory) -> None:
    remember(memory, PARIS, LYON)
    assert corrections(memory) == ()
    (decision,) = ledger(memory)
    revert(memory, decision)
    assert corrections(memory) == (Correction(id=decision, older=PARIS, newer=LYON, relation="none", kind="reverted"),)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("newer", "relation"), [(True, "replaces"), (False, "none")])
def test_a_conflict_that_a_person_settled_is_one(memory: Memory, newer: bool, relation: str) -> None:
    resolve(memory, newer=newer)
    (found,) = corrections(memory)
    assert (found.older, found.newer, found.relation, found.kind) == (TEA, COFFEE, relation, "resolved")


@pytest.mark.spec("P-24")
def test_what_was_deleted_or_rejected_since_is_in_no_pair(memory: Memory) -> None:
    newer = reverted(memory).partition(".")[0]
    assert len(corrections(memory)) == 1
    forget(memory, newer)
    memory.project()
    assert corrections(memory) == ()


@pytest.mark.spec("P-24")
def test_a_rejected_value_is_in_no_pair(memory: Memory) -> None:
    reverted(memory)
    reject(memory, PARIS)
    assert corrections(memory) == ()


@pytest.mark.spec("P-24")
def test_another_user_has_none(memory: Memory) -> None:
    reverted(memory)
    assert corrections(memory, BOB) == ()


@pytest.mark.spec("P-24")
def test_the_trainer_reads_what_is_exported(memory: Memory, tmp_path: Path) -> None:
    reverted(memory)
    resolve(memory, newer=True)
    folder = tmp_path / "own"
    folder.mkdir()
    lines = [json.dumps(one.document, ensure_ascii=False) for one in corrections(memory)]
    (folder / "own.jsonl").write_text("\n".join(lines), "utf-8")
    examples = {(one.old, one.new, one.label) for one in relation_pairs(folder)}
    assert examples == {(PARIS, LYON, 0), (TEA, COFFEE, 1)}
