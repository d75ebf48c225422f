"""A partial change: one memory that holds both parts and names both sources (P-24)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.application.decided import PROJECT, Decided
from recollect.application.read_memories import KeptMemory
from recollect.application.value_gate import ValueGate
from recollect.domain.audit import Actor
from recollect.domain.decisions import Decision
from recollect.domain.items import ABSENT, Due, ItemKey, ItemWrite
from recollect.domain.memory import MOST_SOURCES, Lapse, Memory, Origin, content_identity
from recollect.domain.memory_items import content_key
from recollect.domain.memory_time import left_of
from recollect.domain.memory_writes import TO_PROJECT, changed_writes
from recollect.domain.scope import Scope
from recollect.domain.settlement import Verdict
from recollect.ports import Items


class MergeParts:
    """The newer record's memory takes the text with the part replaced; the older one's stays, as merged into it."""

    def __init__(self, items: Items, decided: Decided) -> None:
        self._items = items
        self._decided = decided
        self._gate = ValueGate(items)

    def __call__(
        self,
        scope: Scope,
        older: KeptMemory,
        newer: KeptMemory,
        after: Memory,
        decisions: Sequence[Decision],
        part: Verdict,
        now: datetime,
    ) -> list[KeptMemory]:
        """Both memories as they are then. Raises VersionMismatch where one was changed meanwhile."""
        importance = max(older.memory.importance, newer.memory.importance)
        content = part.relation.merged or newer.memory.content
        merged = replace(newer.memory, content=content, importance=importance)
        return self.into(scope, older, newer, after, merged, decisions, now)

    def into(
        self,
        scope: Scope,
        older: KeptMemory,
        newer: KeptMemory,
        after: Memory,
        merged: Memory,
        decisions: Sequence[Decision],
        now: datetime,
        actor: Actor = PROJECT,
    ) -> list[KeptMemory]:
        """The same with whatever the merged one shall say. Nothing where a rejected value would be in it (P-22)."""
        if self._brings_back(scope, older.memory, newer.memory, merged):
            return []
        merged = with_both(older.memory, newer.memory, merged)
        after = replace(after, version=older.memory.version + 1)
        told = [w for one in decisions for w in self._decided.told(scope, one, older.memory, after, now, actor)]
        writes = [
            *changed_writes(older.item, older.memory, after, Due(TO_PROJECT, now)),
            *changed_writes(newer.item, newer.memory, merged, Due(TO_PROJECT, now)),
            *moved_record(self._items, scope, newer.memory, merged),
            *told,
        ]
        written = self._items.write(scope.user, writes, now)
        pairs = zip((after, merged), (written[0], written[2]), strict=True)
        return [KeptMemory(memory, item) for memory, item in pairs if item is not None]

    def _brings_back(self, scope: Scope, *memories: Memory) -> bool:
        rejections = self._gate.load(scope)
        return bool(rejections) and any(rejections.shown_memory(memory) != memory for memory in memories)


def with_both(older: Memory, newer: Memory, merged: Memory) -> Memory:
    """What was merged in the newer memory's next version, with the sources of both, the oldest first.

    A memory that was saved directly is a source by itself.
    """
    sources = tuple(dict.fromkeys([*sources_of(older), *newer.source_event_ids]))[:MOST_SOURCES]
    return replace(
        merged,
        source_event_ids=sources,
        origin=Origin.MERGED,
        lapses=_carried(newer, merged.content),
        version=newer.version + 1,
    )


def _carried(before: Memory, content: str) -> tuple[Lapse, ...]:
    """What held over it as a whole holds over the new content; a part that ended, where the same words are there."""
    carried: list[Lapse] = []
    for lapse in before.lapses:
        part = before.content[lapse.start : lapse.end]
        whole = left_of(before.content, [(lapse.start, lapse.end)]) is None
        start = 0 if whole else content.find(part)
        end = len(content) if whole else start + len(part)
        carried += [replace(lapse, start=start, end=end)] if start >= 0 else []
    return tuple(carried)


def sources_of(memory: Memory) -> tuple[str, ...]:
    """The records that it was made from; its own where that carries it."""
    return memory.source_event_ids or (memory.id,)


def moved_record(items: Items, scope: Scope, before: Memory, after: Memory) -> list[ItemWrite]:
    """The record of the content follows; one that names another memory stays with that one."""
    old, new = _record(scope, before), _record(scope, after)
    found = items.get(scope.user, [old, new]) if old != new else {}
    own = found.get(old)
    left = [ItemWrite(old, None, own.version)] if own is not None and own.value["id"] == before.id else []
    made = [] if new in found or old == new else [ItemWrite(new, {"id": after.id}, ABSENT)]
    return [*left, *made]


def _record(scope: Scope, memory: Memory) -> ItemKey:
    owner = Scope(scope.tenant, memory.user_id, memory.persona_id, memory.household_id)
    return content_key(content_identity(owner, memory.key, memory.content))
