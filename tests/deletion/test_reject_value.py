"""Rejecting a value: every path refuses it, no recall returns it, and only a keyed hash of it is stored."""

import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Memory, open_memory, with_parts
from embedded.standing import Before
from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.core.scope import Scope
from recollect.deletion.reject import Rejecting
from recollect.deletion.rejected_values import unkeyed_fingerprint
from recollect.memories.audit import AUDIT, Action, Actor, ActorKind, audit_entry
from recollect.memories.memory import MemoryDraft
from recollect.memories.save import MemoryChange
from recollect.summaries.goals import GoalStatus
from recollect.timeline.record import EventDraft

VALUE = "The zebra sings at midnight"
ANNA_HERSELF = Actor(ActorKind.USER, "anna")
COACH = Scope("acme", "anna", "coach")
HOME = Scope("acme", "anna", None, "home")


def order(memory: Memory) -> Rejecting:
    return Rejecting(now=memory.now, actor=ANNA_HERSELF, via="delete")


def reject(memory: Memory, number: int = 0) -> None:
    """Deletes the event that was made as that number, and rejects its content."""
    event_id = memory.ids[number]
    memory.app.deletion.values.event(
        ANNA,
        event_id,
        order(memory),
        lambda: memory.app.deletion.events.forget(ANNA, event_id=event_id, now=memory.now),
    )


def save(memory: Memory, content: str, scope: Scope = ANNA) -> str:
    seed = memory.app.ids.seed(int(memory.now.timestamp() * 1000))
    rules = memory.app.rules.resolved(scope.tenant)
    return memory.app.memories.store.save(
        scope, MemoryDraft(content=content), seed, memory.now, ANNA_HERSELF, rules
    ).memory.id


@pytest.fixture
def rejected(memory: Memory) -> Memory:
    """A memory whose only event was deleted and its value rejected."""
    memory.add(VALUE)
    reject(memory)
    return memory


@pytest.mark.spec("P-22")
@pytest.mark.parametrize(
    "written", [VALUE, VALUE.upper(), f"  {VALUE}!", VALUE.replace("e", "\u0435"), "\u200d".join(VALUE)]
)
def test_a_rejected_value_is_refused_however_it_is_written(rejected: Memory, written: str) -> None:
    (result,) = rejected.add(written).results
    assert (result.status, result.reason, result.event_id) == ("refused", "rejected", None)
    with pytest.raises(Conflict):
        save(rejected, written)
    assert rejected.add(f"{VALUE} and at noon").results[0].status == "created"


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("scope", [COACH, HOME, Scope("acme", "ben"), Scope("other", "anna")])
def test_it_is_rejected_in_its_scope_alone(rejected: Memory, scope: Scope) -> None:
    assert rejected.add(VALUE, scope=scope).results[0].status == "created"
    assert save(rejected, VALUE, scope=scope)


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("projected", [False, True])
def test_a_sentence_of_a_longer_text_is_recalled_nowhere_and_kept_as_evidence(memory: Memory, projected: bool) -> None:
    text = f"I was at the zoo. {VALUE.lower()}. Then I went home."
    memory.add(VALUE, text, VALUE)
    if projected:
        memory.project()
    reject(memory)
    if projected:
        memory.project()
    for words in ("zebra sings at midnight", "zoo"):
        assert set(memory.found(words)) <= {"I was at the zoo. Then I went home."}
        answer = memory.context(words, conversation_id="c1")
        assert "zebra" not in answer.prompt.text.replace(words, "")
        assert "zebra" not in str(answer.messages.parts.memories)
        assert "zebra" not in str(answer.messages.parts.raw_window)
    assert memory.app.timeline.listing.one(ANNA, memory.ids[1], memory.now).content == text


def test_a_memory_cannot_be_changed_into_it(rejected: Memory) -> None:
    memory_id = save(rejected, "The zebra sleeps")
    change = MemoryChange({"content": VALUE.title()}, ANNA_HERSELF, lambda _: True)
    with pytest.raises(Conflict):
        rejected.app.memories.store.patch(ANNA, memory_id, change, rejected.now)
    assert rejected.app.memories.store.one(ANNA, memory_id, rejected.now).content == "The zebra sleeps"


