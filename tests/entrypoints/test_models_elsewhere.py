"""`converse` has no models of recall: it asks `context`, and a turn is the same."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engines.conftest import lambda_context
from entrypoints.http.calling import Answered, Caller, Cloud
from entrypoints.http.conftest import opened
from recollect.adapters.aws.model_function import (
    ENCODE,
    READ_TOGETHER,
    FunctionEmbedder,
    FunctionRelevance,
    ModelFunction,
)
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.app import App
from recollect.core.errors import Unavailable
from recollect.core.time import from_iso
from recollect.entrypoints.lambda_handlers import context_handler
from recollect.retrieval.pooling import COSINE


class Killed(BaseException):
    """The process ends here: nothing of ours may catch it."""


class Lambda:
    """Runs the handler of `context` in place, or fails. `kills` names the task that the caller does not survive."""

    def __init__(self, handler: Callable[..., Any], *, away: bool = False) -> None:
        self.asked: list[str] = []
        self.kills: str | None = None
        self._handler, self._away = handler, away

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        event = json.loads(Payload)
        self.asked.append(event["task"])
        if self._away:
            raise Unavailable("away")
        if event["task"] == self.kills:
            raise Killed
        return {"Payload": io.BytesIO(json.dumps(self._handler(event, None)).encode())}


class Relevance:
    version = "test.1"

    def logits(self, question: str, texts: list[str]) -> list[float]:
        return [5.0 if "violin" in text else -9.0 for text in texts]


class Parts:
    """An app's parts with other models."""

    def __init__(self, parts: Any, embedder: Any, relevance: Any) -> None:
        self._parts, self.embedder, self.relevance_model = parts, embedder, relevance

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parts, name)


@contextmanager
def conversing(folder: Path, *, away: bool = False) -> Iterator[tuple[Caller, Lambda]]:
    """A caller of an app that asks another function for its models."""
    with opened(folder) as app:
        there = App(app.settings, Parts(app.parts, HashingEmbedder(), Relevance()))
        elsewhere = Lambda(context_handler(there), away=away)
        function, known = ModelFunction(elsewhere, "context"), HashingEmbedder()
        embedder = FunctionEmbedder(
            function=function,
            generation=known.generation,
            dimension=known.dimension,
            similarity_scale=COSINE,
            question_scale=COSINE,
        )
        settings = replace(app.settings, model_function="context")
        here = App(settings, Parts(app.parts, embedder, FunctionRelevance(function)))
        yield Caller(Cloud(here)), elsewhere


def missing(answer: Answered) -> list[str]:
    named: list[str] = answer.json["context"]["diagnostics"]["missing"]
    return named


def test_a_turn_asks_the_function_that_has_the_models(tmp_path: Path) -> None:
    with conversing(tmp_path) as (caller, elsewhere):
        caller.added("My violin teacher is Ms Okafor")
        caller.added("The boat leaves on Sunday")
        elsewhere.asked.clear()
        answer = caller.post("/v1/turns", {"user_id": "anna", "input": "Who teaches the violin?", "explain": True})
        assert answer.status == 200
        assert "Ms Okafor" in answer.json["response"]
        assert {"encode", "read together"} <= set(elsewhere.asked)
        assert not {"embedder", "rerank"} & set(missing(answer))


def test_a_turn_goes_on_without_it_and_says_what_is_missing(tmp_path: Path) -> None:
    with conversing(tmp_path, away=True) as (caller, elsewhere):
        caller.added("My violin teacher is Ms Okafor")
        answer = caller.post("/v1/turns", {"user_id": "anna", "input": "Who is my violin teacher?"})
        assert answer.status == 200
        assert "Ms Okafor" in answer.json["response"]
        assert "embedder" in missing(answer)
        assert elsewhere.asked


@pytest.mark.spec("K-74", "K-77")
@pytest.mark.parametrize("kills", [ENCODE, READ_TOGETHER])
def test_a_turn_that_is_killed_while_it_asks_has_lost_nothing_and_goes_on_by_its_key(
    tmp_path: Path, kills: str
) -> None:
    with conversing(tmp_path) as (caller, elsewhere):
        caller.added("My violin teacher is Ms Okafor")
        turn = {"user_id": "anna", "input": "Who teaches the violin?"}
        elsewhere.kills = kills
        with pytest.raises(Killed):
            caller.post("/v1/turns", turn, idempotency_key="once")
        (stored, _) = caller.timeline().json["events"]
        assert stored["content"] == turn["input"]
        elsewhere.kills = None
        later = (from_iso(stored["timestamp"]) + timedelta(minutes=1)).isoformat()
        again = caller.post("/v1/turns", turn, idempotency_key="once", x_recollect_now=later)
        assert (again.status, again.json["input_event_id"]) == (200, stored["id"])
        assert "Ms Okafor" in again.json["response"]
        assert len(caller.timeline().json["events"]) == 3


def test_the_function_with_the_models_still_answers_requests(tmp_path: Path) -> None:
    with opened(tmp_path) as app:
        handler = context_handler(app)
        with pytest.raises(Unavailable):
            handler({"task": "read together", "question": "a", "texts": ["b"]}, None)  # type: ignore[arg-type]
        context = {"http": {"method": "GET", "path": "/v1/nothing"}, "stage": "$default", "requestId": "test"}
        event = {
            "version": "2.0",
            "rawPath": "/v1/nothing",
            "rawQueryString": "",
            "headers": {},
            "requestContext": context,
        }
        assert handler(event, lambda_context())["statusCode"] == 404
