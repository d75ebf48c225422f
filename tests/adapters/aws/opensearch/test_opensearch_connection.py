"""How requests are sent, signed and given up, and what becomes of their errors."""

import hashlib
import hmac
import logging
import subprocess
import sys
import time
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from adapters.embedders.local_server import Reply, Request, Server
from recollect.adapters.aws.index_format import IndexPlan
from recollect.adapters.aws.opensearch import OpenSearchConnection, OpenSearchIndex, Signing, signing_for
from recollect.contracts.examples import a_document, a_request, a_scope, a_vector, an_event
from recollect.core.errors import (
    ConfigurationError,
    NotReady,
    RecollectError,
    Throttled,
    Unavailable,
    UpstreamFailed,
    WritesBlocked,
)

PLAN = IndexPlan(prefix="p", generation="g", dimension=8)
CORPUS = {"status": 200, "timed_out": False, "_shards": {"failed": 0}, "hits": {"total": {"value": 0}}}
EMPTY = {"responses": [{**CORPUS, "aggregations": {"terms": {"value": 0.0}}}]}
SECRET = "a secret key"


def index_at(url: str, **changes: object) -> OpenSearchIndex:
    return OpenSearchIndex(OpenSearchConnection(**{"url": url, **changes}), PLAN)  # type: ignore[arg-type]


def nominate(index: OpenSearchIndex) -> None:
    index.nominate(a_scope(), a_request())


def test_a_nomination_is_one_request(server: Server) -> None:
    answers = [EMPTY["responses"][0]] * 5
    answers[1] = answers[3] = CORPUS
    answers[2] = {**CORPUS, "aggregations": {"documents": {"buckets": [{"doc_count": 0}]}}}
    answers[4] = {**CORPUS, "aggregations": {"reasons": {"buckets": {}}, "remaining": {"doc_count": 0}}}
    server.replies = [Reply({"responses": answers})]
    index_at(server.url).nominate(a_scope(), a_request("paris", vector=a_vector(), count=True))
    (asked,) = server.requests
    assert asked.path.partition("?")[0] == "/p-g/_msearch"
    assert len(asked.body.splitlines()) == 2 * len(answers)


def test_a_plain_url_sends_no_credentials(server: Server) -> None:
    server.replies = [Reply(EMPTY)]
    nominate(index_at(server.url))
    assert "authorization" not in server.requests[0].headers


def test_the_urls_user_is_sent_as_basic_authentication(server: Server) -> None:
    server.replies = [Reply(EMPTY)]
    nominate(index_at(f"{server.url.replace('//', '//user:p%40ss%3A@')}"))
    assert server.requests[0].headers["authorization"] == "Basic dXNlcjpwQHNzOg=="


def test_requests_to_a_managed_domain_are_signed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ACCESS_KEY_ID", "AKID"), ("SECRET_ACCESS_KEY", SECRET), ("SESSION_TOKEN", "the token")):
        monkeypatch.setenv(f"AWS_{name}", value)
    server.replies = [Reply(EMPTY)]
    nominate(index_at(server.url, signing=Signing("eu-west-1")))
    (asked,) = server.requests
    assert asked.headers["x-amz-security-token"] == "the token"
    assert asked.headers["x-amz-content-sha256"] == hashlib.sha256(asked.body).hexdigest()
    assert asked.headers["authorization"].endswith(f"Signature={signature_of(asked, 'eu-west-1', 'es')}")


def signature_of(asked: Request, region: str, service: str) -> str:
    """The signature by the published rules, from what arrived."""
    fields = dict(part.split("=") for part in asked.headers["authorization"].split(" ", 1)[1].split(", "))
    url = urlsplit(asked.path)
    query = "&".join(f"{quote(k, '-_.~')}={quote(v, '-_.~')}" for k, v in sorted(parse_qsl(url.query)))
    signed = "".join(f"{name}:{asked.headers[name]}\n" for name in fields["SignedHeaders"].split(";"))
    body_hash = hashlib.sha256(asked.body).hexdigest()
    canonical = "\n".join([asked.method, url.path, query, signed, fields["SignedHeaders"], body_hash])
    day = asked.headers["x-amz-date"][:8]
    scope = f"{day}/{region}/{service}/aws4_request"
    text = "\n".join(
        ["AWS4-HMAC-SHA256", asked.headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()]
    )
    key = f"AWS4{SECRET}".encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


