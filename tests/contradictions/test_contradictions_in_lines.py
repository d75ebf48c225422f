"""What contradictions wrote on memories travels in exports, and is believed no more than the rest of a line."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.archiving import exported, imported
from embedded.deciding import (
    BOTH,
    LYON,
    PARIS,
    PROMOTED,
    TITLE,
    by_key,
    merge,
    now,
    remember,
    revert,
    supersede,
)
from embedded.memory_items import kept_of, patch, shown
from embedded.setting import ANNA, NOON, Memory, open_memory
from recollect.archive.record_line import MOST_LAPSES, RecordLine, line_fault, line_text, read_line
from recollect.archive.transfer import LineOutcome
from recollect.core.errors import StoredDataError
from recollect.core.items import ItemWrite
from recollect.core.scope import Scope
from recollect.memories.memory import Lapse, MemoryStatus, Origin
from recollect.memories.memory import Memory as Remembered
from recollect.memories.storage import memory_document, memory_key


def lapsed(memory: Memory, memory_id: str, by: str) -> Remembered:
    """A part of the memory that no longer holds."""
    lapse = Lapse(by=by, start=0, end=4, since=NOON, until=NOON + timedelta(days=1), rule="moved")
    after = replace(now(memory, memory_id), lapses=(lapse,), settled_by="moved")
    memory.app.parts.items.write(ANNA, [ItemWrite(memory_key(memory_id), memory_document(after))], memory.now)
    return after


@pytest.mark.spec("P-24")
def test_a_store_made_anew_from_an_export_says_the_same(memory: Memory, tmp_path: Path) -> None:
    old, new = remember(memory, PARIS, LYON)
    supersede(memory, old, new)
    part, whole = remember(memory, TITLE, PROMOTED)
    merge(memory, part, whole)
    lapsed(memory, new, whole)
    lines = exported(memory)
    assert [line_fault(line, None) for line in lines] == [None] * len(lines)
    other = open_memory(tmp_path / "other")
    report = imported(other, [read_line(line_text(line)) for line in lines])
    assert report.counts == {LineOutcome.CREATED: len(lines)}
    other.project()
    assert kept_of(other) == kept_of(memory)
    assert now(other, old).superseded_by == new
    assert now(other, new).lapses == now(memory, new).lapses
    assert (now(other, whole).content, now(other, whole).origin) == (BOTH, Origin.MERGED)
    other.app.deletion.events.forget(ANNA, event_id=part, now=other.now)
    assert now(other, whole).content == PROMOTED
    other.app.parts.close()


@pytest.mark.parametrize(
    "change",
    [
        {"winner": "x"},
        {"loser": "018f4cf3-a400-7000-8000-000000000002"},
        {"at": "0001-01-01T00:00:00+00:00"},
        {"rule": ""},
        {"confidence": 2},
        {"before": -1},
        {"reason": "x" * 2000},
    ],
)
def test_a_decision_that_is_wrong_is_named(memory: Memory, change: dict[str, Any]) -> None:
    old, new = remember(memory, PARIS, LYON)
    supersede(memory, old, new)
    (line, _) = exported(memory)
    document = json.loads(line_text(line))
    document["decisions"][0] |= change
    assert line_fault(read_line(json.dumps(document)), None) == "decisions"


@pytest.mark.spec("P-22")
def test_a_value_that_was_brought_back_keeps_its_origin(memory: Memory, tmp_path: Path) -> None:
    old, new = remember(memory, PARIS, LYON, key="album")
    again = revert(memory, by_key(memory, old, new)).memory_id
    lines = exported(memory)
    other, ben = open_memory(tmp_path / "other"), Scope("acme", "ben")
    for scope in (ANNA, ben):
        assert imported(other, lines, scope).counts == {LineOutcome.CREATED: 3}
    other.project()
    assert shown(other, "stamps album", ben) == [PARIS]
    other.app.deletion.events.forget(ANNA, event_id=old, now=other.now)
    for _ in range(4):
        other.project()
    assert set(kept_of(other)) == set(kept_of(other, ben)) == {new}
    assert again not in kept_of(other)
    other.app.parts.close()


def test_a_line_of_before_is_read(memory: Memory) -> None:
    remember(memory, PARIS)
    (line,) = exported(memory)
    document = json.loads(line_text(line))
    document["memory"] = {**document["memory"], "format": 1}
    for name in ("lapses", "settled_by"):
        document["memory"].pop(name, None)
    read = read_line(json.dumps(document))
    assert (read.memory, line_fault(read, None)) == (line.memory, None)


def line_with(memory: Memory, change: Callable[[dict[str, Any]], object]) -> RecordLine:
    """An exported line with something else in its memory's document."""
    old, new = remember(memory, PARIS, LYON)
    lapsed(memory, old, new)
    (line,) = [one for one in exported(memory) if one.event.id == old]
    document = json.loads(line_text(line))
    change(document["memory"])
    return read_line(json.dumps(document))


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "no place": lambda one: one["lapses"][0].update(start="0"),
    "empty": lambda one: one["lapses"][0].update(start=4, end=4),
    "backwards": lambda one: one["lapses"][0].update(start=-1),
    "beyond": lambda one: one["lapses"][0].update(end=10_000),
    "no flag": lambda one: one["lapses"][0].update(start=False, end=True),
    "a foreign id": lambda one: one["lapses"][0].update(by="somebody"),
    "no rule": lambda one: one["lapses"][0].update(rule=""),
    "a long rule": lambda one: one["lapses"][0].update(rule="x" * 1000),
    "out of time": lambda one: one["lapses"][0].update(since="0001-01-01T00:00:00+00:00"),
    "no zone": lambda one: one["lapses"][0].update(until="2024-01-01T00:00:00"),
    "too many": lambda one: one.update(lapses=one["lapses"] * (MOST_LAPSES + 1)),
    "settled by nobody": lambda one: one.update(settled_by=""),
    "settled by a number": lambda one: one.update(settled_by=7),
    "superseded by a name": lambda one: one.update(superseded_by="somebody"),
    "ends out of time": lambda one: one.update(valid_to="0001-01-01T00:00:00+00:00"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(memory: Memory, name: str) -> None:
    fault = line_fault(line_with(memory, WRONG[name]), None)
    assert fault is not None
    assert fault.removeprefix("memory.") in ("lapses", "settled_by", "superseded_by", "valid_to")


UNREADABLE: dict[str, Callable[[dict[str, Any]], object]] = {
    "lapses that are none": lambda one: one.update(lapses=7),
    "a lapse that is none": lambda one: one.update(lapses=["x"]),
    "an unknown field": lambda one: one["lapses"][0].update(more=1),
    "a field that is missing": lambda one: one["lapses"][0].pop("by"),
    "a time that is none": lambda one: one["lapses"][0].update(since=7),
    "an unknown status": lambda one: one.update(status="x"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_no_line(memory: Memory, name: str) -> None:
    with pytest.raises(StoredDataError):
        line_with(memory, UNREADABLE[name])


def test_an_edit_leaves_no_part_of_the_old_words(memory: Memory) -> None:
    old, new = remember(memory, PARIS, LYON)
    lapsed(memory, old, new)
    patch(memory, old, importance=0.2)
    assert (now(memory, old).lapses != (), now(memory, old).content) == (True, PARIS)
    patch(memory, old, content="Anna sold her stamps")
    assert now(memory, old).lapses == ()
    assert now(memory, old).status is MemoryStatus.ACTIVE
