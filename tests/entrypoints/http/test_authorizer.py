"""A stack's authorizer: clients' own headers go through it to the functions behind, and nobody else's do."""

import base64
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from entrypoints.http.calling import CONTEXT, ORIGIN, Answered, Cloud
from entrypoints.http.conftest import opened
from recollect.api_keys import PREFIX, ApiKeys
from recollect.app import App
from recollect.core.errors import ConfigurationError, InvalidInput, NotFound
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.authorizer import Authorizer, build_authorizer
from recollect.entrypoints.http.aws import build_handler
from recollect.entrypoints.http.routes import GROUPS
from recollect.settings import Principal, Settings

AT = datetime(2026, 11, 1, tzinfo=UTC)
AUDIENCE = "web-client"
SECURED = "/v1/users/anna/events"


@dataclass
class Issuer:
    """An OpenID provider on this machine; `asked` are the paths that were asked for."""

    key: RSAPrivateKey
    url: str = ""
    status: int = 200
    asked: list[str] = field(default_factory=list)

    def token(self, key: RSAPrivateKey | None = None, *, kid: str = "one", **changed: Any) -> str:
        """One that is good for an hour, but for what is changed; None leaves a claim out."""
        now = datetime.now(UTC)
        claims = {"iss": self.url, "aud": AUDIENCE, "exp": now + timedelta(hours=1), "tenant": "acme", **changed}
        given = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(given, key or self.key, "RS256", headers={"kid": kid})

    def answer(self, path: str) -> Any:
        self.asked.append(path)
        if path.endswith("/openid-configuration"):
            return {"jwks_uri": f"{self.url}/keys"}
        return {"keys": [{**RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True), "kid": "one", "use": "sig"}]}


