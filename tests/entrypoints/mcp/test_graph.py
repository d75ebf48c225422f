"""The reference memory server's graph tools by the package's client: what its own suite asks, said as behaviour."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from entrypoints.mcp.conftest import opened
from entrypoints.mcp.talking import over_asgi, text_of
from recollect.app import App
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.http.server import build_asgi

ANNA = {"X-Recollect-User": "anna"}
ALICE = {"name": "Alice", "entityType": "person", "observations": ["works at Acme Corp", "likes programming"]}
BOB = {"name": "Bob", "entityType": "person", "observations": ["works at TechCo"]}
ACME = {"name": "Acme Corp", "entityType": "company", "observations": ["tech company"]}
CAROL = {"name": "Carol", "entityType": "person", "observations": []}
WORKS = {"from": "Alice", "to": "Acme Corp", "relationType": "works_at"}
RIVAL = {"from": "Bob", "to": "Acme Corp", "relationType": "competitor"}
EMPTY: dict[str, Any] = {"entities": [], "relations": []}

Step = tuple[str, dict[str, Any], dict[str, Any]]


class Graph:
    """Calls of one client, each answered with its structured content."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        return dict(result.structured_content or {})

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self._client.call_tool(tool, arguments)
        assert result.is_error
        return text_of(result)

    async def filled(self) -> None:
        await self("create_entities", entities=[ALICE, BOB, ACME, CAROL])
        await self("create_relations", relations=[WORKS, RIVAL])


def played(app: App, story: Callable[[Graph], Coroutine[Any, Any, None]], **headers: str) -> None:
    async def talk(client: Client) -> None:
        await story(Graph(client))

    over_asgi(build_asgi(app), talk, {**ANNA, **headers})


def test_entities_are_made_once_in_order(app: App) -> None:
    async def story(graph: Graph) -> None:
        assert await graph("read_graph") == EMPTY
        assert await graph("create_entities", entities=[]) == {"entities": []}
        assert await graph("create_entities", entities=[BOB, ALICE]) == {"entities": [BOB, ALICE]}
        assert await graph("create_entities", entities=[{**ALICE, "entityType": "cat"}, ACME]) == {"entities": [ACME]}
        assert await graph("read_graph") == {"entities": [BOB, ALICE, ACME], "relations": []}

    played(app, story)


def test_relations_are_made_once_and_between_entities_that_are_there(app: App) -> None:
    async def story(graph: Graph) -> None:
        await graph("create_entities", entities=[ALICE, ACME])
        loop = {"from": "Alice", "to": "Alice", "relationType": "self"}
        assert await graph("create_relations", relations=[]) == {"relations": []}
        assert await graph("create_relations", relations=[WORKS]) == {"relations": [WORKS]}
        assert await graph("create_relations", relations=[WORKS, loop]) == {"relations": [loop]}
        for ends in ({"from": "Ghost", "to": "Alice"}, {"from": "Alice", "to": "Ghost"}):
            said = await graph.refused("create_relations", relations=[{**ends, "relationType": "knows"}])
            assert said == "Entity with name Ghost not found"
        assert (await graph("read_graph"))["relations"] == [WORKS, loop]

    played(app, story)


def test_observations_are_added_once_to_entities_that_are_there(app: App) -> None:
    async def story(graph: Graph) -> None:
        await graph("create_entities", entities=[ALICE, BOB])
        more = {"entityName": "Alice", "contents": ["likes coffee", "likes programming", "has a dog"]}
        added = await graph("add_observations", observations=[more])
        assert added == {"results": [{"entityName": "Alice", "addedObservations": ["likes coffee", "has a dog"]}]}
        ghost = {"entityName": "Ghost", "contents": ["x"]}
        said = await graph.refused("add_observations", observations=[{"entityName": "Bob", "contents": ["x"]}, ghost])
        assert said == "Entity with name Ghost not found"
        alice, bob = (await graph("read_graph"))["entities"]
        assert alice["observations"] == [*ALICE["observations"], "likes coffee", "has a dog"]
        assert bob == BOB

    played(app, story)


def test_an_entity_is_deleted_with_its_relations(app: App) -> None:
    async def story(graph: Graph) -> None:
        await graph.filled()
        done = {"success": True, "message": "Entities deleted successfully"}
        assert await graph("delete_entities", entityNames=["Ghost"]) == done
        assert await graph("delete_entities", entityNames=["Acme Corp", "Carol"]) == done
        assert await graph("read_graph") == {"entities": [ALICE, BOB], "relations": []}
        assert await graph("create_entities", entities=[ACME]) == {"entities": [ACME]}

    played(app, story)


def test_observations_and_relations_are_deleted_where_they_are(app: App) -> None:
    async def story(graph: Graph) -> None:
        await graph.filled()
        gone = [{"entityName": "Alice", "observations": ["likes programming", "never said"]}]
        said = await graph("delete_observations", deletions=[*gone, {"entityName": "Ghost", "observations": ["x"]}])
        assert said["message"] == "Observations deleted successfully"
        said = await graph("delete_relations", relations=[WORKS, {**WORKS, "relationType": "owns"}])
        assert said["message"] == "Relations deleted successfully"
        left = await graph("read_graph")
        assert left["entities"][0]["observations"] == ["works at Acme Corp"]
        assert left["relations"] == [RIVAL]

    played(app, story)


