"""The classes of Strands, Pydantic AI, OpenAI Agents, LlamaIndex, LangChain, CrewAI: what their pages do not show."""

import asyncio
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from integrations.frameworks import frameworks
from recollect import ForeignSession, Recollect
from recollect.client.errors import Unprocessable, VersionMismatch

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


@pytest.fixture(scope="module", autouse=True)
def _on_the_path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CREWAI_DISABLE_TELEMETRY", "OTEL_SDK_DISABLED"):
            patch.setenv(name, "true")
        sys.path.append(str(frameworks()))
        yield
        sys.path.remove(str(frameworks()))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect.local(tmp_path_factory.mktemp("home"), embedder="hashing") as opened:
        yield opened


def said(*texts: str) -> list[Any]:
    return [{"role": "user", "content": [{"text": text}]} for text in texts]


def test_strands_messages_are_stored_once_however_often_they_are_handed_over(memory: Recollect) -> None:
    from strands.memory import AddMessagesContext

    from recollect.integrations.strands import RecollectMemoryStore

    class Failing(Recollect):
        fails = 1

        def add(self, *args: Any, **options: Any) -> Any:
            stored = memory.add(*args, **options)
            if self.fails:
                self.fails -= 1
                raise ConnectionError("the answer was lost")
            return stored

    store = RecollectMemoryStore(user_id="strands-1", memory=Failing("http://none.invalid"))

    async def hand_over() -> None:
        first = said("ok", "ok", "I ski")
        with pytest.raises(ConnectionError):
            await store.add_messages(first, AddMessagesContext(sequence_numbers=[0, 1, 4]))
        more = [*first, *said("I swim"), {"role": "assistant", "content": [{"toolUse": {}}, {"text": " "}]}]
        await store.add_messages(more, AddMessagesContext(sequence_numbers=[0, 1, 4, 5, 6]))
        await store.add_messages(said("ok"), AddMessagesContext(sequence_numbers=[0]))  # a new run
        await store.add_messages(said("bye"))
        await store.add_messages([])

    asyncio.run(hand_over())
    contents = [event["content"] for event in memory.events("strands-1")][::-1]
    assert contents == ["ok", "ok", "I ski", "I swim", "ok", "bye"]
    assert len({event["conversation_id"] for event in memory.events("strands-1")}) == 1


def test_a_strands_memory_is_saved_once_and_found_by_its_user_alone(memory: Recollect) -> None:
    from recollect.integrations.strands import RecollectMemoryStore

    store = RecollectMemoryStore(user_id="strands-2", max_search_results=1, memory=memory)
    other = RecollectMemoryStore(user_id="strands-3", memory=memory)

    async def use() -> None:
        assert await store.add("Anna likes jam") == await store.add("Anna likes jam", {"from": "tool"})
        await store.add("Anna likes jam on bread")
        assert len(await store.search("jam")) == 1
        assert len(await store.search("jam", {"max_search_results": 5})) == 2
        assert await other.search("jam") == []

    asyncio.run(use())
    store.close()
    assert memory.get_all(user_id="strands-2")  # a client that was given stays open


