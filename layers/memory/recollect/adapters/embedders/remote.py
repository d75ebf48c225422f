"""The embedders behind a network: any server with an OpenAI-compatible `/embeddings` route, and Titan on Bedrock."""

import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Protocol

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, Field, ValidationError

from recollect.adapters.http_connection import HttpConnection, openai_service
from recollect.core.errors import ConfigurationError, InvalidInput, UpstreamFailed
from recollect.core.learned_share import NOTHING_LEARNED
from recollect.core.vectors import Encoding, TextKind, unit, vector_of
from recollect.retrieval.pooling import COSINE

TITAN_V2 = "amazon.titan-embed-text-v2:0"
_TITAN_DIMENSIONS = (256, 512, 1024)
_TITAN_CALLS_AT_ONCE = 4
# Titan takes 8,192 tokens; scripts with two tokens for a character nearly fill them with this.
_TITAN_LONGEST_CHARACTERS = 4_000
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9.-]+")
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class OpenAiEndpoint:
    """Where the model is and what it takes.

    `base_url` ends before `/embeddings`; `dimension` is that of the model, checked and not requested.
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


class _RemoteEmbedder:
    """Encodes queries and passages alike, without token vectors. Safe to share between threads."""

    similarity_scale = question_scale = COSINE
    learned = NOTHING_LEARNED

    def __init__(self, model: str, dimension: int) -> None:
        self.generation, self.dimension = generation_name(model, dimension), dimension

    def encode(
        self,
        texts: Sequence[str],
        kind: TextKind,  # noqa: ARG002 (the model knows no kinds)
        *,
        with_tokens: bool = False,  # noqa: ARG002 (the model shows no tokens)
    ) -> list[Encoding]:
        """One encoding a text, in order. Raises Throttled, Unavailable, OutOfTime and UpstreamFailed."""
        return self._encoded(texts)

    def _encoded(self, texts: Sequence[str]) -> list[Encoding]:
        raise NotImplementedError


class OpenAiEmbedder(_RemoteEmbedder):
    """Encodes over HTTP."""

    def __init__(self, endpoint: OpenAiEndpoint) -> None:
        super().__init__(endpoint.model, endpoint.dimension)
        self._endpoint = endpoint
        self._connection = HttpConnection(openai_service("the embedding model", endpoint.base_url, endpoint.api_key))

    def _encoded(self, texts: Sequence[str]) -> list[Encoding]:
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

    def _post(self, body: dict[str, object]) -> "_OpenAiAnswer":
        content = self._connection.post("/embeddings", body, self._endpoint.timeout_seconds).content
        try:
            return _OpenAiAnswer.model_validate_json(content)
        except ValidationError:
            raise UpstreamFailed("the embedding model answered something else than embeddings") from None


class _OpenAiItem(BaseModel):
    index: Annotated[int, Field(ge=0)]
    embedding: list[float]


class _OpenAiAnswer(BaseModel):
    data: list[_OpenAiItem]


class _Body(Protocol):
    def read(self) -> bytes: ...


class BedrockRuntime(Protocol):
    """The method of the SDK's `bedrock-runtime` client that is called; the client has time-outs and retries."""

    def invoke_model(self, *, modelId: str, body: str, contentType: str, accept: str) -> "dict[str, _Body]": ...


class BedrockEmbedder(_RemoteEmbedder):
    """Encodes with one InvokeModel call a text, four at once."""

    def __init__(self, client: BedrockRuntime, dimension: int = 1024, model_id: str = TITAN_V2) -> None:
        """Raises ConfigurationError unless `dimension` is 256, 512 or 1024."""
        if dimension not in _TITAN_DIMENSIONS:
            raise ConfigurationError("RECOLLECT_EMBEDDING_DIMENSION", f"Titan has 256, 512 or 1024, not {dimension}")
        super().__init__(model_id, dimension)
        self._client, self._model_id = client, model_id

    def _encoded(self, texts: Sequence[str]) -> list[Encoding]:
        if len(texts) < 2:
            return [self._encode(text) for text in texts]
        with ThreadPoolExecutor(min(_TITAN_CALLS_AT_ONCE, len(texts)), "titan") as pool:
            return list(pool.map(self._encode, texts))

    def _encode(self, text: str) -> Encoding:
        sent = sendable(text, _TITAN_LONGEST_CHARACTERS)
        body = json.dumps({"inputText": sent, "dimensions": self.dimension, "normalize": True})
        return encoding_of(self._invoke(body).embedding, self.dimension)

    def _invoke(self, body: str) -> "_TitanAnswer":
        from recollect.adapters.aws.clients import bedrock_translated  # imports the AWS SDK

        with bedrock_translated():
            answer = self._client.invoke_model(
                modelId=self._model_id, body=body, contentType="application/json", accept="application/json"
            )
            data = answer["body"].read()
        try:
            return _TitanAnswer.model_validate_json(data)
        except ValidationError:
            raise UpstreamFailed("the embedding model on Bedrock answered something else than an embedding") from None


class _TitanAnswer(BaseModel):
    embedding: Annotated[list[float], Field(min_length=1)]


def generation_name(model: str, dimension: int) -> str:
    """A generation, [a-z0-9.-]+, of a model's name and dimension; two names never share one.

    A digest of the whole name stands for what the alphabet or the length (60) cannot hold.
    """
    plain = _NOT_IN_A_NAME.sub("-", model.lower())[:_LONGEST_NAME].strip("-.")
    digest = blake2b(model.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{plain}.{dimension}" if plain == model else f"{plain or 'model'}.{digest}.{dimension}"


def encoding_of(values: ArrayLike, dimension: int) -> Encoding:
    """A model's numbers as a unit vector. Raises UpstreamFailed for another dimension, no numbers, NaN, all zeros."""
    try:
        vector = vector_of(values, dimension)
    except InvalidInput as error:
        raise UpstreamFailed(f"the embedding model answered no usable vector: {error}") from error
    if not np.any(vector):
        raise UpstreamFailed("the embedding model answered a vector of zeros")
    return Encoding(unit(vector), None)


def sendable(text: str, longest_characters: int) -> str:
    """The text as such a model accepts it: cut, no half surrogate pairs, and never empty."""
    cut = text[:longest_characters].encode("utf-8", "replace").decode("utf-8")
    return cut if cut.strip() else "."
