"""Decisions between memories in tests, made without any cue: superseded, merged, left open."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from embedded.memory_items import USER, patch, save
from embedded.setting import ANNA, Memory
from recollect.contradictions.decisions import (
    ARBITRATIONS,
    Decision,
    OpenConflict,
    Outcome,
    Step,
    Verdict,
    conflict_write,
    decision_about,
    decision_in,
    decision_write,
    pair_id,
    settled,
)
from recollect.contradictions.judge import Relation, RelationKind
from recollect.contradictions.ledger import Deciding
from recollect.contradictions.merged import Merger
from recollect.contradictions.resolve import Reverted, RevertOrder
from recollect.core.items import ABSENT
from recollect.core.scope import Scope
from recollect.memories.memory import Memory as Remembered
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.timeline.record import EventDraft

PARIS, LYON = "Anna keeps her stamps in the blue album", "Anna keeps her stamps in the red album"
TITLE = "Anna paints as a junior painter for the city museum"
PROMOTED = "Anna paints as a senior painter, all else stays"
BOTH = "Anna paints as a senior painter for the city museum"


def remember(memory: Memory, *contents: str, scope: Scope = ANNA, key: str | None = None) -> list[str]:
    """Events that become memories, a minute apart; their ids."""
    ids: list[str] = []
    for content in contents:
        memory.now += timedelta(minutes=1)
        memory.add(EventDraft(content=content, importance=0.9, timestamp=memory.now, key=key), scope=scope)
        ids.append(memory.ids[-1])
        memory.project()
    return ids


def saved(memory: Memory, content: str) -> str:
    """A memory that was saved directly, now."""
    found = save(memory, content, timestamp=memory.now).memory.id
    memory.project()
    return found


def kept(memory: Memory, memory_id: str, scope: Scope = ANNA) -> StoredMemory:
    """A memory as it is kept, whatever became of it."""
    return ReadMemories(memory.app.parts.items).stored(scope, [memory_id])[memory_id]


def now(memory: Memory, memory_id: str, scope: Scope = ANNA) -> Remembered:
    """The same in its current version."""
    return kept(memory, memory_id, scope).memory


def supersede(
    memory: Memory,
    older: str,
    newer: str,
    kind: RelationKind = RelationKind.SUPERSEDES,
    scope: Scope = ANNA,
    words: str | None = None,
) -> str:
    """As a judge would, of the whole memory or of these words of it; the decision's id."""
    loser, winner = kept(memory, older, scope), now(memory, newer, scope)
    ended = loser.memory.content if words is None else words
    start = loser.memory.content.index(ended)
    relation = Relation(kind=kind, rule="moved", ended=((start, start + len(ended)),))
    after = settled(loser.memory, [Verdict(newer, winner.timestamp, relation)])
    outcome = Outcome.RETRACTED if kind is RelationKind.RETRACTS else Outcome.SUPERSEDED
    decision = _decision(loser.memory, newer, memory, outcome)
    memory.app.contradictions.ledger.write(Deciding(scope, memory.now), loser, after, [decision])
    follow(memory, older, scope)
    return decision.id


def merge(memory: Memory, older: str, newer: str, content: str = BOTH) -> str:
    """As a cue rule would that can tell the part; the decision's id."""
    loser, winner = kept(memory, older), kept(memory, newer)
    relation = Relation(kind=RelationKind.CHANGES_PART, rule="same_but", merged=content)
    verdict = Verdict(newer, winner.memory.timestamp, relation)
    decision = _decision(loser.memory, newer, memory, Outcome.MERGED)
    after = settled(loser.memory, [verdict])
    merger = Merger(loser, winner, after, [decision])
    memory.app.contradictions.merged_parts.merge(Deciding(ANNA, memory.now), merger, verdict)
    follow(memory, older)
    follow(memory, newer)
    return decision.id


def leave_open(memory: Memory, older: str, newer: str, scope: Scope = ANNA, words: str | None = None) -> str:
    """A conflict that nobody can decide, about these words of the older one; its id."""
    start = kept(memory, older, scope).memory.content.index(words) if words is not None else 0
    ended = ((start, start + len(words)),) if words is not None else ()
    conflict = OpenConflict(newer=newer, older=older, at=memory.now, step=Step.CUE, rule="same_attribute", ended=ended)
    memory.app.parts.items.write(scope.user, [conflict_write(conflict, ABSENT)], memory.now)
    return conflict.id


def by_key(memory: Memory, older: str, newer: str) -> str:
    """The decision of a key, where the projection has not written it; its id."""
    decision = _decision(now(memory, older), newer, memory, Outcome.SUPERSEDED, Step.KEY)
    write = decision_write(decision, ABSENT)
    if not memory.app.parts.items.get(ANNA, [write.key]):
        memory.app.parts.items.write(ANNA, [write], memory.now)
    return pair_id(newer, older)


def follow(memory: Memory, memory_id: str, scope: Scope = ANNA) -> None:
    """The index shows the memory as it is."""
    memory.app.parts.projections.mark(scope, [now(memory, memory_id, scope).ref])
    memory.project()


def forget(memory: Memory, event_id: str) -> None:
    """Deletes a record; nothing follows yet."""
    memory.app.deletion.events.forget(ANNA, event_id=event_id, now=memory.now)


def expire(memory: Memory, event_id: str) -> None:
    """A memory ends an hour later, which is now."""
    patch(memory, event_id, expires_at=memory.now + timedelta(hours=1))
    memory.now += timedelta(hours=1)


def revert(memory: Memory, decision_id: str, scope: Scope = ANNA, **order: Any) -> Reverted:
    """Takes it back, and lets the index follow."""
    return _anew(memory, memory.app.contradictions.reversal.revert, decision_id, scope, order)


def reapply(memory: Memory, decision_id: str, scope: Scope = ANNA, **order: Any) -> Reverted:
    """Makes it again, and lets the index follow."""
    return _anew(memory, memory.app.contradictions.again.reapply, decision_id, scope, order)


def _anew(
    memory: Memory,
    use: Callable[[Scope, str, RevertOrder], Reverted],
    decision_id: str,
    scope: Scope,
    order: Mapping[str, Any],
) -> Reverted:
    done = use(scope, decision_id, RevertOrder(actor=USER, now=memory.now, **order))
    for _ in range(3):
        memory.project()
    return done


def ledger(memory: Memory, scope: Scope = ANNA) -> dict[str, Decision]:
    """All decisions by id."""
    page = memory.app.parts.items.page(scope.user, ARBITRATIONS, 1000, None)
    return {item.key.key: decision_in(item.value) for item in page.items}


def _decision(loser: Remembered, winner: str, memory: Memory, outcome: Outcome, step: Step = Step.CUE) -> Decision:
    rule = "key" if step is Step.KEY else "moved"
    return decision_about(loser, winner, memory.now, step, rule, outcome, "a test says so")
