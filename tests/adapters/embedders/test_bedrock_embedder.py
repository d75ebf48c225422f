"""The adapter of Titan on Bedrock: the real SDK against a server on this machine."""

import re
from typing import Any

import boto3
import numpy as np
import pytest
from botocore.config import Config

from adapters.embedders.local_server import Reply, Server
from recollect.adapters.embedders.remote import BedrockEmbedder
from recollect.core.errors import ConfigurationError, OutOfTime, Throttled, Unavailable, UpstreamFailed
from recollect.core.vectors import TextKind


def client(url: str) -> Any:
    return boto3.client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(connect_timeout=0.5, read_timeout=0.5, retries={"total_max_attempts": 1}),
    )


def of_length(asked: dict[str, Any]) -> dict[str, Any]:
    return {"embedding": [len(asked["inputText"]), *[1.0] * (asked["dimensions"] - 1)], "inputTextTokenCount": 3}


def test_one_call_a_text_in_order(server: Server) -> None:
    server.replies = [Reply(of_length)]
    embedder = BedrockEmbedder(client(server.url), 256)
    found = embedder.encode(["x" * n for n in range(1, 10)], TextKind.PASSAGE, with_tokens=True)
    for length, encoding in enumerate(found, start=1):
        assert encoding.vector[0] / encoding.vector[1] == pytest.approx(length, rel=1e-5)
        assert np.linalg.norm(encoding.vector) == pytest.approx(1, abs=1e-5)
        assert encoding.tokens is None
    assert embedder.encode([], TextKind.QUERY) == []


def test_what_it_asks(server: Server) -> None:
    server.replies = [Reply(of_length)]
    BedrockEmbedder(client(server.url)).encode([""], TextKind.QUERY)
    path, _, body = server.asked[0]
    assert path == "/model/amazon.titan-embed-text-v2%3A0/invoke"
    assert body == {"inputText": ".", "dimensions": 1024, "normalize": True}


def failure(code: str, status: int, **headers: str) -> Reply:
    return Reply({"message": "no"}, status, {"x-amzn-ErrorType": code, **headers})


@pytest.mark.parametrize(
    "reply", [failure("ThrottlingException", 429), failure("ServiceUnavailableException", 503, **{"Retry-After": "4"})]
)
def test_slow_down(server: Server, reply: Reply) -> None:
    server.replies = [reply]
    with pytest.raises(Throttled) as raised:
        BedrockEmbedder(client(server.url)).encode(["a", "b"], TextKind.PASSAGE)
    assert raised.value.retry_after_seconds == (4 if reply.headers.get("Retry-After") else None)


@pytest.mark.parametrize(
    "reply",
    [
        failure("AccessDeniedException", 403),
        failure("ValidationException", 400),
        Reply(b"<html>"),
        Reply({"embedding": []}),
        Reply({"embedding": [1.0] * 255}),
        Reply({"embedding": [0.0] * 256}),
        Reply({"embedding": [1e300] * 256}),
    ],
)
def test_what_is_no_usable_answer(server: Server, reply: Reply) -> None:
    server.replies = [reply]
    with pytest.raises(UpstreamFailed):
        BedrockEmbedder(client(server.url), 256).encode(["a"], TextKind.QUERY)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [(failure("InternalServerException", 500), Unavailable), (Reply(of_length, after_seconds=3), OutOfTime)],
)
def test_trouble_that_may_pass(server: Server, reply: Reply, kind: type[Exception]) -> None:
    server.replies = [reply]
    with pytest.raises(kind):
        BedrockEmbedder(client(server.url), 256).encode(["a"], TextKind.QUERY)


def test_nobody_there() -> None:
    with pytest.raises(Unavailable):
        BedrockEmbedder(client("http://127.0.0.1:1"), 256).encode(["a"], TextKind.QUERY)


def test_generation_and_dimension() -> None:
    embedder = BedrockEmbedder(client("http://127.0.0.1:1"), 512)
    assert embedder.dimension == 512
    assert re.fullmatch(r"amazon\.titan-embed-text-v2-0\.[0-9a-f]{8}\.512", embedder.generation)
    with pytest.raises(ConfigurationError, match="RECOLLECT_EMBEDDING_DIMENSION"):
        BedrockEmbedder(client("http://127.0.0.1:1"), 384)
