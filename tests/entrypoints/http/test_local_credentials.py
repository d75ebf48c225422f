"""`sam local start-api` gives no claims: a header names the tenant, on this machine and over its engines alone."""

from collections.abc import Mapping

import pytest

from entrypoints.http.calling import Answered, Caller, Cloud
from entrypoints.http.test_credentials import with_settings
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.bootstrap.local_engines import require_local
from recollect.core.errors import ConfigurationError
from recollect.settings import Settings

HERE = {"Host": "127.0.0.1:3000", "X-Recollect-Tenant": "acme"}
TIMELINE = "/v1/users/anna/events"


def asked(app: App, headers: Mapping[str, str], source: str = "127.0.0.1", path: str = TIMELINE) -> Answered:
    return Cloud(app, claims=None, source=source).send("GET", path, None, headers)


@pytest.fixture
def local(app: App) -> App:
    return with_settings(app, local_api=True)


@pytest.mark.parametrize("source", ["127.0.0.1", "127.8.9.1", "::1"])
@pytest.mark.parametrize("host", ["127.0.0.1:3000", "localhost", "[::1]:3000"])
def test_a_header_names_the_tenant_and_its_administrator(local: App, source: str, host: str) -> None:
    assert asked(local, HERE | {"Host": host}, source).status == 200
    assert asked(local, HERE | {"Host": host}, source, "/v1/bus").status == 200


def test_tenants_do_not_meet(local: App) -> None:
    surface = Cloud(local, claims=None, source="127.0.0.1")
    body = b'{"user_id": "anna", "events": [{"content": "of acme"}]}'
    assert surface.send("POST", "/v1/events", body, HERE).status == 201
    counts = [
        len(surface.send("GET", TIMELINE, None, HERE | {"X-Recollect-Tenant": tenant}).json["events"])
        for tenant in ("acme", "globex")
    ]
    assert counts == [1, 0]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "127.0.0.1:3000"},
        {"X-Recollect-Tenant": "acme"},
        HERE | {"Host": "recollect.example.com"},
        HERE | {"Host": "127.0.0.1.example.com:3000"},
        HERE | {"Host": "["},
        HERE | {"Origin": "https://example.com"},
        HERE | {"Origin": "null"},
    ],
)
def test_whatever_else_comes_is_refused(local: App, headers: Mapping[str, str]) -> None:
    assert asked(local, headers).status == 401


@pytest.mark.parametrize("source", ["203.0.113.7", "10.0.0.1", "::ffff:203.0.113.7", "0.0.0.0", "", "localhost"])
def test_a_sender_elsewhere_is_refused(local: App, source: str) -> None:
    """An API on AWS tells the sender's address, which is never loopback."""
    assert asked(local, HERE, source).status == 401


def test_a_tenant_is_checked_as_in_a_token(local: App) -> None:
    assert asked(local, HERE | {"X-Recollect-Tenant": "x" * 129}).status == 403
    assert asked(local, HERE | {"X-Recollect-Tenant": ""}).status == 403


def test_claims_come_first(local: App) -> None:
    surface = Cloud(local, {"tenant": "globex"}, source="127.0.0.1")
    Caller(surface).added("of globex")
    assert len(surface.send("GET", TIMELINE, None, HERE).json["events"]) == 1
    assert Cloud(local, {}, source="127.0.0.1").send("GET", TIMELINE, None, HERE).status == 403


def test_without_the_setting_a_header_is_nothing(app: App) -> None:
    assert asked(app, HERE).status == 401


LOCAL = {
    "RECOLLECT_ENGINES": "aws",
    "RECOLLECT_LOCAL_API": "1",
    "RECOLLECT_EMBEDDER": "none",
    "RECOLLECT_OPENSEARCH_URL": "http://127.0.0.1:9200",
    "RECOLLECT_SNAPSHOT_BUCKET": "recollect-local",
}
ENGINES = {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:8701", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:8702"}
KEYS = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment as a function has it on AWS: no endpoint is given."""
    for name in ("AWS_ENDPOINT_URL", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", *ENGINES):
        monkeypatch.delenv(name, raising=False)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_over_engines_of_this_machine_it_starts(elsewhere: pytest.MonkeyPatch) -> None:
    for name, value in ENGINES.items():
        elsewhere.setenv(name, value)
    assert open_app(Settings.from_environment(LOCAL)).settings.local_api


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        ({}, {}),
        ({"AWS_ENDPOINT_URL_S3": ENGINES["AWS_ENDPOINT_URL_S3"]}, {}),
        ({"AWS_ENDPOINT_URL_DYNAMODB": ENGINES["AWS_ENDPOINT_URL_DYNAMODB"]}, {}),
        (ENGINES | {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, {}),
        (ENGINES, {"RECOLLECT_OPENSEARCH_URL": "https://search-a-b.us-east-1.es.amazonaws.com"}),
    ],
)
def test_on_aws_no_process_starts_with_it(
    elsewhere: pytest.MonkeyPatch, given: Mapping[str, str], settings: Mapping[str, str]
) -> None:
    for name, value in given.items():
        elsewhere.setenv(name, value)
    with pytest.raises(ConfigurationError, match="RECOLLECT_LOCAL_API"):
        open_app(Settings.from_environment({**LOCAL, **settings}))


@pytest.mark.parametrize(
    ("endpoint", "here"),
    [
        ("http://127.0.0.1:8701", True),
        ("http://[::1]:8701", True),
        ("http://localhost:8701", True),
        ("http://dynamodb:8701", True),
        ("http://host.docker.internal:8701", True),
        ("https://127.0.0.1:8701", False),
        ("http://10.0.0.1:8701", False),
        ("http://134744072", False),
        ("http://dynamodb.us-east-1.amazonaws.com", False),
        ("", False),
    ],
)
def test_what_is_on_this_machine(endpoint: str, here: bool) -> None:
    if here:
        require_local([endpoint])
        return
    with pytest.raises(ConfigurationError, match="RECOLLECT_LOCAL_API"):
        require_local([endpoint])
