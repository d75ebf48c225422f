"""The adapter of OpenAI-compatible servers, over real HTTP."""

from dataclasses import replace
from typing import Any

import pytest

from adapters.embedders.local_server import Reply, Server
from recollect.adapters.models.openai_chat import ChatEndpoint, OpenAiChat
from recollect.context.rendering import Message, MessageRole
from recollect.contracts.services import RemoteModelContract, Trouble, a_request
from recollect.core.errors import Throttled, Unavailable, UpstreamFailed
from recollect.ports import Model

SYSTEM, USER, BOT = MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT


def completion(text: str | None, finish_reason: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish_reason}], **more}


TROUBLES: dict[Trouble, Reply] = {
    Trouble.THROTTLED: Reply({"error": {"message": "slow"}}, 429, {"Retry-After": "7"}),
    Trouble.IN_TROUBLE: Reply({"error": {"message": "lurcher"}}, 500),
    Trouble.REFUSED: Reply({"error": {"message": "no lurcher"}}, 401),
    Trouble.SILENT: Reply(completion("late"), after_seconds=5),
    Trouble.TRICKLING: Reply(completion("t" * 500), trickle_seconds=0.02),
    Trouble.CUT: Reply(completion("half an ans"), announced=5_000),
    Trouble.NO_JSON: Reply(b"<html>lurcher"),
    Trouble.NO_MESSAGE: Reply({"choices": []}),
    Trouble.NO_TEXT: Reply(completion(None)),
    Trouble.CUT_JSON: Reply(completion('{"summary": "My lur', "length")),
}


def chat(server: Server, **endpoint: Any) -> OpenAiChat:
    return OpenAiChat(ChatEndpoint(base_url=f"{server.url}/v1/", model="llama3.2", **endpoint))


class TestOpenAiChat(RemoteModelContract):
    @pytest.fixture
    def model(self, server: Server) -> Model:
        server.replies = [Reply(completion("Biscuit."))]
        return chat(server, api_key="secret")


@pytest.mark.spec("K-78", "K-79", "H-19")
def test_the_whole_context_is_sent_and_bot_is_assistant(server: Server) -> None:
    server.replies = [
        Reply(completion("It is Biscuit.", usage={"prompt_tokens": 31, "completion_tokens": 5, "total_tokens": 36}))
    ]
    said = ((SYSTEM, "instructions"), (SYSTEM, "recalled"), (USER, "hi"), (BOT, "hello"), (USER, "日本 🙂?"))
    messages = tuple(Message(role, text) for role, text in said)
    answer = chat(server, api_key="secret").generate(replace(a_request(), messages=messages, max_tokens=77))
    assert (answer.text, answer.model) == ("It is Biscuit.", "openai:llama3.2")
    assert (answer.input_tokens, answer.output_tokens) == (31, 5)
    path, headers, body = server.asked[0]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", "Bearer secret")
    roles = {SYSTEM: "system", USER: "user", BOT: "assistant"}
    assert body == {
        "model": "llama3.2",
        "messages": [{"role": roles[role], "content": text} for role, text in said],
        "max_tokens": 77,
    }


def test_without_a_key_none_is_sent(server: Server) -> None:
    server.replies = [Reply(completion("yes", usage=None))]
    assert chat(server).generate(a_request()).input_tokens is None
    assert "Authorization" not in server.asked[0][1]


def test_json_is_asked_for(server: Server) -> None:
    server.replies = [Reply(completion("{}"))]
    assert chat(server).generate(a_request(json_answer=True)).text == "{}"
    assert server.asked[0][2]["response_format"] == {"type": "json_object"}


def test_a_server_that_does_not_know_json_is_asked_without_and_remembered(server: Server) -> None:
    server.replies = [Reply({"error": {"message": "response_format?"}}, 400), Reply(completion("{}"))]
    model = chat(server)
    assert [model.generate(a_request(json_answer=True)).text for _ in range(2)] == ["{}", "{}"]
    assert ["response_format" in body for _, _, body in server.asked] == [True, False, False]


def test_a_model_that_wants_the_limit_under_its_newer_name(server: Server) -> None:
    fault = {"error": {"message": "unsupported", "param": "max_tokens", "code": "unsupported_parameter"}}
    server.replies = [Reply(fault, 400), Reply(completion("a")), Reply(completion("{}"))]
    model = chat(server)
    assert model.generate(a_request()).text == "a"
    assert model.generate(a_request(json_answer=True)).text == "{}"
    assert ["max_tokens" in body for _, _, body in server.asked] == [True, False, False]
    assert [body.get("max_completion_tokens") for _, _, body in server.asked] == [None, 1024, 1024]


def test_a_refusal_for_another_reason_stays_one_and_is_not_held_against_json(server: Server) -> None:
    server.replies = [Reply({"error": {"message": "too long", "param": "messages"}}, 400)]
    model = chat(server)
    with pytest.raises(UpstreamFailed, match="400"):
        model.generate(a_request(json_answer=True))
    assert len(server.asked) == 2
    server.replies = [Reply(completion("{}"))]
    model.generate(a_request(json_answer=True))
    assert "response_format" in server.asked[-1][2]


def test_a_text_that_ends_at_the_limit_is_still_an_answer(server: Server) -> None:
    server.replies = [Reply(completion("half a sen", "length"))]
    assert chat(server).generate(a_request()).text == "half a sen"


@pytest.mark.parametrize(
    "reply", [Reply({}, 404), Reply({}, 302, {"Location": "/elsewhere"}), Reply([]), Reply(completion("  \n"))]
)
def test_what_is_no_answer(server: Server, reply: Reply) -> None:
    server.replies = [reply]
    with pytest.raises(UpstreamFailed):
        chat(server).generate(a_request())
    assert len(server.asked) == 1


def test_overloaded_without_saying_for_how_long(server: Server) -> None:
    server.replies = [Reply({}, 503)]
    with pytest.raises(Throttled) as raised:
        chat(server).generate(a_request())
    assert raised.value.retry_after_seconds is None


def test_nobody_there() -> None:
    with pytest.raises(Unavailable) as raised:
        OpenAiChat(ChatEndpoint(base_url="http://127.0.0.1:1", model="m")).generate(a_request())
    assert type(raised.value) is Unavailable


@pytest.mark.parametrize("url", ["http://", "http://a..b", "http://" + "a" * 300, "http://127.0.0.1:99999"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises((UpstreamFailed, Unavailable)):
        OpenAiChat(ChatEndpoint(base_url=url, model="m")).generate(a_request())


def test_an_answer_without_end_is_not_read_to_the_end(server: Server) -> None:
    server.replies = [Reply(b" " * 20_000_000)]
    with pytest.raises(UpstreamFailed, match="more than 16000000"):
        chat(server).generate(a_request())


def test_a_key_that_no_header_can_carry_shows_nowhere(server: Server) -> None:
    with pytest.raises(UpstreamFailed) as raised:
        chat(server, api_key="se\ncret").generate(a_request())
    assert raised.value.__cause__ is None
    assert "cret" not in str(raised.value)
    assert "secret" not in repr(ChatEndpoint(base_url="u", model="m", api_key="secret"))
