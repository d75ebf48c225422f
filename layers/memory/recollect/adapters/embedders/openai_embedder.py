"""Any server with an OpenAI-compatible `/embeddings` route."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated

import httpx
from pydantic import BaseModel, Field, ValidationError

from recollect.adapters.embedders.remote_models import encoding_of, generation_name, sendable
from recollect.domain.embedding import Encoding, TextKind
from recollect.domain.errors import Throttled, UpstreamFailed

_SLOW_DOWN = (httpx.codes.TOO_MANY_REQUESTS, httpx.codes.SERVICE_UNAVAILABLE)


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

    def __init__(self, endpoint: OpenAiEndpoint, client: httpx.Client | None = None) -> None:
        """`client` brings its own time-out and headers; without it one is made of the endpoint's settings."""
        self._endpoint = endpoint
        self._client = client or _client(endpoint)

    @property
    def generation(self) -> str:
        return generation_name(self._endpoint.model, self._endpoint.dimension)

    @property
    def dimension(self) -> int:
        return self._endpoint.dimension

    def encode(
        self,
        texts: Sequence[str],
        kind: TextKind,  # noqa: ARG002 (the model knows no kinds)
        *,
        with_tokens: bool = False,  # noqa: ARG002 (the model shows no tokens)
    ) -> list[Encoding]:
        """One encoding a text, in order. Raises Throttled (429, 503) and UpstreamFailed (all else)."""
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
        try:
            response = self._client.post(f"{self._endpoint.base_url.rstrip('/')}/embeddings", json=body)
            response.raise_for_status()
            return _Answer.model_validate_json(response.content)
        except httpx.HTTPStatusError as error:
            raise _refusal(error.response) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UpstreamFailed(f"the embedding model cannot be reached ({type(error).__name__})") from error
        except ValidationError as error:
            raise UpstreamFailed("the embedding model answered something else than embeddings") from error


class _Item(BaseModel):
    index: Annotated[int, Field(ge=0)]
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Item]


def _client(endpoint: OpenAiEndpoint) -> httpx.Client:
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    return httpx.Client(timeout=endpoint.timeout_seconds, headers=headers)


def _refusal(response: httpx.Response) -> Throttled | UpstreamFailed:
    if response.status_code in _SLOW_DOWN:
        return Throttled("the embedding model asks to slow down", _seconds(response.headers.get("Retry-After")))
    return UpstreamFailed(f"the embedding model answered status {response.status_code}")


def _seconds(retry_after: str | None) -> float | None:
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after)) if retry_after.strip().isdigit() else _until(retry_after)
    except ValueError:
        return None


def _until(http_date: str) -> float:
    moment = parsedate_to_datetime(http_date)
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
