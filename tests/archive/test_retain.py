"""The job `retain`: pruned and expired events are deleted everywhere, published, and archived where asked."""

import json
from typing import Any

import pytest

from embedded.keeping import BEN, DAY, NOW, STRANGER, Keeping
from embedded.setting import ANNA, NOON, with_parts
from recollect.core.errors import NotFound, Unavailable
from recollect.core.event import EventType
from recollect.core.scope import Scope, user_hash
from recollect.jobs.job import JobStatus
from recollect.memories.audit import AUDIT, Actor, ActorKind, audit_entry, content_hash
from recollect.memories.memory import MemoryDraft
from recollect.memories.save import MemoryChange
from recollect.memories.storage import memory_key
from recollect.timeline.record import EventDraft


@pytest.mark.spec("A-57")
def test_without_rules_nobodys_memories_vanish(keeping: Keeping) -> None:
    keeping.say("a very old thing", 20_000)
    assert keeping.retain() == {}
    assert (keeping.left(), keeping.told()) == (["a very old thing"], [])


@pytest.mark.spec("A-57", "A-62", "A-63")
def test_what_is_older_goes_and_what_is_just_as_old_stays(keeping: Keeping) -> None:
    keeping.rules({"older_than_days": 90})
    old = [keeping.say("the zebra sings", 91), keeping.say("the owl hoots", 90.001)]
    keeping.say("the cat sleeps", 90)
    keeping.say("the dog barks", 1)
    assert keeping.retain() == {"users": 1, "pruned": 2}
    assert keeping.left() == ["the cat sleeps", "the dog barks"]
    assert "the zebra sings" not in keeping.memory.found("zebra sings")
    (told,) = keeping.told()
    hashes = {content_hash("acme", "anna", text) for text in ("the zebra sings", "the owl hoots")}
    assert (told["userId"], told["personaId"], set(told["ids"]), set(told["hashes"])) == ("anna", None, {*old}, hashes)


@pytest.mark.spec("A-57")
@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ({}, ["keyed"]),
        ({"keep_keyed": False}, []),
        ({"event_types": ["task"]}, ["talk", "weighty", "keyed"]),
        ({"event_types": ["task", "conversation"]}, ["keyed"]),
        ({"below_importance": 0.5}, ["weighty", "keyed"]),
        ({"below_importance": 0.95}, ["keyed"]),
        ({"event_types": ["task"], "below_importance": 0.2}, ["talk", "task", "weighty", "keyed"]),
    ],
)
def test_a_rule_is_by_age_type_importance_and_key(keeping: Keeping, rule: dict[str, Any], kept: list[str]) -> None:
    keeping.rules({"older_than_days": 30, **rule})
    keeping.say("talk", 44, importance=0.3)
    keeping.say("task", 43, importance=0.3, event_type=EventType.TASK)
    keeping.say("weighty", 42, importance=0.9)
    keeping.say("keyed", 41, importance=0.1, key="city")
    keeping.say("new", 2)
    keeping.retain()
    assert keeping.left() == [*kept, "new"]


@pytest.mark.spec("P-22")
def test_what_was_pruned_stays_deleted(keeping: Keeping) -> None:
    keeping.rules({"older_than_days": 30})
    keeping.say("the zebra sings", 40)
    keeping.retain()
    draft = EventDraft(content="the zebra sings", timestamp=NOW - 40 * DAY)
    (result,) = keeping.memory.add(draft).results
    assert (result.status.value, result.reason) == ("refused", "deleted")


@pytest.mark.spec("A-64")
def test_a_memory_that_nothing_else_speaks_for_goes_with_it(keeping: Keeping) -> None:
    keeping.rules({"older_than_days": 30})
    old = keeping.say("I love jazz", 40, importance=0.8)
    other = keeping.say("I love jazz", 40, Scope("acme", "anna", "coach"), importance=0.8)
    strangers = keeping.say("I love jazz", 40, STRANGER, importance=0.8)
    new = keeping.say("I love rock", 2, importance=0.8)
    keeping.retain()
    items = keeping.memory.app.parts.items
    kept = items.get(ANNA, [memory_key(one) for one in (old, other, new)])
    assert list(kept) == [memory_key(new)]
    assert items.get(STRANGER, [memory_key(strangers)])
    assert keeping.left(STRANGER) == ["I love jazz"]
    assert sorted(str(told["personaId"]) for told in keeping.told()) == ["None", "coach"]


@pytest.mark.spec("A-64")
def test_a_memory_that_a_newer_event_says_too_stays(keeping: Keeping) -> None:
    keeping.rules({"older_than_days": 30})
    keeping.say("I love jazz", 40, importance=0.8)
    keeping.memory.project()
    new = keeping.say("I love jazz", 2, importance=0.8)
    keeping.retain()
    assert keeping.left() == ["I love jazz"]
    memory = keeping.memory.app.memories.store.one(ANNA, new, NOW)
    assert memory.source_event_ids == (new,)


