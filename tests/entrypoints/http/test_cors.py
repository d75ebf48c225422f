"""Pages of origins that the settings name may call the laptop's server; all others may not."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from deployment.template import template
from entrypoints.http.calling import Answered, Caller, Laptop
from entrypoints.http.conftest import opened, settings_in
from recollect.core.errors import ConfigurationError
from recollect.entrypoints.http.cors import ALLOWED_HEADERS, EXPOSED_HEADERS, MAX_AGE_SECONDS, METHODS

PAGE = "https://app.example.com"
KEYS = '{"key-a": {"tenant": "acme", "admin": true}}'


@contextmanager
def serving(home: Path, origins: str, **settings: str) -> Iterator[Laptop]:
    with opened(home, RECOLLECT_CORS_ORIGINS=origins, **settings) as app, closing(Laptop(app)) as laptop:
        yield laptop


def preflight(laptop: Laptop, path: str, origin: str) -> Answered:
    asked = {"origin": origin, "host": "localhost:8700", "access-control-request-method": "POST"}
    return laptop.send("OPTIONS", path, None, asked)


@pytest.mark.parametrize(("origins", "allowed"), [(f"http://localhost:3000, {PAGE}", PAGE), ("*", "*")])
def test_a_preflight_is_answered_without_a_key(tmp_path: Path, origins: str, allowed: str) -> None:
    with serving(tmp_path, origins, RECOLLECT_API_KEYS=KEYS) as laptop:
        answer = preflight(laptop, "/v1/search", PAGE)
    assert (answer.status, answer.text) == (204, "")
    assert answer.headers["access-control-allow-origin"] == allowed
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "authorization" in answer.headers["access-control-allow-headers"]
    assert answer.headers.get("vary") == (None if allowed == "*" else "origin")


def test_every_answer_names_the_page_that_may_read_it_errors_too(tmp_path: Path) -> None:
    with serving(tmp_path, PAGE, RECOLLECT_API_KEYS=KEYS) as laptop:
        for headers, status in (({"authorization": "Bearer key-a"}, 200), ({}, 401)):
            answer = Caller(laptop).get("/v1/rules", origin=PAGE, **headers)
            assert answer.status == status
            assert answer.headers["access-control-allow-origin"] == PAGE
            assert "etag" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize("origin", ["https://evil.example", f"{PAGE}.evil.example", "http://app.example.com", "null"])
def test_no_other_page_is_let_in(tmp_path: Path, origin: str) -> None:
    with serving(tmp_path, PAGE) as laptop:
        assert Caller(laptop).get("/v1/health", origin=PAGE).status == 200
        for answer in (preflight(laptop, "/v1/search", origin), Caller(laptop).get("/v1/health", origin=origin)):
            assert answer.status == 403
            assert "access-control-allow-origin" not in answer.headers


def test_mcp_is_for_no_page(tmp_path: Path) -> None:
    with serving(tmp_path, PAGE, RECOLLECT_API_KEYS=KEYS) as laptop:
        assert "access-control-allow-origin" not in preflight(laptop, "/mcp", PAGE).headers


def test_it_is_what_the_api_in_the_cloud_says() -> None:
    told = template()["Resources"]["Api"]["Properties"]["DefinitionBody"]["x-amazon-apigateway-cors"]["Fn::If"][1]
    assert tuple(told["allowMethods"]) == METHODS
    assert tuple(told["allowHeaders"]) == ALLOWED_HEADERS
    assert tuple(told["exposeHeaders"]) == EXPOSED_HEADERS
    assert told["maxAge"] == MAX_AGE_SECONDS


@pytest.mark.parametrize("wrong", ["app.example.com", "https://app.example.com/", "ftp://x", "*"])
def test_a_wrong_setting_names_its_variable(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="RECOLLECT_CORS_ORIGINS"):
        settings_in(tmp_path, RECOLLECT_CORS_ORIGINS=wrong)
