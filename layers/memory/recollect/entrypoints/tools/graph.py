"""The nine graph tools of the Model Context Protocol's reference memory server, server-memory 2026.8.31, in its wire.

Beyond it, a relation needs both its entities, as in the reference's repository since.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from recollect.entrypoints.tools.tool import CONTENT_BYTES, Invocation, Outcome, Parameters, Tool, fitting
from recollect.items.graph import Entity, Graph, Relation
from recollect.items.keep_graph import KeepGraph

MOST_AT_ONCE = 1_000
Words = Annotated[str, Field(max_length=CONTENT_BYTES)]


class EntityShown(Parameters):
    """An entity as it goes over the wire."""

    name: Words = Field(description="The name of the entity.")
    entityType: Words = Field(description="The type of the entity.")
    observations: list[Words] = Field(max_length=MOST_AT_ONCE, description="What is known of it, a sentence each.")


class RelationShown(Parameters):
    """A relation as it goes over the wire; in the active voice."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    origin: Words = Field(alias="from", description="The name of the entity where the relation starts.")
    target: Words = Field(alias="to", description="The name of the entity where the relation ends.")
    kind: Words = Field(alias="relationType", description="The type of the relation.")


class Observed(Parameters):
    """What was observed of one entity."""

    entityName: Words = Field(description="The name of the entity.")
    contents: list[Words] = Field(max_length=MOST_AT_ONCE, description="What is added to it.")


class Unobserved(Parameters):
    """What is no longer known of one entity."""

    entityName: Words = Field(description="The name of the entity.")
    observations: list[Words] = Field(max_length=MOST_AT_ONCE, description="What is deleted of it.")


class CreateEntities(Parameters):
    """Of `create_entities`."""

    entities: list[EntityShown] = Field(max_length=MOST_AT_ONCE)


class SomeRelations(Parameters):
    """Of `create_relations` and `delete_relations`."""

    relations: list[RelationShown] = Field(max_length=MOST_AT_ONCE)


class AddObservations(Parameters):
    """Of `add_observations`."""

    observations: list[Observed] = Field(max_length=MOST_AT_ONCE)


class DeleteEntities(Parameters):
    """Of `delete_entities`."""

    entityNames: list[Words] = Field(max_length=MOST_AT_ONCE, description="The names of the entities.")


class DeleteObservations(Parameters):
    """Of `delete_observations`."""

    deletions: list[Unobserved] = Field(max_length=MOST_AT_ONCE)


class ReadGraph(Parameters):
    """Of `read_graph`."""


class SearchNodes(Parameters):
    """Of `search_nodes`."""

    query: Words = Field(description="Looked for in names, types and observations, whatever its case.")


class OpenNodes(Parameters):
    """Of `open_nodes`."""

    names: list[Words] = Field(max_length=MOST_AT_ONCE, description="The names of the entities.")


def create_entities(invocation: Invocation, given: CreateEntities) -> Outcome:
    """Answers those that are new."""
    asked = [Entity(one.name, one.entityType, tuple(dict.fromkeys(one.observations))) for one in given.entities]
    made = _graph(invocation).create_entities(invocation.scope, asked, invocation.now)
    return Outcome({"entities": [_entity(one) for one in made]})


def create_relations(invocation: Invocation, given: SomeRelations) -> Outcome:
    """Answers those that are new. Raises NotFound where an entity is missing."""
    made = _graph(invocation).create_relations(invocation.scope, _relations(given), invocation.now)
    return Outcome({"relations": [_relation(one) for one in made]})


def add_observations(invocation: Invocation, given: AddObservations) -> Outcome:
    """Answers what is new of each entity. Raises NotFound where one is missing."""
    asked = [(one.entityName, one.contents) for one in given.observations]
    added = _graph(invocation).add_observations(invocation.scope, asked, invocation.now)
    return Outcome({"results": [{"entityName": name, "addedObservations": new} for name, new in added]})


def delete_entities(invocation: Invocation, given: DeleteEntities) -> Outcome:
    """With their relations."""
    _graph(invocation).delete_entities(invocation.scope, given.entityNames, invocation.now)
    return _deleted("Entities")


def delete_observations(invocation: Invocation, given: DeleteObservations) -> Outcome:
    """Of the entities that are there."""
    gone = [(one.entityName, one.observations) for one in given.deletions]
    _graph(invocation).delete_observations(invocation.scope, gone, invocation.now)
    return _deleted("Observations")


def delete_relations(invocation: Invocation, given: SomeRelations) -> Outcome:
    """Those that are there."""
    _graph(invocation).delete_relations(invocation.scope, _relations(given), invocation.now)
    return _deleted("Relations")


def read_graph(invocation: Invocation, _given: ReadGraph) -> Outcome:
    """All of it."""
    return Outcome(graph_json(_graph(invocation).read(invocation.scope, invocation.now)))


def search_nodes(invocation: Invocation, given: SearchNodes) -> Outcome:
    """The entities that mention the query, and their relations."""
    return Outcome(graph_json(_graph(invocation).read(invocation.scope, invocation.now).matching(given.query)))


def open_nodes(invocation: Invocation, given: OpenNodes) -> Outcome:
    """The entities of these names, and their relations."""
    return Outcome(graph_json(_graph(invocation).read(invocation.scope, invocation.now).around(set(given.names))))


def graph_json(graph: Graph) -> dict[str, Any]:
    """As the reference writes it; what is more than a model reads is left out, and counted."""
    entities, relations = [_entity(one) for one in graph.entities], [_relation(one) for one in graph.relations]
    shown = fitting([*entities, *relations])
    both, count = shown.pop("entries"), len(entities)
    return {"entities": both[:count], "relations": both[count:], **shown}


def _graph(invocation: Invocation) -> KeepGraph:
    return KeepGraph(invocation.app.items, invocation.labels)


def _relations(given: SomeRelations) -> list[Relation]:
    return [Relation(one.origin, one.target, one.kind) for one in given.relations]


def _entity(entity: Entity) -> dict[str, Any]:
    return {"name": entity.name, "entityType": entity.kind, "observations": list(entity.observations)}


def _relation(relation: Relation) -> dict[str, Any]:
    return {"from": relation.origin, "to": relation.target, "relationType": relation.kind}


def _deleted(what: str) -> Outcome:
    return Outcome({"success": True, "message": f"{what} deleted successfully"})


def _say(_given: object, result: Mapping[str, Any]) -> str:
    return str(result.get("message", "Here is the graph."))


def _reads(_given: object) -> bool:
    return False


TOOLS: Mapping[str, Tool] = {
    "create_entities": Tool(CreateEntities, create_entities, _say),
    "create_relations": Tool(SomeRelations, create_relations, _say),
    "add_observations": Tool(AddObservations, add_observations, _say),
    "delete_entities": Tool(DeleteEntities, delete_entities, _say),
    "delete_observations": Tool(DeleteObservations, delete_observations, _say),
    "delete_relations": Tool(SomeRelations, delete_relations, _say),
    "read_graph": Tool(ReadGraph, read_graph, _say, _reads),
    "search_nodes": Tool(SearchNodes, search_nodes, _say, _reads),
    "open_nodes": Tool(OpenNodes, open_nodes, _say, _reads),
}
