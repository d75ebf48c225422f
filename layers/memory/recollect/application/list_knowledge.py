"""Where knowledge is stored, and how all of it is listed.

What has a meaning (vocabulary, rules, corrections) and what is free have a branch each, so that a prompt is loaded by
one query that no free entry gets into; a list of everything is the two branches merged.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.domain.errors import InvalidInput
from recollect.domain.event import Source
from recollect.domain.items import Item, ItemKey, ItemPath
from recollect.domain.knowledge import KnowledgeEntry
from recollect.domain.knowledge_values import Namespace
from recollect.domain.scope import Scope
from recollect.ports import Items

COLLECTION = "llm_knowledge"
_MEANING, _FREE = "meaning", "free"
_BRANCHES = (_MEANING, _FREE)
_START, _END = None, False


@dataclass(frozen=True, slots=True)
class KnowledgePage:
    """Entries of one page; `more` where the next one goes on."""

    entries: tuple[KnowledgeEntry, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class _Branch:
    """How far a walk has come in a branch: nowhere yet (None), at its end (False), or at a place of the port's."""

    name: str
    at: str | bool | None


def path_of_meanings() -> ItemPath:
    """The branch of what has a meaning, the namespaces in their order: correction, rule, vocabulary."""
    return ItemPath(COLLECTION, (_MEANING,))


def key_of(namespace: str, key: str) -> ItemKey:
    """Where an entry is stored (S-01)."""
    return ItemKey(_path_of(namespace), key)


def entry_of(item: Item) -> KnowledgeEntry:
    """The entry that an item holds."""
    value, source = item.value.get("value"), item.value.get("source")
    known = Source(source) if source else None
    return KnowledgeEntry(item.key.path.labels[1], item.key.key, value, item.version, item.updated_at, known)


class ListKnowledge:
    """Pages of entries by namespace and key; each is a walk that sees what stays exactly once."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def __call__(self, owner: Scope, namespace: str | None, limit: int, after: str | None) -> KnowledgePage:
        """A page of one namespace, or of all. Raises InvalidInput for an `after` that is none of ours."""
        if namespace is None:
            return self._of_all(owner, limit, _branches(after))
        page = self._items.page(owner, _path_of(namespace), limit, after)
        return KnowledgePage(tuple(map(entry_of, page.items)), page.more)

    def _of_all(self, owner: Scope, limit: int, branches: Sequence[_Branch]) -> KnowledgePage:
        """The first of both branches together; a branch of which less is taken is read again, just so far."""
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
        """The next entries of a branch, and how far the walk has come then."""
        if branch.at is _END:
            return [], _END
        place = branch.at if isinstance(branch.at, str) else None
        page = self._items.page(owner, ItemPath(COLLECTION, (branch.name,)), max(limit, 1), place)
        if limit == 0:
            return [], branch.at if page.items else _END
        return [entry_of(item) for item in page.items], page.more if page.more is not None else _END


def _path_of(namespace: str) -> ItemPath:
    known = namespace in frozenset(Namespace)
    return ItemPath(COLLECTION, (_MEANING if known else _FREE, namespace))


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
