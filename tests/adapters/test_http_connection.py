"""The way out over HTTP: time, connections, proxies, and what an answer may ask."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from adapters.embedders.local_server import Reply, running_server
from recollect.adapters.http_connection import HttpConnection, HttpService, retry_after_seconds, within
from recollect.core.errors import CutAnswer, OutOfTime, UpstreamFailed


def connection(url: str, **service: object) -> HttpConnection:
    return HttpConnection(HttpService(name="it", base_url=url, **service))  # type: ignore[arg-type]


def test_a_deadline_holds_whatever_is_waited_for() -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime, match="it did not answer"):
        within(0.05, "it", lambda: time.sleep(3))
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_without_time_nothing_is_called(seconds: float) -> None:
    called: list[int] = []
    with pytest.raises(OutOfTime):
        within(seconds, "it", lambda: called.append(1))
    assert called == []


def test_what_a_call_gives_or_raises_comes_through() -> None:
    assert within(5, "it", lambda: 7) == 7
    with pytest.raises(KeyError):
        within(5, "it", lambda: {"y": 1}["x"])


def test_an_answer_that_breaks_off_is_told_apart() -> None:
    with running_server() as server:
        server.replies = [Reply(b"half", announced=9), Reply(b"whole")]
        ours = connection(server.url)
        with pytest.raises(CutAnswer):
            ours.get("/", 2)
        assert ours.get("/", 2).content == b"whole"


def test_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_server() as proxy:
        proxy.replies = [Reply(b"by proxy")]
        monkeypatch.setenv("http_proxy", proxy.url.replace("http://", "http://ana:pass%20word@"))
        monkeypatch.setenv("no_proxy", "localhost")
        assert connection("http://model.invalid/v1").get("/x", 2).content == b"by proxy"
        path, headers, _ = proxy.asked[0]
        assert path == "http://model.invalid/v1/x"
        assert headers["proxy-authorization"] == "Basic YW5hOnBhc3Mgd29yZA=="


def test_past_the_proxy_where_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_server() as server:
        server.replies = [Reply(b"directly")]
        monkeypatch.setenv("http_proxy", "127.0.0.1:1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert connection(server.url).get("/", 2).content == b"directly"


def test_https_trusts_the_machine_s_certificates_alone() -> None:
    with running_server() as server:
        server.replies = [Reply(b"no TLS here")]
        with pytest.raises(UpstreamFailed, match="SSLError"):
            connection(server.url.replace("http://", "https://")).get("/", 2)


def in_seconds(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.spec("H-27")
@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 0 ", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("9" * 500, 86_400.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400.0),
        ("soon", None),
        ("-1", None),
        ("1e3", None),
        ("nan", None),
        ("²", None),
        ("", None),
    ],
)
def test_what_retry_after_asks_for(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header) == seconds


def test_retry_after_until_a_date() -> None:
    assert 25 < (retry_after_seconds(in_seconds(30)) or 0) <= 30


def test_large_answers_come_whole() -> None:
    with running_server() as server:
        server.replies = [Reply(b"x" * 200_000)]
        ours = connection(server.url)
        assert all(len(ours.get("/", 2).content) == 200_000 for _ in range(3))


def test_secrets_are_not_shown() -> None:
    service = HttpService(name="it", base_url="http://x", headers={"Authorization": "Bearer secret"})
    assert "secret" not in repr(service)
