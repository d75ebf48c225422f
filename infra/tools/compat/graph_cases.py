"""What the reference memory server's suite asks of a knowledge graph, by MCP's own client, against a running server.

Its tests (`src/memory/__tests__/knowledge-graph.test.ts`, modelcontextprotocol/servers) call a class in their process,
so that each is asked here by the server's tools, under its name there. COMPAT_URL is the server; each test is a tenant
of its own, by the keys `compat-0`, `compat-1`, … of which it knows COMPAT_KEYS.
"""

import asyncio
import itertools
import os
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

_keys = itertools.count(int(os.environ["COMPAT_KEYS"]) - 1, -1)
EMPTY: dict[str, Any] = {"entities": [], "relations": []}

Graph = dict[str, Any]
Call = Callable[..., Graph]


def entity(name: str, *observations: str, kind: str = "person") -> Graph:
    """As the tools take and give it."""
    return {"name": name, "entityType": kind, "observations": [*observations]}


def relation(start: str, end: str, kind: str = "knows") -> dict[str, str]:
    """As the tools take and give it."""
    return {"from": start, "to": end, "relationType": kind}


class Refused(Exception):
    """A tool's answer that is an error, with its text."""


def caller(key: str) -> Call:
    """Calls a tool by a client of its own, so that nothing is kept in one but on the server."""

    def call(tool: str, **arguments: Any) -> Graph:
        result = asyncio.run(_result(key, tool, arguments))
        if result.is_error:
            raise Refused(result.content[0].text)
        return dict(result.structured_content or {})

    return call


async def _result(key: str, tool: str, arguments: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {key}", "X-Recollect-User": "anna"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{os.environ['COMPAT_URL']}/mcp", http_client=http)) as client,
    ):
        return await client.call_tool(tool, arguments)


@pytest.fixture
def graph() -> Call:
    """Of a tenant whose graph is empty."""
    return caller(f"compat-{next(_keys)}")


@pytest.fixture
def found(graph: Call) -> Call:
    """A graph to search in."""
    company = entity("Acme Corp", "tech company", kind="company")
    people = [entity("Alice", "works at Acme Corp", "likes programming"), entity("Bob", "works at TechCo"), company]
    graph("create_entities", entities=people)
    relations = [relation("Alice", "Acme Corp", "works_at"), relation("Bob", "Acme Corp", "competitor")]
    graph("create_relations", relations=relations)
    return graph


@pytest.fixture
def chain(graph: Call) -> Call:
    """Alice knows Bob, who knows Charlie."""
    graph("create_entities", entities=[entity(name) for name in ("Alice", "Bob", "Charlie")])
    graph("create_relations", relations=[relation("Alice", "Bob"), relation("Bob", "Charlie")])
    return graph


def names(answer: Graph) -> list[str]:
    """Of the entities in an answer."""
    return [one["name"] for one in answer["entities"]]


def test_create_entities_should_create_new_entities(graph: Call) -> None:
    people = [entity("Alice", "works at Acme Corp"), entity("Bob", "likes programming")]
    assert graph("create_entities", entities=people) == {"entities": people}
    assert graph("read_graph")["entities"] == people


def test_create_entities_should_not_create_duplicate_entities(graph: Call) -> None:
    alice = [entity("Alice", "works at Acme Corp")]
    graph("create_entities", entities=alice)
    assert graph("create_entities", entities=alice) == {"entities": []}
    assert graph("read_graph")["entities"] == alice


def test_create_entities_should_handle_empty_entity_arrays(graph: Call) -> None:
    assert graph("create_entities", entities=[]) == {"entities": []}


def test_create_relations_should_create_new_relations(graph: Call) -> None:
    graph("create_entities", entities=[entity("Alice"), entity("Bob")])
    knows = [relation("Alice", "Bob")]
    assert graph("create_relations", relations=knows) == {"relations": knows}
    assert graph("read_graph")["relations"] == knows


