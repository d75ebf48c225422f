"""Events with `derive: false` stand in the timeline, and no path derives anything of them: each leaves no trace."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.archiving import all_events, exported, imported, run_job, snapshot
from embedded.asking import Asking, contents
from embedded.contradicting import statuses
from embedded.reindexing import OtherEmbedder, reindexed, with_embedder
from embedded.setting import ANNA, Memory, away, open_memory, with_parts
from embedded.spoken import said_in
from embedded.summarizing import answer, summaries_of
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.archive.record_line import line_fault
from recollect.contradictions.candidates import CurrentRecords
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind, pack_vector
from recollect.memories.deferred_promotion import Signal, SignalType
from recollect.memories.memory import MemoryStatus
from recollect.retrieval.filters import TimeWindow
from recollect.retrieval.ranking import Mode
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import WindowQuery

SAID, BEFORE = "I moved to Lyon.", "I live in Paris."
EVERY_WAY: tuple[dict[str, Any], ...] = (
    {"mode": Mode.HYBRID},
    {"mode": Mode.LEXICAL},
    {"mode": Mode.SEMANTIC, "min_similarity": -1.0},
)


def add_underived(memory: Memory, content: str = SAID, late: timedelta = timedelta(0), **more: Any) -> str:
    """Its id. It is important enough for a memory."""
    memory.now += timedelta(minutes=1)
    more = {"importance": 0.9, "timestamp": memory.now - late, **more}
    memory.add(EventDraft(content=content, derive=False, **more))
    return memory.ids[-1]


def traces(memory: Memory, word: str = "lyon") -> set[str]:
    """The tables of the file that have the word anywhere, but for the records of events."""
    with sqlite3.connect(memory.app.settings.home / "recollect.db") as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name
            for name in tables
            if name != "records" and any(map(_has(word), file.execute(f'SELECT * FROM "{name}"')))
        }


def _has(word: str) -> Callable[[tuple[object, ...]], bool]:
    def has(row: tuple[object, ...]) -> bool:
        texts = (value.decode(errors="ignore") if isinstance(value, bytes) else str(value) for value in row)
        return any(word in text.lower() for text in texts)

    return has


def projected(memory: Memory) -> None:
    """The stream's path, the laptop's drain, and reconcile are this one use case."""
    memory.project()


def reconciled_by_the_job(memory: Memory) -> None:
    run_job(memory, memory.app.projection.reconcile_job)


def promoted_after_a_warning(memory: Memory) -> None:
    """An important event that comes late waits while the bridge is suspended; this one does not."""
    for kind in (SignalType.WARNING, SignalType.HEALTHY):
        memory.app.memories.signals.receive("acme", Signal(memory.app.ids.fresh(), kind, "test"), memory.now)
        add_underived(memory, late=timedelta(minutes=5))
        memory.project()
    run_job(memory, memory.app.projection.reconcile_job)


def promoted_by_name(memory: Memory) -> None:
    memory.project()
    (event,) = all_events(memory)
    assert memory.app.memories.promoted(ANNA, event, memory.now) is None
    current = CurrentRecords(memory.app.parts.timeline, memory.app.parts.items)
    assert current.read(ANNA, [event.id], memory.now) == {}


def reindexed_from_vectors(memory: Memory) -> None:
    memory.project()
    assert reindexed(memory)["encoded"] == 0


def reindexed_from_events(memory: Memory) -> None:
    memory.project()
    assert reindexed(memory, **{"from": "events"})["memories"] == 0


def reindexed_by_another_embedder(memory: Memory) -> None:
    memory.project()
    other = OtherEmbedder()
    reindexed(with_embedder(memory, other))
    assert other.encoded == []


def searched_before_it_is_projected(memory: Memory) -> None:
    for way in EVERY_WAY:
        assert memory.found("Lyon", **way) == []


def searched_without_an_index(memory: Memory) -> None:
    with away(memory, "index", "nominate") as broken:
        for way in EVERY_WAY[:2]:
            assert broken.found("Lyon", **way) == []
        assert not broken.context("Lyon?", conversation_id="another").items


def summarized(memory: Memory) -> None:
    """The model is told nothing of it, nor is it counted."""
    summaries = summaries_of(memory, [answer("She counts.")])
    summaries.say(3)
    memory.project()
    assert summaries.made(force=True).message_count == 3
    assert "Lyon" not in summaries.model.last_sent
    summaries.say(1)
    add_underived(memory)
    assert summaries.made(force=True).message_count == 1
    assert "Lyon" not in summaries.model.last_sent


PATHS = (
    projected,
    reconciled_by_the_job,
    promoted_after_a_warning,
    promoted_by_name,
    reindexed_from_vectors,
    reindexed_from_events,
    reindexed_by_another_embedder,
    searched_before_it_is_projected,
    searched_without_an_index,
    summarized,
)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
def test_nothing_is_derived_of_it_by(path: Callable[[Memory], None], memory: Memory) -> None:
    event_id = add_underived(memory, space_id="attic")
    path(memory)
    assert traces(memory, "lyon") == set()
    memory.project()
    assert traces(memory, "lyon") == set()
    assert traces(memory, "attic") == {"documents"}
    assert statuses(memory, [event_id]) == [None]
    assert memory.app.parts.projections.vectors(ANNA, [event_id])[event_id].vector is None
    for way in EVERY_WAY:
        assert SAID not in memory.found(SAID, **way)


@pytest.mark.parametrize(("older", "newer"), [(False, True), (True, False)])
def test_the_judge_holds_it_against_nothing(memory: Memory, older: bool, newer: bool) -> None:
    drafts = [
        EventDraft(content=BEFORE, importance=0.9, timestamp=memory.now, derive=not older),
        EventDraft(content=SAID, importance=0.9, timestamp=memory.now + timedelta(days=1), derive=not newer),
    ]
    memory.now += timedelta(days=2)
    for draft in drafts:
        memory.add(draft)
        memory.project()
    expected = [None if older else MemoryStatus.ACTIVE, None if newer else MemoryStatus.ACTIVE]
    assert statuses(memory, memory.ids) == expected


def test_it_is_listed_and_said_in_its_conversation_and_nowhere_else(memory: Memory) -> None:
    event_id = add_underived(memory)
    for _ in ("in the tail", "projected"):
        listed = memory.app.timeline.listing.window(ANNA, WindowQuery(now=memory.now, window=TimeWindow(), limit=10))
        assert [(event.id, event.derive) for event in listed.events] == [(event_id, False)]
        assert ("user", SAID) in said_in(memory.context("go on", conversation_id="c1").messages.messages)
        other = memory.context("Have I moved to Lyon?", conversation_id="another")
        assert (list(other.items), SAID in other.prompt.text) == ([], False)
        assert contents(Asking(memory, ANNA)("Have I moved to Lyon?", now=memory.now)) == []
        memory.project()
    assert [one.id for one in memory.app.timeline.listing.conversations(ANNA, 10, None).conversations] == ["c1"]


def test_an_export_brings_it_back_as_it_is(memory: Memory) -> None:
    event_id = add_underived(memory)
    memory.project()
    (line,) = exported(memory)
    assert (line.event.id, line.event.derive, line.memory) == (event_id, False, None)
    imported(memory, [line], Scope("acme", "ben"))
    memory.project()
    (copy,) = all_events(memory, Scope("acme", "ben"))
    assert copy == replace(line.event, user_id="ben", holds_until=copy.holds_until)
    assert traces(memory, "lyon") == set()


def test_a_snapshot_brings_it_back_as_it_is(memory: Memory, tmp_path: Path) -> None:
    add_underived(memory)
    memory.project()
    made, events = snapshot(memory), all_events(memory)
    other = open_memory(tmp_path / "other")
    restoring = with_parts(other, snapshots=memory.app.parts.snapshots)
    run_job(restoring, restoring.app.archive.restore, snapshot_id=made)
    other.project()
    assert all_events(other) == events
    assert traces(other, "lyon") == set()
    other.app.parts.close()


def test_it_goes_with_its_deletion(memory: Memory) -> None:
    event_id = add_underived(memory)
    memory.project()
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=event_id)
    memory.project()
    assert all_events(memory) == []
    assert memory.app.parts.publisher.published("acme", None, None) == []


GIVEN = pack_vector(HashingEmbedder().encode(["x"], TextKind.PASSAGE)[0].vector)


@pytest.mark.parametrize("more", [{"key": "city"}, {"embedding": GIVEN}])
def test_a_value_of_a_key_and_a_vector_are_derived(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as raised:
        EventDraft(content=SAID, derive=False, **more)
    assert raised.value.loc == tuple(more)


def test_a_line_of_an_export_that_was_made_to_remember_it_is_refused(memory: Memory) -> None:
    add_underived(memory)
    (line,) = exported(memory)
    assert line_fault(line, None) is None
    assert line_fault(replace(line, event=replace(line.event, key="city")), None) == "event.derive"
