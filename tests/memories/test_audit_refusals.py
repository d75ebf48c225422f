"""Each refusal of a rejected value is in the audit, by ids and hashes: who, by which way, why (P-22)."""

from datetime import timedelta
from pathlib import Path

import pytest

from embedded.archiving import exported, imported
from embedded.deciding import by_key, remember, revert
from embedded.memory_items import USER, reject
from embedded.setting import ANNA, NOON, Memory, open_memory
from recollect.archive.transfer import LineOutcome
from recollect.core.errors import Conflict
from recollect.core.event import Role, Source
from recollect.core.scope import Scope
from recollect.knowledge.use_cases import KnowledgeAuthor
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, content_hash
from recollect.memories.audit_log import AuditFilter
from recollect.summaries.goals import GoalStatus, own_goal
from recollect.timeline.record import EventDraft

SECRET = "The zebra sings at midnight"
MODEL = Actor(ActorKind.MODEL, "manage_knowledge")
BY_MODEL = KnowledgeAuthor(ANNA, MODEL)
ACTIVE = GoalStatus.ACTIVE


def audit(memory: Memory, scope: Scope = ANNA, action: Action | None = None) -> list[AuditEntry]:
    """All entries, newest first; no word of the secret is in them."""
    found = list(memory.app.memories.audit.page(scope, 200, None, AuditFilter(action=action)).entries)
    assert "zebra" not in str(found).lower()
    return found


def refusals(memory: Memory, scope: Scope = ANNA) -> list[AuditEntry]:
    return audit(memory, scope, action=Action.REFUSE)


@pytest.mark.spec("P-22")
def test_an_import_has_one_entry_for_each_reason_and_names_every_line(memory: Memory, tmp_path: Path) -> None:
    memory.add(SECRET, f"{SECRET}!", "The dog barks", "The cat sleeps")
    memory.project()
    lines = exported(memory)
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[2], now=memory.now)
    reject(memory, SECRET)
    assert imported(memory, lines).counts[LineOutcome.REFUSED] == 3
    found = {entry.reason: entry for entry in refusals(memory)}
    assert found.keys() == {"rejected", "deleted"}
    assert set(found["rejected"].target_ids) == set(memory.ids[:2])
    assert found["deleted"].target_ids == (memory.ids[2],)
    assert {(entry.actor, entry.via, entry.at) for entry in found.values()} == {(USER, "import", memory.now)}
    imported(memory, lines)
    assert len(refusals(memory)) == 4, "who asks again is refused again"


@pytest.mark.spec("P-22")
def test_of_an_erased_user_no_id_is_written_down_again(memory: Memory) -> None:
    memory.add(SECRET, "The cat sleeps")
    lines = exported(memory)
    memory.app.deletion.users.erase(ANNA, memory.now, memory.now, USER, lambda: 60.0)
    assert imported(memory, lines).counts[LineOutcome.REFUSED] == 2
    assert [entry.action for entry in audit(memory)] == [Action.ERASE]


@pytest.mark.spec("P-22", "P-24")
def test_a_revert_of_a_rejected_value_is_told_of(memory: Memory) -> None:
    old, new = remember(memory, SECRET, "The lion sings at noon", key="song")
    decision = by_key(memory, old, new)
    reject(memory, SECRET)
    with pytest.raises(Conflict):
        revert(memory, decision)
    (entry,) = refusals(memory)
    assert (entry.actor, entry.via, entry.reason, entry.target_ids) == (USER, "revert", "rejected", (old,))
    assert entry.after == {"hash": content_hash("acme", "anna", SECRET)}


@pytest.mark.spec("P-22")
def test_a_goal_that_is_a_rejected_value_is_told_of_whoever_names_it(memory: Memory) -> None:
    goal = memory.app.summaries.goals.track(ANNA, "Sing", ACTIVE, None, NOON)
    reject(memory, SECRET)
    with pytest.raises(Conflict):
        memory.app.summaries.goals.patch(ANNA, goal.id, {"goal": SECRET}, lambda _: True, NOON)
    with pytest.raises(Conflict):
        memory.app.summaries.goals.track(ANNA, SECRET, ACTIVE, None, NOON + timedelta(seconds=1))
    with pytest.raises(Conflict):
        memory.app.summaries.goals.add(ANNA, own_goal("own", SECRET, None, None), NOON + timedelta(seconds=2))
    added, by_tool, by_person = refusals(memory)
    assert (added.actor, added.target_ids) == (USER, ())
    assert (by_tool.actor, by_tool.target_ids) == (Actor(ActorKind.MODEL, "track_goal"), ())
    assert (by_person.actor, by_person.target_ids) == (USER, (goal.id,))
    assert added.after == by_tool.after == by_person.after == {"hash": content_hash("acme", "anna", SECRET)}
    assert memory.app.summaries.goals.one(ANNA, goal.id) == goal


