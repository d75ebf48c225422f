"""Memories of a user in tests: saved, edited, and the invariants of the store."""

from typing import Any

from embedded.setting import ANNA, Memory
from recollect.core.items import Item, ItemPath
from recollect.core.scope import Scope
from recollect.deletion.reject import Rejecting
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory as Kept
from recollect.memories.memory import MemoryDraft, MemoryStatus, content_identity
from recollect.memories.save import MemoryChange, SavedMemory
from recollect.memories.storage import CONTENTS, MEMORIES, SAME_AS, memory_in, versions_path
from recollect.retrieval.ranking import Mode

USER = Actor(ActorKind.USER, "anna")


def save(memory: Memory, content: str, scope: Scope = ANNA, **more: Any) -> SavedMemory:
    """Saves a memory directly."""
    app = memory.app
    seed = app.ids.seed(int(memory.now.timestamp() * 1000))
    draft = MemoryDraft(content=content, **more)
    return app.memories.store.save(scope, draft, seed, memory.now, USER, app.rules.resolved(scope.tenant))


def patch(memory: Memory, memory_id: str, scope: Scope = ANNA, **changes: Any) -> Kept:
    """Edits a memory, whatever its version."""
    return memory.app.memories.store.patch(scope, memory_id, MemoryChange(changes, USER, lambda _: True), memory.now)


def delete(memory: Memory, memory_id: str, scope: Scope = ANNA) -> tuple[str, ...]:
    """Deletes a memory; the ids of the records that went."""
    found = memory.app.memories.store.one(scope, memory_id, memory.now)
    return memory.app.deletion.events.memory(scope, found, now=memory.now).event_ids


def reject(memory: Memory, text: str, scope: Scope = ANNA) -> None:
    """A person rejects a value."""
    memory.app.deletion.values.reject(scope, text, Rejecting(now=memory.now, actor=USER, via="test"))


def states(memory: Memory, scope: Scope = ANNA) -> dict[str, Item]:
    """The items of a user's memories: whole ones, and what leads to them."""
    return {item.key.key: item for item in _all(memory, scope, MEMORIES)}


def kept_of(memory: Memory, scope: Scope = ANNA) -> dict[str, Kept]:
    """A user's memories, the first made first."""
    return {i: memory_in(item.value) for i, item in states(memory, scope).items() if SAME_AS not in item.value}


def shown(memory: Memory, text: str, scope: Scope = ANNA, **more: Any) -> list[str]:
    """What a search shows, best first."""
    more |= {"mode": Mode(more["mode"])} if "mode" in more else {}
    found = memory.search(text, scope, **more).results
    return [one.memory.content if one.memory else one.event.content for one in found]


def whole(memory: Memory, scope: Scope = ANNA, *, repeated: bool = False) -> None:
    """The invariants of the store, whatever was done and however it ended.

    `repeated`: a memory may have been edited to say what another one says.
    """
    items, kept = states(memory, scope), kept_of(memory, scope)
    events = {event.id: event for event in memory.app.parts.timeline.records(scope.user, 10_000, None).events}
    leads = {i: item.value[SAME_AS] for i, item in items.items() if SAME_AS in item.value}
    for memory_id, one in kept.items():
        assert one.id == memory_id
        assert one.timestamp == events[memory_id].timestamp
        assert set(one.source_event_ids) <= events.keys()
        assert len(set(one.source_event_ids)) == len(one.source_event_ids)
        assert {i for i in one.source_event_ids if i != memory_id} == {i for i, to in leads.items() if to == memory_id}
        assert (memory_id in one.source_event_ids) == (not events[memory_id].is_carrier)
        versions = [memory_in(item.value) for item in _all(memory, scope, versions_path(memory_id))]
        assert [version.version for version in versions] == list(range(one.version - len(versions), one.version))
    assert set(leads.values()) <= kept.keys()
    assert leads.keys() <= events.keys()
    assert {event.id for event in events.values() if event.is_carrier} <= kept.keys()
    _contents(memory, scope, kept, repeated)


def _contents(memory: Memory, scope: Scope, kept: dict[str, Kept], repeated: bool) -> None:
    """Each record of a content names a memory that says it; each active memory's content has one."""
    records = {item.key.key: item.value["id"] for item in _all(memory, scope, CONTENTS)}
    said = {i: _identity(one) for i, one in kept.items()}
    assert {key: said.get(memory_id) for key, memory_id in records.items()} == {key: key for key in records}
    active = [said[i] for i, one in kept.items() if one.status is MemoryStatus.ACTIVE]
    assert repeated or set(active) <= records.keys()


def _identity(one: Kept) -> str:
    return content_identity(one)


def _all(memory: Memory, scope: Scope, path: ItemPath) -> list[Item]:
    return list(memory.app.parts.items.page(scope.user, path, 10_000, None).items)
