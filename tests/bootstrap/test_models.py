"""Which model and which web search a deployment has, by its settings alone (K-78)."""

import sys
import time
from functools import partial
from pathlib import Path

import pytest

from adapters.embedders.local_server import Reply, running_server
from recollect.adapters.models import resilient
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.contracts.services import a_request
from recollect.core.errors import ConfigurationError, OutOfTime, Unavailable
from recollect.settings import Settings

OPENAI = {"RECOLLECT_OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "RECOLLECT_OPENAI_MODEL": "llama3.2"}
BEDROCK = {"RECOLLECT_BEDROCK_MODEL": "amazon.nova-lite-v1:0"}


def an_app(home: Path, **environment: str) -> App:
    given = {"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "none", **environment}
    return open_app(Settings.from_environment(given))


def detail(app: App) -> tuple[bool, str]:
    state = app.parts.checks()["model"]()
    return state.ready, state.detail


@pytest.mark.spec("K-78")
def test_without_settings_nothing_leaves_the_machine(tmp_path: Path) -> None:
    app = an_app(tmp_path)
    assert app.parts.model.name == "extractive"
    assert app.parts.web_search is None
    assert detail(app) == (True, "extractive")


@pytest.mark.spec("K-78")
def test_providers_in_the_order_that_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    app = an_app(tmp_path, RECOLLECT_MODEL="bedrock, openai,extractive", **OPENAI, **BEDROCK)
    names = "bedrock:amazon.nova-lite-v1:0, openai:llama3.2, extractive"
    assert detail(app) == (True, names)
    assert app.parts.model.name == names
    assert app.parts.model is app.parts.model


def test_readiness_makes_and_asks_nobody(tmp_path: Path) -> None:
    app = an_app(tmp_path, RECOLLECT_MODEL="bedrock", **BEDROCK)
    assert detail(app) == (True, "bedrock:amazon.nova-lite-v1:0")


def test_a_model_that_is_down_is_reported_and_the_service_stays_ready(tmp_path: Path) -> None:
    with running_server() as server:
        server.replies = [Reply({}, 500)]
        openai = OPENAI | {"RECOLLECT_OPENAI_BASE_URL": f"{server.url}/v1"}
        app = an_app(tmp_path, RECOLLECT_MODEL="openai", **openai)
        for _ in range(5):
            with pytest.raises(Unavailable):
                app.parts.model.generate(a_request(0.2))
    ready, told = detail(app)
    assert ready
    assert told.startswith("openai:llama3.2 (failed too often; tried again in ")


def test_the_time_out_of_one_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resilient, "RetryPolicy", partial(resilient.RetryPolicy, attempts=1))
    began = time.monotonic()
    with running_server() as server:
        server.replies = [Reply({}, after_seconds=5)]
        openai = OPENAI | {"RECOLLECT_OPENAI_BASE_URL": f"{server.url}/v1"}
        app = an_app(tmp_path, RECOLLECT_MODEL="openai", RECOLLECT_MODEL_TIMEOUT_SECONDS="0.1", **openai)
        with pytest.raises(OutOfTime):
            app.parts.model.generate(a_request(30))
    assert time.monotonic() - began < 3


@pytest.mark.spec("K-81")
def test_web_search_at_the_address_that_is_set(tmp_path: Path) -> None:
    with running_server() as server:
        server.replies = [Reply({"AbstractText": "found"})]
        app = an_app(tmp_path, RECOLLECT_WEB_SEARCH="duckduckgo", RECOLLECT_WEB_SEARCH_URL=f"{server.url}/")
        assert app.parts.web_search is not None
        assert app.parts.web_search.search("x", 1) == ("found",)


@pytest.mark.parametrize(
    ("environment", "variable"),
    [
        ({"RECOLLECT_MODEL": "gpt"}, "RECOLLECT_MODEL"),
        ({"RECOLLECT_MODEL": "extractive,extractive"}, "RECOLLECT_MODEL"),
        ({"RECOLLECT_MODEL": "extractive,"}, "RECOLLECT_MODEL"),
        ({"RECOLLECT_MODEL": "openai"}, "RECOLLECT_OPENAI_BASE_URL"),
        ({"RECOLLECT_MODEL": "extractive,openai", **OPENAI, "RECOLLECT_OPENAI_MODEL": ""}, "RECOLLECT_OPENAI_MODEL"),
        ({"RECOLLECT_MODEL": "bedrock"}, "RECOLLECT_BEDROCK_MODEL"),
        ({"RECOLLECT_MODEL_TIMEOUT_SECONDS": "0"}, "RECOLLECT_MODEL_TIMEOUT_SECONDS"),
        ({"RECOLLECT_WEB_SEARCH": "on"}, "RECOLLECT_WEB_SEARCH"),
        ({"RECOLLECT_WEB_SEARCH_URL": "duckduckgo.com"}, "RECOLLECT_WEB_SEARCH_URL"),
        ({"RECOLLECT_OPENAI_BASE_URL": "http://"}, "RECOLLECT_OPENAI_BASE_URL"),
        ({"RECOLLECT_OPENAI_BASE_URL": "http://["}, "RECOLLECT_OPENAI_BASE_URL"),
        ({"RECOLLECT_OPENAI_API_KEY": "se\ncret"}, "RECOLLECT_OPENAI_API_KEY"),
        *(({"RECOLLECT_EMBEDDER": gone}, "RECOLLECT_EMBEDDER") for gone in ("e5-small", "minilm", "onnx", "E5")),
    ],
)
def test_wrong_settings_name_their_variable(environment: dict[str, str], variable: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Settings.from_environment(environment)
    assert raised.value.variable == variable
    assert "cret" not in str(raised.value)


def test_extractive_alone_needs_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("recollect.adapters.http_connection", "urllib3", "boto3"):
        monkeypatch.setitem(sys.modules, name, None)
    assert an_app(tmp_path).parts.model.generate(a_request()).model == "extractive"
