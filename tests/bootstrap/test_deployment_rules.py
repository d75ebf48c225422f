"""The deployment's rules: a file or a parameter, read at start; a wrong one stops it and names every path."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from recollect.bootstrap import open_app
from recollect.core.errors import ConfigurationError, Unavailable
from recollect.rules.groups import Rules
from recollect.settings import Settings

AWS = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "eu-west-1"}
TEA = '{"tags": {"drink": ["tea"]}, "context": {"total": 3}}'


def opened_with(tmp_path: Path, **variables: str) -> Rules:
    """The rules of a tenant of an app that these variables make."""
    environment = {"RECOLLECT_HOME": str(tmp_path / "home"), "RECOLLECT_EMBEDDER": "none", **variables}
    app = open_app(Settings.from_environment(environment))
    try:
        return app.rules.resolved("acme")
    finally:
        app.parts.close()


def with_file(tmp_path: Path, content: bytes) -> Rules:
    """The same with a rules file."""
    file = tmp_path / "rules.json"
    file.write_bytes(content)
    return opened_with(tmp_path, RECOLLECT_RULES=str(file))


def test_without_either_the_defaults_hold(tmp_path: Path) -> None:
    assert opened_with(tmp_path) == Rules()
    assert opened_with(tmp_path, RECOLLECT_RULES="", RECOLLECT_RULES_PARAMETER=" ") == Rules()


@pytest.mark.spec("K-53")
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
def test_a_file_is_merged_over_the_defaults(tmp_path: Path, before: bytes) -> None:
    rules = with_file(tmp_path, before + TEA.encode())
    assert rules.tags == {**Rules().tags, "drink": ("tea",)}
    assert (rules.context.total, rules.context.recent) == (3, 5)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the rules: is no JSON"),
        (b"{", "the rules: is no JSON"),
        (b"[]", "the rules: must be an object"),
        (b"\xff\xfe{\x00", "is not UTF-8"),
        (b'{"scoring": {"base": {"userinput": "much"}}}', "scoring.base.userinput: must be a number, 0 to 1"),
        (b'{"context": {"total": -1}, "odd": 1}', "context.total: must be a whole number, 0 to 50; odd: unknown name"),
    ],
)
def test_a_wrong_file_stops_the_start_and_names_variable_and_paths(tmp_path: Path, content: bytes, told: str) -> None:
    with pytest.raises(ConfigurationError, match="RECOLLECT_RULES: ") as stopped:
        with_file(tmp_path, content)
    assert stopped.value.variable == "RECOLLECT_RULES"
    assert told in str(stopped.value)


def test_a_file_that_is_missing_stops_the_start(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(ConfigurationError, match="cannot be read") as stopped:
            opened_with(tmp_path, RECOLLECT_RULES=str(path))
        assert stopped.value.variable == "RECOLLECT_RULES"


def test_only_one_of_the_two_may_be_set(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as stopped:
        opened_with(tmp_path, RECOLLECT_RULES="a.json", RECOLLECT_RULES_PARAMETER="/recollect/rules")
    assert stopped.value.variable == "RECOLLECT_RULES_PARAMETER"


@pytest.fixture
def parameter(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A parameter store of moto's, with rules in it."""
    for name, value in AWS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL_SSM", raising=False)
    with mock_aws():
        store = boto3.client("ssm")
        store.put_parameter(Name="/recollect/rules", Value=TEA, Type="String")
        store.put_parameter(Name="/recollect/secret", Value=TEA, Type="SecureString")
        store.put_parameter(Name="/recollect/wrong", Value='{"context": {"total": 99}}', Type="String")
        yield "/recollect/rules"


@pytest.mark.parametrize("name", ["/recollect/rules", "/recollect/secret"])
def test_a_parameter_is_merged_over_the_defaults(tmp_path: Path, parameter: str, name: str) -> None:
    rules = opened_with(tmp_path, RECOLLECT_RULES_PARAMETER=name)
    assert (rules.tags["drink"], rules.context.total) == (("tea",), 3)


@pytest.mark.parametrize(
    ("name", "told"),
    [("/recollect/wrong", "context.total: must be a whole number"), ("/recollect/none", "ParameterNotFound")],
)
def test_a_wrong_parameter_stops_the_start(tmp_path: Path, parameter: str, name: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as stopped:
        opened_with(tmp_path, RECOLLECT_RULES_PARAMETER=name)
    assert stopped.value.variable == "RECOLLECT_RULES_PARAMETER"


def test_a_store_that_does_not_answer_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in AWS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SSM", "http://127.0.0.1:9")
    with pytest.raises(Unavailable, match="SSM"):
        opened_with(tmp_path, RECOLLECT_RULES_PARAMETER="/recollect/rules", RECOLLECT_CALL_TIMEOUT_SECONDS="0.2")