def test_create_relations_should_not_create_duplicate_relations(graph: Call) -> None:
    graph("create_entities", entities=[entity("Alice"), entity("Bob")])
    knows = [relation("Alice", "Bob")]
    graph("create_relations", relations=knows)
    assert graph("create_relations", relations=knows) == {"relations": []}
    assert graph("read_graph")["relations"] == knows


def test_create_relations_should_handle_empty_relation_arrays(graph: Call) -> None:
    assert graph("create_relations", relations=[]) == {"relations": []}


@pytest.mark.parametrize("ends", [("Ghost", "Alice"), ("Alice", "Ghost")], ids=["from", "to"])
def test_create_relations_should_reject_relations_with_a_missing_entity(graph: Call, ends: tuple[str, str]) -> None:
    graph("create_entities", entities=[entity("Alice")])
    with pytest.raises(Refused, match=r"^Entity with name Ghost not found$"):
        graph("create_relations", relations=[relation(*ends)])
    assert graph("read_graph")["relations"] == []


def test_add_observations_should_add_observations_to_existing_entities(graph: Call) -> None:
    graph("create_entities", entities=[entity("Alice", "works at Acme Corp")])
    told = [{"entityName": "Alice", "contents": ["likes coffee", "has a dog"]}]
    added = {"entityName": "Alice", "addedObservations": ["likes coffee", "has a dog"]}
    assert graph("add_observations", observations=told) == {"results": [added]}
    assert graph("read_graph")["entities"] == [entity("Alice", "works at Acme Corp", "likes coffee", "has a dog")]


def test_add_observations_should_not_add_duplicate_observations(graph: Call) -> None:
    graph("create_entities", entities=[entity("Alice", "works at Acme Corp")])
    graph("add_observations", observations=[{"entityName": "Alice", "contents": ["likes coffee"]}])
    told = [{"entityName": "Alice", "contents": ["likes coffee", "has a dog"]}]
    assert graph("add_observations", observations=told)["results"][0]["addedObservations"] == ["has a dog"]
    assert graph("read_graph")["entities"] == [entity("Alice", "works at Acme Corp", "likes coffee", "has a dog")]


def test_add_observations_should_throw_error_for_non_existent_entity(graph: Call) -> None:
    with pytest.raises(Refused, match=r"^Entity with name NonExistent not found$"):
        graph("add_observations", observations=[{"entityName": "NonExistent", "contents": ["some observation"]}])


def test_delete_entities_should_delete_entities(graph: Call) -> None:
    graph("create_entities", entities=[entity("Alice"), entity("Bob")])
    graph("delete_entities", entityNames=["Alice"])
    assert names(graph("read_graph")) == ["Bob"]


def test_delete_entities_should_cascade_delete_relations_when_deleting_entities(chain: Call) -> None:
    chain("delete_entities", entityNames=["Bob"])
    assert chain("read_graph") == {"entities": [entity("Alice"), entity("Charlie")], "relations": []}


def test_delete_entities_should_handle_deleting_non_existent_entities(graph: Call) -> None:
    graph("delete_entities", entityNames=["NonExistent"])
    assert graph("read_graph") == EMPTY


def test_delete_observations_should_delete_observations_from_entities(graph: Call) -> None:
    graph("create_entities", entities=[entity("Alice", "works at Acme Corp", "likes coffee")])
    graph("delete_observations", deletions=[{"entityName": "Alice", "observations": ["likes coffee"]}])
    assert graph("read_graph")["entities"] == [entity("Alice", "works at Acme Corp")]


def test_delete_observations_should_handle_deleting_from_non_existent_entities(graph: Call) -> None:
    graph("delete_observations", deletions=[{"entityName": "NonExistent", "observations": ["some observation"]}])
    assert graph("read_graph") == EMPTY


def test_delete_relations_should_delete_specific_relations(graph: Call) -> None:
    graph("create_entities", entities=[entity("Alice"), entity("Bob")])
    works = relation("Alice", "Bob", "works_with")
    graph("create_relations", relations=[relation("Alice", "Bob"), works])
    graph("delete_relations", relations=[relation("Alice", "Bob")])
    assert graph("read_graph")["relations"] == [works]


