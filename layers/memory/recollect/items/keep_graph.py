"""A user's knowledge graph, kept as items that the user owns: one for each entity and each relation.

Each item is written by itself, at the version that was read: of two calls at once both are kept. An erasure of the
user and an export reach them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import count
from typing import Any

from recollect.core.errors import InvalidInput, NotFound, VersionMismatch
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.items.graph import (
    Entity,
    Graph,
    Relation,
    entities_namespace,
    entity_key,
    entity_value,
    read_entity,
    read_relation,
    relation_key,
    relation_value,
    relations_namespace,
)
from recollect.items.item import ABSENT, MOST_READ, MOST_RESULTS, ItemPlace, Namespace, NamespacedItem
from recollect.items.use_cases import Get, KeepItems, Put, Search

_TRIES = 10


@dataclass(frozen=True, slots=True)
class KeepGraph:
    """The use cases behind the graph tools of MCP; each set of labels has a graph of its own."""

    _items: KeepItems
    _labels: Labels = NO_LABELS

    def create_entities(self, scope: Scope, entities: Sequence[Entity], now: datetime) -> list[Entity]:
        """Those that are new; one whose name is there is skipped. Raises InvalidInput where one is too large."""
        return [
            entity
            for position, entity in enumerate(entities)
            if self._created(scope, self._place_of(scope, entity.name), entity_value(entity, position), now)
        ]

    def create_relations(self, scope: Scope, relations: Sequence[Relation], now: datetime) -> list[Relation]:
        """Those that are new. Raises NotFound, and makes none, where an entity is missing."""
        self._require(scope, [name for one in relations for name in (one.origin, one.target)], now)
        return [
            relation
            for position, relation in enumerate(relations)
            if self._created(scope, self._place_of_relation(scope, relation), relation_value(relation, position), now)
        ]

    def add_observations(
        self, scope: Scope, added: Sequence[tuple[str, Sequence[str]]], now: datetime
    ) -> list[tuple[str, list[str]]]:
        """Of each entity named, what is new of it. Raises NotFound, and adds nothing, where one is missing."""
        self._require(scope, [name for name, _ in added], now)
        results = []
        for name, contents in added:
            before, after = self._changed(scope, name, partial(Entity.with_observations, more=contents), now)
            results.append((name, list(after.observations[len(before.observations) :])))
        return results

    def delete_observations(self, scope: Scope, gone: Sequence[tuple[str, Sequence[str]]], now: datetime) -> None:
        """Takes them away; an entity that is not there is passed over."""
        there = self._there(scope, [name for name, _ in gone], now)
        for name, contents in gone:
            if name in there:
                self._changed(scope, name, partial(Entity.without, gone=contents), now)

    def delete_entities(self, scope: Scope, names: Sequence[str], now: datetime) -> None:
        """Deletes those that are there, and their relations."""
        relations = [one for one in self._relations(scope, now) if one.touches(names)]
        places = [self._place_of_relation(scope, one) for one in relations] + [
            self._place_of(scope, name) for name in names
        ]
        self._delete(scope, places, now)

    def delete_relations(self, scope: Scope, relations: Sequence[Relation], now: datetime) -> None:
        """Deletes those that are there."""
        self._delete(scope, [self._place_of_relation(scope, one) for one in relations], now)

    def read(self, scope: Scope, now: datetime) -> Graph:
        """All of it. Raises InvalidInput for more than an engine reads at once."""
        entities = self._values(scope, entities_namespace(scope, self._labels), now)
        return Graph(tuple(map(read_entity, entities)), tuple(self._relations(scope, now)))

    def _relations(self, scope: Scope, now: datetime) -> Iterator[Relation]:
        return map(read_relation, self._values(scope, relations_namespace(scope, self._labels), now))

    def _values(self, scope: Scope, namespace: Namespace, now: datetime) -> list[Mapping[str, Any]]:
        """The documents of a namespace in the order in which they were made."""
        items: list[NamespacedItem] = []
        while len(items) % MOST_RESULTS == 0:
            asked = Search(prefix=namespace, limit=MOST_RESULTS, offset=len(items), refresh=False)
            page = self._items.search(scope.tenant, asked, now, scope.user_id)
            if not page:
                break
            items += [one.item for one in page]
            if len(items) > MOST_READ:
                raise InvalidInput(f"a graph of more than {MOST_READ} entities or relations")
        items.sort(key=lambda item: (item.created_at, item.value["position"]))
        return [item.value for item in items]

    def _created(self, scope: Scope, place: ItemPlace, value: Mapping[str, Any], now: datetime) -> bool:
        """Whether nothing was there; what is there stays."""
        put = Put(place=place, value=value, index=False, expected=ABSENT)
        try:
            self._items.put(scope.tenant, put, now, scope.user_id)
        except VersionMismatch:
            return False
        return True

    def _changed(
        self, scope: Scope, name: str, change: Callable[[Entity], Entity], now: datetime
    ) -> tuple[Entity, Entity]:
        """The entity before and after. Raises NotFound, VersionMismatch where others change it all the time."""
        place = self._place_of(scope, name)
        for attempt in count(1):
            item = self._items.get(scope.tenant, Get(place), now, scope.user_id)
            if item is None:
                raise _missing(name)
            before = read_entity(item.value)
            after = change(before)
            value = entity_value(after, item.value["position"])
            put = Put(place=place, value=value, index=False, expected=item.version)
            try:
                self._items.put(scope.tenant, put, now, scope.user_id)
            except VersionMismatch:
                if attempt == _TRIES:
                    raise
            else:
                return before, after
        raise AssertionError("unreachable")

    def _there(self, scope: Scope, names: Sequence[str], now: datetime) -> set[str]:
        found = self._items.batch(
            scope.tenant, [Get(self._place_of(scope, name)) for name in names], now, scope.user_id
        )
        return {name for name, item in zip(names, found, strict=True) if item is not None}

    def _require(self, scope: Scope, names: Sequence[str], now: datetime) -> None:
        there = self._there(scope, names, now)
        for name in names:
            if name not in there:
                raise _missing(name)

    def _delete(self, scope: Scope, places: Sequence[ItemPlace], now: datetime) -> None:
        puts = [Put(place=place, value=None) for place in dict.fromkeys(places)]
        self._items.batch(scope.tenant, puts, now, scope.user_id)

    def _place_of(self, scope: Scope, name: str) -> ItemPlace:
        return ItemPlace(entities_namespace(scope, self._labels), entity_key(name))

    def _place_of_relation(self, scope: Scope, relation: Relation) -> ItemPlace:
        return ItemPlace(relations_namespace(scope, self._labels), relation_key(relation))


def _missing(name: str) -> NotFound:
    return NotFound(f"Entity with name {name} not found")
