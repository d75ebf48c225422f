"""A knowledge graph as the reference memory server of the Model Context Protocol has it, in values.

An entity has a name, which is unique, a type and observations; a relation goes from one name to another. Both are kept
in the order in which they were made.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.items.item import Namespace

_FIRST_LABEL = "knowledge-graph"


@dataclass(frozen=True, slots=True)
class Entity:
    """Something with a name, and what was observed of it, each observation once."""

    name: str
    kind: str
    observations: tuple[str, ...]

    def with_observations(self, more: Sequence[str]) -> "Entity":
        """With those that it does not have yet."""
        return replace(self, observations=tuple(dict.fromkeys((*self.observations, *more))))

    def without(self, gone: Collection[str]) -> "Entity":
        """Without these observations."""
        return replace(self, observations=tuple(one for one in self.observations if one not in gone))

    def mentions(self, text: str) -> bool:
        """Whether name, type or an observation has the text, whatever its case."""
        return any(text.lower() in one.lower() for one in (self.name, self.kind, *self.observations))


@dataclass(frozen=True, slots=True)
class Relation:
    """From one entity to another, by their names."""

    origin: str
    target: str
    kind: str

    def touches(self, names: Collection[str]) -> bool:
        """Whether it begins or ends at one of them."""
        return self.origin in names or self.target in names


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities and relations, in the order in which they were made."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]

    def matching(self, query: str) -> "Graph":
        """The entities that mention the query, and every relation of one of them."""
        return self.around({entity.name for entity in self.entities if entity.mentions(query)})

    def around(self, names: Collection[str]) -> "Graph":
        """The entities of these names, and every relation of one that there is."""
        entities = tuple(entity for entity in self.entities if entity.name in names)
        found = {entity.name for entity in entities}
        return Graph(entities, tuple(one for one in self.relations if one.touches(found)))


def entities_namespace(scope: Scope, labels: Labels = NO_LABELS) -> Namespace:
    """Where the items of a user's entities are; a persona's are apart, and those of an agent or of other labels."""
    return (*_graph_of(scope, labels), "entities")


def relations_namespace(scope: Scope, labels: Labels = NO_LABELS) -> Namespace:
    """Where the items of a user's relations are."""
    return (*_graph_of(scope, labels), "relations")


def _graph_of(scope: Scope, labels: Labels) -> Namespace:
    apart = [] if labels == NO_LABELS else [labels.agent_id, labels.app_id, *labels.namespace]
    return (_FIRST_LABEL, _digest(scope.user_id, scope.persona_id, *apart))


def entity_key(name: str) -> str:
    """The key of an entity's item; a name may be longer than a key."""
    return _digest(name)


def relation_key(relation: Relation) -> str:
    """The key of a relation's item."""
    return _digest(relation.origin, relation.target, relation.kind)


def entity_value(entity: Entity, position: int) -> dict[str, Any]:
    """The item's document; `position` is the entity's among those made at the same instant."""
    shown = {"name": entity.name, "entityType": entity.kind, "observations": list(entity.observations)}
    return {**shown, "position": position}


def relation_value(relation: Relation, position: int) -> dict[str, Any]:
    """The item's document."""
    shown = {"from": relation.origin, "to": relation.target, "relationType": relation.kind}
    return {**shown, "position": position}


def read_entity(value: Mapping[str, Any]) -> Entity:
    """The entity of a document that `entity_value` made."""
    return Entity(value["name"], value["entityType"], tuple(value["observations"]))


def read_relation(value: Mapping[str, Any]) -> Relation:
    """The relation of a document that `relation_value` made."""
    return Relation(value["from"], value["to"], value["relationType"])


def _digest(*parts: str | None) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