def test_read_graph_should_return_empty_graph_when_file_does_not_exist(graph: Call) -> None:
    assert graph("read_graph") == EMPTY


def test_read_graph_should_return_complete_graph_with_entities_and_relations(graph: Call) -> None:
    alice, loop = entity("Alice", "works at Acme Corp"), relation("Alice", "Alice", "self")
    graph("create_entities", entities=[alice])
    graph("create_relations", relations=[loop])
    assert graph("read_graph") == {"entities": [alice], "relations": [loop]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("Alice", ["Alice"], id="by_entity_name"),
        pytest.param("company", ["Acme Corp"], id="by_entity_type"),
        pytest.param("programming", ["Alice"], id="by_observation_content"),
        pytest.param("ALICE", ["Alice"], id="case_insensitive"),
    ],
)
def test_search_nodes_should_search(found: Call, query: str, expected: list[str]) -> None:
    assert names(found("search_nodes", query=query)) == expected


def test_search_nodes_should_include_relations_where_at_least_one_endpoint_matches(found: Call) -> None:
    answer = found("search_nodes", query="Acme")
    assert names(answer) == ["Alice", "Acme Corp"]
    assert answer["relations"] == found("read_graph")["relations"]


def test_search_nodes_should_include_outgoing_relations_to_unmatched_entities(found: Call) -> None:
    answer = found("search_nodes", query="Alice")
    assert (names(answer), answer["relations"]) == (["Alice"], [relation("Alice", "Acme Corp", "works_at")])


def test_search_nodes_should_return_empty_graph_for_no_matches(found: Call) -> None:
    assert found("search_nodes", query="NonExistent") == EMPTY


def test_open_nodes_should_open_specific_nodes_by_name(chain: Call) -> None:
    assert names(chain("open_nodes", names=["Alice", "Bob"])) == ["Alice", "Bob"]


@pytest.mark.parametrize(
    ("opened", "expected"),
    [
        pytest.param(["Alice", "Bob"], [("Alice", "Bob"), ("Bob", "Charlie")], id="all_relations_of_opened_nodes"),
        pytest.param(["Bob"], [("Alice", "Bob"), ("Bob", "Charlie")], id="relations_connected_to_opened_nodes"),
        pytest.param(["Alice"], [("Alice", "Bob")], id="outgoing_relations_to_nodes_not_in_the_open_set"),
        pytest.param(["Charlie"], [("Bob", "Charlie")], id="incoming_relations_from_nodes_not_in_the_open_set"),
    ],
)
def test_open_nodes_should_include(chain: Call, opened: list[str], expected: list[tuple[str, str]]) -> None:
    answer = chain("open_nodes", names=opened)
    assert names(answer) == opened
    assert answer["relations"] == [relation(*one) for one in expected]


def test_open_nodes_should_handle_opening_non_existent_nodes(chain: Call) -> None:
    assert chain("open_nodes", names=["NonExistent"]) == EMPTY


def test_open_nodes_should_handle_empty_node_list(chain: Call) -> None:
    assert chain("open_nodes", names=[]) == EMPTY


def test_file_persistence_should_persist_data_across_manager_instances(graph: Call) -> None:
    graph("create_entities", entities=[entity("Alice", "persistent data")])
    assert graph("read_graph")["entities"] == [entity("Alice", "persistent data")]


def test_file_persistence_should_handle_jsonl_format_correctly() -> None:
    pytest.skip("reads the reference server's own file")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("read_graph", {}), ("search_nodes", {"query": "Alice"}), ("open_nodes", {"names": ["Alice"]})],
    ids=["when_loading", "from_search_nodes", "from_open_nodes"],
)
def test_file_persistence_should_strip_type_field(graph: Call, tool: str, arguments: dict[str, Any]) -> None:
    alice, loop = entity("Alice", "works at Acme"), relation("Alice", "Alice", "self")
    graph("create_entities", entities=[alice])
    graph("create_relations", relations=[loop])
    assert graph(tool, **arguments) == {"entities": [alice], "relations": [loop]}
