"""What anybody may fetch without credentials is compressed, may be kept, and is not sent twice."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.http.calling import Caller
from recollect.entrypoints.http import openapi, reference
from recollect.entrypoints.http.messages import MAX_AGE_SECONDS, Published, publish, takes_gzip

DOCUMENTS: dict[str, Callable[[], Published]] = {
    "/v1/openapi.json": openapi.published,
    "/docs": reference.published_page,
    "/docs?subject=retrieval": lambda: reference.published_page("retrieval"),
}
EVERY_DOCUMENT = pytest.mark.parametrize("path", DOCUMENTS)


def document(path: str) -> Published:
    return DOCUMENTS[path]()


@EVERY_DOCUMENT
def test_a_client_that_takes_gzip_gets_a_quarter(caller: Caller, path: str) -> None:
    answer = caller.get(path, accept_encoding="gzip, deflate, br")
    assert (answer.status, answer.headers["content-encoding"]) == (200, "gzip")
    assert answer.text == document(path).text
    assert len(document(path).gzipped) < len(answer.text) / 4


@EVERY_DOCUMENT
@pytest.mark.parametrize("accepted", ["", "identity", "br", "gzip;q=0", "gzip; q=0.0, br"])
def test_a_client_without_gzip_gets_it_plain(caller: Caller, path: str, accepted: str) -> None:
    answer = caller.get(path, accept_encoding=accepted)
    assert answer.status == 200
    assert "content-encoding" not in answer.headers
    assert answer.text == document(path).text


@EVERY_DOCUMENT
@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_it_may_be_kept_by_everybody_for_some_minutes(caller: Caller, path: str, accepted: str) -> None:
    headers = caller.get(path, accept_encoding=accepted).headers
    assert headers["cache-control"] == f"public, max-age={MAX_AGE_SECONDS}"
    assert headers["vary"] == "Accept-Encoding"
    assert headers["etag"] == document(path).etag


@EVERY_DOCUMENT
@pytest.mark.parametrize("named", ["{etag}", '"another", {etag}', "*", "{strong}"])
def test_who_has_it_is_not_sent_it_again(caller: Caller, path: str, named: str) -> None:
    etag = document(path).etag
    tags = named.format(etag=etag, strong=etag.removeprefix("W/"))
    answer = caller.get(path, if_none_match=tags, accept_encoding="gzip")
    assert (answer.status, answer.text) == (304, "")
    assert (answer.headers["etag"], answer.headers["vary"]) == (etag, "Accept-Encoding")
    assert "content-encoding" not in answer.headers


@EVERY_DOCUMENT
def test_who_has_another_edition_is_sent_this_one(caller: Caller, path: str) -> None:
    assert caller.get(path, if_none_match='W/"another"').status == 200


def test_documents_have_tags_of_their_own() -> None:
    assert len({document(path).etag for path in DOCUMENTS}) == len(DOCUMENTS)


def test_a_document_is_compressed_alike_on_every_run() -> None:
    text = openapi.document_json()
    assert publish(text, "application/json") == publish(text, "application/json")


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("gzip", True), ("GZIP", True), ("br, gzip;q=0.2", True), ("*", True), ("*;q=0", False), ("", False),
        ("gzip;q=0, *", False), ("x-gzip-like", False), ("gzip;q=much", False), ("deflate", False),
    ],
)  # fmt: skip
def test_gzip_is_taken_where_its_weight_is_above_zero(header: str, taken: bool) -> None:
    assert takes_gzip(header) is taken


@given(st.text())
def test_no_header_breaks_the_reading(header: str) -> None:
    assert takes_gzip(header) in (True, False)
