"""`RecollectSaver`: what LangGraph's conformance suite, run by `make compat`, does not ask."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from entrypoints.http.conftest import opened
from integrations.serving import served

pytest.importorskip("langgraph.checkpoint.base", reason="needs the extra langgraph: make install")

from langgraph.checkpoint.base import empty_checkpoint

from recollect.client.errors import Unprocessable
from recollect.core.scope import Scope
from recollect.integrations.langgraph import RecollectSaver

THREAD: Any = {"configurable": {"thread_id": "a.b/é 🙂", "checkpoint_ns": ""}}


@pytest.fixture(params=["server", "in the process"])
def saver(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecollectSaver]:
    if request.param == "server":
        with served(tmp_path) as url:
            opened_saver = RecollectSaver(url)
            yield opened_saver
            opened_saver.close()
        return
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    opened_saver = RecollectSaver.local()
    assert (tmp_path / "recollect.db").exists()
    yield opened_saver
    opened_saver.close()


def put(saver: RecollectSaver, config: Any, **values: Any) -> Any:
    versions: dict[str, str | int | float] = {name: saver.get_next_version(None, None) for name in values}
    checkpoint: Any = {**empty_checkpoint(), "channel_values": values, "channel_versions": versions}
    return saver.put(config, checkpoint, {"source": "loop", "step": 1, "parents": {}}, versions)


def test_what_is_too_large_for_one_item_is_kept_in_parts(saver: RecollectSaver) -> None:
    large = {"text": "é" * 300_000, "bytes": bytes(range(256)) * 2_000}
    config = put(saver, THREAD, large=large, small=1)
    saver.put_writes(config, [("large", large)], "task")
    found = saver.get_tuple(THREAD)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"large": large, "small": 1}
    assert found.pending_writes == [("task", "large", large)]
    saver.copy_thread("a.b/é 🙂", "copy")
    saver.delete_thread("a.b/é 🙂")
    assert saver.get_tuple(THREAD) is None
    copied = saver.get_tuple({"configurable": {"thread_id": "copy"}})
    assert copied is not None
    assert copied.checkpoint["channel_values"]["large"] == large
    assert copied.pending_writes == [("task", "large", large)]


def test_the_newest_is_found_after_its_run_was_deleted(saver: RecollectSaver) -> None:
    first = put(saver, THREAD, n=1)
    second = saver.put(first, empty_checkpoint(), {"source": "loop", "step": 2, "parents": {}, "run_id": "r"}, {})
    assert saver.get_tuple(THREAD).config == second  # type: ignore[union-attr]
    saver.delete_for_runs(["r"])
    assert saver.get_tuple(THREAD).config == first  # type: ignore[union-attr]
    saver.delete_for_runs([])


def test_an_older_checkpoint_that_comes_late_is_not_the_newest(saver: RecollectSaver) -> None:
    older, newer = empty_checkpoint(), empty_checkpoint()
    for checkpoint in (newer, older):
        saver.put(THREAD, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {})
    assert saver.get_tuple(THREAD).checkpoint["id"] == newer["id"]  # type: ignore[union-attr]


def test_of_two_checkpoints_at_once_the_newer_one_is_the_newest(
    saver: RecollectSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = empty_checkpoint(), empty_checkpoint()
    finish = RecollectSaver._finish

    def overtaken(self: RecollectSaver, *given: Any) -> None:
        monkeypatch.setattr(RecollectSaver, "_finish", finish)
        saver.put(THREAD, newer, {"source": "loop", "step": 2, "parents": {}}, {})
        finish(self, *given)

    monkeypatch.setattr(RecollectSaver, "_finish", overtaken)
    saver.put(THREAD, older, {"source": "loop", "step": 1, "parents": {}}, {})
    assert saver.get_tuple(THREAD).checkpoint["id"] == newer["id"]  # type: ignore[union-attr]


def test_a_thread_with_more_than_a_search_reads_is_deleted_whole(
    saver: RecollectSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on AWS, where a search refuses a prefix with more than so many items below it."""
    for n in range(7):
        put(saver, THREAD, n=n, text="x")
    search = saver._memory.search_items

    def bounded(prefix: Any = (), **options: Any) -> Any:
        if len(search(prefix, limit=6)) == 6:
            raise Unprocessable(422, {"detail": "more than 5 items are below the prefix"})
        return search(prefix, **options)

    with monkeypatch.context() as small:
        small.setattr(saver._memory, "search_items", bounded)
        saver.delete_thread("a.b/é 🙂")
    assert saver._memory.item_namespaces(("checkpoints",)) == []


def test_many_checkpoints_are_listed_in_order(saver: RecollectSaver) -> None:
    configs = [put(saver, THREAD, n=n) for n in range(12)]
    listed = [one.config for one in saver.list(THREAD)]
    assert listed == configs[::-1]
    before = [one.checkpoint["channel_values"]["n"] for one in saver.list(None, before=configs[5], limit=2)]
    assert before == [4, 3]


def test_threads_belong_to_their_owner_and_end(tmp_path: Path) -> None:
    saver = RecollectSaver.local(tmp_path, owner="anna", ttl_minutes=5)
    put(saver, THREAD, n=1)
    saver.close()
    with opened(tmp_path) as app:
        items = app.parts.namespaced_items.owned(Scope("local", "anna"), 9, None).items
        assert {one.place.namespace[1] for one in items} == {"checkpoints", "latest", "values"}
        assert {one.ttl.total_seconds() for one in items if one.ttl} == {300.0}


def test_it_works_in_async_code(saver: RecollectSaver) -> None:
    async def use() -> list[int]:
        for n in range(3):
            versions: dict[str, str | int | float] = {"n": f"{n}"}
            checkpoint: Any = {**empty_checkpoint(), "channel_values": {"n": n}, "channel_versions": versions}
            await saver.aput(THREAD, checkpoint, {"source": "loop", "step": n, "parents": {}}, versions)
        return [one.checkpoint["channel_values"]["n"] async for one in saver.alist(THREAD, filter={"source": "loop"})]

    assert asyncio.run(use()) == [2, 1, 0]