@contextmanager
def serving(issuer: Issuer) -> Iterator[Issuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(issuer.answer(self.path)).encode()
            self.send_response(issuer.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def rsa_key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


@pytest.fixture
def issuer(rsa_key: RSAPrivateKey) -> Iterator[Issuer]:
    with serving(Issuer(rsa_key)) as one:
        yield one


@dataclass
class Stack(Cloud):
    """The functions behind an API that asks the authorizer first, and hands on what that found."""

    authorizer: Authorizer | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._handler = build_handler(self.app, (*GROUPS, "mem0"), AccessLog("INFO", self.log, f"stack-{id(self)}"))

    def event(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> dict[str, Any]:
        """As API Gateway makes it: the authorizer sees the request without its body."""
        assert self.authorizer is not None
        event = super().event(method, target, body, headers)
        del event["requestContext"]["authorizer"]
        told = self.authorizer({**event, "type": "REQUEST", "body": None}, CONTEXT)
        json.dumps(told)
        assert told["isAuthorized"] is True
        event["requestContext"]["authorizer"] = {"lambda": told["context"]}
        return event


def settings_of(issuer: Issuer, **more: str) -> Settings:
    given = {"RECOLLECT_JWT_ISSUER": issuer.url, "RECOLLECT_JWT_AUDIENCES": f"other, {AUDIENCE}"}
    return Settings.from_environment({**given, **more})


@pytest.fixture
def stack(app: App, issuer: Issuer) -> Stack:
    return Stack(app, authorizer=build_authorizer(settings_of(issuer), app.parts.items))


@pytest.fixture
def keys(app: App) -> ApiKeys:
    return ApiKeys(app.parts.items)


def asked(stack: Stack, headers: Mapping[str, str], path: str = SECURED) -> Answered:
    return stack.send("GET", path, None, headers)


def sent_forms(secret: str) -> list[dict[str, str]]:
    """What clients send: ours, mem0's, LangGraph's, as they themselves make it where they are here."""
    langgraph = get_sync_client(url=ORIGIN, api_key=secret).store.http.client.headers
    return [
        {"Authorization": f"Bearer {secret}"},
        {"Authorization": f"Token {secret}", "Mem0-User-ID": "0"},
        dict(langgraph),
    ]


@pytest.mark.parametrize("form", range(3))
def test_a_key_is_read_in_every_form_and_says_the_tenant(stack: Stack, keys: ApiKeys, form: int) -> None:
    of_acme, of_globex = (keys.make(Principal(one), "", AT)[0] for one in ("acme", "globex"))
    headers = sent_forms(of_acme)[form]
    body = json.dumps({"user_id": "anna", "events": [{"content": "I moved to Lyon"}]}).encode()
    stored = stack.send("POST", "/v1/events", body, {**headers, "X-Recollect-Tenant": "globex"})
    assert stored.status == 201
    assert [one["content"] for one in asked(stack, headers).json["events"]] == ["I moved to Lyon"]
    assert asked(stack, sent_forms(of_globex)[form]).json["events"] == []


def langgraph_through(send: Callable[[httpx.Request], httpx.Response], secret: str) -> SyncLangGraphClient:
    """LangGraph's client, unchanged, with its own headers; what it sends goes there in place of a socket."""
    made = get_sync_client(url=ORIGIN, api_key=secret).store.http.client
    return SyncLangGraphClient(
        httpx.Client(base_url=made.base_url, headers=made.headers, transport=httpx.MockTransport(send))
    )


def test_langgraph_s_client_keeps_items_on_a_stack_each_tenant_its_own(stack: Stack, keys: ApiKeys) -> None:
    def send(request: httpx.Request) -> httpx.Response:
        target, headers = request.url.raw_path.decode(), dict(request.headers)
        answered = stack.send(request.method, target, request.read() or None, headers)
        return httpx.Response(answered.status, text=answered.text)

    acme, globex = (langgraph_through(send, keys.make(Principal(one), "", AT)[0]).store for one in ("acme", "globex"))
    acme.put_item(["notes", "anna"], key="tea", value={"text": "green", "cups": 2})
    assert acme.get_item(["notes", "anna"], key="tea")["value"] == {"text": "green", "cups": 2}
    found = acme.search_items(["notes"], filter={"cups": {"$gt": 1}})["items"]
    assert [one["key"] for one in found] == ["tea"]
    assert acme.list_namespaces()["namespaces"] == [["notes", "anna"]]
    assert globex.search_items(["notes"])["items"] == []
    acme.delete_item(["notes", "anna"], key="tea")
    assert acme.search_items(["notes"])["items"] == []
    with pytest.raises(httpx.HTTPStatusError, match="the key is unknown"):
        langgraph_through(send, f"{PREFIX}made-up").store.search_items(["notes"])


def test_mem0_s_client_is_answered_by_its_own_header(stack: Stack, keys: ApiKeys) -> None:
    headers, other = (sent_forms(keys.make(Principal(one), "", AT)[0])[1] for one in ("acme", "globex"))
    added = {"messages": [{"role": "user", "content": "I drink green tea"}], "user_id": "anna", "infer": False}
    assert stack.send("POST", "/v3/memories/add/", json.dumps(added).encode(), headers).status == 200
    wanted = json.dumps({"query": "tea", "filters": {"user_id": "anna"}, "threshold": 0}).encode()
    found = [stack.send("POST", "/v3/memories/search/", wanted, one).json["results"] for one in (headers, other)]
    assert [[one["memory"] for one in each] for each in found] == [["I drink green tea"], []]
    assert stack.send("GET", "/v1/ping/", None, {"Authorization": "Token none"}).status == 401


def test_a_token_is_taken_as_before_and_in_the_other_forms(stack: Stack, issuer: Issuer) -> None:
    for headers in sent_forms(issuer.token()):
        assert asked(stack, headers).status == 200
    assert asked(stack, {"Authorization": f"Bearer {issuer.token(tenant=None)}"}).status == 403
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]


def test_an_access_token_of_cognito_names_its_client_instead_of_an_audience(stack: Stack, issuer: Issuer) -> None:
    assert asked(stack, {"Authorization": f"Bearer {issuer.token(aud=None, client_id=AUDIENCE)}"}).status == 200
    assert asked(stack, {"Authorization": f"Bearer {issuer.token(aud='x', client_id=AUDIENCE)}"}).status == 401


def test_a_bad_token_is_refused_with_401_so_that_clients_ask_for_a_new_one(
    stack: Stack, issuer: Issuer, rsa_key: RSAPrivateKey
) -> None:
    past, ahead = (datetime.now(UTC) + timedelta(minutes=by) for by in (-1, 5))
    another = generate_private_key(65537, 2048)
    unsigned = jwt.encode({"iss": issuer.url, "aud": AUDIENCE, "exp": ahead, "tenant": "acme"}, "", "none")
    deep = base64.urlsafe_b64encode(b"[" * 6000).decode()
    by_text = jwt.encode({"iss": issuer.url, "aud": AUDIENCE, "exp": ahead}, "s" * 32, "HS256", headers={"kid": "one"})
    bad = [
        issuer.token(exp=past), issuer.token(exp=None), issuer.token(nbf=ahead), issuer.token(iss="https://elsewhere"),
        issuer.token(iss=None), issuer.token(aud="somebody"), issuer.token(aud=None), issuer.token(aud=[{}]),
        issuer.token(another), issuer.token(kid="two"), unsigned, by_text, issuer.token()[:-8],
        "no token", "a.b.c", "", f"{deep}.e30.x",
    ]  # fmt: skip
    for token in bad:
        answer = asked(stack, {"Authorization": f"Bearer {token}"})
        assert (answer.status, "www-authenticate" in answer.headers) == (401, True), token
    assert len(issuer.asked) == 2, "no stranger makes it ask the issuer again and again"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Token {PREFIX}made-up"},
        {"x-api-key": ""},
        {"x-api-key": PREFIX},
        {"x-api-key": "\ud800"},
        {"X-Recollect-Tenant": "acme"},
    ],
)
def test_who_has_no_credentials_is_nobody(stack: Stack, keys: ApiKeys, headers: Mapping[str, str]) -> None:
    keys.make(Principal("acme", admin=True), "", AT)
    assert asked(stack, headers).status == 401