@pytest.mark.parametrize(
    ("query", "names", "relations"),
    [
        ("Alice", ["Alice"], [WORKS]),
        ("company", ["Acme Corp"], [WORKS, RIVAL]),
        ("programming", ["Alice"], [WORKS]),
        ("ALICE", ["Alice"], [WORKS]),
        ("Acme", ["Alice", "Acme Corp"], [WORKS, RIVAL]),
        ("carol", ["Carol"], []),
        ("nothing", [], []),
    ],
)
def test_nodes_are_found_by_any_text_with_every_relation_of_theirs(
    app: App, query: str, names: list[str], relations: list[dict[str, str]]
) -> None:
    async def story(graph: Graph) -> None:
        await graph.filled()
        found = await graph("search_nodes", query=query)
        assert [one["name"] for one in found["entities"]] == names
        assert found["relations"] == relations

    played(app, story)


@pytest.mark.parametrize(
    ("opened_names", "names", "relations"),
    [
        (["Alice", "Bob"], ["Alice", "Bob"], [WORKS, RIVAL]),
        (["Acme Corp"], ["Acme Corp"], [WORKS, RIVAL]),
        (["Alice"], ["Alice"], [WORKS]),
        (["Carol", "Ghost"], ["Carol"], []),
        (["alice"], [], []),
        ([], [], []),
    ],
)
def test_nodes_are_opened_by_name_with_every_relation_of_theirs(
    app: App, opened_names: list[str], names: list[str], relations: list[dict[str, str]]
) -> None:
    async def story(graph: Graph) -> None:
        await graph.filled()
        found = await graph("open_nodes", names=opened_names)
        assert [one["name"] for one in found["entities"]] == names
        assert found["relations"] == relations

    played(app, story)


def test_the_text_of_an_answer_is_the_references(app: App) -> None:
    async def talk(client: Client) -> None:
        made = await client.call_tool("create_entities", {"entities": [ALICE]})
        assert json.loads(text_of(made)) == [ALICE]
        assert json.loads(text_of(await client.call_tool("read_graph"))) == {"entities": [ALICE], "relations": []}
        deleted = await client.call_tool("delete_entities", {"entityNames": ["Alice"]})
        assert text_of(deleted) == "Entities deleted successfully"

    over_asgi(build_asgi(app), talk, ANNA)


def test_a_graph_lasts_and_is_one_users_and_one_personas(tmp_path: Path) -> None:
    async def fill(graph: Graph) -> None:
        await graph.filled()

    async def whole(graph: Graph) -> None:
        assert len((await graph("read_graph"))["entities"]) == 4

    async def nothing(graph: Graph) -> None:
        assert await graph("read_graph") == EMPTY

    with opened(tmp_path) as app:
        played(app, fill)
    with opened(tmp_path) as app:
        played(app, whole)
        played(app, nothing, **{"X-Recollect-User": "bob"})
        played(app, nothing, **{"X-Recollect-Persona": "work"})


def test_of_a_large_graph_an_answer_has_what_a_model_reads_and_counts_the_rest(app: App) -> None:
    async def story(graph: Graph) -> None:
        many = [{**ALICE, "name": f"{n}", "observations": ["x" * 1_000]} for n in range(60)]
        await graph("create_entities", entities=many)
        await graph("create_relations", relations=[{**WORKS, "from": "0", "to": "1"}])
        for answer in (await graph("read_graph"), await graph("search_nodes", query="x")):
            shown = len(answer["entities"])
            assert answer["entities"] == many[:shown]
            assert 20 < shown < 40
            assert (answer["relations"], answer["left_out"]) == ([], 61 - shown)

    played(app, story)


def test_the_user_owns_it_so_that_an_export_and_an_erasure_reach_it(app: App) -> None:
    async def fill(graph: Graph) -> None:
        await graph.filled()

    played(app, fill)
    page = app.items.owned(Scope("local", "anna"), 10, None, utc_now())
    assert len(page.items) == 6


def test_names_of_any_length_and_script_are_names(app: App) -> None:
    async def story(graph: Graph) -> None:
        odd = [{**CAROL, "name": name} for name in ("x" * 3_000, "a.b/c", "Ōsaka 大阪", "")]
        assert await graph("create_entities", entities=odd) == {"entities": odd}
        assert (await graph("open_nodes", names=["Ōsaka 大阪"]))["entities"] == [odd[2]]

    played(app, story)


def test_what_is_no_graph_is_refused_with_its_place(app: App) -> None:
    async def story(graph: Graph) -> None:
        said = await graph.refused("create_entities", entities=[{"name": "Alice"}])
        assert "entities.0.entityType" in said
        assert await graph("read_graph") == EMPTY

    played(app, story)


def test_what_is_added_at_once_is_all_kept(app: App) -> None:
    async def story(graph: Graph) -> None:
        await graph("create_entities", entities=[CAROL])
        sent = [f"says {number}" for number in range(6)]
        observed = [[{"entityName": "Carol", "contents": [one]}] for one in sent]
        await asyncio.gather(*(graph("add_observations", observations=one) for one in observed))
        assert sorted((await graph("read_graph"))["entities"][0]["observations"]) == sent

    played(app, story)
