"""A function without the models asks the one that has them, and gets what the models say, bit for bit."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from recollect.adapters.aws.model_function import FunctionEmbedder, FunctionRelevance, ModelFunction, answered
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.adapters.relevance.table_relevance import TableRelevance
from recollect.contracts.relevance_model import QUESTION, RelevanceModelContract
from recollect.contracts.relevance_model import TEXTS as CONTRACT_TEXTS
from recollect.core.errors import NotReady, RecollectError, Throttled, Unavailable, UpstreamFailed
from recollect.core.vectors import Encoding, TextKind
from recollect.ports import RelevanceModel
from recollect.retrieval.pooling import COSINE

TEXTS = ("I live in Lisbon", "Où est mon vélo ?", "狗")


class Asked(HashingEmbedder):
    """Encodes a question otherwise than a query."""

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        found = super().encode(texts, kind, with_tokens=with_tokens)
        if kind is not TextKind.QUESTION:
            return found
        return [Encoding(one.vector[::-1], one.tokens, replace(one, tokens=None)) for one in found]


THERE = Asked()


class Relevance:
    version = "there.1"

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float(len(question) - len(text)) / 3 for text in texts]


class Client:
    """Lambda: runs the other function in place, through JSON; or answers what it is told to."""

    def __init__(
        self,
        failure: Exception | None = None,
        answer: Any = None,
        function_error: bool = False,
        relevance: RelevanceModel | None = None,
    ) -> None:
        self.names: list[str] = []
        self._relevance = relevance or Relevance()
        self._failure, self._answer, self._function_error = failure, answer, function_error

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        self.names.append(FunctionName)
        if self._failure is not None:
            raise self._failure
        found = answered(json.loads(Payload), THERE, self._relevance) if self._answer is None else self._answer
        failed = {"FunctionError": "Unhandled"} if self._function_error else {}
        return {"Payload": io.BytesIO(json.dumps(found).encode()), **failed}


class TestRelevanceThere(RelevanceModelContract):
    @pytest.fixture
    def model(self) -> RelevanceModel:
        there = TableRelevance({(QUESTION, CONTRACT_TEXTS[0]): 4.0})
        return FunctionRelevance(ModelFunction(Client(relevance=there), "context"))


@pytest.mark.parametrize(("count", "requests"), [(0, 0), (1, 1), (25, 1), (26, 2), (100, 4)])
def test_many_texts_are_read_in_several_requests(count: int, requests: int) -> None:
    client = Client()
    texts = ["x" * n for n in range(count)]
    assert FunctionRelevance(ModelFunction(client, "context")).logits("who?", texts) == Relevance().logits(
        "who?", texts
    )
    assert len(client.names) == requests


def embedder(client: Client) -> FunctionEmbedder:
    function = ModelFunction(client, "context")
    return FunctionEmbedder(
        function=function,
        generation=THERE.generation,
        dimension=THERE.dimension,
        similarity_scale=COSINE,
        question_scale=COSINE,
    )


@pytest.mark.parametrize("with_tokens", [False, True])
@pytest.mark.parametrize("kind", TextKind)
def test_vectors_are_those_of_the_other_function(kind: TextKind, with_tokens: bool) -> None:
    client = Client()
    found = embedder(client).encode(TEXTS, kind, with_tokens=with_tokens)
    for one, wanted in zip(found, THERE.encode(TEXTS, kind, with_tokens=with_tokens), strict=True):
        assert np.array_equal(one.vector, wanted.vector)
        assert (one.tokens is None) == (wanted.tokens is None)
        assert (one.as_query is None) == (wanted.as_query is None)
        if one.as_query is not None and wanted.as_query is not None:
            assert np.array_equal(one.as_query.vector, wanted.as_query.vector)
        if one.tokens is not None and wanted.tokens is not None:
            assert np.array_equal(one.tokens.vectors, wanted.tokens.vectors)
            assert one.tokens.spans == wanted.tokens.spans
    assert client.names == ["context"]


def test_the_second_stage_says_what_it_says_there() -> None:
    relevance = FunctionRelevance(ModelFunction(Client(), "context"))
    assert relevance.logits("where?", TEXTS) == Relevance().logits("where?", TEXTS)
    assert relevance.version == "in context"


def test_nothing_is_asked_about_nothing() -> None:
    client = Client()
    assert embedder(client).encode([], TextKind.QUERY) == []
    assert FunctionRelevance(ModelFunction(client, "context")).logits("where?", []) == []
    assert client.names == []


def _refused(code: str, status: int) -> ClientError:
    error = {"Error": {"Code": code, "Message": "secret text"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(error, "Invoke")


@pytest.mark.parametrize(
    ("client", "wanted"),
    [
        (Client(failure=_refused("TooManyRequestsException", 429)), Throttled),
        (Client(failure=_refused("AccessDeniedException", 403)), NotReady),
        (Client(failure=_refused("ServiceException", 500)), Unavailable),
        (Client(failure=ReadTimeoutError(endpoint_url="https://lambda")), Unavailable),
        (Client(answer={"errorType": "NotReady", "errorMessage": "secret text"}, function_error=True), Unavailable),
        (Client(answer=[]), UpstreamFailed),
        (Client(answer=[{"vector": "AACAPw=="}] * 3), UpstreamFailed),
    ],
)
def test_what_fails_there_is_one_of_our_errors_and_tells_no_text(client: Client, wanted: type[RecollectError]) -> None:
    with pytest.raises(wanted) as failed:
        embedder(client).encode(TEXTS, TextKind.QUERY)
    assert type(failed.value) is wanted
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize("task", ["encode", "read together"])
def test_a_function_without_the_model_says_so(task: str) -> None:
    event = {"task": task, "texts": ["a"], "question": "b", "kind": "query", "tokens": False}
    with pytest.raises(Unavailable):
        answered(event, None, None)