def test_strands_sessions_have_agents_messages_and_states_of_their_own(memory: Recollect) -> None:
    from strands.types.exceptions import SessionException
    from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

    from recollect.integrations.strands import RecollectSessionManager

    class Swarm:
        id = "swarm"

        def serialize_state(self) -> dict[str, Any]:
            return {"nodes": ["a"]}

    swarm: Any = Swarm()
    sessions = RecollectSessionManager("a.b/é", user_id="strands-4", memory=memory)
    others = RecollectSessionManager("a.b/é", user_id="strands-5", memory=memory)
    place = ("a.b/é", "guide")
    with pytest.raises(SessionException):
        sessions.create_session(Session("a.b/é", SessionType.AGENT))
    with pytest.raises(SessionException):
        sessions.update_agent("a.b/é", SessionAgent("guide", {}, {}))
    sessions.create_agent("a.b/é", SessionAgent("guide", {"n": 1}, {}))
    sessions.update_agent("a.b/é", SessionAgent("guide", {"n": 2}, {}))
    agent = sessions.read_agent(*place)
    assert agent is not None
    assert agent.state == {"n": 2}
    for number in range(12):
        content: Any = {"role": "user", "content": [{"text": f"{number}"}, {"image": {"source": {"bytes": b"\0"}}}]}
        sessions.create_message(*place, SessionMessage(content, number))
    assert [one.message_id for one in sessions.list_messages(*place)] == [*range(12)]
    assert [one.message_id for one in sessions.list_messages(*place, limit=2, offset=9)] == [9, 10]
    redacted = sessions.read_message(*place, 11)
    assert redacted is not None
    assert redacted.message["content"][1] == {"image": {"source": {"bytes": b"\0"}}}
    redacted.redact_message = {"role": "user", "content": [{"text": "redacted"}]}
    sessions.update_message(*place, redacted)
    assert sessions.list_messages(*place, offset=11)[0].to_message() == redacted.redact_message
    with pytest.raises(SessionException):
        sessions.update_message(*place, SessionMessage(content, 99))
    with pytest.raises(SessionException):
        sessions.update_multi_agent("a.b/é", swarm)
    sessions.create_multi_agent("a.b/é", swarm)
    sessions.update_multi_agent("a.b/é", swarm)
    assert sessions.read_multi_agent("a.b/é", "swarm") == {"nodes": ["a"]}
    assert others.list_messages(*place) == []
    with pytest.raises(Unprocessable):
        sessions.create_message(*place, SessionMessage({"role": "user", "content": [{"text": "x" * 300_000}]}, 12))
    sessions.delete_session("a.b/é")
    assert sessions.list_messages(*place) == []
    assert sessions.read_agent(*place) is sessions.read_multi_agent("a.b/é", "swarm") is None
    with pytest.raises(SessionException):
        sessions.delete_session("a.b/é")
    assert others.read_session("a.b/é") is not None


def test_pydantic_ai_conversations_are_forked_branched_and_deleted(memory: Recollect) -> None:
    from pydantic_ai.conversation import Conversation
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    from recollect.integrations.item_batches import items_below
    from recollect.integrations.pydantic_ai import RecollectConversations

    store = RecollectConversations(user_id="pydantic-1", memory=memory)
    other = RecollectConversations(user_id="pydantic-2", memory=memory)

    def entries() -> int:
        return len(items_below(memory, ("pydantic-ai", "=pydantic-1", "entries")))

    def asked(*numbers: int) -> list[Any]:
        return [ModelRequest(parts=[UserPromptPart(f"{number}")]) for number in numbers]

    async def use() -> None:
        talk = Conversation(conversation_id="a/b.c", messages=asked(*range(150)))
        await store.save(talk, scope="web")
        loaded = await store.load("a/b.c")
        assert loaded is not None
        assert loaded.messages == talk.messages
        window = await store.load("a/b.c", limit=70)
        assert window is not None
        assert window.messages == talk.messages[-70:]
        assert await other.load("a/b.c") is None
        assert await store.load("a/b.c", scope="mail") is None
        fork = await store.fork("a/b.c", at=100, new_conversation_id="fork")
        fork.messages += asked(1, 2)
        await store.save(fork)
        branched = await store.branch("a/b.c", at=10, expected_revision=loaded.revision)
        branched.messages += asked(3)
        await store.save(branched)
        assert entries() == 153
        await store.delete("fork")
        assert entries() == 151
        fork = await store.fork("a/b.c", at=5, new_conversation_id="fork")
        await store.delete("a/b.c")
        assert entries() == 5
        assert (await store.load("fork") or fork).messages == talk.messages[:5]
        await store.delete("fork")
        assert entries() == 0

    asyncio.run(use())


