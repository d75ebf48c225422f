"""Memories saved, read, edited, listed (A-19 to A-22, P-9, P-19)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from embedded.memory_items import USER, delete, kept_of, patch, save, shown, states, whole
from embedded.setting import ANNA, NOON, Memory, away
from recollect.core.errors import InvalidInput, NotFound, Unavailable, VersionMismatch
from recollect.core.event import Source
from recollect.core.filter import AllOf, Condition, Operator
from recollect.core.items import pages
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind, pack_vector
from recollect.memories.audit import Action
from recollect.memories.audit_log import AuditFilter
from recollect.memories.memory import MemoryDraft, MemoryStatus, Origin
from recollect.memories.reading import MemoryQuery
from recollect.memories.save import MemoryChange
from recollect.timeline.record import EventDraft

LYON = "Anna lives in Lyon"
OSLO = "Anna moved to Oslo"
DAY = timedelta(days=1)


def listed(memory: Memory, scope: Scope = ANNA, **query: Any) -> list[str]:
    page = memory.app.memories.listing.page(scope, MemoryQuery(**query), 100, None, memory.now)
    assert page.more is None
    return [one.content for one in page.memories]


@pytest.mark.spec("A-20", "A-22", "P-9")
def test_what_is_absent_has_its_default(memory: Memory) -> None:
    saved = save(memory, LYON)
    one = saved.memory
    assert (saved.created, one.importance, one.source, one.origin) == (True, 0.5, Source.USER, Origin.DIRECT)
    assert (one.persona_id, one.household_id, one.key, one.expires_at) == (None,) * 4
    assert one.timestamp == one.recorded_at == one.valid_from == memory.now
    assert one.embedding_id == f"hashing.1/{one.id}"
    assert memory.app.memories.store.one(ANNA, one.id, memory.now) == one
    whole(memory)


@pytest.mark.spec("A-20")
@pytest.mark.parametrize(
    ("content", "importance"), [("", None), (" \n", None), (LYON, -0.01), (LYON, 1.01), (LYON, float("nan"))]
)
def test_bad_values_are_refused(memory: Memory, content: str, importance: float | None) -> None:
    with pytest.raises(InvalidInput):
        MemoryDraft(content=content, importance=importance)
    saved = save(memory, OSLO).memory
    with pytest.raises(InvalidInput):
        patch(memory, saved.id, content=content, importance=0.5 if importance is None else importance)
    assert kept_of(memory) == {saved.id: saved}


def test_what_is_too_large_is_refused_and_not_half_saved(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        save(memory, "\x01" * 65_536)
    saved = save(memory, LYON).memory
    with pytest.raises(InvalidInput):
        patch(memory, saved.id, content="\x01" * 65_536)
    assert list(kept_of(memory)) == [saved.id]
    assert memory.app.parts.timeline.records(ANNA, 10, None).events[0].content == LYON


@pytest.mark.spec("A-21")
def test_a_retry_with_the_same_seed_finds_what_it_made(memory: Memory) -> None:
    app = memory.app
    seed = app.ids.seed(0)
    draft, rules = MemoryDraft(content=LYON), app.rules.resolved("acme")
    first = app.memories.store.save(ANNA, draft, seed, memory.now, USER, rules)
    edited = patch(memory, first.memory.id, content=OSLO)
    again = app.memories.store.save(ANNA, draft, seed, memory.now, USER, rules)
    assert (again.created, again.memory) == (True, edited)
    assert list(kept_of(memory)) == [first.memory.id]


@pytest.mark.spec("A-21", "P-19")
@pytest.mark.parametrize("projected", [False, True])
def test_a_slot_s_older_value_is_no_duplicate(memory: Memory, projected: bool) -> None:
    ids = []
    for city in ("Lyon", "Oslo", "Lyon", "Lyon"):
        memory.now += DAY
        ids.append(save(memory, city, key="city").memory.id)
        if projected:
            memory.project()
    assert ids[2] == ids[3]
    assert len(set(ids)) == 3
    assert listed(memory, status=MemoryStatus.ACTIVE) == ["Lyon"]
    assert listed(memory, status=MemoryStatus.SUPERSEDED) == ["Oslo", "Lyon"]
    assert shown(memory, "Lyon Oslo") == ["Lyon"]


@pytest.mark.spec("P-19")
def test_a_newer_event_of_the_key_supersedes_at_once(memory: Memory) -> None:
    saved = save(memory, "Lyon", key="city").memory
    memory.add(EventDraft(content="Oslo", key="city", timestamp=memory.now + DAY))
    memory.add(EventDraft(content="Rome", key="city", timestamp=memory.now - DAY))
    memory.add(EventDraft(content="home", key="other", timestamp=memory.now + DAY))
    for _ in range(2):
        one = memory.app.memories.store.one(ANNA, saved.id, memory.now)
        assert (one.status, one.superseded_by) == (MemoryStatus.SUPERSEDED, memory.ids[0])
        assert one.valid_to == memory.now + DAY
        memory.project()
    assert sorted(listed(memory, status=MemoryStatus.ACTIVE)) == ["Oslo", "home"]


def test_its_time_of_expiry_is_the_memory_s_and_can_be_moved(memory: Memory) -> None:
    saved = save(memory, LYON, expires_at=NOON + DAY).memory
    patch(memory, saved.id, expires_at=NOON + 3 * DAY)
    memory.project()
    memory.now = NOON + 2 * DAY
    assert shown(memory, LYON) == listed(memory) == [LYON]
    memory.now = NOON + 3 * DAY
    assert shown(memory, LYON) == listed(memory) == []
    with pytest.raises(NotFound):
        memory.app.memories.store.one(ANNA, saved.id, memory.now)
    assert save(memory, LYON).created
    whole(memory)


@pytest.mark.spec("A-26")
def test_an_edit_goes_into_the_history_with_who_made_it(memory: Memory) -> None:
    saved = save(memory, LYON).memory
    for number in range(3):
        memory.now += DAY
        patch(memory, saved.id, content=f"{OSLO} {number}", keywords=("k",) * number)
    kept = memory.app.memories.store.one(ANNA, saved.id, memory.now)
    history = memory.app.memories.versions.read(ANNA, kept, memory.now)
    assert [one.memory.version for one in history] == [1, 2, 3, 4]
    assert [one.memory.content for one in history] == [LYON, *(f"{OSLO} {number}" for number in range(3))]
    changes = [one.change for one in history]
    assert [change.action for change in changes if change] == [Action.CREATE, *[Action.PATCH] * 3]
    assert [change.at for change in changes if change] == [NOON + number * DAY for number in range(4)]
    whole(memory)


def test_the_history_finds_its_entries_among_many(memory: Memory) -> None:
    saved = save(memory, LYON).memory
    for number in range(250):
        save(memory, f"another {number}")
    patch(memory, saved.id, importance=0.9)
    kept = memory.app.memories.store.one(ANNA, saved.id, memory.now)
    history = memory.app.memories.versions.read(ANNA, kept, memory.now)
    assert [one.change is not None for one in history] == [True, True]


@pytest.mark.parametrize("own_vector", [False, True])
def test_the_words_before_an_edit_are_found_no_longer(memory: Memory, own_vector: bool) -> None:
    encoder = memory.app.parts.embedder
    assert encoder is not None
    vector = encoder.encode([LYON], TextKind.PASSAGE)[0].vector if own_vector else None
    saved = save(memory, LYON, embedding=pack_vector(vector) if vector is not None else None).memory
    memory.project()
    assert shown(memory, LYON, mode="semantic", min_similarity=0.7) == [LYON]
    patch(memory, saved.id, content=OSLO)
    for _ in range(2):
        assert shown(memory, LYON, mode="semantic", min_similarity=0.7) == []
        assert shown(memory, OSLO, mode="semantic", min_similarity=0.7) == [OSLO]
        assert shown(memory, "lives Lyon", mode="lexical") == []
        assert shown(memory, "moved Oslo", mode="lexical") == [OSLO]
        assert [one.item.content for one in memory.context("Where does Anna live?").prompt.memories] == [OSLO]
        memory.project()


def test_an_edit_hides_the_words_of_every_event_that_said_so(memory: Memory) -> None:
    for day in range(3):
        memory.add(EventDraft(content=LYON, importance=0.9, timestamp=NOON + day * DAY))
        memory.project()
    patch(memory, memory.ids[0], content=OSLO)
    for _ in range(2):
        assert shown(memory, LYON) == [OSLO]
        assert shown(memory, "lives Lyon", mode="lexical") == []
        assert shown(memory, LYON, mode="semantic", min_similarity=0.7) == []
        assert shown(memory, "moved Oslo", mode="lexical") == [OSLO]
        prompt = memory.context("Where does Anna live?").prompt
        assert OSLO in prompt.text
        assert LYON not in prompt.text
        memory.project()


def test_an_edit_to_what_another_says_leaves_both(memory: Memory) -> None:
    one, other = save(memory, LYON).memory, save(memory, OSLO).memory
    patch(memory, other.id, content=LYON)
    assert save(memory, LYON).memory.id == one.id
    assert save(memory, OSLO).created
    delete(memory, one.id)
    memory.project()
    assert kept_of(memory)[other.id].content == LYON
    whole(memory, repeated=True)


def test_an_edit_to_what_a_superseded_one_said_takes_its_place(memory: Memory) -> None:
    old = save(memory, "Lyon", key="city").memory
    memory.now += DAY
    new = save(memory, "Oslo", key="city").memory
    memory.project()
    patch(memory, new.id, content="Lyon")
    again = save(memory, "Lyon", key="city")
    assert (again.created, again.memory.id) == (False, new.id)
    assert old.id != new.id
    whole(memory, repeated=True)


def test_of_two_edits_of_one_version_one_wins(memory: Memory) -> None:
    saved = save(memory, LYON).memory

    def edit(number: int) -> bool:
        change = MemoryChange({"content": f"writer {number}"}, USER, lambda version: version == 1)
        try:
            memory.app.memories.store.patch(ANNA, saved.id, change, memory.now)
        except VersionMismatch:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(edit, range(6))) == 1
    assert kept_of(memory)[saved.id].version == 2
    whole(memory)


def test_an_edit_beside_a_projection_is_not_lost(memory: Memory) -> None:
    saved = save(memory, LYON).memory
    with ThreadPoolExecutor(4) as threads:
        for number in range(10):
            edited = threads.submit(patch, memory, saved.id, content=f"{OSLO} {number}")
            projected = [threads.submit(memory.app.projection.reconciliation.run, memory.now) for _ in range(2)]
            assert edited.result().version == number + 2
            assert all(one.result().failed == {} for one in projected)
    memory.project()
    assert shown(memory, "Oslo", mode="lexical") == [f"{OSLO} 9"]
    whole(memory)


def test_an_edit_that_could_not_set_its_marker_is_projected_by_a_reconciliation(memory: Memory) -> None:
    saved = save(memory, LYON).memory
    memory.project()
    with away(memory, "projections", "mark") as cut, pytest.raises(Unavailable):
        patch(cut, saved.id, content=OSLO)
    memory.project()
    assert shown(memory, "moved Oslo", mode="lexical") == [OSLO]
    assert states(memory)[saved.id].due is None


@pytest.mark.spec("A-24", "A-32")
def test_a_scope_admits_its_own_alone(memory: Memory) -> None:
    coach = Scope("acme", "anna", "coach")
    saved = save(memory, LYON, coach).memory
    for scope in (coach, ANNA):
        assert memory.app.memories.store.one(scope, saved.id, memory.now) == saved
        assert listed(memory, scope) == [LYON]
    cook, home = Scope("acme", "anna", "cook"), Scope("acme", "anna", None, "home")
    for scope in (cook, home, Scope("acme", "ben"), Scope("x", "anna")):
        with pytest.raises(NotFound):
            memory.app.memories.store.one(scope, saved.id, memory.now)
        with pytest.raises(NotFound):
            patch(memory, saved.id, scope, importance=1.0)
        assert listed(memory, scope) == []
    assert save(memory, LYON).created


def test_the_list_goes_past_what_is_filtered_away(memory: Memory) -> None:
    wanted = [save(memory, f"city {number}", key="city").memory.id for number in range(2)]
    for number in range(120):
        save(memory, f"another {number}")
    listing, query = memory.app.memories.listing, MemoryQuery(key="city")
    read = list(pages(lambda after: listing.page(ANNA, query, 1, after, memory.now)))
    assert all(len(page.memories) <= 1 for page in read)
    assert [one.id for page in read for one in page.memories] == wanted[::-1]


@pytest.mark.spec("A-21")
def test_the_memory_of_an_event_is_found_by_it(memory: Memory) -> None:
    memory.add(*(EventDraft(content=LYON, importance=0.9, timestamp=NOON + day * DAY) for day in range(2)))
    memory.project()
    for event_id in memory.ids:
        assert listed(memory, source_event_id=event_id) == [LYON]
        assert memory.app.memories.store.one(ANNA, event_id, memory.now).id == memory.ids[0]
    assert listed(memory, source_event_id="none") == []
    assert listed(memory, source_event_id=memory.ids[0], status=MemoryStatus.SUPERSEDED) == []


def test_every_change_is_told_and_nothing_of_the_words(memory: Memory) -> None:
    saved = save(memory, LYON).memory
    patch(memory, saved.id, content=OSLO)
    delete(memory, saved.id)
    entries = memory.app.memories.audit.page(ANNA, 10, None, AuditFilter()).entries
    assert [entry.action for entry in entries] == [Action.DELETE, Action.PATCH, Action.CREATE]
    assert {entry.target_ids for entry in entries} == {(saved.id,)}
    before, after = entries[1].before, entries[1].after
    assert before is not None
    assert after is not None
    assert (before["version"], after["version"]) == (1, 2)
    assert before["hash"] != after["hash"]
    assert "Lyon" not in str(entries)


def test_memories_of_named_ids_are_read_alone_and_are_those_that_a_list_has(memory: Memory) -> None:
    saved = [save(memory, f"Anna knows {number} songs").memory.id for number in range(5)]
    other = save(memory, LYON, scope=Scope("acme", "bert")).memory.id

    def of(*ids: str, limit: int = 200, **more: Any) -> tuple[list[str], str | None]:
        wanted = AllOf(
            (Condition(("id",), Operator.IN, ids), *(Condition((n,), Operator.EQ, v) for n, v in more.items()))
        )
        page = memory.app.memories.listing.page(ANNA, MemoryQuery(where=wanted), limit, None, memory.now)
        return [one.id for one in page.memories], page.more

    assert of(*saved[:2], other, "nothing", limit=4) == (saved[1::-1], None)
    assert of(*saved[:2], saved[0], limit=3, content="Anna knows 0 songs") == (saved[:1], None)
    assert of(*saved, limit=2)[0] == saved[:2:-1], "more than a page are listed as ever"
