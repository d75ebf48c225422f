"""Which calls are retried, when, and with what."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from recollect.client import (
    AsyncRecollect,
    BadRequest,
    Conflict,
    ConnectionFailed,
    Recollect,
    RecollectApiError,
    RetryPolicy,
    Throttled,
    Unauthenticated,
    Unavailable,
    Unprocessable,
    UpstreamFailed,
    VersionMismatch,
)
from recollect.client.transport import path_segment

QUICK = RetryPolicy(tries=3, first_pause_seconds=0.001, longest_pause_seconds=2)


class Server:
    """Answers the given responses, one after another, and records the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = iter(answers)
        self.requests: list[httpx.Request] = []
        self.keys: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.keys.append(request.headers.get("Authorization", "").removeprefix("Bearer "))
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: Any) -> Recollect:
        return Recollect("http://server/", transport=httpx.MockTransport(self), **{"retries": QUICK, **options})


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []
    monkeypatch.setattr("recollect.client.synchronous.time.sleep", pauses.append)
    return pauses


def problem(status: int, **headers: str) -> httpx.Response:
    body = {"type": "about:blank", "title": "Something", "status": status, "detail": "went wrong", "errors": []}
    return httpx.Response(status, json=body, headers={"Content-Type": "application/problem+json", **headers})


def good() -> httpx.Response:
    return httpx.Response(200, json={"conversation_id": "c", "results": []})


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_pass_is_tried_again(status: int, slept: list[float]) -> None:
    server = Server(problem(status), problem(status), good())
    server.client().add_events("ana", [{"content": "hi"}])
    assert len(server.requests) == 3
    assert len(slept) == 2


@pytest.mark.spec("P-20")
def test_a_write_keeps_its_idempotency_key_and_body(slept: list[float]) -> None:
    server = Server(httpx.ReadTimeout("late"), problem(503), good())
    server.client().add_events("ana", [{"content": "hi"}])
    assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 1
    assert len({request.content for request in server.requests}) == 1
    other = Server(good())
    other.client().add_events("ana", [{"content": "hi"}])
    assert other.requests[0].headers["Idempotency-Key"] != server.requests[0].headers["Idempotency-Key"]


@pytest.mark.parametrize(
    ("status", "error"), [(400, BadRequest), (409, Conflict), (412, VersionMismatch), (418, RecollectApiError)]
)
def test_what_stays_is_not_tried_again(status: int, error: type[RecollectApiError]) -> None:
    server = Server(problem(status))
    with pytest.raises(error) as caught:
        server.client().search("ana", "x")
    assert (len(server.requests), caught.value.status, str(caught.value)) == (1, status, f"{status}: went wrong")


@pytest.mark.parametrize(("status", "seconds"), [(409, 1.0), (429, 2.0)])
def test_retry_after_stands_for_the_pause_of_a_key_in_flight_too(
    status: int, seconds: float, slept: list[float]
) -> None:
    server = Server(problem(status, **{"Retry-After": str(int(seconds))}), good())
    server.client().add_events("ana", [{"content": "hi"}])
    assert slept == [seconds]


def test_retry_after_as_a_date(slept: list[float]) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server = Server(problem(429, **{"Retry-After": later}), good())
    server.client().add_events("ana", [{"content": "hi"}])
    assert 0 < slept[0] <= 2


def test_a_long_wait_is_the_callers_to_decide(slept: list[float]) -> None:
    server = Server(problem(429, **{"Retry-After": "3600"}))
    with pytest.raises(Throttled) as caught:
        server.client().search("ana", "x")
    assert (slept, caught.value.retry_after_seconds) == ([], 3600)


@pytest.mark.parametrize(("status", "error"), [(429, Throttled), (502, UpstreamFailed), (503, Unavailable)])
def test_tries_are_bounded(status: int, error: type[RecollectApiError], slept: list[float]) -> None:
    server = Server(*(problem(status) for _ in range(10)))
    with pytest.raises(error):
        server.client().search("ana", "x")
    assert len(server.requests) == 3