def test_of_pydantic_ai_s_writers_the_second_is_told(memory: Recollect) -> None:
    from pydantic_ai.conversation_store import ConversationConflict, ConversationRecord

    from recollect.integrations.pydantic_ai import RecollectConversations

    class Forgetful(Recollect):
        """Its first answer is lost, so that the same is written twice, as a client's second try does."""

        def put_item(self, *args: Any, **options: Any) -> None:
            memory.put_item(*args, **options)
            memory.put_item(*args, **options)

        def item(self, *args: Any, **options: Any) -> Any:
            return memory.item(*args, **options)

    store = RecollectConversations(user_id="pydantic-3", memory=memory)
    forgetful = RecollectConversations(user_id="pydantic-3", memory=Forgetful("http://none.invalid"))

    async def use() -> None:
        record = ConversationRecord(conversation_id="talk", head_id=None)
        await forgetful.write_record(record, expected_revision=None)
        for revision in (None, "another"):
            with pytest.raises(ConversationConflict):
                await store.write_record(record, expected_revision=revision)
        dangling = ConversationRecord(conversation_id="dangling", head_id="gone")
        with pytest.raises(ConversationConflict):
            await store.write_record(dangling, expected_revision=None)
        with pytest.raises(ConversationConflict):
            await store.delete_record("talk", expected_revision="another")
        with pytest.raises(LookupError):
            await store.read_entry("gone")

    asyncio.run(use())


def test_version_0_is_that_of_a_place_where_nothing_is(memory: Recollect) -> None:
    memory.put_item(("versions",), "k", {"n": 1}, version=0)
    with pytest.raises(VersionMismatch):
        memory.put_item(("versions",), "k", {"n": 2}, version=0)


def test_llama_index_messages_are_put_set_and_cut(memory: Recollect) -> None:
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock

    from recollect.integrations.llama_index import RecollectMemory, RecollectMemoryBlock

    session = RecollectMemory.from_defaults(session_id="talk", user_id="llama-1", memory=memory)
    image = ChatMessage(role="user", blocks=[ImageBlock(image=b"\x89PNG")], additional_kwargs={"n": 1})
    session.put_messages([])
    session.set([ChatMessage("one"), image])
    asyncio.run(session.aput(ChatMessage("three", role="tool")))
    assert session.get_all()[1] == image
    session.limit = 1
    assert [one.content for one in asyncio.run(session.aget())] == ["three"]
    asyncio.run(session.aset([]))
    assert session.get_all() == []
    block = RecollectMemoryBlock(user_id="llama-1", memory=memory)
    asyncio.run(block.aput([image, ChatMessage("You are a guide", role="system")]))
    assert asyncio.run(block.aget([])) == asyncio.run(block.aget([ChatMessage("Where?")])) == ""


def test_what_a_llama_index_engine_says_for_a_delivery_is_put_once(memory: Recollect) -> None:
    from llama_index.core.chat_engine import SimpleChatEngine
    from llama_index.core.llms import MockLLM

    from recollect.integrations.llama_index import RecollectMemory

    for delivery_id in ("hook-1", "hook-1", "hook-2", None):
        own: Any = {"user_id": "llama-2", "delivery_id": delivery_id, "memory": memory}
        session = RecollectMemory("talk", **own)
        engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=1), memory=session)
        for _ in range(2):  # the same words twice in one delivery are two messages
            engine.chat("ok")
    roles = [one.role.value for one in session.get_all()]
    assert roles == ["user", "assistant"] * 6


def test_what_an_openai_run_adds_is_added_once_however_often_it_goes_on(memory: Recollect) -> None:
    from agents import Agent, Runner, RunState, function_tool
    from agents.testing import ScriptedModel
    from openai.types.responses import ResponseFunctionToolCall

    from recollect.integrations.openai_agents import RecollectSession

    @function_tool(needs_approval=True)
    def weather(place: str) -> str:
        return f"sunny in {place}"

    model = ScriptedModel()
    agent = Agent(name="Guide", model=model, tools=[weather])
    call = ResponseFunctionToolCall(
        id="fc_0123456789abcdef",
        call_id="call_0123456789abcdef",
        name="weather",
        arguments='{"place": "Lyon"}',
        type="function_call",
    )
    session = RecollectSession("talk", user_id="openai-1", memory=memory)

    async def use() -> None:
        model.enqueue([call])
        kept = (await Runner.run(agent, "Weather?", session=session)).to_state().to_string()
        for text in ("Sunny", "It is sunny"):  # a worker that resumes twice; the model finds other words
            state: Any = await RunState.from_string(agent, kept)
            state.approve(state.get_interruptions()[0])
            model.enqueue([openai_message(text, f"msg_{text:x>16}1")])
            await Runner.run(agent, state, session=session)
        kinds = [item.get("type") or item.get("role") for item in await session.get_items()]
        assert kinds == ["user", "function_call", "function_call_output", "message", "message"]

    asyncio.run(use())


