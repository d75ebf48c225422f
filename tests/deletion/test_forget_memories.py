"""What a removal takes with it of memories: all that was made of it, and nothing of a sibling (P-22)."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embedded.memory_items import delete, kept_of, patch, save, shown, states, whole
from embedded.setting import ANNA, NOON, Memory, open_memory, with_parts
from embedded.standing import Before
from recollect.core.errors import Conflict, NotFound, Unavailable, VersionMismatch
from recollect.core.items import ItemPath
from recollect.memories.audit import Action, Actor, ActorKind
from recollect.memories.audit_log import AuditFilter
from recollect.memories.memory import Origin
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import WindowQuery

LYON = "Anna lives in Lyon"
OSLO = "Anna moved to Oslo"
DAY = timedelta(days=1)


def said(content: str = LYON, *, day: float = 0, **more: Any) -> EventDraft:
    return EventDraft(content=content, importance=0.9, timestamp=NOON + day * DAY, **more)


def spoken(memory: Memory, count: int, content: str = LYON) -> list[str]:
    """The ids of so many events of the same words, projected."""
    for start in range(0, count, 50):
        memory.add(*(said(content, day=number / 1000) for number in range(start, min(start + 50, count))))
        memory.project()
    return memory.ids[-count:]


def forget(memory: Memory, event_id: str) -> None:
    memory.app.deletion.events.forget(ANNA, event_id=event_id, now=memory.now)


@pytest.mark.parametrize("count", [1, 2, 17, 18, 40])
@pytest.mark.parametrize("edited", [False, True])
def test_the_next_of_its_events_carries_a_memory_on(memory: Memory, count: int, edited: bool) -> None:
    ids = spoken(memory, count)
    if edited:
        patch(memory, ids[0], content=OSLO, importance=0.95)
    content = OSLO if edited else LYON
    for gone, left in enumerate(ids[1:4], start=1):
        forget(memory, ids[gone - 1])
        (kept,) = kept_of(memory).values()
        assert (kept.id, kept.content, kept.source_event_ids) == (left, content, tuple(ids[gone:]))
        assert kept.embedding_id == f"hashing.1/{left}"
        whole(memory)
        memory.project()
        whole(memory)
        assert shown(memory, content) == [content]
        assert shown(memory, "lives Lyon", mode="lexical") == ([] if edited else [LYON])
    if count <= 4:
        forget(memory, ids[-1])
        memory.project()
        assert states(memory) == {}


@pytest.mark.parametrize("count", [2, 18, 40])
def test_a_memory_takes_all_its_events_with_it(memory: Memory, count: int) -> None:
    ids = spoken(memory, count)
    memory.add(said("the cat sleeps", day=9))
    memory.project()
    assert sorted(delete(memory, ids[0])) == sorted(ids)
    for _ in range(2):
        query = WindowQuery(now=memory.now, window=TimeWindow(), limit=100)
        assert [e.content for e in memory.app.timeline.listing.window(ANNA, query).events] == ["the cat sleeps"]
        assert shown(memory, LYON) == ["the cat sleeps"]
        assert [one.content for one in kept_of(memory).values()] == ["the cat sleeps"]
        whole(memory)
        memory.project()
    with pytest.raises(NotFound):
        delete(memory, ids[0])


def test_an_event_that_joined_a_saved_memory_leaves_it_as_it_was(memory: Memory) -> None:
    saved = save(memory, LYON).memory
    (event_id,) = spoken(memory, 1)
    assert kept_of(memory)[saved.id].source_event_ids == (event_id,)
    forget(memory, event_id)
    memory.project()
    kept = kept_of(memory)[saved.id]
    assert (kept.source_event_ids, kept.version, kept.origin) == ((), 3, Origin.DIRECT)
    assert shown(memory, LYON) == [LYON]
    whole(memory)


def test_a_carrier_is_no_event_to_be_deleted(memory: Memory) -> None:
    saved = save(memory, LYON).memory
    with pytest.raises(NotFound):
        forget(memory, saved.id)
    assert kept_of(memory)


def test_of_a_memory_no_version_is_left_once_it_is_projected(memory: Memory) -> None:
    (event_id,) = spoken(memory, 1)
    saved = save(memory, "the zebra sings").memory
    for memory_id in (event_id, saved.id):
        patch(memory, memory_id, content=f"{OSLO} {memory_id}")
        delete(memory, memory_id)
    memory.project()
    for collection in ("memories", "memory_versions", "memory_contents"):
        assert memory.app.parts.items.page(ANNA, ItemPath(collection), 100, None).items == ()


@pytest.mark.spec("P-22")
def test_the_audit_names_who_deleted_what_without_content(memory: Memory) -> None:
    ids = spoken(memory, 2)
    delete(memory, ids[0])
    entries = memory.app.memories.audit.page(ANNA, 10, None, AuditFilter(action=Action.DELETE)).entries
    assert {entry.target_ids for entry in entries} == {(one,) for one in ids}
    assert {(entry.actor, entry.via) for entry in entries} == {(Actor(ActorKind.USER, "anna"), "delete")}
    assert "Lyon" not in str(memory.app.memories.audit.page(ANNA, 100, None, AuditFilter()).entries)


def test_only_the_version_that_is_meant_is_deleted(memory: Memory) -> None:
    ids = spoken(memory, 2)
    kept = memory.app.memories.store.one(ANNA, ids[0], memory.now)
    patch(memory, ids[0], importance=0.95)
    with pytest.raises(VersionMismatch):
        memory.app.deletion.events.memory(ANNA, kept, now=memory.now, accepts=lambda version: version == kept.version)
    assert len(kept_of(memory)[ids[0]].source_event_ids) == 2
    forgotten = memory.app.deletion.events.memory(ANNA, kept, now=memory.now, accepts=lambda version: version == 3)
    assert len(forgotten.event_ids) == 2


class Failing(Before):
    """Items whose writes fail from that number on, before they are made."""

    def __init__(self, items: object, after: int) -> None:
        super().__init__(items)
        self._left = after

    def write(self, *arguments: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise Unavailable("cut off")
        return self.part.write(*arguments)


@pytest.mark.parametrize("after", range(4))
def test_an_interrupted_move_is_continued(memory: Memory, after: int) -> None:
    """A memory of many events moves in several steps; whatever was done of them, it is there, and the rest can be."""
    ids = spoken(memory, 60)
    cut = with_parts(memory, items=Failing(memory.app.parts.items, after))
    with pytest.raises(Unavailable):
        forget(cut, ids[0])
    for event_id in ids[::20]:
        if memory.app.parts.timeline.find(ANNA, event_id):
            assert memory.app.memories.store.one(ANNA, event_id, memory.now).content == LYON
    assert shown(memory, LYON) == [LYON]
    forget(memory, ids[0])
    memory.project()
    (kept,) = kept_of(memory).values()
    assert set(kept.source_event_ids) == set(ids[1:])
    assert delete(memory, kept.id)
    memory.project()
    assert states(memory) == {}


def test_two_who_forget_events_of_one_memory_at_once(memory: Memory) -> None:
    ids = spoken(memory, 8)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda event_id: forget(memory, event_id), ids[:6]))
    whole(memory)
    memory.project()
    (kept,) = kept_of(memory).values()
    assert set(kept.source_event_ids) == set(ids[6:])
    whole(memory)


WORDS = st.sampled_from([LYON, f" {LYON} ", OSLO, "Lyon", "the cat sleeps"])
KEYS = st.sampled_from([None, None, "city"])
STEPS = st.one_of(
    st.tuples(st.just("save"), WORDS, KEYS),
    st.tuples(st.just("say"), WORDS, KEYS),
    st.tuples(st.just("edit"), WORDS, st.integers(0, 5)),
    st.tuples(st.just("delete"), st.integers(0, 5)),
    st.tuples(st.just("forget"), st.integers(0, 5)),
    st.tuples(st.just("forget key")),
    st.tuples(st.just("project")),
)


def _step(memory: Memory, step: tuple[Any, ...]) -> None:
    memory.now += timedelta(minutes=1)
    ids = sorted(kept_of(memory))
    spoken_ids = [event.id for event in memory.app.parts.timeline.newest(ANNA, 100)]
    match step:
        case ("save", content, key):
            save(memory, content, key=key)
        case ("say", content, key):
            memory.add(EventDraft(content=content, key=key, importance=0.9, timestamp=memory.now))
        case ("edit", content, number) if number < len(ids):
            patch(memory, ids[number], content=content)
        case ("delete", number) if number < len(ids):
            delete(memory, ids[number])
        case ("forget", number) if number < len(spoken_ids):
            forget(memory, spoken_ids[number])
        case ("forget key",):
            with suppress(NotFound):
                memory.app.deletion.events.forget(ANNA, key="city", now=memory.now)
        case ("project",):
            memory.project()


@given(st.lists(STEPS, max_size=14))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_done_in_whatever_order_all_is_whole(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = open_memory(Path(folder))
        for step in steps:
            _step(memory, step)
            whole(memory, repeated=True)
        memory.project()
        whole(memory, repeated=True)
        index = memory.app.parts.index.listed(ANNA, 1000, None)
        assert {ref.id for ref in index.refs} == {
            event.id for event in memory.app.parts.timeline.records(ANNA, 1000, None).events
        }
        memory.app.parts.close()


@given(st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=2, max_size=3))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_so_it_is_where_several_do_it_at_once(everybody: list[list[tuple[Any, ...]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = open_memory(Path(folder))

        def work(steps: list[tuple[Any, ...]]) -> None:
            for step in steps:
                with suppress(NotFound, VersionMismatch, Conflict):  # somebody else was faster
                    _step(memory, step)

        with ThreadPoolExecutor(3) as threads:
            list(threads.map(work, everybody))
        memory.project()
        whole(memory, repeated=True)
        memory.app.parts.close()