@pytest.mark.spec("P-22")
def test_summaries_and_goals_lose_it_and_new_ones_do_not_get_it(memory: Memory) -> None:
    rules = replace(memory.app.rules.resolved("acme").summary, messages=2, raw_window=0)
    goal = "I want to run a marathon in spring"
    memory.add(f"I moved to Berlin with my dog. {VALUE}.", f"{goal}.", "It rains in Berlin today.", VALUE)
    made = summarized(memory, rules)
    assert "zebra" in made
    reject(memory, 3)
    kept_summary = memory.app.summaries.stored.latest(ANNA)
    assert kept_summary is not None
    assert "zebra" not in kept_summary.text
    assert "Berlin" in kept_summary.text
    memory.add("I moved to Bonn with my cat. " + VALUE + ".", "It snows in Bonn today.")
    again = summarized(memory, rules)
    assert "Bonn" in again
    assert "zebra" not in again
    kept = memory.app.summaries.goals.track(ANNA, goal, GoalStatus.ACTIVE, None, memory.now)
    other = memory.app.summaries.goals.track(ANNA, "Learn to sing", GoalStatus.ACTIVE, None, memory.now)
    memory.app.deletion.values.reject(ANNA, goal.upper(), order(memory))
    assert memory.app.summaries.goals.listed(ANNA) == [other]
    with pytest.raises(Conflict):
        memory.app.summaries.goals.track(ANNA, goal, GoalStatus.ACTIVE, None, memory.now)
    with pytest.raises(Conflict):
        memory.app.summaries.goals.patch(ANNA, other.id, {"goal": kept.goal}, lambda _: True, memory.now)


def summarized(memory: Memory, rules: object) -> str:
    from recollect.summaries.summarize import IDS, SummaryOrder

    seed = memory.app.ids.seed(int(memory.now.timestamp() * 1000), IDS)
    asked = SummaryOrder(now=memory.now, rules=rules, seed=seed, remaining_seconds=lambda: 60.0, force=True)  # type: ignore[arg-type]
    made = memory.app.summaries.conversations.summarize(ANNA, asked)
    return made.summary.text  # type: ignore[union-attr]


@pytest.mark.spec("P-22")
def test_lifting_lets_it_in_again(rejected: Memory) -> None:
    (value,) = rejected.app.deletion.values.page(ANNA, 10, None).values
    with pytest.raises(NotFound):
        rejected.app.deletion.values.lift(Scope("acme", "ben"), value.id, order(rejected))
    rejected.app.deletion.values.lift(ANNA, value.id, order(rejected))
    with pytest.raises(NotFound):
        rejected.app.deletion.values.lift(ANNA, value.id, order(rejected))
    assert rejected.add(VALUE).results[0].status == "created"
    assert rejected.found("zebra") == [VALUE]
    reject(rejected, 1)
    assert rejected.add(VALUE).results[0].status == "refused"


def test_rejecting_twice_is_one_rejection(memory: Memory) -> None:
    first = memory.app.deletion.values.reject(ANNA, VALUE, order(memory))
    assert memory.app.deletion.values.reject(ANNA, VALUE.upper(), order(memory)) == first
    other = memory.app.deletion.values.reject(COACH, VALUE, order(memory))
    assert other != first
    assert [value.id for value in memory.app.deletion.values.page(ANNA, 10, None).values] == [first, other]
    assert [value.id for value in memory.app.deletion.values.page(COACH, 10, None).values] == [other]