@pytest.mark.parametrize(
    ("url", "signing"),
    [
        ("https://search-memory-abc.eu-west-1.es.amazonaws.com", Signing("eu-west-1")),
        ("https://vpc-memory-abc.us-gov-west-1.es.amazonaws.com:443/", Signing("us-gov-west-1")),
        ("https://search-memory-abc.cn-north-1.es.amazonaws.com.cn", Signing("cn-north-1")),
        ("https://search-memory-abc.aos.eu-central-1.on.aws", Signing("eu-central-1")),
        ("https://abc123.us-east-1.aoss.amazonaws.com", Signing("us-east-1", "aoss")),
        ("https://us-east-1.aoss.amazonaws.com.example.org", None),
        ("https://user:password@search-memory-abc.eu-west-1.es.amazonaws.com", None),
        ("https://eu-west-1.es.amazonaws.com.example.org", None),
        ("http://localhost:9200", None),
    ],
)
def test_only_a_managed_domain_without_a_user_is_signed_for(url: str, signing: Signing | None) -> None:
    assert signing_for(url) == signing


def test_signing_without_credentials_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    with pytest.raises(ConfigurationError, match="AWS_ACCESS_KEY_ID"):
        nominate(index_at("https://localhost", signing=Signing("eu-west-1")))


@pytest.mark.parametrize("url", ["", "localhost:9200", "ftp://host", "https://"])
def test_a_url_that_is_none_names_the_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="RECOLLECT_OPENSEARCH_URL"):
        nominate(index_at(url))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, Throttled), (401, NotReady), (403, NotReady), (404, NotReady), (400, UpstreamFailed),
        (413, UpstreamFailed), (500, Unavailable), (503, Unavailable), (0, Unavailable),
    ],
)  # fmt: skip
def test_a_status_becomes_an_error_of_ours(server: Server, status: int, error: type[RecollectError]) -> None:
    server.replies = [refused(status, "some_exception")]
    for call in (nominate, OpenSearchIndex.create, OpenSearchIndex.check, write, remove):
        with pytest.raises(RecollectError) as raised:
            call(index_at(server.url))
        assert type(raised.value) is error
        assert "memory" not in str(raised.value)
        assert raised.value.__suppress_context__


def test_an_error_that_is_not_called_json_is_not_quoted(server: Server) -> None:
    server.replies = [Reply(b'{"error": "quotes a memory"}', 400, {})]
    with pytest.raises(UpstreamFailed) as raised:
        nominate(index_at(server.url))
    assert "memory" not in str(raised.value)


def refused(status: int, kind: str) -> Reply:
    told = {"error": {"type": kind, "reason": "quotes a memory"}, "status": status}
    return Reply(told, status)


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("kind", ["cluster_block_exception", "index_create_block_exception"])
def test_a_block_is_told_apart_from_refused_credentials(server: Server, status: int, kind: str) -> None:
    not_there = Reply(status=404)
    for call, answers in ((write, []), (remove, []), (OpenSearchIndex.create, [not_there])):
        server.replies = [*answers, refused(status, kind)]
        with pytest.raises(WritesBlocked, match="blocked for writes") as raised:
            call(index_at(server.url))
        assert "credentials" not in str(raised.value)
        assert "memory" not in str(raised.value).replace("storage or memory", "")