def test_no_response_is_retried_and_then_raised(slept: list[float]) -> None:
    server = Server(*(httpx.ConnectError("refused") for _ in range(10)))
    with pytest.raises(ConnectionFailed) as caught:
        server.client().search("ana", "x")
    assert len(server.requests) == 3
    assert isinstance(caught.value.__cause__, httpx.ConnectError)


@pytest.mark.parametrize("answer", [httpx.ReadTimeout("slow"), problem(503), problem(502)])
def test_what_a_repetition_would_do_twice_is_not_repeated(answer: Any, slept: list[float]) -> None:
    server = Server(answer, httpx.Response(200, json={"entry": {"sequence": 1}}))
    with pytest.raises((ConnectionFailed, RecollectApiError)):
        server.client().pop_log("ana", "monday")
    assert len(server.requests) == 1


def test_what_was_refused_before_it_began_is_asked_for_again(slept: list[float]) -> None:
    server = Server(problem(429), httpx.Response(200, json={"entry": {"sequence": 1}}))
    assert server.client().pop_log("ana", "monday") == {"sequence": 1}


def test_pauses_grow_and_are_bounded() -> None:
    policy = RetryPolicy(tries=20, first_pause_seconds=0.2, longest_pause_seconds=3)
    pauses = [policy.pause_after_failure(attempt) or 0 for attempt in range(1, 20)]
    assert all(0.1 * 2**n <= pause <= 0.2 * 2**n for n, pause in enumerate(pauses[:4]))
    assert max(pauses) <= 3


def test_not_being_ready_is_an_answer() -> None:
    server = Server(httpx.Response(503, json={"ready": False, "parts": {}}))
    assert server.client().ready() == {"ready": False, "parts": {}}


def test_a_server_that_is_not_there_behind_a_proxy_is_no_readiness() -> None:
    with pytest.raises(Unavailable):
        Server(httpx.Response(503, text="<html>")).client().ready()


@pytest.mark.parametrize("answer", [httpx.Response(200, text="<html>"), httpx.Response(200, json=[1])])
def test_an_answer_that_is_no_object_is_an_error(answer: httpx.Response) -> None:
    with pytest.raises(RecollectApiError):
        Server(answer).client().health()


def test_the_gateways_own_body_is_understood() -> None:
    server = Server(httpx.Response(401, json={"message": "Unauthorized"}))
    with pytest.raises(RecollectApiError, match="401: Unauthorized"):
        server.client().search("ana", "x")


@pytest.mark.parametrize(
    ("faults", "text"),
    [
        ([{"loc": ["body", "content"], "message": "is required"}], "422: wrong (body.content: is required)"),
        ([{"loc": [], "message": "a"}, {"loc": ["query", 0], "message": "b"}], "422: wrong (a; query.0: b)"),
        ([{"loc": ["x"], "message": "a"}] * 7, f"422: wrong ({'; '.join(['x: a'] * 5)}; 2 more)"),
        ([], "422: wrong"),
        (["?"], "422: wrong"),
        ("?", "422: wrong"),
    ],
)
def test_an_error_names_what_is_wrong_with_the_input(faults: object, text: str) -> None:
    with pytest.raises(Unprocessable) as caught:
        Server(httpx.Response(422, json={"detail": "wrong", "errors": faults})).client().search("ana", "x")
    assert str(caught.value) == text


def test_a_redirect_does_not_carry_the_key_away() -> None:
    server = Server(httpx.Response(307, headers={"Location": "http://elsewhere/"}))
    with pytest.raises(RecollectApiError):
        server.client(api_key="secret").health()
    assert len(server.requests) == 1


def test_the_key_is_sent_and_times_are_written_out() -> None:
    server = Server(good())
    moment = datetime(2024, 5, 1, 9, tzinfo=UTC)
    server.client(api_key="secret").search("ana", "x", time_window={"from": moment}, vector=(0.5, 1.0), as_of=None)
    request = server.requests[0]
    assert request.headers["Authorization"] == "Bearer secret"
    assert json.loads(request.content) == {
        "user_id": "ana",
        "query": "x",
        "time_window": {"from": "2024-05-01T09:00:00+00:00"},
        "vector": [0.5, 1.0],
    }


