"""Any server with an OpenAI-compatible `/embeddings` route."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from recollect.adapters.embedders.remote_models import encoding_of, generation_name, sendable
from recollect.adapters.http_connection import HttpConnection
from recollect.adapters.openai_service import openai_service
from recollect.core.errors import UpstreamFailed
from recollect.core.vectors import Encoding, TextKind
from recollect.retrieval.pooling import COSINE, SimilarityScale


@dataclass(frozen=True, slots=True)
class OpenAiEndpoint:
    """Where the model is and what it takes.

    `base_url` ends before `/embeddings`; `dimension` is what the model answers, it is checked, not asked for.
    A text's first `longest_characters` count: at four to a token a quarter of the 8,192 tokens that such models take,
    so that scripts with a token or two for each character fit as well.
    """

    base_url: str
    model: str
    dimension: int
    api_key: str | None = None
    timeout_seconds: float = 10.0
    longest_characters: int = 8_000
    texts_per_request: int = 64


class OpenAiEmbedder:
    """Encodes over HTTP, queries and passages alike, without token vectors. Safe to share between threads."""

    def __init__(self, endpoint: OpenAiEndpoint) -> None:
        self._endpoint = endpoint
        self._connection = HttpConnection(openai_service("the embedding model", endpoint.base_url, endpoint.api_key))

    @property
    def generation(self) -> str:
        return generation_name(self._endpoint.model, self._endpoint.dimension)

    @property
    def dimension(self) -> int:
        return self._endpoint.dimension

    @property
    def similarity_scale(self) -> SimilarityScale:
        return COSINE

    def encode(
        self,
        texts: Sequence[str],
        kind: TextKind,  # noqa: ARG002 (the model knows no kinds)
        *,
        with_tokens: bool = False,  # noqa: ARG002 (the model shows no tokens)
    ) -> list[Encoding]:
        """One encoding a text, in order. Raises Throttled, Unavailable, OutOfTime and UpstreamFailed."""
        step = self._endpoint.texts_per_request
        batches = [texts[start : start + step] for start in range(0, len(texts), step)]
        return [encoding for batch in batches for encoding in self._encode(batch)]

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        inputs = [sendable(text, self._endpoint.longest_characters) for text in texts]
        answer = self._post({"model": self._endpoint.model, "input": inputs, "encoding_format": "float"})
        by_index = {item.index: item.embedding for item in answer.data}
        if len(answer.data) != len(inputs) or by_index.keys() != set(range(len(inputs))):
            raise UpstreamFailed(f"the embedding model answered {len(answer.data)} vectors for {len(inputs)} texts")
        return [encoding_of(by_index[index], self.dimension) for index in range(len(inputs))]

    def _post(self, body: dict[str, object]) -> "_Answer":
        content = self._connection.post("/embeddings", body, self._endpoint.timeout_seconds).content
        try:
            return _Answer.model_validate_json(content)
        except ValidationError:
            raise UpstreamFailed("the embedding model answered something else than embeddings") from None


class _Item(BaseModel):
    index: Annotated[int, Field(ge=0)]
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Item]