def test_what_cannot_be_deleted_is_not_rejected(memory: Memory) -> None:
    memory.add(VALUE)
    reject_value = memory.app.deletion.values

    def changed() -> None:
        raise VersionMismatch("meanwhile")

    with pytest.raises(NotFound):
        reject_value.event(Scope("acme", "ben"), memory.ids[0], order(memory), lambda: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(VersionMismatch):
        reject_value.event(ANNA, memory.ids[0], order(memory), lambda: None, lambda _: False)  # type: ignore[arg-type, return-value]
    with pytest.raises(VersionMismatch):
        reject_value.event(ANNA, memory.ids[0], order(memory), changed)  # type: ignore[arg-type]
    assert reject_value.page(ANNA, 10, None).values == ()
    assert memory.found("zebra") == [VALUE]


@pytest.mark.spec("P-22")
def test_the_key_can_be_rotated_and_old_rejections_hold(memory: Memory) -> None:
    memory.add(VALUE, f"Hello. {VALUE}.", "Another thing")
    reject(memory)
    before = memory.app.deletion.suppression.keys("acme")
    after = memory.app.deletion.suppression.rotate("acme", memory.now)
    assert len(before) == 1
    assert after[1:] == before
    assert memory.add(VALUE.upper()).results[0].status == "refused"
    with pytest.raises(Conflict):
        save(memory, VALUE)
    assert "zebra" not in str(memory.found("hello"))
    first = memory.app.deletion.values.page(ANNA, 10, None).values[0]
    assert memory.app.deletion.values.reject(ANNA, VALUE, order(memory)) == first.id
    reject(memory, 2)
    values = memory.app.deletion.values.page(ANNA, 10, None).values
    assert [value.key for value in values] == [before[0].id, after[0].id]
    assert [result.status for result in memory.add("another thing", VALUE, "a third").results] == [
        "refused",
        "refused",
        "created",
    ]
    memory.app.deletion.values.lift(ANNA, first.id, order(memory))
    assert memory.add(VALUE).results[0].status == "created"


def test_no_word_of_it_is_kept(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.add(VALUE)
    memory.project()
    reject(memory)
    memory.project()
    memory.app.parts.close()
    with sqlite3.connect(tmp_path / "recollect.db") as connection:
        dump = "\n".join(line for line in connection.iterdump() if "writable_schema" not in line).lower()
        (key,) = connection.execute("SELECT value FROM items WHERE collection = 'value_keys'").fetchone()
    connection.close()
    assert "zebra" not in dump
    assert "midnight" not in dump
    assert len(key) > 64


def test_each_step_is_in_the_audit(rejected: Memory) -> None:
    (value,) = rejected.app.deletion.values.page(ANNA, 10, None).values
    rejected.app.deletion.values.lift(ANNA, value.id, order(rejected))
    page = rejected.app.parts.items.page(ANNA, AUDIT, 100, None)
    entries = [audit_entry(item.key.key, item.value) for item in page.items]
    done = [entry.action for entry in entries if value.id in entry.target_ids]
    assert done == [Action.REJECT, Action.REVERT]
    assert all("zebra" not in str(entry).lower() for entry in entries)


def test_an_earlier_record_of_the_same_words_is_recalled_no_more(memory: Memory) -> None:
    later = EventDraft(content=VALUE, timestamp=NOON + timedelta(days=1))
    memory.add(VALUE, later, "The cat sleeps")
    reject(memory)
    assert memory.found("zebra sings") == ["The cat sleeps"]


def test_refusals_of_events_are_in_the_audit(memory: Memory) -> None:
    deleted = EventDraft(content="The cat sleeps", timestamp=NOON)
    memory.add(VALUE, deleted)
    reject(memory)
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[1], now=memory.now)
    seed = memory.app.ids.seed(int(memory.now.timestamp() * 1000), 4)
    for _ in range(2):
        drafts = [EventDraft(content=VALUE), deleted, EventDraft(content="new")]
        memory.app.timeline.events.ingest(ANNA, "c1", drafts, seed, memory.now, memory.app.rules.resolved("acme"))
    page = memory.app.parts.items.page(ANNA, AUDIT, 100, None)
    entries = [audit_entry(item.key.key, item.value) for item in page.items]
    refused = [entry for entry in entries if entry.action is Action.REFUSE]
    assert [(entry.reason, entry.target_ids) for entry in refused] == [
        ("rejected", (seed.nth(0),)),
        ("deleted", (seed.nth(1),)),
    ]
    assert {entry.actor for entry in refused} == {ANNA_HERSELF}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("path", ["event", "memory"])
def test_what_began_before_the_tenants_first_rejection_is_refused_after_it(memory: Memory, path: str) -> None:
    """The append read that nothing of the tenant's was ever rejected, and is overtaken."""
    overtaken = with_parts(memory, timeline=Overtaken(memory))
    if path == "event":
        (result,) = overtaken.add(VALUE.upper()).results
        assert (result.status, result.reason) == ("refused", "rejected")
    else:
        with pytest.raises(Conflict):
            save(overtaken, VALUE)
    assert memory.app.parts.timeline.records(ANNA, 10, None).events == ()


@pytest.mark.spec("P-22")
def test_something_else_that_began_before_it_is_stored(memory: Memory) -> None:
    """Though it has the fingerprint of the rejected value, as one in 256 has that knows of no key."""
    wanted = unkeyed_fingerprint(ANNA, VALUE)
    other = next(text for n in range(10_000) if unkeyed_fingerprint(ANNA, text := f"the owl hoots {n} times") == wanted)
    answer = with_parts(memory, timeline=Overtaken(memory)).add(other, VALUE, "the cat sleeps")
    assert [one.status for one in answer.results] == ["created", "refused", "created"]
    stored = {event.content for event in memory.app.parts.timeline.records(ANNA, 10, None).events}
    assert stored == {other, "the cat sleeps"}
    assert unkeyed_fingerprint(ANNA, VALUE) != unkeyed_fingerprint(HOME, VALUE)


class Overtaken(Before):
    """A timeline whose first append comes just after the value was rejected."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.app.parts.timeline)
        self._memory, self._rejected = memory, False

    def append(self, *given: Any) -> Any:
        if not self._rejected:
            self._rejected = True
            self._memory.app.deletion.values.reject(ANNA, VALUE, order(self._memory))
        return self.part.append(*given)
