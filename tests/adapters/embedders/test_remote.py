"""The adapters of OpenAI-compatible servers, over real HTTP, and of Titan on Bedrock, by the real SDK."""

import re
from typing import Any

import numpy as np
import pytest

from adapters.embedders.local_server import Reply, Server
from adapters.models.test_bedrock_converse import client, failure
from recollect.adapters.embedders.remote import BedrockEmbedder, OpenAiEmbedder, OpenAiEndpoint
from recollect.core.errors import ConfigurationError, OutOfTime, RecollectError, Throttled, Unavailable, UpstreamFailed
from recollect.core.vectors import TextKind


def embedder(server: Server, **settings: Any) -> OpenAiEmbedder:
    return OpenAiEmbedder(OpenAiEndpoint(f"{server.url}/v1/", "test-model", 3, **settings))


def by_length(asked: dict[str, Any]) -> dict[str, Any]:
    """A vector of each text's length, told in the wrong order."""
    rows = [{"object": "embedding", "index": i, "embedding": [len(t), 1, 0]} for i, t in enumerate(asked["input"])]
    return {"object": "list", "data": rows[::-1], "model": asked["model"]}


def test_vectors_come_back_in_order_and_at_unit_length(server: Server) -> None:
    server.replies = [Reply(by_length)]
    found = embedder(server, api_key="secret").encode(["a", "bb", "ccc"], TextKind.PASSAGE, with_tokens=True)
    for length, encoding in enumerate(found, start=1):
        np.testing.assert_allclose(encoding.vector, np.array([length, 1, 0]) / np.hypot(length, 1), rtol=1e-6)
        assert encoding.vector.dtype == np.float32
        assert encoding.tokens is None
    path, headers, body = server.asked[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == "Bearer secret"
    assert body == {"model": "test-model", "input": ["a", "bb", "ccc"], "encoding_format": "float"}


def test_many_texts_go_in_bounded_requests(server: Server) -> None:
    server.replies = [Reply(by_length)]
    found = embedder(server, texts_per_request=4).encode(["x" * (1 + n) for n in range(10)], TextKind.PASSAGE)
    assert [len(body["input"]) for _, _, body in server.asked] == [4, 4, 2]
    assert len(found) == 10
    assert embedder(server).encode([], TextKind.QUERY) == []


def test_what_is_sent_is_cut_and_never_empty(server: Server) -> None:
    server.replies = [Reply(by_length)]
    embedder(server, longest_characters=5).encode(["", "abcdefgh", "\ud83d!"], TextKind.PASSAGE)
    assert server.asked[0][2]["input"] == [".", "abcde", "?!"]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply({}, 500), Unavailable),
        (Reply({}, after_seconds=5), OutOfTime),
        (Reply({"error": {"message": "Slow down!"}}, 400), UpstreamFailed),
        (Reply({}, 401), UpstreamFailed),
        (Reply({}, 302, {"Location": "/elsewhere"}), UpstreamFailed),
        (Reply(b"<html>"), UpstreamFailed),
        (Reply({}), UpstreamFailed),
        (Reply({"data": []}), UpstreamFailed),
        (Reply({"data": [{"index": 1, "embedding": [1, 2, 3]}]}), UpstreamFailed),
        (Reply({"data": [{"index": 0, "embedding": [1, 2, 3]}] * 2}), UpstreamFailed),
        (Reply({"data": [{"index": 0, "embedding": [1, 2]}]}), UpstreamFailed),
        (Reply({"data": [{"index": 0, "embedding": [0, 0, 0]}]}), UpstreamFailed),
        (Reply({"data": [{"index": 0, "embedding": [1, 2, 1e300]}]}), UpstreamFailed),
        (Reply(b'{"data": [{"index": 0, "embedding": [1, 2, NaN]}]}'), UpstreamFailed),
        (Reply({"data": [{"index": 0, "embedding": "AAAA"}]}), UpstreamFailed),
    ],
)
def test_what_is_no_usable_answer(server: Server, reply: Reply, kind: type[RecollectError]) -> None:
    server.replies = [reply]
    with pytest.raises(kind):
        embedder(server, timeout_seconds=0.5 if kind is OutOfTime else 10).encode(["a"], TextKind.QUERY)


def test_slow_down(server: Server) -> None:
    server.replies = [Reply({"error": {}}, 429, {"Retry-After": "7"})]
    with pytest.raises(Throttled) as raised:
        embedder(server).encode(["a"], TextKind.QUERY)
    assert raised.value.retry_after_seconds == 7


@pytest.mark.parametrize(
    ("model", "generation"),
    [
        ("text-embedding-3-small", "text-embedding-3-small.3"),
        ("BAAI/bge-m3", r"baai-bge-m3\.[0-9a-f]{8}\.3"),
        ("baai-bge-m3", r"baai-bge-m3\.3"),
        ("模型", r"model\.[0-9a-f]{8}\.3"),
        ("m" * 300, r"m{60}\.[0-9a-f]{8}\.3"),
    ],
)
def test_generations_of_two_models_differ(model: str, generation: str) -> None:
    assert re.fullmatch(generation, OpenAiEmbedder(OpenAiEndpoint("http://localhost", model, 3)).generation)


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


def test_what_titan_is_asked(server: Server) -> None:
    server.replies = [Reply(of_length)]
    BedrockEmbedder(client(server.url)).encode([""], TextKind.QUERY)
    path, _, body = server.asked[0]
    assert path == "/model/amazon.titan-embed-text-v2%3A0/invoke"
    assert body == {"inputText": ".", "dimensions": 1024, "normalize": True}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (failure("ServiceUnavailableException", 503, **{"Retry-After": "4"}), Throttled),
        (failure("InternalServerException", 500), Unavailable),
        (failure("AccessDeniedException", 403), UpstreamFailed),
        (Reply(b"<html>"), UpstreamFailed),
        (Reply({"embedding": []}), UpstreamFailed),
        (Reply({"embedding": [1.0] * 255}), UpstreamFailed),
        (Reply({"embedding": [0.0] * 256}), UpstreamFailed),
        (Reply({"embedding": [1e300] * 256}), UpstreamFailed),
    ],
)
def test_what_is_no_usable_answer_of_titan(server: Server, reply: Reply, kind: type[RecollectError]) -> None:
    server.replies = [reply]
    with pytest.raises(kind) as raised:
        BedrockEmbedder(client(server.url), 256).encode(["a", "b"], TextKind.PASSAGE)
    assert getattr(raised.value, "retry_after_seconds", None) == (4 if kind is Throttled else None)


def test_generation_and_dimension_of_titan() -> None:
    embedder = BedrockEmbedder(client("http://127.0.0.1:1"), 512)
    assert embedder.dimension == 512
    assert re.fullmatch(r"amazon\.titan-embed-text-v2-0\.[0-9a-f]{8}\.512", embedder.generation)
    with pytest.raises(ConfigurationError, match="RECOLLECT_EMBEDDING_DIMENSION"):
        BedrockEmbedder(client("http://127.0.0.1:1"), 384)
