"""Writes and set-up of the OpenSearch adapter where the engine answers as the real one here never does."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from adapters.embedders.local_server import Reply, Server
from recollect.adapters.aws.dry_run import run_dry
from recollect.adapters.aws.index_format import IndexPlan, read_mapping
from recollect.adapters.aws.opensearch import (
    DOCUMENTS_A_REQUEST,
    REMOVAL_ATTEMPTS,
    OpenSearchConnection,
    OpenSearchIndex,
)
from recollect.contracts.examples import a_document, a_scope, a_vector, some_events
from recollect.core.errors import NotReady, WritesBlocked
from recollect.core.scope import Scope
from recollect.ports import IndexFailure

PLAN = IndexPlan(prefix="p", generation="g", dimension=8)
INFO = {"version": {"distribution": "opensearch", "number": "2.19.1"}}
PLUGINS = [{"component": "opensearch-knn"}]


@pytest.fixture
def index(server: Server) -> OpenSearchIndex:
    return OpenSearchIndex(OpenSearchConnection(url=server.url), PLAN)


def told(*answers: Any) -> list[Reply]:
    return [Reply(answer) for answer in answers]


def failed(status: int, kind: str) -> dict[str, Any]:
    return {"index": {"status": status, "error": {"type": kind, "reason": "quotes a memory"}}}


def test_each_document_fails_by_itself(server: Server, index: OpenSearchIndex, scope: Scope) -> None:
    outcomes = [
        {"index": {"status": 201}},
        failed(409, "version_conflict_engine_exception"),
        failed(429, "rejected_execution_exception"),
        failed(400, "mapper_parsing_exception"),
        failed(503, "unavailable_shards_exception"),
    ]
    server.replies = told({"errors": True, "items": outcomes})
    events = some_events(scope, len(outcomes))
    assert index.put([a_document(scope, event, a_vector()) for event in events]) == [
        IndexFailure(events[2].id, "rejected_execution_exception", retryable=True),
        IndexFailure(events[3].id, "mapper_parsing_exception", retryable=False),
        IndexFailure(events[4].id, "unavailable_shards_exception", retryable=True),
    ]


@pytest.mark.parametrize("status", [403, 429])
def test_documents_that_meet_a_block_fail_together(server: Server, index: OpenSearchIndex, status: int) -> None:
    server.replies = told({"errors": True, "items": [failed(status, "cluster_block_exception")] * 2})
    scope = a_scope()
    with pytest.raises(WritesBlocked):
        index.put([a_document(scope, event, None) for event in some_events(scope, 2)])


def test_many_documents_are_written_in_requests_of_a_bearable_size(server: Server, index: OpenSearchIndex) -> None:
    scope = a_scope()
    batches = [DOCUMENTS_A_REQUEST, DOCUMENTS_A_REQUEST, 1]
    written = ({"errors": False, "items": [{"index": {"status": 201}}] * size} for size in batches)
    server.replies = told(*written, {"_shards": {"failed": 0}})
    index.put([a_document(scope, event, a_vector()) for event in some_events(scope, sum(batches))])
    *bulks, refresh = server.requests
    assert sorted((len(asked.body.splitlines()) for asked in bulks), reverse=True) == [2 * size for size in batches]
    assert all("refresh=false" in asked.path for asked in bulks)
    assert "_refresh" in refresh.path


def test_a_removal_that_is_overtaken_tries_again_and_then_says_so(server: Server, index: OpenSearchIndex) -> None:
    found = {"docs": [{"found": True, "_version": 3}]}
    conflict = {"errors": True, "items": [{"delete": {"status": 409, "error": {"type": "version_conflict"}}}]}
    done = {"errors": False, "items": [{"delete": {"status": 200}}]}
    server.replies = told(found, conflict, found, done)
    assert index.remove(a_scope(), ["id"]) == []
    server.replies = told(*[found, conflict] * REMOVAL_ATTEMPTS)
    assert index.remove(a_scope(), ["id"]) == [IndexFailure("id", "version_conflict", retryable=True)]


def test_what_another_removed_meanwhile_is_no_failure(server: Server, index: OpenSearchIndex) -> None:
    server.replies = told(
        {"docs": [{"found": True, "_version": 3}]}, {"errors": False, "items": [{"delete": {"status": 404}}]}
    )
    assert index.remove(a_scope(), ["id"]) == []


def mapped(format_number: int = 1, dimension: int = 8) -> dict[str, Any]:
    mappings = {"_meta": {"format": format_number}, "properties": {"vector": {"dimension": dimension}}}
    return {"p-g-v1": {"mappings": mappings}}


def test_a_check_names_engine_and_index(server: Server, index: OpenSearchIndex) -> None:
    server.replies = told(INFO, PLUGINS, mapped())
    assert index.check() == "OpenSearch 2.19.1, index p-g-v1"


@pytest.mark.parametrize(
    "answers",
    [
        ({"version": {"distribution": "opensearch", "number": "2.17.0"}}, PLUGINS, mapped()),
        ({"version": {"number": "8.1.0"}}, PLUGINS, mapped()),
        (INFO, [{"component": "analysis-icu"}], mapped()),
        (INFO, PLUGINS, mapped(format_number=2)),
        (INFO, PLUGINS, mapped(dimension=384)),
    ],
    ids=["too old", "another engine", "no k-NN", "another format", "other vectors"],
)
def test_a_check_says_what_is_not_right(server: Server, index: OpenSearchIndex, answers: tuple[Any, ...]) -> None:
    server.replies = told(*answers)
    with pytest.raises(NotReady):
        index.check()


@pytest.mark.parametrize("block", ["write", "read_only", "read_only_allow_delete"])
def test_a_check_says_that_the_index_takes_no_writes(server: Server, index: OpenSearchIndex, block: str) -> None:
    found = mapped()
    found["p-g-v1"]["settings"] = {"index": {"blocks": {block: "true"}}}
    server.replies = told(INFO, PLUGINS, found)
    with pytest.raises(WritesBlocked, match="blocked for writes"):
        index.check()
    found["p-g-v1"]["settings"] = {"index": {"blocks": {block: "false"}}}
    server.replies = told(INFO, PLUGINS, found)
    assert index.check()


def test_who_creates_second_sees_that_it_is_there(server: Server, index: OpenSearchIndex) -> None:
    exists = json.dumps({"error": {"type": "resource_already_exists_exception"}}).encode()
    server.replies = [Reply(status=404), Reply(exists, 400), Reply(status=200)]
    assert index.create() is False
    assert [asked.method for asked in server.requests] == ["HEAD", "PUT", "HEAD"]


def test_an_index_that_lost_its_name_gets_it_back(server: Server, index: OpenSearchIndex) -> None:
    exists = json.dumps({"error": {"type": "resource_already_exists_exception"}}).encode()
    server.replies = [Reply(status=404), Reply(exists, 400), Reply(status=404), Reply()]
    assert index.create() is True
    assert server.requests[-1].path == "/p-g-v1/_alias/p-g"


@pytest.mark.parametrize(
    ("generation", "alias"),
    [("e5-small.int8.1", r"p-e5-small\.int8\.1"), (None, "p-none"), ("Org/Model:1", "p-org-model-1-[0-9a-f]{8}")],
)
def test_the_name_carries_the_generation(generation: str | None, alias: str) -> None:
    plan = replace(PLAN, generation=generation)
    assert re.fullmatch(alias, plan.alias)
    assert plan.index == f"{plan.alias}-v1"


def test_generations_that_are_written_alike_have_indexes_of_their_own() -> None:
    names = ["a/b", "a:b", "a-b", "A-b", "a b"]
    assert len({replace(PLAN, generation=name).alias for name in names}) == len(names)


def test_without_an_embedder_the_index_has_no_vectors() -> None:
    plan = IndexPlan(prefix="p")
    assert "vector" not in plan.body()["mappings"]["properties"]
    assert PLAN.body()["mappings"]["properties"]["vector"]["dimension"] == PLAN.dimension


def test_the_mapping_says_each_field_and_takes_no_other() -> None:
    mapping = read_mapping()["mappings"]
    assert mapping["dynamic"] == "strict"
    assert mapping["_source"]["excludes"] == ["vector"]


@pytest.mark.parametrize("count", [1, DOCUMENTS_A_REQUEST + 1])
def test_a_dry_run_writes_no_documents_in_one_request_or_several(
    server: Server, index: OpenSearchIndex, scope: Scope, count: int
) -> None:
    documents = [a_document(scope, event, a_vector()) for event in some_events(scope, count)]

    def write() -> None:
        with pytest.raises(NotReady):
            index.put(documents)

    run_dry(write)
    assert server.requests == []
