"""What users taught: kept, listed, put into a prompt, applied to a query, learnt from what they say (S-01 to S-40).

Knowledge is the tenant's. What is written in a user's name (by a model's call, or by credentials that are one user's)
must be no value that the user rejected, and has an entry in that user's audit, by hashes. The entry is written first,
since two owners' items are not one step: a write that fails after it has an entry all the same.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.application.list_knowledge import KnowledgePage, ListKnowledge, entry_of, key_of, path_of_meanings
from recollect.application.note_refusals import NoteRefusedWrite, RefusedWrite
from recollect.application.value_gate import ValueGate
from recollect.domain.audit import Action, Actor, ActorKind, AuditEntry, audit_once, audit_write, content_hash
from recollect.domain.errors import Conflict, NotFound, VersionMismatch
from recollect.domain.event import Source
from recollect.domain.ids import IdSource
from recollect.domain.items import ItemWrite, of_tenant
from recollect.domain.knowledge import (
    KnowledgeEntry,
    KnowledgeSection,
    Meanings,
    check_ids,
    checked_entry,
    held_in,
    meanings_of,
    texts_of,
)
from recollect.domain.knowledge_learning import ManageKnowledge, call_for, confirmation_of, learnt_from
from recollect.domain.knowledge_prompt import render_knowledge
from recollect.domain.knowledge_resolution import RULES_ALONE, Commenting, Resolution, resolve
from recollect.domain.knowledge_values import KnowledgeSource, Namespace
from recollect.domain.scope import Scope
from recollect.ports import Items

VIA = "knowledge"

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
class KnowledgeAuthor:
    """In whose name an entry is written: the scope of the user, and who acts.

    `audit_id` is the id of the entry in the audit where a retry has it again; None: a new one.
    """

    scope: Scope
    actor: Actor
    audit_id: str | None = None

    @property
    def is_model(self) -> bool:
        """Whether a model's call writes."""
        return self.actor.kind is ActorKind.MODEL


@dataclass(frozen=True, slots=True)
class _Loaded:
    entries: tuple[KnowledgeEntry, ...]
    meanings: Meanings
    cut: bool


class KeepKnowledge:
    """The tenant's knowledge, all users' together. Every method takes the tenant first."""

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids
        self._listing = ListKnowledge(items)
        self._gate = ValueGate(items)
        self._refused = NoteRefusedWrite(items, ids)

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
        """Makes or replaces an entry; `expected` as in `ItemWrite`, `author` where it is in a user's name.

        What a model writes has source `inferred`, and in the vocabulary `inference`, whatever its value claims.
        Raises InvalidInput (its `loc` from "namespace", "key" or "value" on), VersionMismatch, and Conflict where the
        author's user rejected what it says.
        """
        document = _document(namespace, checked_entry(namespace, key, value), author)
        if author is not None:
            self._check(author, namespace, key, document, now)
            self._note(author, namespace, key, document, now)
        write = ItemWrite(key_of(namespace, key), document, expected)
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
        if author is not None:
            self._note(author, namespace, key, None, now)
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
        """Raises Conflict where some of it is a value that the user rejected."""
        scope, rejections = author.scope, self._gate.load(author.scope)
        said = texts_of(namespace, key, document["value"]) if rejections else []
        refused = next((text for text in said if rejections.redact_for(text, scope.persona_id) != text), None)
        if refused is not None:
            named = [_named(scope, namespace, key)]
            self._refused(scope, RefusedWrite(actor=author.actor, via=VIA, now=now, target_ids=named, content=refused))
            raise Conflict("the value was rejected")

    def _note(
        self, author: KnowledgeAuthor, namespace: str, key: str, document: Mapping[str, Any] | None, now: datetime
    ) -> None:
        """The entry of the audit; `document` None for a deletion."""
        scope, place = author.scope, key_of(namespace, key)
        item = self._items.get(of_tenant(scope.tenant), [place]).get(place)
        named, version = _named(scope, namespace, key), item.version if item else 0
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
        with suppress(VersionMismatch):  # an earlier try noted it
            self._items.write(scope.user, audit_once(entry) if author.audit_id else [audit_write(entry)], now)

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


def _document(namespace: str, value: Any, author: KnowledgeAuthor | None) -> dict[str, Any]:
    if author is None or not author.is_model:
        return {"value": value}
    if namespace == Namespace.VOCABULARY:
        value = {**value, "source": KnowledgeSource.INFERENCE.value}
    return {"value": value, "source": Source.INFERRED.value}


def _named(scope: Scope, namespace: str, key: str) -> str:
    """How the audit names an entry: a key of the vocabulary has a user's word in it."""
    return content_hash(scope.tenant, scope.user_id, f"{namespace}/{key}")


def _trace(scope: Scope, named: str, version: int, document: Mapping[str, Any]) -> dict[str, Any]:
    text = json.dumps(document.get("value"), ensure_ascii=False, sort_keys=True)
    return {"id": named, "version": version, "hash": content_hash(scope.tenant, scope.user_id, text)}
