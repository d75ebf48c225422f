"""DuckDuckGo's instant answers, over real HTTP against a server on this machine (K-81: no network in tests)."""

import logging
import time
import traceback
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from adapters.embedders.local_server import Reply, Server
from recollect.adapters.web_search import DuckDuckGo
from recollect.core.errors import OutOfTime, RecollectError, Throttled, Unavailable, UpstreamFailed

ABSTRACT = {"AbstractText": "Lisbon is the capital of Portugal.", "RelatedTopics": [{"Text": "Porto"}]}


def answer(**fields: Any) -> Reply:
    return Reply(
        {"AbstractText": "", "RelatedTopics": [], **fields}, headers={"Content-Type": "application/x-javascript"}
    )


@pytest.mark.spec("K-81", "K-82")
def test_it_asks_as_specified_and_gives_the_abstract(server: Server) -> None:
    server.replies = [Reply(ABSTRACT)]
    assert DuckDuckGo(server.url).search("  weather in 日本 & Lisbon?\n", 2) == ("Lisbon is the capital of Portugal.",)
    path, headers, _ = server.asked[0]
    fields = {"q": ["weather in 日本 & Lisbon?"], "format": ["json"], "no_html": ["1"], "skip_disambig": ["1"]}
    assert parse_qs(urlsplit(path).query) == fields
    assert "Authorization" not in headers


def test_an_address_of_one_s_own_keeps_its_path_and_fields(server: Server) -> None:
    server.replies = [Reply(ABSTRACT)]
    DuckDuckGo(f"{server.url}/instant?t=me").search("x", 2)
    assert server.asked[0][0] == "/instant?t=me&q=x&format=json&no_html=1&skip_disambig=1"


@pytest.mark.spec("K-82")
def test_without_an_abstract_the_first_topics(server: Server) -> None:
    server.replies = [answer(RelatedTopics=[{"Text": str(n)} for n in range(9)])]
    assert DuckDuckGo(server.url).search("x", 2) == ("0", "1", "2")


def test_no_results_are_no_error(server: Server) -> None:
    server.replies = [answer()]
    assert DuckDuckGo(server.url).search("x", 2) == ()


def test_nothing_is_asked_for_nothing(server: Server) -> None:
    assert DuckDuckGo(server.url).search(" \n", 2) == ()
    assert server.asked == []


def test_long_and_broken_queries_are_cut(server: Server) -> None:
    server.replies = [answer()]
    DuckDuckGo(server.url).search("\ud83d" + "ä" * 10_000, 2)
    assert parse_qs(urlsplit(server.asked[0][0]).query)["q"] == ["ä" * 399]


@pytest.mark.spec("K-92", "K-83")
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply({}, 429, {"Retry-After": "7"}), Throttled),
        (Reply({}, 500), Unavailable),
        (Reply({}, 403), UpstreamFailed),
        (Reply(b"<html>slow down</html>"), UpstreamFailed),
        (Reply(b"[" * 100_000), UpstreamFailed),
        (Reply(b"\xff\xfe\x00"), UpstreamFailed),
        (Reply(b'{"AbstractText": "', announced=900), UpstreamFailed),
        (Reply(b" " * 1_000_001), UpstreamFailed),
        (Reply({}, after_seconds=5), OutOfTime),
        (Reply(b" " * 1_000, trickle_seconds=0.02), OutOfTime),
    ],
)
def test_failures_are_errors_of_the_tree_that_do_not_tell_what_was_asked(
    server: Server, caplog: pytest.LogCaptureFixture, reply: Reply, kind: type[RecollectError]
) -> None:
    server.replies = [reply]
    began = time.monotonic()
    with caplog.at_level(logging.DEBUG), pytest.raises(kind) as raised:
        DuckDuckGo(server.url).search("my secret illness", 0.25 if kind is OutOfTime else 2)
    assert time.monotonic() - began < 2
    assert raised.value.__cause__ is None
    shown = "".join(traceback.format_exception_only(raised.value)) + caplog.text
    assert "illness" not in shown


@pytest.mark.spec("K-92")
def test_two_seconds_at_most(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.adapters.web_search._LONGEST_SECONDS", 0.1)
    server.replies = [Reply({}, after_seconds=5)]
    began = time.monotonic()
    with pytest.raises(OutOfTime):
        DuckDuckGo(server.url).search("x", 600)
    assert time.monotonic() - began < 2


def test_nobody_there() -> None:
    with pytest.raises(Unavailable):
        DuckDuckGo("http://127.0.0.1:1").search("x", 2)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(server: Server, status: int) -> None:
    server.replies = [Reply({}, status, {"Location": f"{server.url}/elsewhere"}), Reply(ABSTRACT)]
    with pytest.raises(UpstreamFailed):
        DuckDuckGo(server.url).search("!w x", 2)
    assert len(server.asked) == 1
