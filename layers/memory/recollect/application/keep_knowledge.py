"""What users taught: kept, listed, put into a prompt, applied to a query, learnt from what they say (S-01 to S-40)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.application.list_knowledge import KnowledgePage, ListKnowledge, entry_of, key_of, path_of_meanings
from recollect.domain.errors import NotFound
from recollect.domain.items import ItemWrite, of_tenant
from recollect.domain.knowledge import (
    KnowledgeEntry,
    KnowledgeSection,
    Meanings,
    check_ids,
    checked_entry,
    held_in,
    meanings_of,
)
from recollect.domain.knowledge_learning import ManageKnowledge, call_for, confirmation_of, learnt_from
from recollect.domain.knowledge_prompt import render_knowledge
from recollect.domain.knowledge_resolution import RULES_ALONE, Commenting, Resolution, resolve
from recollect.domain.knowledge_values import KnowledgeSource, Namespace
from recollect.ports import Items

LOADED_AT_MOST = 1_000
"""Entries that a prompt or a query is made from; of more, the vocabulary is kept first, then rules."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A query made plain; `skipped` and `cut` as in `KnowledgeSection`."""

    resolution: Resolution
    skipped: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a text taught: the call that stores it and the sentence that confirms it."""

    call: ManageKnowledge
    confirmation: str


@dataclass(frozen=True, slots=True)
class _Loaded:
    entries: tuple[KnowledgeEntry, ...]
    meanings: Meanings
    cut: bool


class KeepKnowledge:
    """The tenant's knowledge, all users' together. Every method takes the tenant first."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._listing = ListKnowledge(items)

    def put(
        self,
        tenant: str,
        namespace: str,
        key: str,
        value: Any,
        now: datetime,
        *,
        expected: int | None = None,
        source: KnowledgeSource | None = None,
    ) -> KnowledgeEntry:
        """Makes or replaces an entry; `expected` as in `ItemWrite`.

        `source` overrides what a vocabulary's value claims: what a model writes is `inference`, whatever it says.
        Raises InvalidInput (its `loc` from "namespace", "key" or "value" on) and VersionMismatch.
        """
        checked = checked_entry(namespace, key, value)
        if source is not None and namespace == Namespace.VOCABULARY:
            checked = {**checked, "source": source.value}
        write = ItemWrite(key_of(namespace, key), {"value": checked}, expected)
        (item,) = self._items.write(of_tenant(tenant), [write], now)
        assert item is not None  # only a deletion leaves none
        return entry_of(item)

    def get(self, tenant: str, namespace: str, key: str) -> KnowledgeEntry:
        """One entry. Raises NotFound, and InvalidInput where namespace or key is no id."""
        check_ids(namespace, key)
        place = key_of(namespace, key)
        found = self._items.get(of_tenant(tenant), [place])
        if place not in found:
            raise NotFound("there is no such knowledge")
        return entry_of(found[place])

    def delete(self, tenant: str, namespace: str, key: str, now: datetime, expected: int | None = None) -> None:
        """Deletes an entry. Raises NotFound, VersionMismatch, InvalidInput."""
        self.get(tenant, namespace, key)
        self._items.write(of_tenant(tenant), [ItemWrite(key_of(namespace, key), None, expected)], now)

    def listed(
        self, tenant: str, namespace: str | None = None, limit: int = 50, after: str | None = None
    ) -> KnowledgePage:
        """Entries by namespace and key, as they are stored. Raises InvalidInput for a broken `after`."""
        return self._listing(of_tenant(tenant), namespace, limit, after)

    def section(self, tenant: str, store: str | None) -> KnowledgeSection:
        """What a prompt says of the store, of every store where none is named; one query (S-31 to S-38)."""
        loaded = self._load(tenant)
        held = held_in(loaded.meanings, store)
        standing = {*_places(Namespace.VOCABULARY, held.terms), *_places(Namespace.RULE, held.rules)}
        standing |= {*_places(Namespace.CORRECTION, held.corrections)}
        entries = tuple(entry for entry in loaded.entries if (entry.namespace, entry.key) in standing)
        return KnowledgeSection(render_knowledge(held), entries, held.skipped, loaded.cut)

    def resolve(
        self,
        tenant: str,
        text: str,
        store: str | None,
        filter_text: str | None = None,
        commenting: Commenting = RULES_ALONE,
    ) -> Resolved:
        """Terms replaced and conditions added, by what the tenant's users taught; one query (S-22 to S-24, S-30)."""
        loaded = self._load(tenant)
        resolution = resolve(text, loaded.meanings, store, filter_text, commenting)
        return Resolved(resolution, loaded.meanings.skipped, loaded.cut)

    def learn(
        self, tenant: str, text: str, store: str | None, now: datetime, *, dry_run: bool = False
    ) -> Lesson | None:
        """Stores what the text teaches, unless `dry_run`; None where it teaches nothing (S-25 to S-29).

        Raises InvalidInput at ("store",) for a name that no key can hold.
        """
        lesson = lesson_of(text, store)
        if lesson is not None and not dry_run:
            self.put(tenant, lesson.call.namespace, lesson.call.key, lesson.call.value, now)
        return lesson

    def _load(self, tenant: str) -> _Loaded:
        """One query, backwards, so that a tenant with too many entries keeps its vocabulary."""
        page = self._items.page(of_tenant(tenant), path_of_meanings(), LOADED_AT_MOST, None, descending=True)
        entries = tuple(map(entry_of, reversed(page.items)))
        return _Loaded(entries, meanings_of(entries), page.more is not None)


def lesson_of(text: str, store: str | None) -> Lesson | None:
    """What the text teaches, storing nothing. Raises InvalidInput at ("store",)."""
    learnt = learnt_from(text)
    call = call_for(learnt, store) if learnt else None
    return Lesson(call, confirmation_of(learnt)) if call and learnt else None


def _places(namespace: Namespace, meanings: Any) -> set[tuple[str, str]]:
    return {(namespace.value, one.key) for one in meanings}
