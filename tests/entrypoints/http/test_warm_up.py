"""What a function answers to itself while it starts: good answers, of which neither store nor log tells anything."""

import io
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deployment.template import WITH_DATA, routes
from embedded.setting import Memory, away, open_memory, with_parts
from entrypoints.http.test_credentials import with_settings
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.errors import Forbidden
from recollect.entrypoints.http import warm_up
from recollect.entrypoints.http.aws import build_handler, http_handler
from recollect.entrypoints.http.credentials import checked_tenant
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.models import build_models
from recollect.entrypoints.http.routes import GROUPS, OWN_SERVER, routes_of
from recollect.entrypoints.http.routing import find_route
from recollect.entrypoints.http.warm_up import NEEDED, NOBODY, ROUNDS, WARM_UPS, as_nobody, run_warm_ups, unheard_log
from recollect.entrypoints.lambda_handlers import mcp_handler
from recollect.settings import Settings


def on_trial(memory: Memory) -> App:
    """The app, whose parts do what is to be done dry: on a laptop they do not do it at all."""

    def dry_run(work: Callable[[], object]) -> None:
        work()

    return with_parts(memory, dry_run=dry_run).app


@pytest.fixture
def app(tmp_path: Path) -> Any:
    memory = open_memory(tmp_path)
    yield on_trial(memory)
    memory.app.parts.close()


@pytest.mark.parametrize("group", list(WARM_UPS))
def test_every_warm_up_is_a_good_request_of_its_group(group: str, app: App) -> None:
    groups = (group, *NEEDED.get(group, ()))
    handler = build_handler(app, groups, unheard_log("INFO"), as_nobody)
    for one in WARM_UPS[group]:
        answer = handler(one.event, warm_up._Invocation())
        assert answer["statusCode"] in (200, 201, 204), (one, answer)
        assert find_route(routes_of(groups), Call(method=one.method, path=one.path))


def test_every_function_that_answers_is_warmed_up() -> None:
    """`jobs` and others have no clients; `mcp` and `summarize` have lists of their own."""
    assert set(WARM_UPS) <= {*GROUPS, *OWN_SERVER}
    assert {name for name in WITH_DATA if routes(name)} - {"mcp", "converse", "summarize"} <= set(WARM_UPS)


def test_nobody_is_no_tenant_of_a_token() -> None:
    with pytest.raises(Forbidden):
        checked_tenant(NOBODY.tenant, "no tenant")


def test_nothing_is_logged_meanwhile_and_all_of_it_afterwards(app: App) -> None:
    stream, log = io.StringIO(), logging.getLogger("recollect")
    handler = logging.StreamHandler(stream)
    log.addHandler(handler)
    try:
        http_handler("ingest", "retrieval", app=app)
        logging.getLogger("recollect.test").warning("afterwards")
    finally:
        log.removeHandler(handler)
    assert stream.getvalue() == "afterwards\n"


def test_rounds_end_with_the_first_failure(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    seen: list[str] = []

    def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
        seen.append(event["rawPath"])
        return {"statusCode": 503 if len(seen) == 3 else 404}

    assert run_warm_ups(on_trial(memory), handler, WARM_UPS["retrieval"]) == 2
    assert len(seen) == 3
    memory.app.parts.close()


@pytest.mark.parametrize("changes", [{"embedder": "openai"}, {"embedder": "bedrock"}, {"model_function": "context"}])
def test_an_embedder_of_another_process_is_not_asked(changes: dict[str, str], app: App) -> None:
    elsewhere = with_settings(app, **changes)
    asked: list[str] = []

    def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
        asked.append(event["rawPath"])
        return {"statusCode": 200}

    run_warm_ups(elsewhere, handler, [*WARM_UPS["retrieval"], *WARM_UPS["context"], *WARM_UPS["items"]])
    assert set(asked) == {"/v1/users/nobody/events"}


@pytest.mark.parametrize(("seconds", "rounds"), [(1e9, ROUNDS), (-1.0, 0)])
def test_no_round_begins_when_the_time_is_over(
    seconds: float, rounds: int, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "SECONDS", seconds)
    answered = run_warm_ups(app, lambda _event, _context: {"statusCode": 200}, WARM_UPS["rules"])
    assert answered == rounds * len(WARM_UPS["rules"])


@pytest.mark.parametrize("part", ["timeline", "items", "index"])
def test_a_part_that_is_away_stops_no_start(part: str, tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    with away(memory, part, "tail", "get", "read", "nominate") as without:
        handler = http_handler("retrieval", app=on_trial(without))
    assert callable(handler)
    memory.app.parts.close()


def test_on_a_laptop_nothing_is_warmed_up(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    assert run_warm_ups(memory.app, lambda _event, _context: pytest.fail("asked"), WARM_UPS["ingest"]) == 0
    memory.app.parts.close()


@pytest.mark.usefixtures("loop")
def test_on_aws_a_start_goes_on_though_nothing_answers(cloud_away: dict[str, str]) -> None:
    app = open_app(Settings.from_environment(cloud_away))
    assert callable(http_handler("ingest", "retrieval", "memories", app=app))
    assert callable(mcp_handler(app))


def test_models_are_built_with_those_that_they_name() -> None:
    (search,) = [route for route in routes_of(["retrieval"]) if route.template == "POST /v1/search"]
    build_models([search.body, search.answer])
    nested = search.answer.model_fields["results"].annotation.__args__[0]
    assert search.answer.__pydantic_complete__
    assert nested.__pydantic_complete__
    assert build_models([search.answer, None, int]) == 0