def openai_message(text: str, id: str) -> Any:
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    part = ResponseOutputText(type="output_text", text=text, annotations=[], logprobs=[])
    return ResponseOutputMessage(id=id, type="message", role="assistant", content=[part], status="completed")


def test_an_openai_run_that_is_delivered_twice_adds_its_words_once(memory: Recollect) -> None:
    from agents import Agent, Runner
    from agents.testing import ScriptedModel

    from recollect.integrations.openai_agents import RecollectSession

    model, ids = ScriptedModel(), iter(range(100))
    agent = Agent(name="Guide", model=model)

    async def run(answer: str, delivery_id: str | None, user_id: str = "openai-2", times: int = 1) -> list[str]:
        session: Any = RecollectSession("talk", user_id=user_id, delivery_id=delivery_id, memory=memory)
        for _ in range(times):
            model.enqueue([openai_message(answer, f"msg_0123456789ab{next(ids):04}")])
            await Runner.run(agent, "ok", session=session)
        return [str(item.get("type") or item["content"]) for item in await session.get_items()]

    async def use() -> None:
        for _ in range(2):
            assert await run("fine", "hook-1") == ["ok", "message"]
        assert await run("well", "hook-1") == ["ok", "message", "message"]
        assert (await run("fine", "hook-2"))[3:] == ["ok", "message"]
        assert await run("fine", "hook-1", user_id="openai-3") == ["ok", "message"]
        for _ in range(2):  # twice the same words in one session are two turns
            assert await run("fine", "hook-3", "openai-4", times=2) == ["ok", "message"] * 2
        assert await run("fine", None, "openai-4", times=2) == ["ok", "message"] * 4

    asyncio.run(use())


def test_items_are_known_by_lasting_ids_and_content_and_come_again_when_they_were_removed(memory: Recollect) -> None:
    from recollect.integrations.openai_agents import RecollectSession

    class Forgetful(Recollect):
        """Its answers are lost."""

        def append_log(self, *args: Any, **options: Any) -> Any:
            memory.append_log(*args, **options)
            raise ConnectionError

        def log(self, *args: Any, **options: Any) -> Any:
            return memory.log(*args, **options)

    def session(given: Recollect = memory, **own: Any) -> Any:
        return RecollectSession("items", user_id="openai-5", memory=given, **own)

    def message(text: str, id: str | None) -> Any:
        return {"role": "assistant", "content": text} | ({} if id is None else {"id": id})

    lasting = [message(text, f"msg_0123456789abcdef{text}") for text in "abc"]

    async def use() -> None:
        for _ in range(2):
            await session().add_items([*lasting, message("b", lasting[0]["id"]), message("d", None)])
        assert [one["content"] for one in await session().get_items()] == ["a", "b", "c", "b", "d", "d"]
        await session().clear_session()
        await session().add_items(lasting)
        await session().pop_item()
        await session().add_items(lasting)
        assert await session().get_items() == lasting
        await session().clear_session()
        for id in ("1", "__fake_id__", "get_current_weather"):  # what scripted and local models call everything
            await session().add_items([message("ok", id)])
            await session().add_items([message("ok", id)])
        assert len(await session().get_items()) == 6
        await session().clear_session()
        many = [message(str(number), f"msg_0123456789abcdef{number}") for number in range(21)]
        for items in (many, many, many[:20], many[:20], [message("x" * 250_000, "msg_0123456789abcdef")] * 2):
            await session().add_items(items)
        assert len(await session().get_items()) == 21 + 21 + 20 + 2
        await session().clear_session()
        once = session(Forgetful("http://none.invalid"), delivery_id="hook-1")
        for _ in range(2):
            with pytest.raises(ConnectionError):
                await once.add_items([message("ok", None), message("ok", None)])
        assert len(await session().get_items()) == 2

    asyncio.run(use())