def test_a_revoked_key_is_refused_at_once_and_the_others_go_on(stack: Stack, keys: ApiKeys) -> None:
    (old, made), (new, _) = (keys.make(Principal("acme"), label, AT) for label in ("old", "new"))
    assert [asked(stack, {"x-api-key": one}).status for one in (old, new)] == [200, 200]
    assert keys.revoke(made.id, AT).label == "old"
    assert [asked(stack, {"x-api-key": one}).status for one in (old, new)] == [401, 200]
    with pytest.raises(NotFound):
        keys.revoke(made.id, AT)


def test_a_key_is_an_administrator_s_only_where_it_was_made_so(stack: Stack, keys: ApiKeys) -> None:
    for admin, status in ((False, 403), (True, 200)):
        key, _ = keys.make(Principal("acme", admin=admin), "", AT)
        assert asked(stack, {"x-api-key": key}, "/v1/snapshots").status == status


def test_with_a_subject_claim_a_token_is_one_user_s_and_a_key_every_user_s(
    tmp_path: Path, issuer: Issuer, keys: ApiKeys
) -> None:
    with opened(tmp_path / "with-subject", RECOLLECT_SUBJECT_CLAIM="sub") as app:
        keys = ApiKeys(app.parts.items)
        settings = settings_of(issuer, RECOLLECT_SUBJECT_CLAIM="sub")
        stack = Stack(app, authorizer=build_authorizer(settings, app.parts.items))
        for subject, status in (("anna", 200), ("ben", 403), (None, 403)):
            headers = {"Authorization": f"Bearer {issuer.token(sub=subject)}"}
            assert asked(stack, headers).status == status
        assert asked(stack, {"x-api-key": keys.make(Principal("acme"), "", AT)[0]}).status == 200


def test_where_the_issuer_is_away_tokens_wait_and_keys_go_on(app: App, issuer: Issuer, keys: ApiKeys) -> None:
    issuer.status = 500
    stack = Stack(app, authorizer=build_authorizer(settings_of(issuer), app.parts.items))
    key, _ = keys.make(Principal("acme"), "", AT)
    token = {"Authorization": f"Bearer {issuer.token()}"}
    assert [asked(stack, one).status for one in (token, {"x-api-key": key})] == [503, 200]
    issuer.status = 200
    assert asked(stack, token).status == 200


def test_what_is_handed_on_and_makes_no_sense_is_nobody(app: App) -> None:
    for found in ({}, {"tenant": ""}, {"tenant": 5}, {"admin": True}, {"refused": "Surprise"}):
        stack = Stack(app, authorizer=lambda *_, found=found: {"isAuthorized": True, "context": found})
        assert asked(stack, {}).status in (401, 403)


def test_nothing_of_a_key_or_token_is_stored_or_logged(
    app: App, stack: Stack, keys: ApiKeys, issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key, made = keys.make(Principal("acme"), "shop", AT)
    token = issuer.token()
    for secret in (key, token, key[:-1], token[:-4]):
        asked(stack, {"x-api-key": secret})
    said = stack.log.getvalue() + caplog.text + repr(list(keys.every())) + repr(made)
    assert key[len(PREFIX) :][:12] not in said
    assert token[-20:-4] not in said
    assert stack.log.getvalue().count('"status":200') == 2
    files = [one.read_bytes() for one in app.settings.home.rglob("*") if one.is_file()]
    assert not [one for one in files if key.encode() in one]
    assert any(made.hash.encode() in one for one in files)


def test_keys_are_listed_by_id_and_revoked_by_as_much_of_it_as_is_one_s_alone(keys: ApiKeys) -> None:
    made = [keys.make(Principal("acme"), str(number), AT)[1] for number in range(20)]
    assert {one.label for one in keys.every()} == {one.label for one in made}
    with pytest.raises(InvalidInput):
        keys.revoke(next(one.hash[0] for one in made if sum(two.hash[0] == one.hash[0] for two in made) > 1), AT)
    with pytest.raises(NotFound):
        keys.revoke("", AT)


@pytest.mark.parametrize("tenant", ["", "x" * 129, "a\nb", "\ud800"])
def test_a_key_is_made_for_what_can_be_a_tenant(keys: ApiKeys, tenant: str) -> None:
    with pytest.raises(InvalidInput):
        keys.make(Principal(tenant), "", AT)
    assert list(keys.every()) == []


def test_an_authorizer_without_an_issuer_does_not_start(app: App) -> None:
    with pytest.raises(ConfigurationError, match="RECOLLECT_JWT_ISSUER"):
        build_authorizer(app.settings, app.parts.items)