def test_what_was_saved_directly_is_never_pruned(keeping: Keeping) -> None:
    keeping.rules({"older_than_days": 1, "keep_keyed": False})
    app = keeping.memory.app
    draft = MemoryDraft(content="I am allergic to nuts", importance=0.1, timestamp=NOW - 1000 * DAY)
    actor = Actor(ActorKind.USER, "anna")
    app.memories.store.save(ANNA, draft, app.ids.seed(1), NOON, actor, app.rules.resolved("acme"))
    keeping.say("talk", 20)
    assert keeping.retain()["pruned"] == 1
    assert keeping.left() == ["I am allergic to nuts"]


def test_an_event_whose_memory_was_made_more_important_is_as_important(keeping: Keeping) -> None:
    keeping.rules({"older_than_days": 30, "below_importance": 0.9})
    kept = keeping.say("I love jazz", 40, importance=0.8)
    keeping.say("I love rock", 40, importance=0.8)
    keeping.memory.project()
    change = MemoryChange({"importance": 1.0}, Actor(ActorKind.USER, "anna"), lambda version: True)
    keeping.memory.app.memories.store.patch(ANNA, kept, change, NOON)
    keeping.retain()
    assert keeping.left() == ["I love jazz"]


@pytest.mark.spec("A-65")
def test_each_stands_in_the_audit_and_in_the_log_without_its_words(
    keeping: Keeping, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="recollect")
    keeping.rules({"older_than_days": 30})
    old = keeping.say("the zebra sings", 40)
    keeping.retain()
    rows = keeping.memory.app.parts.items.page(ANNA, AUDIT, 100, None).items
    (entry,) = [one for one in (audit_entry(row.key.key, row.value) for row in rows) if one.outcome == "pruned"]
    assert (entry.actor, entry.event_ids) == (Actor(ActorKind.JOB, "retain"), (old,))
    assert (entry.via, entry.reason, entry.at) == ("retain", "retention[0]", NOW)
    assert "zebra" not in json.dumps([dict(row.value) for row in rows])
    (line,) = [record for record in caplog.records if record.getMessage() == "pruned"]
    told = [line.__dict__[name] for name in ("user", "persona", "event_ids", "events", "reason")]
    assert told == [user_hash("anna"), None, [old], 1, "retention[0]"]
    (ended,) = [record for record in caplog.records if record.getMessage() == "a job ended"]
    assert ended.__dict__["counts"] == {"users": 1, "expired": 0, "pruned": 1, "archived": 0}
    assert "zebra" not in str([record.__dict__ for record in caplog.records])


def test_it_is_archived_before_where_the_rule_says_so(keeping: Keeping) -> None:
    keeping.rules({"older_than_days": 90}, {"older_than_days": 30, "event_types": ["task"], "archive": True})
    archived = [
        keeping.say("an old task", 100, event_type=EventType.TASK),
        keeping.say("a task", 40, event_type=EventType.TASK),
    ]
    keeping.say("old talk", 100)
    assert keeping.retain() == {"users": 1, "archived": 2, "pruned": 3}
    records = keeping.archived()
    assert [record["id"] for record in records] == archived
    assert [record["content"] for record in records] == ["an old task", "a task"]
    (name,) = keeping.memory.app.parts.snapshots.names("acme", "archive/")
    assert "anna" not in name


def test_nothing_goes_where_the_archive_is_away(keeping: Keeping) -> None:
    class Full:
        def put_if_absent(self, *_: Any) -> str:
            raise Unavailable("full")

    keeping.rules({"older_than_days": 30, "archive": True})
    keeping.say("the zebra sings", 40)
    keeping.memory.project()
    full = Keeping(with_parts(keeping.memory, snapshots=Full()), keeping.home)
    full.memory.now = NOW
    job = full.run(full.start())
    assert (job.status, job.errors, keeping.left()) == (JobStatus.RUNNING, {"Unavailable": 1}, ["the zebra sings"])


def test_two_tenants_and_their_rules_are_kept_apart(keeping: Keeping) -> None:
    keeping.rules({"older_than_days": 30})
    keeping.rules({"older_than_days": 60}, tenant="other")
    for scope in (ANNA, BEN, STRANGER):
        keeping.say("forty days", 40, scope)
        keeping.say("seventy days", 70, scope, expires_at=NOW - DAY)
    assert keeping.retain() == {"expired": 2, "users": 2, "pruned": 2}
    assert (keeping.left(), keeping.left(BEN)) == ([], [])
    assert keeping.left(STRANGER) == ["seventy days", "forty days"]
    assert keeping.retain("other") == {"expired": 1, "users": 1}
    assert keeping.left(STRANGER) == ["forty days"]
    assert (len(keeping.told()), len(keeping.told("other"))) == (4, 1)


def test_no_job_of_another_tenant_is_shown(keeping: Keeping) -> None:
    job = keeping.start()
    with pytest.raises(NotFound):
        keeping.memory.app.jobs.read("other", job.id)
