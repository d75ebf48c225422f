"""The examples of the API's documentation, told again: what they got then they get now, in form."""

from typing import Any

import pytest

from entrypoints.http.promised import document
from infra.tools.api_examples import ROUTES, told
from recollect.entrypoints.http.examples import examples

Step = dict[str, Any]


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Step]:
    """The story's examples as of now."""
    home = tmp_path_factory.mktemp("examples")
    return {name: example for name, example in told(home) if example}


def test_every_operation_has_one() -> None:
    without = {name for name, route in ROUTES.items() if route.documented} - set(examples())
    assert without == {"openapi", "docs"}, "give infra/tools/api_story.json a step, run infra.tools.api_examples"
    assert set(examples()) <= set(ROUTES)


@pytest.mark.parametrize("name", sorted(examples()))
def test_an_example_is_answered_in_the_form_that_is_shown(now: dict[str, Step], name: str) -> None:
    assert form(now[name]) == form(dict(examples()[name])), "stale: .venv/bin/python -m infra.tools.api_examples"


def form(value: Any) -> Any:
    """What an answer looks like, whatever its ids, times and figures; of a list, how it begins."""
    if isinstance(value, dict):
        return {name: form(one) for name, one in value.items()}
    if isinstance(value, list):
        return [form(one) for one in value[:1]]
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def test_the_document_shows_them() -> None:
    search = document()["paths"]["/v1/search"]["post"]
    sent = search["requestBody"]["content"]["application/json"]["example"]
    assert sent == examples()["search"]["body"]
    assert search["responses"]["200"]["content"]["application/json"]["example"] == examples()["search"]["answer"]
    memory = document()["paths"]["/v1/users/{user_id}/memories/{memory_id}"]["get"]
    assert {one["name"]: one.get("example") for one in memory["parameters"]}["user_id"] == "anna"