@pytest.mark.spec("P-22")
@pytest.mark.parametrize(
    ("namespace", "key", "value"),
    [
        ("notes", "songs", SECRET),
        ("notes", SECRET, "sung"),
        (SECRET, "songs", "sung"),
        ("notes", "songs", {"deep": [1, None, {"er": SECRET.upper()}]}),
        ("notes", "songs", {SECRET: 1}),
        ("vocabulary", f"shop:{SECRET}", {"target": "t"}),
        ("vocabulary", "shop:song", {"target": SECRET}),
        ("correction", "songs", {"instruction": f"Be kind. {SECRET}.", "trigger": "songs"}),
    ],
)
def test_knowledge_in_a_users_name_is_no_value_that_they_rejected(
    memory: Memory, namespace: str, key: str, value: object
) -> None:
    reject(memory, SECRET)
    for author in (BY_MODEL, KnowledgeAuthor(ANNA, USER)):
        with pytest.raises(Conflict):
            memory.app.knowledge.put("acme", namespace, key, value, NOON, author=author)
    assert memory.app.knowledge.listed("acme").entries == ()
    assert [entry.actor for entry in refusals(memory)] == [USER, MODEL]
    ben = KnowledgeAuthor(Scope("acme", "ben"), MODEL)
    memory.app.knowledge.put("acme", namespace, key, value, NOON, author=ben)
    memory.app.knowledge.put("acme", namespace, key, value, NOON)


@pytest.mark.spec("P-22")
def test_what_another_persona_rejected_is_no_matter_of_this_one(memory: Memory) -> None:
    reject(memory, SECRET, Scope("acme", "anna", "coach"))
    memory.app.knowledge.put("acme", "notes", "songs", SECRET, NOON, author=BY_MODEL)
    author = KnowledgeAuthor(Scope("acme", "anna", "coach"), MODEL)
    with pytest.raises(Conflict):
        memory.app.knowledge.put("acme", "notes", "songs", SECRET, NOON, author=author)


def test_each_write_of_knowledge_in_a_users_name_is_told_of_by_hashes(memory: Memory) -> None:
    knowledge = memory.app.knowledge
    for value in ({"a": SECRET}, {"a": 2}):
        knowledge.put("acme", "zebra", "zebra", value, NOON, author=BY_MODEL)
    knowledge.delete("acme", "zebra", "zebra", NOON, author=BY_MODEL)
    deleted, patched, created = audit(memory)
    assert [entry.action for entry in (created, patched, deleted)] == [Action.CREATE, Action.PATCH, Action.DELETE]
    assert {entry.target_ids for entry in audit(memory)} == {(content_hash("acme", "anna", "zebra/zebra"),)}
    assert created.before is deleted.after is None
    assert (created.after, patched.after) == (patched.before, deleted.before)
    assert (created.after or {})["version"] == 1
    knowledge.learn("acme", "No, by 'cost' I mean the 'total_amount' field", "shop", NOON, author=BY_MODEL)
    knowledge.put("acme", "notes", "ant", 1, NOON)
    assert len(audit(memory)) == 4


@pytest.mark.spec("P-22")
def test_who_said_a_refused_event_is_who_the_audit_names(memory: Memory) -> None:
    reject(memory, SECRET)
    drafts = [
        EventDraft(content=SECRET),
        EventDraft(content=SECRET.upper(), role=Role.BOT),
        EventDraft(content=f"{SECRET}.", role=Role.BOT, source=Source.INFERRED),
        EventDraft(content=f"{SECRET}!", role=Role.BOT),
    ]
    seed = memory.app.ids.seed(int(memory.now.timestamp() * 1000), 5)
    for later in range(2):
        now = memory.now + timedelta(minutes=later)
        memory.app.timeline.events.ingest(ANNA, "c1", drafts, seed, now, memory.app.rules.resolved("acme"))
    found = {entry.actor: entry.target_ids for entry in refusals(memory)}
    assert len(refusals(memory)) == 3, "a retry with the same ids notes nothing more"
    assert found == {
        USER: (seed.nth(0),),
        Actor(ActorKind.BOT, "events"): (seed.nth(1), seed.nth(3)),
        Actor(ActorKind.MODEL, "events"): (seed.nth(2),),
    }


@pytest.mark.spec("P-22")
def test_an_erasure_that_is_begun_again_is_told_of_once(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.add(SECRET)
    erasure = memory.app.deletion.users.erase(ANNA, memory.now, memory.now, USER, lambda: 60.0)
    other = open_memory(tmp_path / "other")
    for one in (memory, other):
        for minutes in (1, 2):
            one.app.deletion.users.resume(ANNA, erasure.id, memory.now + timedelta(minutes=minutes))
        (entry,) = audit(one)
        assert (entry.id, entry.action) == (erasure.id, Action.ERASE)
        one.app.parts.close()