def sessions(memory: Recollect, user_id: str) -> dict[str, tuple[Any, Any]]:
    """By each framework, how the session `talk` of the user is added to and read."""
    from langchain_core.messages import HumanMessage
    from llama_index.core.base.llms.types import ChatMessage

    from recollect.integrations.langchain import RecollectChatHistory
    from recollect.integrations.llama_index import RecollectMemory
    from recollect.integrations.openai_agents import RecollectSession

    own: Any = {"user_id": user_id, "memory": memory}
    history, chat = RecollectChatHistory("talk", **own), RecollectMemory("talk", **own)
    session = RecollectSession("talk", **own)
    item: Any = {"role": "user", "content": "Hello"}
    return {
        "LangChain": (lambda: history.add_messages([HumanMessage("Hello")]), lambda: history.messages),
        "LlamaIndex": (lambda: chat.put(ChatMessage("Hello")), chat.get),
        "OpenAI Agents": (lambda: asyncio.run(session.add_items([item])), lambda: asyncio.run(session.get_items())),
    }


FRAMEWORKS = ("LangChain", "LlamaIndex", "OpenAI Agents")


@pytest.mark.parametrize(("writer", "reader"), list(permutations(FRAMEWORKS, 2)))
def test_a_session_of_another_framework_is_refused_by_name_and_stays_whole(
    memory: Recollect, writer: str, reader: str
) -> None:
    user_id = f"{writer}-{reader}".replace(" ", "")
    add, read = sessions(memory, user_id)[writer]
    add()
    for refused in sessions(memory, user_id)[reader]:
        with pytest.raises(ForeignSession, match=f"'talk' of '{user_id}' has entries of {writer}"):
            refused()
    assert len(read()) == 1
    memory.clear_log(user_id, "talk")
    for usual in sessions(memory, user_id)[reader]:
        usual()


def test_what_another_framework_wrote_is_not_popped(memory: Recollect) -> None:
    from recollect.integrations.openai_agents import RecollectSession

    add, read = sessions(memory, "popped")["LangChain"]
    add()
    with pytest.raises(ForeignSession):
        asyncio.run(RecollectSession("talk", user_id="popped", memory=memory).pop_item())
    assert len(read()) == 1


def test_a_langchain_history_keeps_every_kind_of_message(memory: Recollect) -> None:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    from recollect.integrations.langchain import RecollectChatHistory

    history = RecollectChatHistory("talk", user_id="langchain-1", memory=memory)
    call: Any = {"name": "look", "args": {"at": [1, None]}, "id": "1", "type": "tool_call"}
    messages = [
        SystemMessage("Be short"),
        HumanMessage([{"type": "text", "text": "Hello"}]),
        AIMessage("", tool_calls=[call], response_metadata={"é": 1}),
        ToolMessage("seen", tool_call_id="1"),
    ]
    history.add_messages([])
    history.add_messages(messages)
    assert history.messages == messages
    assert RecollectChatHistory("talk", user_id="langchain-2", memory=memory).messages == []
    history.clear()
    assert history.messages == []


def test_a_langchain_message_with_an_id_is_kept_once_however_often_its_run_is_delivered(memory: Recollect) -> None:
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.runnables.history import RunnableWithMessageHistory

    from recollect.integrations.langchain import RecollectChatHistory

    def answered(answer: str, text: str, id: str | None, user_id: str = "langchain-3") -> None:
        model = GenericFakeChatModel(messages=iter([AIMessage(answer)]))
        chat = RunnableWithMessageHistory(
            model, lambda session: RecollectChatHistory(session, user_id=user_id, memory=memory)
        )
        chat.invoke([HumanMessage(text, id=id)], {"configurable": {"session_id": "talk"}})

    def kept(user_id: str = "langchain-3") -> list[str]:
        return [one.text for one in RecollectChatHistory("talk", user_id=user_id, memory=memory).messages]

    for answer in ("fine", "fine", "well"):  # the third time the model finds other words
        answered(answer, "ok", "hook-1")
    assert kept() == ["ok", "fine", "well"]
    answered("fine", "ok", "hook-2")
    answered("fine", "other words", "hook-2")
    assert kept()[3:] == ["ok", "fine", "other words", "fine"]
    answered("fine", "ok", "hook-1", user_id="langchain-4")
    for _ in range(2):
        answered("fine", "ok", None, user_id="langchain-4")
    assert kept("langchain-4") == ["ok", "fine"] * 3


