"""The adapter of Bedrock's Converse: the real SDK against a server on this machine."""

import json
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.config import Config

from adapters.embedders.local_server import Reply, Server
from recollect.adapters.models.bedrock_converse import BedrockConverse
from recollect.context.model_call import ModelRequest
from recollect.context.rendering import Message, MessageRole
from recollect.contracts.services import RemoteModelContract, Trouble, a_request
from recollect.core.errors import OutOfTime, Throttled, Unavailable, UpstreamFailed
from recollect.ports import Model

MODEL_ID = "eu.amazon.nova-lite-v1:0"
SYSTEM, USER, BOT = MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT


def client(url: str) -> Any:
    return boto3.client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 1}),
    )


def answer(*texts: str, stop: str = "end_turn") -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": text} for text in texts]}},
        "stopReason": stop,
        "usage": {"inputTokens": 30, "outputTokens": 4, "totalTokens": 34},
        "metrics": {"latencyMs": 12},
    }


def failure(code: str, status: int, **headers: str) -> Reply:
    return Reply({"message": "no lurcher"}, status, {"x-amzn-ErrorType": code, **headers})


TROUBLES: dict[Trouble, Reply] = {
    Trouble.THROTTLED: failure("ThrottlingException", 429, **{"Retry-After": "7"}),
    Trouble.IN_TROUBLE: failure("InternalServerException", 500),
    Trouble.REFUSED: failure("ValidationException", 400),
    Trouble.SILENT: Reply(answer("late"), after_seconds=5),
    Trouble.TRICKLING: Reply(answer("t" * 500), trickle_seconds=0.02),
    Trouble.CUT: Reply(json.dumps(answer("half an answer")).encode()[:60], announced=200),
    Trouble.NO_JSON: Reply(b"<html>lurcher"),
    Trouble.NO_MESSAGE: Reply({"stopReason": "end_turn"}),
    Trouble.NO_TEXT: Reply(answer()),
    Trouble.CUT_JSON: Reply(answer('{"summary": "My lur', stop="max_tokens")),
}


class TestBedrockConverse(RemoteModelContract):
    @pytest.fixture
    def model(self, server: Server) -> Model:
        server.replies = [Reply(answer("Biscuit."))]
        return BedrockConverse(client(server.url), MODEL_ID)


def request(*said: tuple[MessageRole, str], **changes: Any) -> ModelRequest:
    return replace(a_request(), messages=tuple(Message(role, text) for role, text in said), **changes)


def texts(*said: str) -> list[dict[str, str]]:
    return [{"text": text} for text in said]


@pytest.mark.spec("K-78", "K-79", "H-19")
def test_the_whole_context_is_sent_in_the_form_of_converse(server: Server) -> None:
    server.replies = [Reply(answer("It is ", "Biscuit."))]
    said = (
        (SYSTEM, "instructions"),
        (SYSTEM, "recalled"),
        (BOT, "welcome"),
        (USER, "hi"),
        (USER, " "),
        (USER, "there"),
        (BOT, "hello"),
        (SYSTEM, ""),
        (USER, "日本 🙂?"),
    )
    given = BedrockConverse(client(server.url), MODEL_ID).generate(request(*said, max_tokens=77))
    assert (given.text, given.model) == ("It is Biscuit.", f"bedrock:{MODEL_ID}")
    assert (given.input_tokens, given.output_tokens) == (30, 4)
    path, _, body = server.asked[0]
    assert path == "/model/eu.amazon.nova-lite-v1%3A0/converse"
    assert body == {
        "system": texts("instructions", "recalled"),
        "messages": [
            {"role": "user", "content": texts("(…)")},
            {"role": "assistant", "content": texts("welcome")},
            {"role": "user", "content": texts("hi\n\nthere")},
            {"role": "assistant", "content": texts("hello")},
            {"role": "user", "content": texts("日本 🙂?")},
        ],
        "inferenceConfig": {"maxTokens": 77},
    }


def test_without_a_system_text_none_is_sent(server: Server) -> None:
    server.replies = [Reply(answer("yes"))]
    BedrockConverse(client(server.url), MODEL_ID).generate(request((USER, "well?")))
    assert "system" not in server.asked[0][2]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (failure("ServiceUnavailableException", 503), Throttled),
        (failure("ModelNotReadyException", 429), Throttled),
        (failure("ModelTimeoutException", 408), OutOfTime),
        (failure("ModelErrorException", 424), Unavailable),
        (failure("NeverHeardOfException", 502), Unavailable),
        (failure("AccessDeniedException", 403), UpstreamFailed),
        (failure("ResourceNotFoundException", 404), UpstreamFailed),
        (Reply(answer(" \n")), UpstreamFailed),
        (Reply(answer("half a sen", stop="max_tokens")), None),
    ],
)
def test_each_answer_of_the_service(server: Server, reply: Reply, kind: type[Exception] | None) -> None:
    server.replies = [reply]
    model = BedrockConverse(client(server.url), MODEL_ID)
    if kind is None:
        assert model.generate(a_request()).text == "half a sen"
        return
    with pytest.raises(kind) as raised:
        model.generate(a_request())
    assert type(raised.value) is kind


def test_the_client_s_own_time_out(server: Server) -> None:
    server.replies = [Reply(answer("late"), after_seconds=5)]
    impatient = client(server.url).meta.config.merge(Config(read_timeout=0.1))
    slow = boto3.client(
        "bedrock-runtime",
        endpoint_url=server.url,
        region_name="eu-central-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=impatient,
    )
    with pytest.raises(OutOfTime, match="ReadTimeoutError"):
        BedrockConverse(slow, MODEL_ID).generate(a_request())


def test_nobody_there() -> None:
    with pytest.raises(Unavailable):
        BedrockConverse(client("http://127.0.0.1:1"), MODEL_ID).generate(a_request())
