"""The tenant's knowledge: stored, listed, rendered for prompts, applied to queries, learnt from text (S-01 to S-40).

Entries with a meaning (vocabulary, rules, corrections) and free ones have a branch each: one query loads all of the
former; a list of all namespaces merges the branches. A write in a user's name (by a model's call, or by credentials of
one user) must not say a value that the user rejected, and has an entry in that user's audit, by hashes. The entry is
written first, since two owners' items cannot be written atomically: a failed write has an entry all the same.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.core.errors import Conflict, InvalidInput, NotFound, VersionMismatch
from recollect.core.event import Source
from recollect.core.ids import IdSource
from recollect.core.items import Item, ItemKey, ItemPath, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionList
from recollect.knowledge.entries import (
    KnowledgeEntry,
    KnowledgeSection,
    KnowledgeSource,
    Meanings,
    Namespace,
    check_ids,
    checked_entry,
    held_in,
    meanings_of,
    texts_of,
)
from recollect.knowledge.resolution import (
    RULES_ALONE,
    Commenting,
    ManageKnowledge,
    Resolution,
    call_for,
    confirmation_of,
    learnt_from,
    render_knowledge,
    resolve,
)
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_once, audit_write, content_hash
from recollect.memories.audit_log import AuditRefusedWrite, RefusedWrite
from recollect.ports import Items

COLLECTION = "llm_knowledge"
VIA = "knowledge"

LOADED_AT_MOST = 1_000
"""Entries that one query loads; of more, the vocabulary comes first, then rules."""

_MEANINGS, _FREE = "meaning", "free"
_BRANCHES = (_MEANINGS, _FREE)
_WITH_MEANING = ItemPath(COLLECTION, (_MEANINGS,))
"""The branch of entries with a meaning, by namespace: correction, rule, vocabulary."""

_START, _END = None, False


@dataclass(frozen=True, slots=True)
class KnowledgePage:
    """Entries of one page; `more` is where the next one begins."""

    entries: tuple[KnowledgeEntry, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class Resolved:
    """A resolved query; `skipped` and `cut` as in `KnowledgeSection`."""

    resolution: Resolution
    skipped: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a text teaches: the call that stores it and the sentence that confirms it."""

    call: ManageKnowledge
    confirmation: str


@dataclass(frozen=True, slots=True)
class KnowledgeAuthor:
    """In whose name an entry is written: the user's scope, and the actor.

    `audit_id` is the id of the audit's entry, which a retry uses again; None: a new one.
    """

    scope: Scope
    actor: Actor
    audit_id: str | None = None

    @property
    def is_model(self) -> bool:
        return self.actor.kind is ActorKind.MODEL


@dataclass(frozen=True, slots=True)
class _Loaded:
    entries: tuple[KnowledgeEntry, ...]
    meanings: Meanings
    cut: bool