@pytest.mark.parametrize(
    ("value", "segment"),
    [("a.b_c-9", "a.b_c-9"), ("a/b", "~YS9i"), ("~x", "~fng"), ("🙂", "~8J-Zgg"), ("%2F", "~JTJG"), (" ", "~IA")],
)
def test_ids_in_paths(value: str, segment: str) -> None:
    assert path_segment(value) == segment


def test_the_asynchronous_client_tries_again_too() -> None:
    server = Server(problem(503), httpx.ConnectError("refused"), good())

    async def story() -> None:
        async with AsyncRecollect("http://server", retries=QUICK, transport=httpx.MockTransport(server)) as memory:
            await memory.add_events("ana", [{"content": "hi"}])

    asyncio.run(story())
    assert len(server.requests) == 3


def test_a_base_url_with_a_path_is_kept() -> None:
    server = Server(httpx.Response(200, json={"status": "ok"}))
    Recollect("https://host/stage/", transport=httpx.MockTransport(server)).health()
    assert str(server.requests[0].url) == "https://host/stage/v1/health"


def test_a_turn_may_take_longer_and_is_tried_again_under_its_key(slept: list[float]) -> None:
    server = Server(problem(502), good())
    with server.client(timeout_seconds=3.0) as client:
        client.turn("anna", "hello", timeout_seconds=77.0)
        assert {request.extensions["timeout"]["read"] for request in server.requests} == {77.0}
        assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 1
        server.answers = iter([good()])
        client.search("anna", "x")
    assert server.requests[-1].extensions["timeout"]["read"] == 3.0


class Tokens:
    """Gives one token after another, and counts how often it was asked."""

    def __init__(self, *tokens: Any) -> None:
        self.left = list(tokens)
        self.asked = 0

    def __call__(self) -> Any:
        self.asked += 1
        return self.left.pop(0)

    async def later(self) -> Any:
        await asyncio.sleep(0)
        return self()


def test_a_function_gives_the_key_and_is_asked_again_once_where_it_is_refused(slept: list[float]) -> None:
    tokens = Tokens("first", "second", "third")
    server = Server(good(), problem(401), good(), problem(401), problem(401))
    client = server.client(api_key=tokens)
    assert tokens.asked == 0
    client.add_events("ana", [{"content": "hi"}])
    client.add_events("ana", [{"content": "again"}])
    with pytest.raises(Unauthenticated):
        client.search("ana", "x")
    assert server.keys == ["first", "first", "second", "second", "third"]
    assert server.requests[1].content == server.requests[2].content
    assert server.requests[1].headers["Idempotency-Key"] == server.requests[2].headers["Idempotency-Key"]
    assert slept == []


@pytest.mark.parametrize("awaited", [False, True])
def test_the_client_for_asyncio_asks_a_function_or_awaits_it(awaited: bool) -> None:
    tokens, server = Tokens("first", "second"), Server(problem(401), good())

    async def ask() -> None:
        key = tokens.later if awaited else tokens
        async with AsyncRecollect("http://server", api_key=key, transport=httpx.MockTransport(server)) as client:
            await client.search("ana", "x")

    asyncio.run(ask())
    assert server.keys == ["first", "second"]


@pytest.mark.parametrize("given", ["", None, 7])
def test_what_is_no_key_is_not_sent(given: object) -> None:
    server, other = Server(), Server()
    with pytest.raises(TypeError, match="api_key gave"):
        server.client(api_key=lambda: given).search("ana", "x")
    with pytest.raises(TypeError, match="AsyncRecollect"):
        other.client(api_key=Tokens("first").later).search("ana", "x")
    assert server.requests + other.requests == []


def test_a_refused_key_that_was_given_as_text_stays_refused() -> None:
    server = Server(problem(401))
    with pytest.raises(Unauthenticated):
        server.client(api_key="old").search("ana", "x")
