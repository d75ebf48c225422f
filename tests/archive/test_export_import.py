"""Exports and imports: everything of a user, once, and nothing that was deleted."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.archiving import USER, all_events, exported, imported, keyed, remarks
from embedded.setting import ANNA, Memory, open_memory
from recollect.archive.record_line import Given, RecordLine, line_fault, line_text, read_line
from recollect.archive.transfer import LineOutcome
from recollect.core.errors import NotFound, StoredDataError
from recollect.core.scope import Scope
from recollect.deletion.reject import Rejecting
from recollect.memories.audit import Action
from recollect.memories.audit_log import AuditFilter
from recollect.memories.memory import Memory as Kept
from recollect.memories.memory import MemoryDraft
from recollect.memories.save import MemoryChange
from recollect.timeline.record import EventDraft

BEN = Scope("acme", "ben")
CREATED, DUPLICATE, REFUSED = LineOutcome.CREATED, LineOutcome.DUPLICATE, LineOutcome.REFUSED


@pytest.fixture
def other(tmp_path: Path) -> Memory:
    """Another store."""
    return open_memory(tmp_path / "other")


def saved(memory: Memory, content: str, scope: Scope = ANNA) -> Kept:
    seed = memory.app.ids.seed(int(memory.now.timestamp() * 1000))
    draft = MemoryDraft(content=content)
    return memory.app.memories.store.save(
        scope, draft, seed, memory.now, USER, memory.app.rules.resolved("acme")
    ).memory


def test_a_line_is_read_back(memory: Memory) -> None:
    memory.add(EventDraft(content="I always drink tea", importance=0.9, metadata={"a": [1, None, "é"]}))
    memory.project()
    saved(memory, "Ben likes ships")
    memory.project()
    lines = exported(memory)
    assert [read_line(line_text(line)) for line in lines] == lines
    assert [line_fault(line, 384) for line in lines] == [None, None]
    assert [json.loads(line_text(line))["kind"] for line in lines] == ["event", "memory"]
    assert all(line.memory is not None for line in lines)


def test_an_export_has_private_and_superseded_ones_and_no_expired_ones(memory: Memory) -> None:
    later = memory.now + timedelta(hours=1)
    memory.add(EventDraft(content="my secret", is_private=True), EventDraft(content="parking 12", expires_at=later))
    keyed(memory, "city", "Paris", "Lyon")
    memory.project()
    assert {line.event.content for line in exported(memory)} == {"my secret", "parking 12", "Paris", "Lyon"}
    memory.now = later
    assert {line.event.content for line in exported(memory)} == {"my secret", "Paris", "Lyon"}


def test_pages_hold_every_record_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.archive.transfer.PAGE_BYTES", 30_000)
    ids = remarks(memory, 300)
    first = memory.app.segments.exports.page(ANNA, None, memory.now)
    assert first.more is not None
    assert 0 < len(first.text.encode()) <= 30_000
    assert first.lines == len(first.text.splitlines())
    assert [line.event.id for line in exported(memory)] == ids


def test_a_store_is_made_anew_from_its_export(memory: Memory, other: Memory) -> None:
    remarks(memory, 30)
    memory.add(EventDraft(content="no time was named", importance=0.9), conversation=None)
    keyed(memory, "city", "Paris", "Lyon")
    memory.project()
    direct = saved(memory, "Ben likes ships")
    change = MemoryChange({"content": "Ben loves ships"}, USER, lambda _version: True)
    memory.app.memories.store.patch(ANNA, direct.id, change, memory.now)
    memory.project()
    lines = exported(memory)
    assert len(next(line for line in lines if line.event.id == direct.id).versions) == 1
    assert imported(other, lines).counts == {CREATED: len(lines)}
    assert [event.id for event in all_events(other)] == [event.id for event in all_events(memory)]
    other.project()
    assert exported(other) == lines
    assert all_events(other) == all_events(memory)
    kept = other.app.memories.store.one(ANNA, direct.id, other.now)
    assert kept == memory.app.memories.store.one(ANNA, direct.id, memory.now)
    assert (kept.content, len(other.app.memories.listing.history(ANNA, kept, other.now))) == ("Ben loves ships", 1)
    assert imported(other, lines).counts == {DUPLICATE: len(lines)}


def test_what_is_sent_again_after_an_import_is_a_duplicate(memory: Memory, other: Memory) -> None:
    at = memory.now
    memory.add(EventDraft(content="with both", timestamp=at), conversation="c1")
    memory.add(EventDraft(content="without conversation", timestamp=at), conversation=None)
    lines = exported(memory)
    assert [line.given for line in lines] == [Given.CONVERSATION, Given.TIME]
    imported(other, lines)
    answers = [
        other.add(EventDraft(content="with both", timestamp=at), conversation="c1"),
        other.add(EventDraft(content="without conversation", timestamp=at), conversation=None),
    ]
    assert [answer.results[0].status for answer in answers] == ["duplicate", "duplicate"]


@pytest.mark.spec("P-22")
def test_what_was_deleted_is_refused(memory: Memory) -> None:
    ids = remarks(memory, 3)
    memory.add(EventDraft(content="no time", importance=0.9), conversation=None)
    memory.project()
    lines = exported(memory)
    for one in (ids[1], memory.ids[-1]):
        memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=one)
    memory.project()
    assert imported(memory, lines).counts == {REFUSED: 2, DUPLICATE: 2}
    assert {event.id for event in all_events(memory)} == {ids[0], ids[2]}


@pytest.mark.spec("P-22")
def test_a_rejected_value_is_refused(memory: Memory, other: Memory) -> None:
    memory.add("I live in Paris", "I like tea")
    lines = exported(memory)
    imported(other, lines[1:])
    other.app.deletion.values.reject(ANNA, "i LIVE in Paris", Rejecting(now=other.now, actor=USER, via="test"))
    assert imported(other, lines).counts == {REFUSED: 1, DUPLICATE: 1}


def test_a_copy_names_its_origin(memory: Memory) -> None:
    ids = remarks(memory, 2)
    memory.project()
    lines = exported(memory)
    assert imported(memory, lines, BEN).counts == {CREATED: 2}
    memory.project()
    copies = exported(memory, BEN)
    assert [(line.event.user_id, line.event.id) for line in copies] == [("ben", one) for one in ids]
    assert {line.origin.user_id for line in copies} == {"anna"}
    assert imported(memory, copies, Scope("acme", "carla")).counts == {CREATED: 2}
    assert {line.origin.user_id for line in exported(memory, Scope("acme", "carla"))} == {"anna"}


@pytest.mark.spec("P-22")
def test_a_copy_of_what_was_deleted_is_refused(memory: Memory) -> None:
    ids = remarks(memory, 2)
    lines = exported(memory)
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[0])
    assert imported(memory, lines, BEN).counts == {REFUSED: 1, CREATED: 1}


@pytest.mark.spec("P-22")
def test_a_copy_whose_origin_is_deleted_meanwhile_goes_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = remarks(memory, 2)
    lines = exported(memory)
    importing = memory.app.archive.imports
    append = memory.app.parts.timeline.append

    def deleting(scope: Scope, writes: object) -> object:
        outcomes = append(scope, writes)  # type: ignore[arg-type]
        if scope == BEN:
            memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=ids[0])
        return outcomes

    monkeypatch.setattr(memory.app.parts.timeline, "append", deleting)
    assert importing is memory.app.archive.imports
    imported(memory, lines, BEN)
    assert [event.id for event in all_events(memory, BEN)] == [ids[1]]


def test_an_id_that_is_another_records_is_invalid(memory: Memory) -> None:
    remarks(memory, 2)
    memory.project()
    [first, second] = exported(memory)
    moved = replace(first, event=replace(first.event, timestamp=second.event.timestamp), memory=None)
    pending = memory.add("not yet projected")
    line = exported(memory)[-1]
    other = replace(line, event=replace(line.event, timestamp=second.event.timestamp), memory=None)
    assert pending.results[0].event_id == line.event.id
    counts = imported(memory, [moved, other]).counts
    assert (counts[CREATED], counts[LineOutcome.INVALID]) == (0, 2)


def test_the_audit_names_what_was_imported(memory: Memory, other: Memory) -> None:
    ids = remarks(memory, 150)
    imported(other, exported(memory))
    entries = other.app.memories.audit.page(ANNA, 10, None, AuditFilter(action=Action.CREATE)).entries
    assert {(entry.via, entry.actor) for entry in entries} == {("import", USER)}
    assert sorted(target for entry in entries for target in entry.target_ids) == sorted(ids)


def test_a_broken_line_is_distinguished_from_a_whole_one(memory: Memory) -> None:
    memory.add("I like tea")
    text = line_text(exported(memory)[0])
    document = json.loads(text)
    for broken in (
        "",
        "[]",
        "{}",
        text[:-5],
        json.dumps(document | {"v": 2}),
        json.dumps(document | {"more": 1}),
        json.dumps(document | {"given": "?"}),
        json.dumps(document | {"origin": []}),
        json.dumps(document | {"event": document["event"] | {"role": "nobody"}}),
        json.dumps(document | {"event": document["event"] | {"more": 1}}),
        json.dumps(document | {"event": {**document["event"], "timestamp": 5}}),
    ):
        with pytest.raises(StoredDataError):
            read_line(broken)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "mine"),
        ("content", " "),
        ("content", "x" * 65_537),
        ("content", 5),
        ("content", "\ud800"),
        ("importance", 1.5),
        ("importance", True),
        ("importance", float("nan")),
        ("tags", (5,)),
        ("views", -1),
        ("is_private", 1),
        ("conversation_id", "a\nb"),
        ("persona_id", ".."),
        ("metadata", {"a": "x" * 17_000}),
        ("metadata", {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}}}),
        ("metadata", {"a": 10**400}),
        ("importance", 10**400),
        ("version", 0),
        ("superseded_by", "x"),
        ("embedding", b"\x00"),
        ("embedding", b"\x00\x00"),
        ("title", "x" * 20_000),
    ],
)
def test_a_line_out_of_bounds_names_the_field(memory: Memory, field: str, value: Any) -> None:
    memory.add("I like tea")
    line = exported(memory)[0]
    broken: RecordLine = replace(line, event=replace(line.event, **{field: value}))
    assert line_fault(broken, 384) == f"event.{field}"


def test_a_memory_of_another_record_is_invalid(memory: Memory) -> None:
    saved(memory, "Ben likes ships")
    saved(memory, "Carla likes tea")
    [first, second] = exported(memory)
    assert line_fault(replace(first, memory=second.memory), 384) == "memory.id"
    assert line_fault(replace(first, memory=None), 384) == "memory"
    assert first.memory is not None
    assert line_fault(replace(first, versions=(first.memory,)), 384) == "versions.version"


def test_who_is_not_there_exports_nothing(memory: Memory) -> None:
    page = memory.app.segments.exports.page(BEN, None, memory.now)
    assert (page.text, page.lines, page.more) == ("", 0, None)
    with pytest.raises(NotFound):
        memory.app.timeline.listing.one(BEN, "x", memory.now)