class KnowledgeStore:
    """The knowledge of all users of a tenant. Every method takes the tenant first."""

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids
        self._listing = ListKnowledge(items)
        self._gate = SuppressionList(items)
        self._refused = AuditRefusedWrite(items, ids)

    def put(
        self,
        tenant: str,
        namespace: str,
        key: str,
        value: Any,
        now: datetime,
        *,
        expected: int | None = None,
        author: KnowledgeAuthor | None = None,
    ) -> KnowledgeEntry:
        """Makes or replaces an entry; `expected` as in `ItemWrite`, `author` if it is in a user's name.

        A model's entry has source `inferred`, and in the vocabulary `inference`, whatever its value claims. Raises
        InvalidInput (its `loc` from "namespace", "key" or "value" on), VersionMismatch, and Conflict for a value that
        the author's user rejected.
        """
        document = _document(namespace, checked_entry(namespace, key, value), author)
        if author is not None:
            self._check(author, namespace, key, document, now)
        item = self._write(tenant, ItemWrite(key_of(namespace, key), document, expected), author, now)
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

    def delete(
        self,
        tenant: str,
        namespace: str,
        key: str,
        now: datetime,
        expected: int | None = None,
        author: KnowledgeAuthor | None = None,
    ) -> None:
        """Deletes an entry. Raises NotFound, VersionMismatch, InvalidInput."""
        self.get(tenant, namespace, key)
        self._write(tenant, ItemWrite(key_of(namespace, key), None, expected), author, now)

    def listed(
        self, tenant: str, namespace: str | None = None, limit: int = 50, after: str | None = None
    ) -> KnowledgePage:
        """Entries by namespace and key, as they are stored. Raises InvalidInput for a broken `after`."""
        return self._listing.page(of_tenant(tenant), namespace, limit, after)

    def section(self, tenant: str, store: str | None) -> KnowledgeSection:
        """The prompt's section for the store, for all stores where none is named; one query (S-31 to S-38)."""
        loaded = self._load(tenant)
        held = held_in(loaded.meanings, store)
        held_entries = {*_places(Namespace.VOCABULARY, held.terms), *_places(Namespace.RULE, held.rules)}
        held_entries |= {*_places(Namespace.CORRECTION, held.corrections)}
        entries = tuple(entry for entry in loaded.entries if (entry.namespace, entry.key) in held_entries)
        return KnowledgeSection(render_knowledge(held), entries, held.skipped, loaded.cut)

    def resolve(
        self,
        tenant: str,
        text: str,
        store: str | None,
        filter_text: str | None = None,
        commenting: Commenting = RULES_ALONE,
    ) -> Resolved:
        """Replaces terms and adds conditions, by what the tenant's users taught; one query (S-22 to S-24, S-30)."""
        loaded = self._load(tenant)
        resolution = resolve(text, loaded.meanings, store, filter_text, commenting)
        return Resolved(resolution, loaded.meanings.skipped, loaded.cut)

    def learn(
        self,
        tenant: str,
        text: str,
        store: str | None,
        now: datetime,
        *,
        dry_run: bool = False,
        author: KnowledgeAuthor | None = None,
    ) -> Lesson | None:
        """Stores what the text teaches, unless `dry_run`; None where it teaches nothing (S-25 to S-29).

        Raises InvalidInput at ("store",) for a name that no key can hold, and Conflict as `put`.
        """
        lesson = lesson_of(text, store)
        if lesson is not None and not dry_run:
            self.put(tenant, lesson.call.namespace, lesson.call.key, lesson.call.value, now, author=author)
        return lesson

    def _check(
        self, author: KnowledgeAuthor, namespace: str, key: str, document: Mapping[str, Any], now: datetime
    ) -> None:
        scope, rejections = author.scope, self._gate.load(author.scope)
        said = texts_of(namespace, key, document["value"]) if rejections else []
        refused = next((text for text in said if rejections.redact_for(text, scope.persona_id) != text), None)
        if refused is not None:
            named = [_named(scope, key_of(namespace, key))]
            write = RefusedWrite(actor=author.actor, via=VIA, now=now, target_ids=named, content=refused)
            self._refused.record(scope, write)
            raise Conflict("the value was rejected")

    def _write(self, tenant: str, write: ItemWrite, author: KnowledgeAuthor | None, now: datetime) -> Item | None:
        if author is not None:
            self._audit(author, write.key, write.value, now)
        (item,) = self._items.write(of_tenant(tenant), [write], now)
        return item

    def _audit(
        self, author: KnowledgeAuthor, place: ItemKey, document: Mapping[str, Any] | None, now: datetime
    ) -> None:
        scope = author.scope
        item = self._items.get(of_tenant(scope.tenant), [place]).get(place)
        named, version = _named(scope, place), item.version if item else 0
        action = Action.DELETE if document is None else Action.PATCH if item else Action.CREATE
        entry = AuditEntry(
            id=author.audit_id or self._ids.fresh(),
            at=now,
            actor=author.actor,
            action=action,
            target_ids=(named,),
            via=VIA,
            before=_trace(scope, named, version, item.value) if item else None,
            after=_trace(scope, named, version + 1, document) if document is not None else None,
        )
        with suppress(VersionMismatch):  # an earlier try wrote it
            self._items.write(scope.user, audit_once(entry) if author.audit_id else [audit_write(entry)], now)

    def _load(self, tenant: str) -> _Loaded:
        """Backwards, so that a tenant with too many entries keeps its vocabulary."""
        page = self._items.page(of_tenant(tenant), _WITH_MEANING, LOADED_AT_MOST, None, descending=True)
        entries = tuple(map(entry_of, reversed(page.items)))
        return _Loaded(entries, meanings_of(entries), page.more is not None)


def lesson_of(text: str, store: str | None) -> Lesson | None:
    """What the text teaches; stores nothing. Raises InvalidInput at ("store",)."""
    learnt = learnt_from(text)
    call = call_for(learnt, store) if learnt else None
    return Lesson(call, confirmation_of(learnt)) if call and learnt else None


