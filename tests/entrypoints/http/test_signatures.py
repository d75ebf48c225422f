"""Signatures of AWS's form: what botocore signs is believed, on the laptop and in the cloud, and nothing else."""

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from entrypoints.http.calling import ORIGIN, Caller, Cloud, Laptop
from entrypoints.http.conftest import opened
from entrypoints.http.test_credentials import with_settings
from recollect.app import App
from recollect.core.errors import ConfigurationError, Unauthenticated
from recollect.entrypoints.http.credentials import KeyReader, SignatureReader, read_by
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.signatures import MOST_SKEW
from recollect.settings import Principal, Settings, SigningKey

SECRET = "secret-of-acme-0123456789"
KEYS = {"AKIAACME": {"secret": SECRET, "tenant": "acme", "admin": True}}
URL = f"{ORIGIN}/v1/users/anna/events/%2Fa%20b%40%C3%A9?limit=3&cursor=a%20b%2Fc&empty="
READER = SignatureReader({"AKIAACME": SigningKey(SECRET, Principal("acme"))})


def signed(
    url: str = URL,
    body: bytes = b'{"a": "\xc3\xa9"}',
    key: tuple[str, str] = ("AKIAACME", SECRET),
    scope: tuple[str, str] = ("bedrock-agentcore", "us-west-2"),
    method: str = "POST",
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Call:
    """A call as botocore signs it now."""
    request = AWSRequest(method, url, data=body, headers={"Content-Type": "application/json", **headers})
    SigV4Auth(Credentials(*key), *scope).add_auth(request)
    parts = urlsplit(url)
    sent = {name.lower(): str(value) for name, value in request.headers.items()} | {"host": parts.netloc}
    return Call(
        method=method,
        path=unquote(parts.path),
        raw_path=parts.path,
        query=parse_qsl(parts.query, keep_blank_values=True),
        headers=sent,
        body=body,
    )


def with_header(name: str, change: Callable[[str], str]) -> Callable[[Call], Call]:
    """The call with another value of a header."""
    return lambda call: replace(call, headers={**call.headers, name: change(call.headers.get(name, ""))})


def without(name: str) -> Callable[[Call], Call]:
    """The call without a header."""
    return lambda call: replace(call, headers={key: one for key, one in call.headers.items() if key != name})


@pytest.mark.parametrize(
    ("url", "scope"),
    [
        (URL, ("bedrock-agentcore", "us-west-2")),
        (f"{ORIGIN}/", ("execute-api", "eu-central-1")),
        ("https://memory.example.com/base/x?b=2&a=1&a=0", ("x", "y")),
    ],
)
def test_what_botocore_signs_is_believed(url: str, scope: tuple[str, str]) -> None:
    assert READER.read(signed(url, scope=scope)) == Principal("acme")
    assert READER.read(signed(url, b"", scope=scope, method="GET")) == Principal("acme")


def test_where_the_server_has_decoded_the_path_it_is_encoded_again() -> None:
    call = signed(f"{ORIGIN}/memories/m/actor/a%20b%40%C3%A9%2B~%2A/sessions/s")
    assert READER.read(replace(call, raw_path=None)) == Principal("acme")


CHANGES: Mapping[str, Callable[[Call], Call]] = {
    "another body": lambda call: replace(call, body=b"{}"),
    "another method": lambda call: replace(call, method="DELETE"),
    "another path": lambda call: replace(call, raw_path="/v1/users/bert/events"),
    "another query": lambda call: replace(call, query=[("limit", "4")]),
    "another host": with_header("host", lambda _: "127.0.0.1"),
    "another header": with_header("content-type", lambda _: "text/plain"),
    "another date": with_header("x-amz-date", lambda date: f"{date[:-2]}{(int(date[-2]) + 1) % 10}Z"),
    "no date": without("x-amz-date"),
    "a date that is none": with_header("x-amz-date", lambda _: "today"),
    "another signature": with_header("authorization", lambda one: f"{one[:-1]}{(int(one[-1], 16) + 1) % 16:x}"),
    "no host signed": with_header("authorization", lambda one: one.replace("host;", "")),
    "no date signed": with_header("authorization", lambda one: one.replace(";x-amz-date", "")),
    "another region": with_header("authorization", lambda one: one.replace("us-west-2", "us-east-1")),
    "another service": with_header("authorization", lambda one: one.replace("bedrock-agentcore", "s3")),
    "another end": with_header("authorization", lambda one: one.replace("aws4_request", "aws5_request")),
    "two signatures": with_header("authorization", lambda one: f"{one}, {one}"),
    "an unsigned body": lambda call: with_header("x-amz-content-sha256", lambda _: "UNSIGNED-PAYLOAD")(
        replace(call, body=b"")
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_request_that_differs_from_the_signed_one_is_refused(change: Callable[[Call], Call]) -> None:
    with pytest.raises(Unauthenticated):
        READER.read(change(signed()))


MEANT = ("Idempotency-Key", "If-Match", "If-None-Match", "X-Recollect-User", "X-Recollect-Persona", "X-Recollect-Now")


@pytest.mark.parametrize("name", MEANT)
def test_what_a_header_says_of_a_request_must_be_signed(name: str) -> None:
    assert READER.read(signed(headers={name: "a"})) == Principal("acme")
    with pytest.raises(Unauthenticated):
        READER.read(with_header(name.lower(), lambda _: "a")(signed()))


def test_an_unknown_key_and_a_wrong_secret_are_refused_alike() -> None:
    with pytest.raises(Unauthenticated) as unknown:
        READER.read(signed(key=("AKIANOBODY", SECRET)))
    with pytest.raises(Unauthenticated) as wrong:
        READER.read(signed(key=("AKIAACME", f"{SECRET}0")))
    assert str(unknown.value) == str(wrong.value)


@pytest.mark.parametrize(("skew", "believed"), [(0.9, True), (-0.9, True), (1.1, False), (-1.1, False)])
def test_a_signature_holds_for_some_minutes(skew: float, believed: bool) -> None:
    reader = replace(READER, clock=lambda: datetime.now(UTC) + MOST_SKEW * skew)
    if believed:
        assert reader.read(signed()) == Principal("acme")
    else:
        with pytest.raises(Unauthenticated, match="not of this time"):
            reader.read(signed())


def test_each_reader_leaves_other_forms_to_the_next() -> None:
    keys = KeyReader({"key-a": Principal("of key")})
    authenticate = read_by((READER, keys), "nothing was sent")
    for headers in ({"authorization": "Bearer key-a"}, {"authorization": "Token key-a"}, {"x-api-key": "key-a"}):
        call = Call(method="GET", path="/", headers=headers)
        assert READER.read(call) is None
        assert authenticate(call) == Principal("of key")
    assert keys.read(signed()) is None
    assert authenticate(signed()) == Principal("acme")
    with pytest.raises(Unauthenticated, match="nothing was sent"):
        authenticate(Call(method="GET", path="/", headers={"authorization": "Basic x"}))


def test_the_name_of_an_access_key_is_no_key(tmp_path: Path) -> None:
    """It is sent in the clear with every request."""
    with opened(tmp_path, RECOLLECT_SIGNING_KEYS=json.dumps(KEYS)) as app, closing(Laptop(app)) as laptop:
        caller = Caller(laptop)
        assert caller.timeline().status == 401
        assert caller.get("/v1/bus", authorization="Bearer AKIAACME").status == 401
        call = signed(f"{ORIGIN}/v1/bus", b"", method="GET")
        assert caller.surface.send("GET", "/v1/bus", None, call.headers).status == 200


def test_in_the_cloud_a_signature_has_its_tenant_where_no_token_was_checked(app: App) -> None:
    with_settings(app, signing_keys={"AKIAACME": SigningKey(SECRET, Principal("acme"))})
    Caller(Cloud(app, {"tenant": "acme"})).added("of acme")
    call = signed(f"{ORIGIN}/v1/users/anna/events", b"", method="GET")
    answer = Cloud(app, None).send("GET", "/v1/users/anna/events", None, call.headers)
    assert [one["content"] for one in answer.json["events"]] == ["of acme"]
    by_token = Cloud(app, {"tenant": "globex"}).send("GET", "/v1/users/anna/events", None, call.headers)
    assert by_token.json["events"] == []


@pytest.mark.parametrize(
    "given",
    [
        "no json",
        "[]",
        '{"A": {"tenant": "acme"}}',
        '{"A": {"tenant": "acme", "secret": "short"}}',
        '{"A/B": {"tenant": "acme", "secret": "0123456789abcdef"}}',
        '{"A": {"tenant": "", "secret": "0123456789abcdef"}}',
        '{"A": {"tenant": "acme", "secret": "0123456789abcdef", "user": "anna"}}',
        '{"A": {"tenant": "acme", "secret": 1234567890123456}}',
    ],
)
def test_a_setting_that_is_wrong_is_named_and_not_quoted(given: str) -> None:
    with pytest.raises(ConfigurationError, match="RECOLLECT_SIGNING_KEYS") as error:
        Settings.from_environment({"RECOLLECT_SIGNING_KEYS": given})
    assert "0123456789abcdef" not in str(error.value)


def test_secrets_are_not_shown() -> None:
    settings = Settings.from_environment({"RECOLLECT_SIGNING_KEYS": json.dumps(KEYS)})
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(
    "beside",
    [
        {"RECOLLECT_SIGNING_KEYS_PARAMETER": "/recollect/keys"},
        {"RECOLLECT_API_KEYS": '{"AKIAACME": {"tenant": "globex"}}'},
    ],
)
def test_settings_that_contradict_one_another_are_refused(beside: Mapping[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="RECOLLECT_SIGNING_KEYS"):
        Settings.from_environment({"RECOLLECT_SIGNING_KEYS": json.dumps(KEYS), **beside})


def test_a_replay_is_bounded_by_time() -> None:
    call = signed()
    assert READER.read(call) == READER.read(call)
    later = replace(READER, clock=lambda: datetime.now(UTC) + MOST_SKEW + timedelta(seconds=2))
    with pytest.raises(Unauthenticated):
        later.read(call)
