"""`messages` of a context can be sent to a model as they are: held to the types of the packages that people use."""

from typing import Any

import pytest
from anthropic.types import MessageParam, TextBlockParam
from botocore.session import Session
from botocore.validate import ParamValidator
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


ANTHROPIC: TypeAdapter[list[MessageParam]] = TypeAdapter(list[MessageParam])
ANTHROPIC_SYSTEM: TypeAdapter[Any] = TypeAdapter(str | list[TextBlockParam])
CONVERSE = Session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape


@pytest.fixture
def dana(caller: Caller) -> Caller:
    caller.post("/v1/events", {"user_id": "dana", "conversation_id": "c10", "events": SAID})
    return caller


def asked(dana: Caller, **more: Any) -> Any:
    return dana.post("/v1/context", {"user_id": "dana", "conversation_id": "c10", "input": "hi", **more}).json


@pytest.fixture
def messages(dana: Caller) -> Any:
    return asked(dana)["messages"]


def texts(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def test_the_types_of_openai_accept_them(messages: Any) -> None:
    assert OPENAI.validate_python(messages, strict=True) == messages


@pytest.mark.spec("P-23")
def test_the_types_of_anthropic_accept_their_form(dana: Caller) -> None:
    shown = asked(dana, format="anthropic")
    assert ANTHROPIC.validate_python(shown["messages"], strict=True) == shown["messages"]
    assert ANTHROPIC_SYSTEM.validate_python(shown["system"], strict=True) == shown["system"]


@pytest.mark.spec("P-23")
def test_bedrocks_shape_of_converse_accepts_its_form(dana: Caller) -> None:
    shown = asked(dana, format="converse")
    call = {"modelId": "m", "messages": shown["messages"], "system": shown["system"]}
    assert not ParamValidator().validate(call, CONVERSE).has_errors()


@pytest.mark.parametrize("form", ["anthropic", "converse"])
def test_every_form_says_the_same(dana: Caller, form: str) -> None:
    system, *said = asked(dana, format="openai")["messages"]
    shown = asked(dana, format=form)
    assert [(one["role"], texts(one["content"])) for one in shown["messages"]] == [
        (one["role"], one["content"]) for one in said
    ]
    assert texts(shown["system"]).splitlines()[0][:40] == system["content"].splitlines()[0][:40]
    assert asked(dana).get("system") is None


def test_a_form_that_nobody_takes_is_refused(dana: Caller) -> None:
    body = {"user_id": "dana", "input": "hi", "format": "gemini"}
    assert dana.post("/v1/context", body).status == 422


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


@pytest.mark.spec("P-23")
def test_nothing_relevant_is_said_and_not_filled_up(caller: Caller) -> None:
    said = [{"role": "user", "content": "My daughter weighs 3,400 grams", "timestamp": "2024-05-01T08:00:00Z"}]
    caller.post("/v1/events", {"user_id": "ilse", "conversation_id": "c11", "events": said})
    question = {"conversation_id": "c12", "input": "What does my daughter weigh?"}
    known, unknown = (caller.post("/v1/context", {"user_id": user, **question}).json for user in ("ilse", "nobody"))
    assert (known["nothing_relevant"], unknown["nothing_relevant"]) == (False, True)
    assert "3,400 grams" in texts(known["messages"][0]["content"])
    assert unknown["items"] == []
    window = caller.post("/v1/context", {"user_id": "ilse", "input": "What does my daughter weigh?"}).json
    assert window["nothing_relevant"] is False, "what the raw window shows is no nothing"