def test_crewai_s_records_are_narrowed_counted_and_deleted(memory: Recollect) -> None:
    from crewai.memory.storage.backend import StorageBackend
    from crewai.memory.types import MemoryRecord

    from recollect.integrations.crewai import RecollectStorage

    storage = RecollectStorage(user_id="crewai-1", memory=memory)
    assert isinstance(storage, StorageBackend)
    now = datetime.now(UTC).replace(tzinfo=None)
    records = [
        MemoryRecord(
            content=f"{number}",
            scope=scope,
            categories=["even" if number % 2 == 0 else "odd"],
            metadata={"n": number, "é": ["x"]},
            embedding=[1.0, number / 8] if number else None,
            created_at=now - timedelta(days=number),
        )
        for number, scope in enumerate(("/", "/a", "/a/b/", "/ab", "/a/b/c"))
    ]
    storage.save(records[::-1])
    assert [one.content for one in storage.list_records(limit=3, offset=1)] == ["1", "2", "3"]
    assert storage.get_record(records[2].id) == records[2]
    assert (storage.count(), storage.count("/a"), storage.count("a/b")) == (5, 3, 2)
    assert (storage.list_scopes(), storage.list_scopes("/a")) == (["/a", "/ab"], ["/a/b"])
    info = storage.get_scope_info("/a/")
    assert (info.path, info.record_count, info.categories, info.child_scopes) == ("/a", 3, ["even", "odd"], ["/a/b"])
    assert (info.oldest_record, info.newest_record) == (records[4].created_at, records[1].created_at)
    assert [one.content for one, _ in storage.search([1.0, 0.0], limit=2)] == ["1", "2"]
    assert [one.content for one, _ in storage.search([1.0, 0.0], "/a", ["even", "none"], {"n": 4})] == ["4"]
    assert storage.search([1.0, 0.0], min_score=0.999) == []
    assert storage.search([1.0]) == storage.search([0.0, 0.0]) == storage.search([1.0, 0.0], limit=0) == []
    assert storage.delete(record_ids=[]) == storage.delete(record_ids=["none"]) == 0
    assert storage.delete(record_ids=[records[0].id, records[3].id], categories=["odd"]) == 1
    assert asyncio.run(storage.adelete(scope_prefix="/a", older_than=now - timedelta(days=3))) == 1
    storage.update(records[0].model_copy(update={"content": "changed", "scope": "/z"}))
    assert storage.list_scopes() == ["/a", "/z"]
    assert RecollectStorage(user_id="crewai-2", memory=memory).count() == 0
    storage.reset("/a")
    assert [one.content for one in storage.list_records()] == ["changed"]


def test_erasing_a_user_reaches_what_every_class_keeps(memory: Recollect) -> None:
    from crewai.memory.types import MemoryRecord
    from langchain_core.messages import HumanMessage
    from llama_index.core.base.llms.types import ChatMessage
    from pydantic_ai.conversation import Conversation
    from strands.types.session import SessionAgent

    from recollect.integrations.crewai import RecollectStorage
    from recollect.integrations.langchain import RecollectChatHistory
    from recollect.integrations.llama_index import RecollectMemory
    from recollect.integrations.pydantic_ai import RecollectConversations
    from recollect.integrations.strands import RecollectMemoryStore, RecollectSessionManager

    mine: Any = {"user_id": "erased", "memory": memory}
    sessions, storage = RecollectSessionManager("talk", **mine), RecollectStorage(**mine)
    history, session = RecollectChatHistory("one", **mine), RecollectMemory("two", **mine)
    store, conversations = RecollectMemoryStore(**mine), RecollectConversations(**mine)
    sessions.create_agent("talk", SessionAgent("guide", {}, {}))
    storage.save([MemoryRecord(content="kept", embedding=[1.0])])
    history.add_messages([HumanMessage("kept")])
    session.put(ChatMessage("kept"))
    asyncio.run(store.add("Kept"))
    asyncio.run(conversations.save(Conversation(conversation_id="talk")))
    memory.delete_all(user_id="erased")
    assert sessions.read_session("talk") is sessions.read_agent("talk", "guide") is None
    assert (storage.count(), history.messages, session.get_all()) == (0, [], [])
    assert asyncio.run(conversations.load("talk")) is None
    assert asyncio.run(store.search("kept")) == []
