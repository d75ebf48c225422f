"""The models in another function: for one that mostly waits, such as `converse` for its language model.

`POST /v1/turns` waits for seconds; a function with the models in it would cost its whole memory all that time. So the
models stay where contexts are built, and this process asks that function: once for the question's vector, once for what
the second stage finds. Vectors travel as their own bytes, so that they are the same, bit for bit.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recollect.adapters.aws.clients import ClientPolicy, of_ours, translated
from recollect.core.errors import Unavailable, UpstreamFailed
from recollect.core.items import in_parts
from recollect.core.learned_share import NOTHING_LEARNED, LearnedShares
from recollect.core.vectors import Encoding, FloatArray, TextKind, TokenVectors

if TYPE_CHECKING:
    from recollect.ports import Embedder, RelevanceModel
    from recollect.retrieval.pooling import SimilarityScale

SERVICE = "Lambda"
ENCODE, READ_TOGETHER = "encode", "read together"
_NUMBERS = "<f4"
POLICY = ClientPolicy(connect_seconds=1.0, read_seconds=5.0, tries=1)
"""Once: while the function still works on a try that was given up, a second one waits for another start of it."""
READ_AT_ONCE = 25
"""Texts of one request to read: a function reads so many well within its client's time."""
_REQUESTS_AT_ONCE = 4


class LambdaClient(Protocol):
    """The method of boto3's client of Lambda that is called."""

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]: ...


def lambda_client() -> LambdaClient:
    """A client of Lambda."""
    import boto3

    client: LambdaClient = boto3.Session().client("lambda", config=POLICY.config)
    return of_ours(client)


@dataclass(frozen=True, slots=True)
class ModelFunction:
    """The function that has the models."""

    client: LambdaClient
    name: str

    def ask(self, task: str, **given: Any) -> Any:
        """Its answer. Raises Throttled, NotReady, Unavailable, also where it fails; UpstreamFailed."""
        payload = json.dumps({"task": task, **given}).encode()
        with translated(SERVICE):
            answer = self.client.invoke(FunctionName=self.name, Payload=payload)
            body = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            raise Unavailable(f"the function of the models failed: {_kind_of(body)}")
        return body


def _kind_of(body: Any) -> str:
    """The class of its error: the message may quote what it was sent."""
    return str(body.get("errorType", "unknown")) if isinstance(body, dict) else "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionEmbedder:
    """`Embedder` there; what is known of the model without asking is given."""

    function: ModelFunction
    generation: str
    dimension: int
    similarity_scale: SimilarityScale
    question_scale: SimilarityScale
    learned: LearnedShares = NOTHING_LEARNED

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        """One encoding a text, in order. Raises what `ModelFunction.ask` raises."""
        found = self.function.ask(ENCODE, texts=list(texts), kind=kind.value, tokens=with_tokens) if texts else []
        if len(found) != len(texts):
            raise UpstreamFailed(f"the function of the models answered {len(found)} vectors for {len(texts)} texts")
        return [_encoding_in(one, self.dimension) for one in found]


class FunctionRelevance:
    """`RelevanceModel` there. `version` says where: its own is known there."""

    def __init__(self, function: ModelFunction) -> None:
        self._function = function
        self.version = f"in {function.name}"

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """One of each text, in order. Raises what `ModelFunction.ask` raises."""
        parts = list(in_parts(texts, READ_AT_ONCE))
        if len(parts) < 2:
            return [one for part in parts for one in self._read(question, part)]
        with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as pool:
            work = [pool.submit(copy_context().run, self._read, question, part) for part in parts]
            return [one for part in work for one in part.result()]

    def _read(self, question: str, texts: Sequence[str]) -> list[float]:
        found = self._function.ask(READ_TOGETHER, question=question, texts=list(texts))
        if len(found) != len(texts):
            raise UpstreamFailed(f"the function of the models answered {len(found)} logits for {len(texts)} texts")
        return [float(one) for one in found]


def answered(event: Mapping[str, Any], embedder: Embedder | None, relevance: RelevanceModel | None) -> list[Any]:
    """What the function that has the models answers. Raises Unavailable without the model that is asked for."""
    if event["task"] == ENCODE and embedder is not None:
        made = embedder.encode(event["texts"], TextKind(event["kind"]), with_tokens=bool(event["tokens"]))
        return [_packed(one) for one in made]
    if event["task"] == READ_TOGETHER and relevance is not None:
        return relevance.logits(event["question"], event["texts"])
    raise Unavailable("this function has no such model")


def _packed(encoding: Encoding) -> dict[str, Any]:
    tokens, plain = encoding.tokens, encoding.as_query
    packed: dict[str, Any] = {"vector": _text_of(encoding.vector)}
    if plain is not None:
        packed["as_query"] = _packed(plain)
    return packed if tokens is None else {**packed, "tokens": _text_of(tokens.vectors), "spans": list(tokens.spans)}


def _encoding_in(packed: Mapping[str, Any], dimension: int) -> Encoding:
    vector = _numbers_in(packed["vector"])
    if vector.shape != (dimension,):
        raise UpstreamFailed(f"a vector of {len(vector)} numbers where {dimension} are expected")
    as_query = _encoding_in(packed["as_query"], dimension) if "as_query" in packed else None
    if "tokens" not in packed:
        return Encoding(vector, None, as_query)
    spans = tuple((int(start), int(end)) for start, end in packed["spans"])
    tokens = TokenVectors(_numbers_in(packed["tokens"]).reshape(len(spans), dimension), spans)
    return Encoding(vector, tokens, as_query)


def _text_of(numbers: FloatArray) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, _NUMBERS).tobytes()).decode("ascii")


def _numbers_in(text: str) -> FloatArray:
    return np.frombuffer(base64.b64decode(text), _NUMBERS).astype(np.float32)