@pytest.mark.parametrize(
    "body",
    [
        b'{"Message": "User: arn:aws:sts::1:assumed-role/r/f is not authorized to perform: es:ESHttpPost"}',
        b'{"message": "cluster_block_exception"}',
        b'{"error": {"type": "security_exception", "reason": "cluster_block_exception"}, "status": 403}',
        b"cluster_block_exception, or so a page says",
    ],
)
def test_a_refusal_that_names_no_block_as_its_type_is_one_of_credentials(server: Server, body: bytes) -> None:
    server.replies = [Reply(body, 403)]
    with pytest.raises(NotReady, match="credentials"):
        write(index_at(server.url))


def test_a_cluster_that_has_not_started_is_away_and_not_full(server: Server) -> None:
    server.replies = [refused(503, "cluster_block_exception")]
    with pytest.raises(Unavailable) as raised:
        write(index_at(server.url))
    assert type(raised.value) is Unavailable


def test_a_removal_by_query_names_the_block_of_its_parts(server: Server) -> None:
    part = {"index": "p", "id": "1", "cause": {"type": "cluster_block_exception"}, "status": 403}
    told = {"deleted": 0, "failures": [part]}
    server.replies = [Reply(b"{}"), Reply(told, 403)]
    with pytest.raises(WritesBlocked):
        index_at(server.url).drop("a tenant", 10)


def write(index: OpenSearchIndex) -> None:
    index.put([a_document(a_scope(), an_event(), a_vector())])


def remove(index: OpenSearchIndex) -> None:
    index.remove(a_scope(), ["an id"])


def test_what_is_no_json_is_an_upstream_failure(server: Server) -> None:
    server.replies = [Reply(b"<html>")]
    with pytest.raises(UpstreamFailed):
        nominate(index_at(server.url))


def test_an_engine_that_is_away_is_unavailable(server: Server) -> None:
    with pytest.raises(Unavailable):
        nominate(index_at("http://127.0.0.1:1"))


def test_a_slow_engine_is_given_up_and_not_asked_again(server: Server) -> None:
    server.replies = [Reply(after_seconds=5)]
    started = time.monotonic()
    with pytest.raises(Unavailable):
        nominate(index_at(server.url, timeout_seconds=0.2))
    assert time.monotonic() - started < 2
    assert len(server.requests) == 1


@pytest.mark.parametrize("first", [Reply(status=503), Reply(status=0)], ids=["unavailable", "hung up"])
def test_a_passing_failure_is_tried_again_once(server: Server, first: Reply) -> None:
    server.replies = [first, Reply(EMPTY)]
    nominate(index_at(server.url))
    server.replies = [first, first, Reply(EMPTY)]
    with pytest.raises(Unavailable):
        nominate(index_at(server.url))
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"timed_out": True}, Unavailable),
        ({"_shards": {"failed": 1}}, Unavailable),
        ({"error": {"type": "rejected_execution_exception"}, "status": 429}, Throttled),
        ({"error": {"type": "index_not_found_exception"}, "status": 404}, NotReady),
        ({"error": {"type": "search_phase_execution_exception"}, "status": 400}, UpstreamFailed),
    ],
)
def test_a_failed_search_fails_the_wave(server: Server, change: dict[str, object], error: type[RecollectError]) -> None:
    server.replies = [Reply({"responses": [{**EMPTY["responses"][0], **change}]})]
    with pytest.raises(RecollectError) as raised:
        nominate(index_at(server.url))
    assert type(raised.value) is error


def test_no_log_shows_what_is_sent(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.replies = [Reply({"errors": False, "items": [{"index": {"status": 201}}]})]
    index_at(server.url).put([a_document(a_scope(), an_event(content="Zanzibar"), a_vector())])
    server.replies = [Reply(b'{"error": {"type": "t", "reason": "zanzibar"}}', 400)]
    with pytest.raises(UpstreamFailed):
        index_at(server.url).put([a_document(a_scope(), an_event(content="Zanzibar"), a_vector())])
    assert "zanzibar" not in caplog.text.lower()


@pytest.mark.parametrize("heavy", ["opensearchpy", "numpy", "botocore"])
def test_what_takes_long_to_import_waits_until_it_is_used(heavy: str) -> None:
    code = f"import sys, recollect.adapters.aws.opensearch; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
