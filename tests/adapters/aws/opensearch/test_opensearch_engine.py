"""What the contract does not ask of every index: set-up, late writes, shards, stopped counts; on the real engine."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest
from opensearchpy.exceptions import RequestError

from conftest import Engines
from recollect.adapters.aws import index_queries
from recollect.adapters.aws.index_format import IndexPlan
from recollect.adapters.aws.opensearch import OpenSearchConnection, OpenSearchIndex
from recollect.contracts.examples import (
    DIMENSION,
    NOW,
    a_document,
    a_request,
    a_scope,
    a_vector,
    an_event,
    ids_of,
    seen,
    some_events,
)
from recollect.core.errors import NotReady, WritesBlocked
from recollect.retrieval.filters import DropReason
from recollect.retrieval.nomination import Arm

pytestmark = pytest.mark.engines

MakeIndex = Callable[..., OpenSearchIndex]


@pytest.fixture
def make_index(engines: Engines) -> Iterator[MakeIndex]:
    """Makes adapters of indexes that share a prefix of this test's own, not yet created."""
    prefix = f"test-{uuid4().hex[:8]}"
    connection = OpenSearchConnection(url=engines.opensearch_url, timeout_seconds=30)

    def make(**changes: object) -> OpenSearchIndex:
        plan = IndexPlan(prefix=prefix, generation="hash.1", dimension=DIMENSION, refresh_seconds=0.05)
        return OpenSearchIndex(connection, replace(plan, **changes))  # type: ignore[arg-type]

    yield make
    client = connection.open()
    for name in client.indices.get(index=f"{prefix}-*"):
        client.indices.delete(index=name)


def test_without_the_index_every_call_says_what_to_do(make_index: MakeIndex) -> None:
    index, scope = make_index(), a_scope()
    calls: list[Callable[[], object]] = [
        index.check,
        lambda: index.put([a_document(scope, an_event(scope), a_vector())]),
        lambda: index.remove(scope, ["id"]),
        lambda: index.nominate(scope, a_request("paris")),
    ]
    for call in calls:
        with pytest.raises(NotReady, match="recollect init"):
            call()
    assert index.create() is True  # nothing above has made an index of another shape


def test_the_engine_is_the_one_asked_for_and_lets_no_body_name_an_index(
    make_index: MakeIndex, engines: Engines, request: pytest.FixtureRequest
) -> None:
    """As deployed: `rest.action.multi.allow_explicit_index` is false, so what a role may do hangs on the path."""
    index = make_index()
    index.create()
    version, name = re.fullmatch(r"OpenSearch (\d+\.\d+)\.\d+, index (\S+)", index.check()).groups()  # type: ignore[union-attr]
    assert version == request.node.callspec.params["engines"]
    client = OpenSearchConnection(url=engines.opensearch_url, timeout_seconds=30).open()
    with pytest.raises(RequestError, match="explicit index in bulk is not allowed"):
        client.bulk(body=[{"delete": {"_index": "another", "_id": "1"}}], index=name)


def test_of_many_who_create_at_once_one_does(make_index: MakeIndex) -> None:
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda _: make_index().create(), range(6)))
    assert sorted(made) == [False] * 5 + [True]
    assert "hash.1-v1" in make_index().check()


def test_an_index_of_other_vectors_is_not_ready(make_index: MakeIndex) -> None:
    make_index().create()
    with pytest.raises(NotReady):
        make_index(dimension=DIMENSION + 1).check()


def test_a_deployment_without_an_embedder_has_an_index_of_words(make_index: MakeIndex) -> None:
    index, scope = make_index(generation=None, dimension=0), a_scope()
    index.create()
    event = an_event(scope)
    assert index.put([a_document(scope, event, None)]) == []
    found = index.nominate(scope, a_request("paris", vector=a_vector(), count=True, min_similarity=0.5))
    assert [(hit.ref.id, dict(hit.arms), hit.vector) for hit in found.hits] == [(event.id, {Arm.LEXICAL: 1}, None)]
    assert found.tally is not None
    assert (found.tally.considered, found.tally.exact) == (1, False)
    assert index.check()


