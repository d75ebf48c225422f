"""`messages` of a context can be sent to a model as they are: held to the types of the packages that people use."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, convert_to_messages
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from entrypoints.http.calling import Caller

OPENAI: TypeAdapter[list[ChatCompletionMessageParam]] = TypeAdapter(list[ChatCompletionMessageParam])
SAID = [
    {"role": "assistant", "content": "Congratulations, aunt Dana! Welcome, Noor!", "timestamp": "2024-05-01T08:00:00Z"},
    {"role": "user", "content": "Thanks!", "timestamp": "2024-05-01T08:01:00Z"},
    {"role": "user", "content": "She weighs 3,400 grams", "speaker": "Ilse", "timestamp": "2024-05-01T08:02:00Z"},
    {"role": "bot", "content": "Noted.", "timestamp": "2024-05-01T08:03:00Z"},
]


@pytest.fixture
def messages(caller: Caller) -> Any:
    caller.post("/v1/events", {"user_id": "dana", "conversation_id": "c10", "events": SAID})
    asked = {"user_id": "dana", "conversation_id": "c10", "input": "hi"}
    return caller.post("/v1/context", asked).json["messages"]


def test_the_types_of_openai_accept_them(messages: Any) -> None:
    assert OPENAI.validate_python(messages, strict=True) == messages


def test_langchain_converts_them(messages: Any) -> None:
    kinds = [type(message) for message in convert_to_messages(messages)]
    assert kinds == [SystemMessage, HumanMessage, AIMessage, HumanMessage, AIMessage, HumanMessage]


@pytest.mark.spec("P-23")
def test_one_system_message_then_the_roles_alternate_and_the_input_is_last(messages: Any) -> None:
    assert [one["role"] for one in messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "Ilse: She weighs 3,400 grams" in messages[3]["content"]
    assert messages[3]["content"].startswith("[Wed May 1, 2024, 08:01] Thanks!")
    assert messages[-1]["content"] == "hi"


def test_assistant_is_accepted_and_stored_as_bot(caller: Caller, messages: Any) -> None:
    page = caller.get("/v1/users/dana/events?last_days=36500").json["events"]
    assert [event["role"] for event in reversed(page)] == ["bot", "user", "user", "bot"]
