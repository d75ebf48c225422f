"""The adapter of Titan on Bedrock: the real SDK against a server on this machine."""

import re
from typing import Any

import numpy as np
import pytest

from adapters.embedders.local_server import Reply, Server
from adapters.models.test_bedrock_converse import client, failure
from recollect.adapters.embedders.remote import BedrockEmbedder
from recollect.core.errors import ConfigurationError, RecollectError, Throttled, Unavailable, UpstreamFailed
from recollect.core.vectors import TextKind


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
def test_what_is_no_usable_answer(server: Server, reply: Reply, kind: type[RecollectError]) -> None:
    server.replies = [reply]
    with pytest.raises(kind) as raised:
        BedrockEmbedder(client(server.url), 256).encode(["a", "b"], TextKind.PASSAGE)
    assert getattr(raised.value, "retry_after_seconds", None) == (4 if kind is Throttled else None)


def test_generation_and_dimension() -> None:
    embedder = BedrockEmbedder(client("http://127.0.0.1:1"), 512)
    assert embedder.dimension == 512
    assert re.fullmatch(r"amazon\.titan-embed-text-v2-0\.[0-9a-f]{8}\.512", embedder.generation)
    with pytest.raises(ConfigurationError, match="RECOLLECT_EMBEDDING_DIMENSION"):
        BedrockEmbedder(client("http://127.0.0.1:1"), 384)
