"""A person sets a decision or a conflict right in words, and takes that back: each is one step (P-22, P-24)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from embedded.deciding import (
    LYON,
    PARIS,
    PROMOTED,
    TITLE,
    by_key,
    expire,
    forget,
    leave_open,
    ledger,
    merge,
    now,
    reapply,
    remember,
    revert,
    supersede,
)
from embedded.memory_items import USER, patch, reject, shown, whole
from embedded.reindexing import run_job
from embedded.setting import ANNA, Memory, open_memory, with_parts
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.decisions import ConflictStatus, DecisionStatus, OpenConflict
from recollect.contradictions.judge import RelationKind
from recollect.contradictions.pairs import PairScores
from recollect.contradictions.resolve import OlderWords
from recollect.core.errors import Conflict, InvalidInput, NotFound, VersionMismatch
from recollect.core.scope import Scope
from recollect.memories.memory import MemoryStatus
from recollect.memories.save import MemoryChange
from recollect.timeline.record import EventDraft

ACTIVE, SUPERSEDED = MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED
NUTS, NOT_SO = "I'm allergic to walnuts and penicillin.", "I'm not allergic to penicillin after all."
WALNUTS = "I'm allergic to walnuts."
OTHERS = (Scope("acme", "ben"), Scope("evil", "anna"), Scope("acme", "anna", "coach"))


def judging(home: Path, **sure: float) -> Memory:
    scores = {NUTS: sure["nuts"], WALNUTS: sure["walnuts"]}
    table = {(NOT_SO, one): PairScores(changed=share) for one, share in scores.items()}
    return with_parts(open_memory(home), pair_model=TablePairModel(table))


@pytest.fixture
def judged(tmp_path: Path) -> Memory:
    """Its judge is sure that the whole allergy ended, in whatever words it stands."""
    return judging(tmp_path, nuts=0.95, walnuts=0.95)


@pytest.mark.spec("P-24")
def test_where_only_a_part_ended_the_rest_counts_again_and_is_not_ended_so_again(judged: Memory) -> None:
    old, _ = remember(judged, NUTS, NOT_SO)
    (decision,) = ledger(judged)
    assert now(judged, old).status is SUPERSEDED
    done = revert(judged, decision, changes={"content": WALNUTS})
    after = now(judged, old)
    assert (done.memory_id, after.content, after.status, after.version) == (old, WALNUTS, ACTIVE, 3)
    assert sorted(shown(judged, "allergic penicillin walnuts")) == sorted([WALNUTS, NOT_SO])
    assert ledger(judged)[decision].status is DecisionStatus.REVERTED
    assert judged.app.contradictions.conflicts.page(ANNA, 9, None, None, judged.now).conflicts == ()
    assert judged.app.contradictions.corrections.page(ANNA, 9, None, judged.now).corrections == (), (
        "a part of it did end: no pair for the judge's training"
    )
    whole(judged)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("kind", [RelationKind.SUPERSEDES, RelationKind.RETRACTS])
def test_taking_back_is_taken_back_with_its_words(memory: Memory, kind: RelationKind) -> None:
    old, new = remember(memory, PARIS, LYON)
    decision = supersede(memory, old, new, kind)
    ended = now(memory, old)
    for changes in ({}, {"content": "Anna keeps her letters in the blue album", "importance": 0.7}):
        revert(memory, decision, changes=changes)
        assert now(memory, old).status is ACTIVE
        reapply(memory, decision)
        again = now(memory, old)
        assert (again.content, again.importance, again.status) == (PARIS, ended.importance, ended.status)
        assert (again.superseded_by, again.valid_to, again.settled_by) == (new, ended.valid_to, ended.settled_by)
        assert shown(memory, "stamps album") == [LYON]
        held = ledger(memory)[decision]
        assert (held.status, held.after) == (DecisionStatus.APPLIED, again.version)
    assert reapply(memory, decision, again=True).memory_id == old
    with pytest.raises(Conflict):
        reapply(memory, decision)
    whole(memory)


@pytest.mark.spec("P-24")
def test_a_part_ends_again_beside_what_ended_otherwise(memory: Memory) -> None:
    first, second, rest = "She swims on Monday", "She rows on Tuesday", "her sister Ada lives in Leeds near the canal"
    old, quit_, sold = remember(memory, f"{first}. {second}. {rest}", "She quit the pool", "She sold the boat")
    swims = supersede(memory, old, quit_, words=first)
    rows = supersede(memory, old, sold, words=second)
    revert(memory, swims)
    reapply(memory, swims)
    assert {one.by for one in now(memory, old).lapses} == {quit_, sold}
    revert(memory, swims)
    patch(memory, old, content=f"{first} at noon. {second}. {rest}")
    reapply(memory, swims)
    assert {one.by for one in now(memory, old).lapses} == {quit_}, "in the words of then"
    assert ledger(memory)[rows].status is DecisionStatus.APPLIED


@pytest.mark.spec("P-24")
def test_words_of_before_an_edit_come_back_without_what_had_ended_of_them(memory: Memory) -> None:
    knits, left = "I knit", "I play the accordion with Ada on Wednesday evenings"
    old, stopped = remember(memory, f"{knits}, {left}", "I've stopped knitting")
    decision = supersede(memory, old, stopped, words=knits)

    def told() -> list[str]:
        one = memory.app.memories.store.one(ANNA, old, memory.now)
        return [version.memory.content for version in memory.app.memories.versions.read(ANNA, one, memory.now)]

    was, edited = [f"{knits}, {left}", left], left.replace("Wednesday", "Tuesday")
    patch(memory, old, importance=0.7, content=left)
    assert [one.by for one in now(memory, old).lapses] == [stopped], "the same words, so the same lapse"
    patch(memory, old, content=edited)
    assert told() == [*was, left, edited]
    patch(memory, old, content=left)
    for _ in range(2):
        assert told() == [*was, left, edited, left]
        assert [one.by for one in now(memory, old).lapses] == [stopped]
        rebuilt(memory)
    revert(memory, decision)
    assert told()[-1] == f"{knits}, {left}"
    patch(memory, old, content=edited)
    patch(memory, old, content=left)
    assert (now(memory, old).content, now(memory, old).lapses) == (left, ()), "the decision does not hold any more"
    whole(memory)


@pytest.mark.spec("P-24")
def test_what_ended_otherwise_since_or_is_a_keys_or_a_merger_is_not_decided_again(memory: Memory) -> None:
    old, new, other = remember(memory, PARIS, LYON, "Anna keeps her stamps in the green album")
    decision = supersede(memory, old, new)
    with pytest.raises(Conflict):
        reapply(memory, decision)
    revert(memory, decision)
    supersede(memory, old, other)
    with pytest.raises(Conflict):
        reapply(memory, decision)
    title, promoted = remember(memory, TITLE, PROMOTED)
    merged = merge(memory, title, promoted)
    revert(memory, merged)
    city, next_city = remember(memory, "Rome", "Bonn", key="city")
    keyed = by_key(memory, city, next_city)
    revert(memory, keyed)
    for one in (merged, keyed):
        with pytest.raises(Conflict):
            reapply(memory, one)


@pytest.mark.spec("P-24")
def test_a_value_of_a_key_counts_again_in_other_words(memory: Memory) -> None:
    old, new = remember(memory, "Rome, near the river", "Bonn", key="city")
    done = revert(memory, by_key(memory, old, new), changes={"content": "Rome"})
    assert now(memory, done.memory_id).content == "Rome"
    assert shown(memory, "Rome Bonn") == ["Rome"]


@pytest.mark.spec("P-22", "P-24")
def test_words_that_are_rejected_blank_or_of_another_version_change_nothing(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    decision = supersede(memory, old, new)
    reject(memory, "The album is yellow")
    for error, order in (
        (Conflict, {"changes": {"content": "The album is yellow"}}),
        (InvalidInput, {"changes": {"content": " "}}),
        (VersionMismatch, {"changes": {"content": "The album"}, "accepts": lambda version: version == 1}),
    ):
        with pytest.raises(error):
            revert(memory, decision, **order)
    assert (now(memory, old).version, ledger(memory)[decision].status) == (2, DecisionStatus.APPLIED)
    revert(memory, decision)
    with pytest.raises(VersionMismatch):
        reapply(memory, decision, accepts=lambda version: version == 2)
    for scope in OTHERS:
        with pytest.raises(NotFound):
            reapply(memory, decision, scope)


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("end", [forget, expire])
@pytest.mark.parametrize("which", [0, 1])
def test_with_one_that_is_gone_nothing_is_decided_again(
    memory: Memory, end: Callable[[Memory, str], None], which: int
) -> None:
    pair = remember(memory, PARIS, LYON)
    decision = supersede(memory, pair[0], pair[1])
    revert(memory, decision)
    end(memory, pair[which])
    memory.project()
    with pytest.raises((Conflict, NotFound)):
        reapply(memory, decision)


def amend(memory: Memory, conflict: str, content: str, version: int | None = None, scope: Scope = ANNA) -> OpenConflict:
    words = OlderWords(content=content, actor=USER, accepts=lambda one: version in (None, one))
    settled = memory.app.contradictions.resolution.amend_older(scope, conflict, words, memory.now)
    memory.project()
    return settled


@pytest.mark.spec("P-24")
def test_of_a_conflict_the_older_one_is_set_right_both_hold_and_it_is_opened_again(tmp_path: Path) -> None:
    memory = judging(tmp_path, nuts=0.4, walnuts=0.95)
    old, new = remember(memory, NUTS, NOT_SO)
    use, page = memory.app.contradictions.resolution, memory.app.contradictions.conflicts.page
    (conflict,) = page(ANNA, 9, None, ConflictStatus.OPEN, memory.now).conflicts
    for _ in range(2):
        settled = amend(memory, conflict.id, WALNUTS)
        assert (settled.status, settled.winner) == (ConflictStatus.SETTLED, None)
        assert (now(memory, old).content, now(memory, old).status) == (WALNUTS, ACTIVE), "nor does a judge decide it"
    version = now(memory, old).version
    with pytest.raises(Conflict):
        amend(memory, conflict.id, "I'm allergic to nuts.")
    for _ in range(2):
        assert use.reopen(ANNA, conflict.id, USER, memory.now).status is ConflictStatus.OPEN
    for scope in OTHERS[:2]:
        with pytest.raises(NotFound):
            use.reopen(scope, conflict.id, USER, memory.now)
        with pytest.raises(NotFound):
            amend(memory, conflict.id, "x", scope=scope)
    for record, found in ((old, [conflict.id]), (new, [conflict.id]), ("another", [])):
        shown = page(ANNA, 9, None, ConflictStatus.OPEN, memory.now, record).conflicts
        assert [one.id for one in shown] == found
    assert now(memory, old).version == version


@pytest.mark.spec("P-24")
def test_an_older_one_without_a_memory_gets_one_of_the_version_that_was_seen(memory: Memory) -> None:
    (new,) = remember(memory, LYON)
    memory.add(EventDraft(content="ok, tea then", importance=0.1, timestamp=memory.now))
    old = memory.ids[-1]
    memory.project()
    conflict = leave_open(memory, old, new)
    with pytest.raises(VersionMismatch):
        amend(memory, conflict, "coffee then", version=7)
    amend(memory, conflict, "coffee then", version=1)
    assert (now(memory, old).content, now(memory, old).version) == ("coffee then", 2)


@pytest.mark.spec("P-24")
def test_what_is_set_right_stays_so_when_all_is_made_again(tmp_path: Path, judged: Memory) -> None:
    old, _ = remember(judged, NUTS, NOT_SO)
    (decision,) = ledger(judged)
    revert(judged, decision, changes={"content": WALNUTS})
    rebuilt(judged)
    assert (now(judged, old).content, now(judged, old).status) == (WALNUTS, ACTIVE)
    reapply(judged, decision)
    rebuilt(judged)
    assert (now(judged, old).content, now(judged, old).status) == (NUTS, SUPERSEDED)
    memory = judging(tmp_path / "unsure", nuts=0.4, walnuts=0.95)
    old, _ = remember(memory, NUTS, NOT_SO)
    (conflict,) = memory.app.contradictions.conflicts.page(ANNA, 9, None, None, memory.now).conflicts
    amend(memory, conflict.id, WALNUTS)
    rebuilt(memory)
    assert (now(memory, old).content, now(memory, old).status) == (WALNUTS, ACTIVE)


def rebuilt(memory: Memory) -> None:
    run_job(memory, "reindex", **{"from": "events"})
    for _ in range(3):
        memory.project()


def test_an_event_without_a_memory_is_corrected_once_and_found_by_what_is_right(memory: Memory) -> None:
    memory.add(EventDraft(content="my sister is Katrijn", importance=0.1, timestamp=memory.now))
    event, use = memory.ids[-1], memory.app.memories.corrections
    memory.project()
    change = MemoryChange({"content": "my sister is Catrijne"}, USER, lambda version: version == 1)
    for scope in OTHERS:
        with pytest.raises(NotFound):
            use.correct(scope, event, change, memory.now)
    with pytest.raises(VersionMismatch):
        use.correct(ANNA, event, MemoryChange(change.changes, USER, lambda version: version == 2), memory.now)
    use.correct(ANNA, event, change, memory.now)
    memory.project()
    with pytest.raises(Conflict):
        use.correct(ANNA, event, change, memory.now)
    assert use.correct(ANNA, event, change, memory.now, again=True).version == 2
    rebuilt(memory)
    assert shown(memory, "sister") == ["my sister is Catrijne"]
    whole(memory)