@dataclass(frozen=True, slots=True)
class _Branch:
    """`at` is None before the first page, False after the last, else the port's place."""

    name: str
    at: str | bool | None


class ListKnowledge:
    """Pages of entries by namespace and key; a walk sees each entry that stays exactly once."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def page(self, owner: Scope, namespace: str | None, limit: int, after: str | None) -> KnowledgePage:
        """A page of one namespace, or of all. Raises InvalidInput for an `after` that no page gave."""
        if namespace is None:
            return self._of_all(owner, limit, _branches(after))
        page = self._items.page(owner, _path_of(namespace), limit, after)
        return KnowledgePage(tuple(map(entry_of, page.items)), page.more)

    def _of_all(self, owner: Scope, limit: int, branches: Sequence[_Branch]) -> KnowledgePage:
        """The first `limit` of both branches; a branch of which fewer are taken is read again, just so far."""
        ahead = [self._entries(owner, branch, limit) for branch in branches]
        first = sorted((entry for entries, _ in ahead for entry in entries), key=_order)[:limit]
        pages = [
            read if all(entry in first for entry in read[0]) else self._entries(owner, branch, _count(read[0], first))
            for branch, read in zip(branches, ahead, strict=True)
        ]
        entries = sorted((entry for entries, _ in pages for entry in entries), key=_order)
        rest = [after for _, after in pages]
        return KnowledgePage(tuple(entries), None if all(place is _END for place in rest) else json.dumps(rest))

    def _entries(self, owner: Scope, branch: _Branch, limit: int) -> tuple[list[KnowledgeEntry], str | bool | None]:
        if branch.at is _END:
            return [], _END
        place = branch.at if isinstance(branch.at, str) else None
        page = self._items.page(owner, ItemPath(COLLECTION, (branch.name,)), max(limit, 1), place)
        if limit == 0:
            return [], branch.at if page.items else _END
        return [entry_of(item) for item in page.items], page.more if page.more is not None else _END


def _branches(after: str | None) -> list[_Branch]:
    places = [_START, _START] if after is None else _read(after)
    return [_Branch(name, place) for name, place in zip(_BRANCHES, places, strict=True)]


def _read(after: str) -> list[Any]:
    try:
        places = json.loads(after)
    except ValueError:
        places = None
    good = isinstance(places, list) and len(places) == len(_BRANCHES)
    if not good or any(place is not None and place is not False and not isinstance(place, str) for place in places):
        raise InvalidInput("a place in a listing that is none", ("after",))
    return list(places)


def _count(entries: Sequence[KnowledgeEntry], among: Sequence[KnowledgeEntry]) -> int:
    return sum(entry in among for entry in entries)


def _order(entry: KnowledgeEntry) -> tuple[bytes, bytes]:
    return entry.namespace.encode(), entry.key.encode()


def _places(namespace: Namespace, meanings: Any) -> set[tuple[str, str]]:
    return {(namespace.value, one.key) for one in meanings}


def _document(namespace: str, value: Any, author: KnowledgeAuthor | None) -> dict[str, Any]:
    if author is None or not author.is_model:
        return {"value": value}
    if namespace == Namespace.VOCABULARY:
        value = {**value, "source": KnowledgeSource.INFERENCE.value}
    return {"value": value, "source": Source.INFERRED.value}


def _named(scope: Scope, place: ItemKey) -> str:
    """The audit names an entry by a hash: a key of the vocabulary holds a user's word."""
    return content_hash(scope.tenant, scope.user_id, f"{place.path.labels[1]}/{place.key}")


def _trace(scope: Scope, named: str, version: int, document: Mapping[str, Any]) -> dict[str, Any]:
    text = json.dumps(document.get("value"), ensure_ascii=False, sort_keys=True)
    return {"id": named, "version": version, "hash": content_hash(scope.tenant, scope.user_id, text)}


def key_of(namespace: str, key: str) -> ItemKey:
    """Where an entry is stored (S-01)."""
    return ItemKey(_path_of(namespace), key)


def entry_of(item: Item) -> KnowledgeEntry:
    value, source = item.value.get("value"), item.value.get("source")
    known = Source(source) if source else None
    return KnowledgeEntry(item.key.path.labels[1], item.key.key, value, item.version, item.updated_at, known)


def _path_of(namespace: str) -> ItemPath:
    known = namespace in frozenset(Namespace)
    return ItemPath(COLLECTION, (_MEANINGS if known else _FREE, namespace))
