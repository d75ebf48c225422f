"""The provider without a model."""

import json
from dataclasses import replace

import pytest

from recollect.adapters.models.resilient import ExtractiveModel
from recollect.context.extractive_answer import NOTHING
from recollect.context.model_call import ModelRequest, Task
from recollect.contracts.services import ModelContract, a_request
from recollect.ports import Model


class TestExtractive(ModelContract):
    @pytest.fixture
    def model(self) -> Model:
        return ExtractiveModel()


def summarizing(**changes: object) -> ModelRequest:
    return replace(a_request(), task=Task.SUMMARIZE, **changes)  # type: ignore[arg-type]


def test_it_answers_from_the_evidence() -> None:
    answer = ExtractiveModel().generate(a_request())
    assert "“My lurcher is called Biscuit.”" in answer.text
    assert (answer.model, answer.input_tokens) == ("extractive", None)


def test_it_says_when_it_has_nothing() -> None:
    assert ExtractiveModel().generate(replace(a_request(), evidence=())).text == NOTHING
    assert ExtractiveModel().generate(replace(a_request(), user_input="Who?")).text == NOTHING


def test_it_summarizes_as_json_and_as_text() -> None:
    given = json.loads(ExtractiveModel().generate(summarizing(json_answer=True)).text)
    assert given.keys() == {"summary", "tracked_goals"}
    assert "Biscuit" in given["summary"]
    assert isinstance(given["tracked_goals"], list)
    assert ExtractiveModel().generate(summarizing()).text == given["summary"]


def test_the_same_request_gives_the_same_answer() -> None:
    for request in (a_request(), summarizing(json_answer=True)):
        assert ExtractiveModel().generate(request) == ExtractiveModel().generate(request)
