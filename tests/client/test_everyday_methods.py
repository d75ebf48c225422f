"""The methods that mem0's users look for, over HTTP and in the process."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from client.conftest import until
from recollect import AsyncRecollect, NotFound, Recollect, Unprocessable, VersionMismatch
from recollect.client.messages import events_of

LYON = "I live in Lyon, remember that"


def test_what_is_added_is_found_in_either_order(memory: Recollect, user: str) -> None:
    (result,) = memory.add("I moved to Lyon", user_id=user)["results"]
    by_name = memory.search("Lyon", user_id=user)["results"]
    assert [(one["id"], one["content"]) for one in by_name] == [(result["event_id"], "I moved to Lyon")]
    assert by_name[0]["score"] > 0
    for answer in (memory.search(user, "Lyon"), memory.search(user_id=user, query="Lyon")):
        assert [one["id"] for one in answer["results"]] == [result["event_id"]]
    assert memory.context("Where?", user_id=user)["prompt"] == memory.context(user, "Where?")["prompt"]


@pytest.mark.parametrize("order", [(), ("anna", "x", "y")])
def test_without_a_user_or_with_more_nothing_is_asked(memory: Recollect, order: tuple[str, ...]) -> None:
    search: Callable[..., Any] = memory.search
    with pytest.raises(TypeError, match="user_id"):
        search(*order)
    with pytest.raises(TypeError, match="user_id"):
        search("anna", "x", user_id="anna")


def test_messages_are_stored_in_their_order(memory: Recollect, user: str) -> None:
    said = [{"role": "user", "content": "My sister is called Ada"}, {"role": "assistant", "content": "A fine name"}]
    answer = memory.add(said, user_id=user, conversation_id="c", metadata={"app": "phone"})
    assert [one["status"] for one in answer["results"]] == ["created", "created"]
    stored = [memory.event(user, one["event_id"]) for one in answer["results"]]
    assert [(one["role"], one["content"]) for one in stored] == [("user", said[0]["content"]), ("bot", "A fine name")]
    assert [(one["conversation_id"], one["metadata"]) for one in stored] == [("c", {"app": "phone"})] * 2


def test_a_key_adds_once_and_blank_text_is_refused(memory: Recollect, user: str) -> None:
    first, again = (memory.add("remark", user_id=user, idempotency_key=f"k-{user}") for _ in range(2))
    assert first == again
    with pytest.raises(Unprocessable):
        memory.add(" ", user_id=user)


def test_a_content_in_parts_is_its_texts() -> None:
    parts = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "here"}]
    (event,) = events_of([{"role": "user", "content": parts, "metadata": {"a": 2}}], {"a": 1, "b": 1})
    assert event == {"role": "user", "content": "Look\n\nhere", "metadata": {"a": 2, "b": 1}}


def test_a_memory_is_read_changed_and_deleted_by_its_id(memory: Recollect, user: str) -> None:
    saved = memory.save_memory(user, "Anna lives in Paris", keywords=["city"])
    assert memory.get(saved["id"], user_id=user) == saved
    changed = memory.update(saved["id"], "Anna lives in Lyon", user_id=user, version=1, metadata={"by": "her"})
    assert (changed["content"], changed["keywords"], changed["metadata"]) == (
        "Anna lives in Lyon", ["city"], {"by": "her"},
    )  # fmt: skip
    with pytest.raises(VersionMismatch):
        memory.update(saved["id"], "Anna lives in Oslo", user_id=user, version=1)
    assert [one["version"] for one in memory.history(saved["id"], user_id=user)] == [1, 2]
    with pytest.raises(VersionMismatch):
        memory.delete(saved["id"], user_id=user, version=1)
    memory.delete(saved["id"], user_id=user)
    for gone in (memory.get, memory.history, memory.delete):
        with pytest.raises(NotFound):
            gone(saved["id"], user_id=user)


def test_all_memories_are_those_that_hold(memory: Recollect, user: str) -> None:
    for city in ("Paris", "Oslo", "Lyon"):
        memory.save_memory(user, f"Anna likes {city}")
    ended = memory.save_memory(user, "Anna's desk is 12", key="desk")
    memory.save_memory(user, "Anna's desk is 14", key="desk")
    until(lambda: [dict(one) for one in memory.get_all(user_id=user, status=None) if one["status"] == "superseded"])
    held = memory.get_all(user_id=user)
    assert [one["content"] for one in held] == [
        "Anna's desk is 14", "Anna likes Lyon", "Anna likes Oslo", "Anna likes Paris",
    ]  # fmt: skip
    assert memory.get_all(user_id=user, most=2) == held[:2]
    assert memory.get_all(user_id=user, most=0) == []
    assert ended["id"] in {one["id"] for one in memory.get_all(user_id=user, status=None, limit=2)}


def test_an_event_is_deleted_by_the_id_that_adding_and_searching_give(memory: Recollect, user: str) -> None:
    memory.add("I moved to Lyon", user_id=user)
    (found,) = memory.search("Lyon", user_id=user)["results"]
    memory.delete(found["id"], user_id=user)
    assert memory.search("Lyon", user_id=user)["results"] == []


def test_everything_of_a_user_is_deleted(memory: Recollect, user: str) -> None:
    memory.add("I moved to Lyon", user_id=user)
    memory.save_memory(user, "Anna lives in Lyon")
    assert memory.erasure(memory.delete_all(user_id=user))
    assert memory.get_all(user_id=user) == []
    assert memory.search("Lyon", user_id=user)["results"] == []


def test_the_client_for_asyncio_has_them_too(for_asyncio: Callable[[], AsyncRecollect], user: str) -> None:
    async def story() -> None:
        async with for_asyncio() as memory:
            await asyncio.gather(*(memory.add(f"remark number{n}", user_id=user) for n in range(8)))
            assert len((await memory.search("remark", user_id=user, mode="lexical"))["results"]) == 8
            saved = await memory.save_memory(user, LYON)
            assert (await memory.get_all(user_id=user))[0] == saved
            assert (await memory.update(saved["id"], importance=0.9, user_id=user))["importance"] == 0.9
            assert "Lyon" in (await memory.context("Where do I live?", user_id=user))["prompt"]
            await memory.delete(saved["id"], user_id=user)
            assert [one["version"] for one in await memory.get_all(user_id=user)] == []

    asyncio.run(story())


def test_labels_and_filters_narrow_and_stand_for_a_user(memory: Recollect, user: str) -> None:
    org = [f"org-{user}", "team"]
    memory.add("We talk on Slack", namespace=org, metadata={"n": 1})
    memory.save_memory(None, "We ship on Fridays", namespace=org, agent_id=user, metadata={"n": 2})
    memory.add("I talk on Slack", user_id=user, agent_id=user)
    below = memory.search("talk Slack", namespace_prefix=org[:1])["results"]
    assert (below[0]["content"], below[0]["namespace"]) == ("We talk on Slack", org)
    assert memory.search("talk Slack", namespace_prefix=[user])["results"] == []
    assert [one["content"] for one in memory.search("ship", agent_id=user)["results"]] == ["We ship on Fridays"]
    found = memory.search("talk Slack", namespace=org, filter={"metadata.n": {"lt": 2}})["results"]
    assert [one["content"] for one in found] == ["We talk on Slack"]
    assert "Fridays" in memory.context("When do we ship?", namespace=org)["prompt"]
    assert [one["content"] for one in memory.get_all(namespace=org, filter={"metadata.n": 2})] == ["We ship on Fridays"]
    assert [one["content"] for one in memory.search(user, "talk", agent_id=user)["results"]] == ["I talk on Slack"]


def test_what_a_filter_selects_is_counted_and_deleted(memory: Recollect, user: str) -> None:
    ids = {memory.save_memory(user, f"fact {n}", metadata={"old": n < 3})["id"] for n in range(4)}
    wanted: dict[str, Any] = {"filter": {"metadata.old": True}, "limit": 2}
    counted = memory.delete_memories(user, dry_run=True, **wanted)
    assert (counted["matched"], counted["deleted"], set(counted["memory_ids"]) < ids) == (3, 0, True)
    key = f"k-{user}"
    first, again = (memory.delete_memories(user, idempotency_key=key, **wanted) for _ in range(2))
    assert first == again
    assert (first["matched"], first["deleted"]) == (3, 3)
    assert [one["content"] for one in memory.get_all(user_id=user)] == ["fact 3"]


def test_items_below_a_prefix_are_deleted_by_a_filter(memory: Recollect, user: str) -> None:
    for n in range(3):
        memory.put_item(["notes", user], str(n), {"n": n})
    wanted = {"n": {"gte": 1}}
    assert memory.delete_items(["notes", user], where=wanted, dry_run=True)["matched"] == 2
    gone = memory.delete_items(["notes", user], where=wanted)
    assert (gone["deleted"], gone["more"]) == (2, False)
    assert [one["key"] for one in memory.search_items(["notes", user])] == ["0"]
