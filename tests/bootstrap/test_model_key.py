"""The key of an OpenAI-compatible server, by reference: read from the parameter store once, at start."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from bootstrap.test_deployment_rules import AWS
from recollect.bootstrap import open_app
from recollect.core.errors import ConfigurationError
from recollect.settings import Settings

NAME = "/recollect/openai-key"
VARIABLE = "RECOLLECT_OPENAI_API_KEY_PARAMETER"
SERVER = {"RECOLLECT_OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "RECOLLECT_OPENAI_MODEL": "llama"}


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in AWS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL_SSM", raising=False)
    with mock_aws():
        client = boto3.client("ssm")
        client.put_parameter(Name=NAME, Value="the-key\n", Type="SecureString")
        client.put_parameter(Name="/recollect/broken", Value="the\nkey", Type="SecureString")
        yield client


def key_of(tmp_path: Path, **variables: str) -> str:
    environment = {"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_EMBEDDER": "none", **SERVER, **variables}
    app = open_app(Settings.from_environment(environment))
    app.parts.close()
    return app.settings.openai_api_key


@pytest.mark.parametrize("asking", [{"RECOLLECT_MODEL": "extractive,openai"}, {"RECOLLECT_EMBEDDER": "openai"}])
def test_who_asks_the_server_has_the_key_decrypted(tmp_path: Path, store: Any, asking: dict[str, str]) -> None:
    assert key_of(tmp_path, **asking, **{VARIABLE: NAME}) == "the-key"


def test_who_does_not_ask_it_does_not_read_it(tmp_path: Path, store: Any) -> None:
    store.delete_parameter(Name=NAME)
    assert key_of(tmp_path, **{VARIABLE: NAME}) == ""


@pytest.mark.parametrize(
    ("name", "told"), [("/recollect/none", "ParameterNotFound"), ("/recollect/broken", "printable")]
)
def test_a_wrong_one_stops_the_start_and_quotes_nothing(tmp_path: Path, store: Any, name: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as stopped:
        key_of(tmp_path, RECOLLECT_MODEL="openai", **{VARIABLE: name})
    assert stopped.value.variable == VARIABLE
    assert "the\\nkey" not in str(stopped.value)
    assert "the\nkey" not in str(stopped.value)


def test_only_one_of_the_two_may_be_set(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as stopped:
        key_of(tmp_path, RECOLLECT_OPENAI_API_KEY="plain", **{VARIABLE: NAME})
    assert stopped.value.variable == VARIABLE
