"""Titan Text Embeddings V2 on Amazon Bedrock."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Protocol

from pydantic import BaseModel, Field, ValidationError

from recollect.adapters.bedrock_errors import translated
from recollect.adapters.embedders.remote_models import encoding_of, generation_name, sendable
from recollect.core.errors import ConfigurationError, UpstreamFailed
from recollect.core.vectors import Encoding, TextKind
from recollect.retrieval.pooling import COSINE, SimilarityScale

TITAN_V2 = "amazon.titan-embed-text-v2:0"
_DIMENSIONS = (256, 512, 1024)
_CALLS_AT_ONCE = 4
# Titan takes 8,192 tokens; scripts with two tokens for a character nearly fill them with this.
_LONGEST_CHARACTERS = 4_000


class _Body(Protocol):
    def read(self) -> bytes: ...


class BedrockRuntime(Protocol):
    """The one call of the SDK's `bedrock-runtime` client that is used; its time-outs and retries are the client's."""

    def invoke_model(self, *, modelId: str, body: str, contentType: str, accept: str) -> "dict[str, _Body]": ...


class BedrockEmbedder:
    """Encodes with one InvokeModel call a text, four at once, without token vectors. Safe to share between threads."""

    def __init__(self, client: BedrockRuntime, dimension: int = 1024, model_id: str = TITAN_V2) -> None:
        """Raises ConfigurationError unless `dimension` is 256, 512 or 1024."""
        if dimension not in _DIMENSIONS:
            raise ConfigurationError("RECOLLECT_EMBEDDING_DIMENSION", f"Titan has 256, 512 or 1024, not {dimension}")
        self._client, self._dimension, self._model_id = client, dimension, model_id

    @property
    def generation(self) -> str:
        return generation_name(self._model_id, self._dimension)

    @property
    def dimension(self) -> int:
        return self._dimension

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
        """One encoding a text, in order, whatever its kind. Raises Throttled, Unavailable and UpstreamFailed."""
        if len(texts) < 2:
            return [self._encode(text) for text in texts]
        with ThreadPoolExecutor(min(_CALLS_AT_ONCE, len(texts)), "titan") as pool:
            return list(pool.map(self._encode, texts))

    def _encode(self, text: str) -> Encoding:
        asked = {"inputText": sendable(text, _LONGEST_CHARACTERS), "dimensions": self._dimension, "normalize": True}
        return encoding_of(self._invoke(json.dumps(asked)).embedding, self._dimension)

    def _invoke(self, body: str) -> "_Answer":
        with translated():
            answer = self._client.invoke_model(
                modelId=self._model_id, body=body, contentType="application/json", accept="application/json"
            )
            data = answer["body"].read()
        try:
            return _Answer.model_validate_json(data)
        except ValidationError:
            raise UpstreamFailed("the embedding model on Bedrock answered something else than an embedding") from None


class _Answer(BaseModel):
    embedding: Annotated[list[float], Field(min_length=1)]