def test_a_vector_of_the_wrong_length_fails_its_document_only(make_index: MakeIndex) -> None:
    index, scope = make_index(), a_scope()
    index.create()
    wrong, right = some_events(scope, 2, content="paris")
    failures = index.put([a_document(scope, wrong, a_vector()[:3]), a_document(scope, right, a_vector())])
    assert [(failure.event_id, failure.retryable) for failure in failures] == [(wrong.id, False)]
    assert seen(index, scope) == {right.id}


@pytest.mark.parametrize("block", ["write", "read_only", "read_only_allow_delete"])
def test_a_blocked_index_says_so_and_is_read_all_the_same(make_index: MakeIndex, engines: Engines, block: str) -> None:
    index, scope = make_index(), a_scope()
    index.create()
    event = an_event(scope, content="paris")
    document = a_document(scope, event, a_vector())
    assert index.put([document]) == []
    name = index.check().rpartition(" ")[2]
    settings = OpenSearchConnection(url=engines.opensearch_url, timeout_seconds=30).open().indices
    calls: list[Callable[[], object]] = [
        lambda: index.put([document]),
        lambda: index.remove(scope, [event.id]),
        index.check,
    ]
    settings.put_settings(index=name, body={f"index.blocks.{block}": True})
    try:
        for call in calls:
            with pytest.raises(WritesBlocked):
                call()
        assert seen(index, scope) == {event.id}
    finally:
        settings.put_settings(index=name, body={f"index.blocks.{block}": None})
    assert index.put([document]) == []
    assert index.check()


@pytest.mark.spec("P-25")
def test_a_write_older_than_what_was_removed_stays_out(make_index: MakeIndex) -> None:
    index, scope = make_index(), a_scope()
    index.create()
    first = an_event(scope, key="city")
    second = replace(first, version=2)
    index.put([a_document(scope, second, a_vector())])
    assert index.remove(scope, [first.id]) == []
    assert index.put([a_document(scope, first, a_vector())]) == []
    assert seen(index, scope) == set()


def test_several_shards_give_the_same_figures(make_index: MakeIndex) -> None:
    index, scopes = make_index(shards=3), [a_scope() for _ in range(6)]
    index.create()
    events = {scope: some_events(scope, 4, content="paris rome") for scope in scopes}
    assert index.put([a_document(s, event, a_vector()) for s in scopes for event in events[s]]) == []
    for scope in scopes:
        found = index.nominate(scope, a_request("paris", vector=a_vector()))
        assert ids_of(found.hits) == ids_of(events[scope])
        assert (found.statistics.documents, found.statistics.total_terms) == (4, 8)


def test_a_count_that_stops_says_so_and_adds_up(make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_queries, "COUNTED_RECORDS", 5)
    index, scope = make_index(), a_scope()
    index.create()
    events = some_events(scope, 5, content="paris", expires_at=NOW) + some_events(scope, 200, content="paris")
    index.put([a_document(scope, event, a_vector(0.1)) for event in events])
    request = a_request(vector=a_vector(), count=True, min_similarity=0.5)
    tally = index.nominate(scope, request).tally
    assert tally is not None
    assert not tally.exact
    assert 5 < tally.considered <= len(events)
    assert sum(tally.dropped.values()) == tally.considered
    assert set(tally.dropped) <= {DropReason.EXPIRED, DropReason.THRESHOLD}


@pytest.mark.parametrize("count", [1, 3, 130])
def test_no_write_waits_for_the_refresh_of_the_engine(make_index: MakeIndex, count: int) -> None:
    """The engine's own comes once an hour: whoever waited for it would run into the time-out of 30 s."""
    index, scope = make_index(refresh_seconds=3600), a_scope()
    index.create()
    events = some_events(scope, count, content="paris")
    assert index.put([a_document(scope, event, a_vector()) for event in events]) == []
    assert index.count(scope).documents == count
    assert index.remove(scope, [events[0].id]) == []
    assert index.count(scope).documents == count - 1


def test_what_is_not_to_be_shown_yet_asks_for_no_refresh(make_index: MakeIndex) -> None:
    index, scope = make_index(refresh_seconds=3600), a_scope()
    index.create()
    first, last = some_events(scope, 2, content="paris")
    assert index.put([a_document(scope, first, a_vector())], shown=False) == []
    assert index.count(scope).documents == 0
    assert index.put([a_document(scope, last, a_vector())]) == []
    assert seen(index, scope) == {first.id, last.id}
