"""Access keys by reference: read from the parameter store once, at start."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from bootstrap.test_deployment_rules import AWS
from recollect.bootstrap import open_app
from recollect.core.errors import ConfigurationError
from recollect.entrypoints.http.server import check_host
from recollect.settings import Principal, Settings

VARIABLE = "RECOLLECT_SIGNING_KEYS_PARAMETER"
SECRET = "0123456789abcdef"
KEYS = {"AKIAACME": {"secret": SECRET, "tenant": "acme"}}


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in AWS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL_SSM", raising=False)
    with mock_aws():
        client = boto3.client("ssm")
        client.put_parameter(Name="/recollect/keys", Value=json.dumps(KEYS), Type="SecureString")
        client.put_parameter(Name="/recollect/broken", Value=json.dumps({"A/B": KEYS["AKIAACME"]}), Type="SecureString")
        yield client


def settings_with(tmp_path: Path, name: str) -> Settings:
    environment = {"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_EMBEDDER": "none", VARIABLE: name}
    return Settings.from_environment(environment)


@pytest.mark.usefixtures("store")
def test_a_parameter_holds_the_access_keys(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, "/recollect/keys")
    check_host(settings, "0.0.0.0")
    app = open_app(settings)
    app.parts.close()
    key = app.settings.signing_keys["AKIAACME"]
    assert (key.secret, key.principal) == (SECRET, Principal("acme"))


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("name", "told"), [("/recollect/none", "ParameterNotFound"), ("/recollect/broken", "must be JSON such as")]
)
def test_a_wrong_one_stops_the_start_and_quotes_nothing(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as stopped:
        open_app(settings_with(tmp_path, name))
    assert stopped.value.variable == VARIABLE
    assert SECRET not in str(stopped.value)


@pytest.mark.usefixtures("store")
def test_a_name_that_is_a_key_too_stops_the_start(tmp_path: Path) -> None:
    """The name of an access key is sent in the clear with every request."""
    both = replace(settings_with(tmp_path, "/recollect/keys"), api_keys={"AKIAACME": Principal("globex")})
    with pytest.raises(ConfigurationError, match="RECOLLECT_API_KEYS"):
        open_app(both)
