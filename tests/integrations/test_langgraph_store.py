"""`RecollectStore` over a server and in the process: what LangGraph's suites, run by `make compat`, do not ask."""

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from entrypoints.http.conftest import opened
from integrations.serving import served

pytest.importorskip("langgraph.store.base", reason="needs the extra langgraph: make install")

from langgraph.store.base import GetOp, InvalidNamespaceError, Item, PutOp, SearchOp

from recollect.client.errors import ConnectionFailed, Unauthenticated
from recollect.core.filter import holds
from recollect.core.scope import Scope
from recollect.integrations.langgraph import AsyncRecollectStore, RecollectStore, finite
from recollect.items.langgraph_filter import langgraph_filter

KEYS = '{"key-a": {"tenant": "acme"}}'
NOTES = ("users", "anna")


def lengths(texts: list[str]) -> list[list[float]]:
    """An embedding for tests: how many a and b a text has."""
    return [[float(text.count("a")), float(text.count("b"))] for text in texts]


@pytest.fixture(params=["server", "in the process"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecollectStore]:
    if request.param == "server":
        with served(tmp_path, RECOLLECT_API_KEYS=KEYS) as url:
            opened_store = RecollectStore(url, api_key="key-a")
            yield opened_store
            opened_store.close()
        return
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    opened_store = RecollectStore.local(embedder="hashing")
    assert (tmp_path / "recollect.db").exists()
    yield opened_store
    opened_store.close()


def test_items_are_put_found_listed_and_deleted(store: RecollectStore) -> None:
    store.put(NOTES, "1", {"text": "green apples", "n": 1, "é": [None]}, index=["text"])
    store.put((*NOTES, "old"), "2", {"text": "a blue car", "n": 2}, index=["text"])
    item = store.get(NOTES, "1")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (NOTES, "1", {"text": "green apples", "n": 1, "é": [None]})
    assert item.created_at == item.updated_at
    best = store.search(("users",), query="a blue car")
    assert [one.key for one in best] == ["2", "1"]
    assert best[0].score is not None
    assert best[0].score > 0.9
    assert [one.score for one in store.search(("users",), filter={"n": {"$lt": 2}})] == [None]
    assert store.list_namespaces(max_depth=1) == [("users",)]
    store.delete(NOTES, "1")
    assert store.get(NOTES, "1") is None


def test_a_batch_reads_before_it_writes_and_the_last_put_counts(store: RecollectStore) -> None:
    puts = [PutOp(NOTES, "k", {"n": n}) for n in range(3)]
    results = store.batch([puts[0], GetOp(NOTES, "k"), *puts[1:], SearchOp(NOTES)])
    assert results == [None, None, None, None, []]
    item = store.get(NOTES, "k")
    assert item is not None
    assert item.value == {"n": 2}


def test_many_operations_go_out_in_several_requests(store: RecollectStore) -> None:
    store.batch([PutOp(NOTES, f"{n}", {"text": "x" * 20_000}, index=False) for n in range(320)])
    results = store.batch([GetOp(NOTES, f"{n}") for n in range(600)])
    assert [item.key for item in results if isinstance(item, Item)] == [f"{n}" for n in range(320)]


def test_bad_input_is_a_value_error_before_or_after_it_is_sent(store: RecollectStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {})])
    with pytest.raises(ValueError, match="Invalid filter key"):
        store.search(NOTES, filter={"a') OR ('1'='1": 1})
    with pytest.raises(ValueError, match="bytes of JSON"):
        store.put(NOTES, "k", {"text": "x" * 300_000})
    with pytest.raises(ValueError, match="limit"):
        store.search(NOTES, limit=5_000)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize(
    ("operator", "compare"),
    [
        ("$lt", lambda value: value > 3),
        ("$lte", lambda value: value >= 3),
        ("$gt", lambda value: value < 3),
        ("$gte", lambda value: value <= 3),
        ("$eq", lambda value: value == 3),
        ("$ne", lambda value: value != 3),
    ],
)
def test_what_json_cannot_say_means_what_it_says(operator: str, compare: Any, value: float) -> None:
    filter_ = finite({"n": {operator: value}, "m": {"x": 1}})
    assert holds(langgraph_filter(filter_), {"n": 3, "m": {"x": 1}}) is compare(value)


def test_texts_are_embedded_here_where_an_index_is_given(tmp_path: Path) -> None:
    index: Any = {"dims": 2, "embed": lengths, "fields": ["text"]}
    with served(tmp_path) as url:
        store = RecollectStore(url, index=index)
        store.put(NOTES, "a", {"text": "aaa"})
        store.put(NOTES, "b", {"text": "bbb", "other": "aaa"})
        store.put(NOTES, "none", {"text": "aaa"}, index=False)
        store.put(NOTES, "zero", {"text": "x"})
        found = store.search(NOTES, query="aa")
        assert [one.key for one in found][:2] == ["a", "b"]
        assert [one.score for one in found][:2] == pytest.approx([1.0, 0.0], abs=1e-3)
        assert [one.score for one in found][2:] == [None, None]
        assert len(store.search(NOTES, query="x")) == 4
        store.close()


def test_items_have_an_owner_and_a_lifetime(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        store = RecollectStore(url, owner="anna", ttl={"default_ttl": 5})
        store.put(NOTES, "k", {})
        store.close()
    with opened(tmp_path) as app:
        (item,) = app.parts.namespaced_items.owned(Scope("local", "anna"), 9, None).items
        assert item.ttl is not None
        assert item.ttl.total_seconds() == 300


def test_failures_say_what_they_are(tmp_path: Path) -> None:
    with served(tmp_path, RECOLLECT_API_KEYS=KEYS) as url:
        store = RecollectStore(url, api_key="other")
        with pytest.raises(Unauthenticated):
            store.get(NOTES, "k")
    with pytest.raises(ConnectionFailed):
        store.get(NOTES, "k")
    store.close()


def test_what_is_awaited_at_once_goes_out_together(tmp_path: Path) -> None:
    async def use(url: str) -> None:
        store = AsyncRecollectStore(url)
        await asyncio.gather(*(store.aput(NOTES, f"{n}", {"n": n}) for n in range(20)))
        found = await asyncio.gather(*(store.aget(NOTES, f"{n}") for n in range(20)))
        assert [item.value["n"] for item in found if item is not None] == list(range(20))
        for call in (lambda: store.get(NOTES, "1"), lambda: store.batch([GetOp(NOTES, "1")])):
            with pytest.raises(asyncio.InvalidStateError):
                call()
        assert await asyncio.to_thread(lambda: len(store.search(NOTES, limit=50))) == 20
        store.close()

    with served(tmp_path) as url:
        asyncio.run(use(url))
